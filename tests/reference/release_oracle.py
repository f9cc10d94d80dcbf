"""Recounts a release from plain rows, by the definitions of the papers and the documented labels.

Nothing here comes from sqlanon, and nothing asks a database to count: the standard library and
exact fractions only. A test reads the imports of this file and of model_oracle.py.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

from model_oracle import NEAR, Shares

Row = dict[str, Any]
Test = Callable[[Any], bool]

ROUNDING = Fraction(1, 10**11)
"""What a sum of floats may be off by, far below NEAR."""
NUMBER = "row number"
"""The column, if it is released, that says which row of the source a released row is."""


@dataclass(frozen=True)
class Violation:
    """One thing that does not hold: of a privacy model by its key, or of the rows."""

    rule: str
    text: str


@dataclass
class Evidence:
    """All that the oracle knows of one release."""

    policy: dict[str, Any]
    kinds: dict[str, str]
    source: list[Row]
    released: list[Row]
    trees: dict[str, list[list[str]]] = field(default_factory=dict)  # lines, the leaf first
    population: list[Row] = field(default_factory=list)
    as_text: bool = False  # a CSV file, where every cell is text
    grown: bool = False  # rows came after the scheme was found
    guarded: bool = False  # a view whose source changed: it hides without a limit
    first: list[Row] | None = None  # what the scheme was found from, if not the source

    def section(self, name: str) -> dict[str, Any]:
        return dict(self.policy["columns"].get(name, {}))

    def named(self, role: str) -> list[str]:
        return [n for n, s in self.policy["columns"].items() if s["role"] == role]


def violations(evidence: Evidence) -> list[Violation]:
    """Everything that the release violates."""
    recount = Recount(evidence)
    return [*recount.of_rows(), *recount.of_models()]


def tightened(policy: dict[str, Any], factor: Fraction) -> dict[str, Any]:
    """The same policy with every bound that much harder to meet: the control of the oracle."""

    def harder(name: str, value: Any) -> Any:
        if name == "l":
            return Fraction(str(value)) / factor
        bounds = ("c", "t", "beta", "delta", "alpha")
        return Fraction(str(value)) * factor if name in bounds else value

    privacy: dict[str, Any] = {}
    for key, wish in policy["privacy"].items():
        if key in ("k", "k_map"):
            privacy[key] = math.ceil(Fraction(wish) / factor)
        elif key == "homogeneity":
            privacy[key] = wish
        else:
            privacy[key] = [
                {name: harder(name, value) for name, value in each.items()}
                for each in _listed(wish)
            ]
    return {**policy, "privacy": privacy}


def _listed(wish: Any) -> list[dict[str, Any]]:
    return list(wish) if isinstance(wish, list) else [wish]


# Cells


def atom(cell: Any) -> Hashable:
    """Equal for equal values: one NaN, one zero, and false is not 0."""
    if isinstance(cell, float):
        return "NaN" if math.isnan(cell) else cell + 0.0
    return ("flag", cell) if isinstance(cell, bool) else cell


def spelled(cell: Any) -> str:
    """A value as labels write it."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float):
        whole = math.isfinite(cell) and cell == int(cell) and abs(cell) < 1e15
        return str(int(cell)) if whole else repr(cell)
    if isinstance(cell, Decimal):
        text = f"{cell:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return str(cell)


def typed(text: str, kind: str) -> Any:
    """The value that a text means in a column of that kind; ValueError where it means none."""
    of_kind: dict[str, Callable[[str], Any]] = {
        "integer": int,
        "float": float,
        "decimal": Decimal,
        "date": dt.date.fromisoformat,
        "timestamp": dt.datetime.fromisoformat,
        "boolean": lambda t: {"true": True, "false": False}[t],
        "text": str,
    }
    try:
        return of_kind[kind](text)
    except (InvalidOperation, KeyError):
        raise ValueError(text) from None


def in_order(cells: Iterable[Any]) -> list[Hashable]:
    """Distinct values in ascending order: NaN after all numbers, NULL last."""
    known = {atom(cell): cell for cell in cells}

    def rank(each: Hashable) -> tuple[int, Any]:
        return (2, 0) if each is None else (1, 0) if each == "NaN" else (0, known[each])

    return sorted(known, key=rank)


# Labels


STEPS: list[tuple[str, Callable[[re.Match[str]], tuple[dt.date, dt.date]]]] = [
    (r"(\d{4})s", lambda m: _months(int(m[1]), 1, 120)),
    (r"(\d{2})00-\d{2}99", lambda m: _months(int(m[1]) * 100, 1, 1200)),
    (r"(\d{4})-Q(\d)", lambda m: _months(int(m[1]), 3 * int(m[2]) - 2, 3)),
    (r"(\d{4})-W(\d{2})", lambda m: _week(int(m[1]), int(m[2]))),
    (r"(\d{4})-(\d{2})", lambda m: _months(int(m[1]), int(m[2]), 1)),
    (r"(\d{4})", lambda m: _months(int(m[1]), 1, 12)),
    (r"(\d{4}-\d{2}-\d{2})", lambda m: _day(dt.date.fromisoformat(m[1]))),
]


def _months(year: int, month: int, many: int) -> tuple[dt.date, dt.date]:
    after = 12 * year + month - 1 + many
    return dt.date(year, month, 1), dt.date(after // 12, after % 12 + 1, 1)


def _week(year: int, week: int) -> tuple[dt.date, dt.date]:
    first = dt.date.fromisocalendar(year, week, 1)
    return first, first + dt.timedelta(7)


def _day(day: dt.date) -> tuple[dt.date, dt.date]:
    return day, day + dt.timedelta(1)


def _place(cell: Any) -> tuple[int, Any]:
    """Where a number or date stands in order; NaN is above everything.

    Numbers count as they are written, so the float 0.1 is one tenth and 1e300 a power of ten,
    though the nearest sum of powers of two is another number. Comparing decimals is exact.
    """
    number = Decimal(repr(cell)) if isinstance(cell, float) else cell
    return (1, 0) if isinstance(number, Decimal) and number.is_nan() else (0, number)


def _within(step: tuple[Any, Any], cell: Any) -> bool:
    return cell is not None and bool(step[0] <= cell < step[1])


class Labels:
    """What the released labels of one column say about a cell of the source."""

    def __init__(self, evidence: Evidence, name: str) -> None:
        self.kind = evidence.kinds[name]
        self.section = evidence.section(name)
        self.lines = evidence.trees.get(name, [])
        cells = [row[name] for row in evidence.source]
        self.odd = any(isinstance(c, str) and re.search(r"[*{\[(<]", c) for c in cells)
        """Whether a value of the source reads like a label, so that labels are ambiguous."""
        nodes: dict[str, set[str]] = defaultdict(set)
        for line in self.lines:
            for node in line:
                nodes[node].add(line[0])
        self.nodes = nodes
        first = evidence.source if evidence.first is None else evidence.first
        self.root = self._root([row[name] for row in first])
        self._tests: dict[Hashable, Test] = {}

    def hides_all(self, shown: Any) -> bool:
        """Whether a label may stand for the whole column, NULL too."""
        if self._mask is not None and self.root is not None:
            return bool(shown == self.root)  # "*" may be the mask of a single character
        return shown == "*" or (shown is not None and shown == self.root)

    def test(self, shown: Any) -> Test:
        """Whether a cell may be shown so."""
        key = (type(shown), atom(shown))
        if key not in self._tests:
            self._tests[key] = self._meaning(shown)
        return self._tests[key]

    @property
    def _mask(self) -> str | None:
        spec = self.section.get("hierarchy")
        if not isinstance(spec, dict) or "mask" not in spec:
            return None
        return str(spec["mask"].get("character", "*"))

    def _root(self, cells: list[Any]) -> str | None:
        """The name of the whole column, if a tree gives it one.

        That of a mask is as long as the longest text. A shorter mask is no root: it stands for
        texts of its own length, as texts of different length share no mask below the root.
        """
        if self.lines:
            return self.lines[0][-1]
        texts = [cell for cell in cells if cell is not None]
        if self._mask is None or not texts:
            return None
        return self._mask * max(1, *map(len, texts))

    def _meaning(self, shown: Any) -> Test:
        null_label = self.section.get("null_label")
        if shown is None:
            return lambda cell: cell is None and null_label is None
        if self.hides_all(shown):
            return lambda cell: True
        tests = list(self._readings(shown))
        if null_label is not None and shown == null_label:
            tests.append(lambda cell: cell is None)
        return lambda cell: any(test(cell) for test in tests)

    def _readings(self, shown: Any) -> Iterator[Test]:
        """The ways to read a label; a cell need fit one."""
        if not isinstance(shown, str):
            yield lambda cell: cell is not None and atom(cell) == atom(shown)
            return
        if shown == "not NULL":  # of a cut tree that parts NULL in some places only
            yield lambda cell: cell is not None
        yield from self._names(shown)
        if shown.startswith("{") and shown.endswith("}"):
            for token in _tokens(shown[1:-1]):
                yield from self._names(token)
                yield from self._intervals(token)  # under min_level a set may hold intervals
        yield from self._intervals(shown)

    def _names(self, shown: str) -> Iterator[Test]:
        """A value or a node by its name."""
        yield lambda cell: cell is not None and spelled(cell) == shown
        if shown in self.nodes:
            leaves = self.nodes[shown]
            yield lambda cell: cell is not None and spelled(cell) in leaves
        if self._mask is not None:
            sign = self._mask
            yield (
                lambda cell: (
                    cell is not None
                    and len(cell) == len(shown)
                    and all(b in (a, sign) for a, b in zip(cell, shown, strict=True))
                )
            )
        if self.kind != "text":
            try:
                value = typed(shown, self.kind)
            except ValueError:
                pass
            else:
                yield lambda cell: cell is not None and atom(cell) == atom(value)
        if self.kind in ("date", "timestamp"):
            for step in self._steps(shown):
                yield partial(_within, step)

    def _steps(self, shown: str) -> Iterator[tuple[Any, Any]]:
        for pattern, ends in STEPS:
            if found := re.fullmatch(pattern, shown):
                step = ends(found)
                if self.kind == "timestamp":
                    low, high = (dt.datetime.combine(day, dt.time()) for day in step)
                    yield low, high
                else:
                    yield step

    def _intervals(self, shown: str) -> Iterator[Test]:
        if self.kind in ("text", "boolean"):
            return
        if found := re.fullmatch(r"\[(.*), (.*)([)\]])", shown, re.DOTALL):
            low, high = self._end(found[1]), self._end(found[2])
            if low is not None and high is not None:
                above = high[1] if found[3] == "]" else None
                yield (
                    lambda cell: (
                        cell is not None
                        and _place(low[0]) <= _place(cell)
                        and (_place(cell) < _place(high[0]) or (above is not None and above(cell)))
                    )
                )
        elif shown.startswith("<") and (end := self._end(shown[1:])):
            place = _place(end[0])
            yield lambda cell: cell is not None and _place(cell) < place
        else:
            nan = shown.endswith(" or NaN")
            shown = shown.removesuffix(" or NaN")
            if shown.endswith("+") and (end := self._end(shown[:-1])):
                yield (
                    lambda cell: (
                        cell is not None
                        and _place(end[0]) <= _place(cell)
                        and (nan or atom(cell) != "NaN")
                    )
                )

    def _end(self, text: str) -> tuple[Any, Test] | None:
        """Where an end of an interval lies, and what belongs to it if it is closed there."""
        kind = "decimal" if self.kind in ("integer", "float") else self.kind
        for step in self._steps(text):
            return step[0], partial(_within, step)
        try:
            value = typed(text, kind)
        except ValueError:
            return None
        return value, lambda cell: _place(cell) <= _place(value)


def _tokens(text: str) -> Iterator[str]:
    """The members of a set as labels write it; quotes in quotes are doubled."""
    for found in re.finditer(r'(?:^|, )(?:"((?:[^"]|"")*)"|([^,"{}]*))', text, re.DOTALL):
        yield found[1].replace('""', '"') if found[1] is not None else found[2]


class Numbers:
    """A column that is released as numbers or dates: lower, midpoint or bounds."""

    odd = False

    def __init__(self, evidence: Evidence, name: str) -> None:
        self.kind = evidence.kinds[name]
        self.section = evidence.section(name)
        low, high = self.section["range"]
        parse = {"integer": Decimal}.get(self.kind, lambda raw: typed(str(raw), self.kind))
        self.low, self.high = parse(low), parse(high)
        self.output = self.section["output"]

    def hides_all(self, shown: Any) -> bool:
        return self.output != "bounds" or bool(shown == (self.low, self.high))

    def test(self, shown: Any) -> Test:
        if self.output == "bounds":
            return self._bounds(*shown)
        if shown is None:
            return lambda cell: cell is None
        if self.output == "lower":
            return lambda cell: cell is None or shown <= cell
        return self._middle(shown)

    def _bounds(self, low: Any, high: Any) -> Test:
        if low is None:
            return lambda cell: cell is None and high is None
        whole = (low, high) == (self.low, self.high)
        return lambda cell: (
            whole if cell is None else low <= cell < high or cell == high == self.high
        )

    def _middle(self, shown: Any) -> Test:
        """The group lies within the range and around its middle, which bounds its width."""
        half = min(shown - self.low, self.high - shown)
        slack = dt.timedelta(1) if self.kind in ("date", "timestamp") else 0
        return lambda cell: cell is None or abs(cell - shown) <= half + slack


# Counting


@dataclass
class Class:
    """Released rows with equal quasi-identifiers: who is in it with which values."""

    shown: tuple[Any, ...]
    rows: list[int]
    people: set[Hashable]


class Recount:
    """Counts a release and compares it with its source."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.policy = evidence.policy
        self.quasi = evidence.named("quasi")
        self.columns: dict[str, Labels | Numbers] = {
            name: Labels(evidence, name)
            if evidence.section(name).get("output", "label") == "label"
            else Numbers(evidence, name)
            for name in self.quasi
        }
        self.released = [self._read(row) for row in evidence.released]
        suppression = self.policy.get("suppression", {})
        self.marker = suppression.get("marker", "(suppressed)")
        self.marks = suppression.get("rows") == "mark"

    def _read(self, row: Row) -> Row:
        """A released row with typed cells where the release has the values themselves."""
        if not self.evidence.as_text:
            return row
        numbers = [name for name, column in self.columns.items() if isinstance(column, Numbers)]
        read: Row = {}
        for name, cell in row.items():
            base = next((n for n in numbers if name in (f"{n}_low", f"{n}_high")), name)
            if cell is None or base not in (*self.kept, *numbers):
                read[name] = cell
            else:
                kind = self.evidence.kinds[base]
                middle = base in numbers and kind == "integer"
                read[name] = typed(cell, "decimal" if middle else kind)
        return read

    def _shown(self, row: Row, name: str) -> Any:
        if self.evidence.section(name).get("output") == "bounds":
            return row[f"{name}_low"], row[f"{name}_high"]
        return row[name]

    @cached_property
    def numbered(self) -> bool:
        return bool(self.released) and NUMBER in self.released[0]

    @cached_property
    def origins(self) -> dict[int, Row]:
        return {row[NUMBER]: row for row in self.evidence.source}

    def person(self, row: Row, place: int) -> Hashable:
        """The person of a released row."""
        subject = self.policy.get("subject")
        if subject is None:
            return place
        if self.numbered:
            return atom(self.origins[row[NUMBER]][subject])
        return atom(row[subject])

    @cached_property
    def classes(self) -> list[Class]:
        found: dict[Hashable, Class] = {}
        for place, row in enumerate(self.released):
            shown = tuple(self._shown(row, name) for name in self.quasi)
            each = found.setdefault(tuple(map(atom, shown)), Class(shown, [], set()))
            each.rows.append(place)
            each.people.add(self.person(row, place))
        return list(found.values())

    def is_marked(self, each: Class) -> bool:
        return self.marks and all(shown == self.marker for shown in each.shown)

    @property
    def k(self) -> int:
        return min((len(each.people) for each in self.classes), default=0)

    # Rows

    def of_rows(self) -> Iterator[Violation]:
        rows, source = self.released, self.evidence.source
        left_out = len(source) - len(rows)
        if left_out < 0:
            yield Violation("rows", f"{-left_out} more rows than the source has")
        limit = Decimal(str(self.policy.get("suppression", {}).get("limit", 0)))
        unseen_too = self.evidence.grown and self.policy["publish"].get("unseen") == "leave_out"
        hidden = left_out + sum(len(c.rows) for c in self.classes if self.is_marked(c))
        if not self.evidence.guarded and not unseen_too and hidden > int(limit * len(source)):
            yield Violation("limit", f"{hidden} rows suppressed of {len(source)}, limit {limit}")
        yield from self._kept_cells()
        yield from self._covered()

    @cached_property
    def kept(self) -> list[str]:
        """The columns that are released as they are."""
        roles = ("sensitive", "insensitive", "label")
        return [name for role in roles for name in self.evidence.named(role)]

    def _kept_cells(self) -> Iterator[Violation]:
        def of(row: Row) -> tuple[Hashable, ...]:
            return tuple(atom(row[name]) for name in self.kept)

        extra = Counter(map(of, self.released)) - Counter(map(of, self.evidence.source))
        if extra:
            yield Violation("rows", f"released cells that no row of the source has: {extra}")
        for row in self.released:
            forbidden = {*row} & {*self.evidence.named("identifying")}
            if forbidden:
                yield Violation("columns", f"identifying columns are released: {forbidden}")
                return

    def _covered(self) -> Iterator[Violation]:
        """Every label is true of its rows, and a class is released whole or not at all."""
        source = self.evidence.source
        fits: dict[tuple[str, Hashable], int] = {}
        exact = not self.evidence.grown and not any(c.odd for c in self.columns.values())
        for each in self.classes:
            if self.is_marked(each):
                exact = False
        for each in self.classes:
            if self.is_marked(each):
                continue
            whole = (1 << len(source)) - 1
            sure = whole
            for name, shown in zip(self.quasi, each.shown, strict=True):
                column = self.columns[name]
                key = (name, (type(shown), atom(shown)))
                if key not in fits:
                    test = column.test(shown)
                    fits[key] = sum(1 << n for n, row in enumerate(source) if test(row[name]))
                whole &= fits[key]
                if isinstance(column, Numbers) and column.output != "bounds":
                    sure = 0
                elif column.hides_all(shown):  # NULL may be there or apart
                    sure &= sum(1 << n for n, row in enumerate(source) if row[name] is not None)
            if self.numbered:
                of = {self.released[place][NUMBER] for place in each.rows}
                fitting = {source[n][NUMBER] for n in range(len(source)) if whole >> n & 1}
                certain = {source[n][NUMBER] for n in range(len(source)) if (whole & sure) >> n & 1}
                if wrong := of - fitting:
                    yield Violation("labels", f"{each.shown} is not true of rows {sorted(wrong)}")
                if exact and (missing := certain - of):
                    yield Violation("labels", f"{each.shown} lacks rows {sorted(missing)}")
            else:
                if len(each.rows) > whole.bit_count():
                    yield Violation("labels", f"{each.shown} is true of fewer rows than have it")
                if exact and len(each.rows) < (whole & sure).bit_count():
                    yield Violation("labels", f"{each.shown} is true of more rows than have it")

    # Models

    def of_models(self) -> Iterator[Violation]:
        for model in self.models():
            for each in self.classes:
                reached = model.reached(each)
                if not model.holds(reached):
                    yield Violation(model.key, f"{each.shown}: {model.key} {float(reached)}")

    def models(self) -> Iterator[Model]:
        privacy = self.policy["privacy"]
        yield Model("k", lambda each: len(each.people), lambda n: n >= privacy["k"])
        if "k_map" in privacy:
            yield Model("k_map", self._population, lambda n: n >= privacy["k_map"])
        for key in ("l_diversity", "t_closeness", "beta_likeness", "delta_disclosure", "alpha_k"):
            for wish in _listed(privacy.get(key, [])):
                for column in wish.get("columns", self.evidence.named("sensitive")):
                    yield self._model(key, wish, column)

    def _model(self, key: str, wish: dict[str, Any], column: str) -> Model:
        q = self._source_shares(column)

        def shares(each: Class) -> Shares:
            return Shares.of(self._pairs(each, column))

        def at_most(bound: Any) -> Callable[[Any], bool]:
            return lambda reached: reached <= Fraction(str(bound)) + NEAR + ROUNDING

        def below(bound: Any) -> Callable[[Any], bool]:
            return lambda reached: reached < Fraction(str(bound)) - NEAR + ROUNDING

        if key == "l_diversity":
            kind = wish.get("kind", "distinct")
            least = Fraction(str(wish["l"]))
            if kind == "distinct":
                return Model("l distinct", lambda e: shares(e).distinct(), lambda n: n >= least)
            if kind == "entropy":
                return Model(
                    "l entropy",
                    lambda e: shares(e).perplexity(),
                    lambda x: x >= least - NEAR - ROUNDING,
                )
            top = math.ceil(least)
            return Model("l recursive", lambda e: shares(e).recursive(top), below(wish["c"]))
        if key == "t_closeness":
            distance = wish.get("distance") or self._default_distance(column)
            measures: dict[str, Callable[[Shares], Any]] = {
                "equal": lambda p: p.equal(q),
                "ordered": lambda p: p.ordered(
                    q, in_order(row[column] for row in self.evidence.source)
                ),
                "hierarchical": lambda p: p.hierarchical(q, self.evidence.trees[column]),
            }
            measure = measures[distance]
            return Model(f"t {distance}", lambda e: measure(shares(e)), at_most(wish["t"]))
        if key == "beta_likeness":
            return Model("beta", lambda e: shares(e).gain(q), at_most(wish["beta"]))
        if key == "delta_disclosure":
            return Model("delta", lambda e: shares(e).ratio(q), below(wish["delta"]))
        return Model("alpha", lambda e: shares(e).share(), at_most(wish["alpha"]))

    def _default_distance(self, column: str) -> str:
        if "hierarchy" in self.evidence.section(column):
            return "hierarchical"
        numeric = self.evidence.kinds[column] not in ("text", "boolean")
        return "ordered" if numeric else "equal"

    def _pairs(self, each: Class, column: str) -> list[tuple[Hashable, Hashable]]:
        rows = ((self.released[place], place) for place in each.rows)
        return [(self.person(row, place), atom(row[column])) for row, place in rows]

    def _source_shares(self, column: str) -> Shares:
        subject = self.policy.get("subject")
        pairs = [
            (n if subject is None else atom(row[subject]), atom(row[column]))
            for n, row in enumerate(self.evidence.source)
        ]
        return Shares.of(pairs)

    def _population(self, each: Class) -> int:
        """How many people of the population the labels of a class are true of."""
        if self.is_marked(each):
            return 0
        tests = [
            (name, self.columns[name].test(shown), self._known_only(name, shown))
            for name, shown in zip(self.quasi, each.shown, strict=True)
        ]
        subject = self.policy["population"].get("subject")
        fitting = {
            n if subject is None else atom(row[subject])
            for n, row in enumerate(self.evidence.population)
            if all(test(row[name]) and known(row[name]) for name, test, known in tests)
        }
        return len(fitting)

    def _known_only(self, name: str, shown: Any) -> Test:
        """A node of a file or mask below the root counts its own leaves only (docs/privacy.md)."""
        column = self.columns[name]
        if not isinstance(column, Labels) or column.hides_all(shown):
            return lambda cell: True
        if column.lines:
            leaves = {line[0] for line in column.lines}
            return lambda cell: cell is None or spelled(cell) in leaves
        return lambda cell: True


@dataclass(frozen=True)
class Model:
    """A requirement of every class: what is measured, and whether that is enough."""

    key: str
    reached: Callable[[Class], Any]
    holds: Callable[[Any], bool]
