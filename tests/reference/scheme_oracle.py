"""What a release must be, worked out from the source's rows, the policy and the scheme's file.

Nothing here knows how sqlanon counts, labels or writes SQL: groups are read from the documented
form of a scheme, and labels are taken at their word.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from model_oracle import Shares, is_violated
from release_oracle import atom
from release_oracle import spelled as _spelled

if TYPE_CHECKING:
    from drawn_release import Drawn, DrawnColumn

Row = dict[str, Any]
Pair = tuple[Hashable, Hashable]


def _value(raw: Any, kind: str) -> Any:
    """A value of a scheme file."""
    if kind == "date":
        return dt.date.fromisoformat(raw)
    if kind == "timestamp":
        return dt.datetime.fromisoformat(raw)
    if kind == "decimal":
        return Decimal(str(raw))
    return float(raw) if kind == "float" else raw


def _from(cell: Any, end: Any) -> bool:
    """Whether the cell is at or above the end; NaN is above everything."""
    if isinstance(cell, float) and math.isnan(cell):
        return True
    return not (isinstance(end, float) and math.isnan(end)) and bool(cell >= end)


def _height(column: DrawnColumn) -> int:
    spec = column.section.get("hierarchy")
    if spec is None:
        return 1
    if "mask" in spec:
        return max((len(c) for c in column.cells if c is not None), default=1) or 1
    if "date" in spec:
        return len([s for s in spec["date"] if s != "day" or column.kind == "timestamp"]) + 1
    return len(spec["intervals"]) + 1


def _node(column: DrawnColumn, level: int, cell: Any) -> Hashable:
    """The node of a level, level 0 being the atoms."""
    spec = column.section.get("hierarchy", {})
    if level == 0 and "range" in column.section:
        edges = column.edges
        return min(sum(_from(cell, edge) for edge in edges), len(edges) - 1)
    if level == 0:
        return atom(cell)
    if "mask" in spec:
        kept = max(0, len(cell) - level)
        right = spec["mask"].get("from", "right") == "right"
        return (len(cell), cell[:kept] if right else cell[len(cell) - kept :])
    if "date" in spec:
        steps = [s for s in spec["date"] if s != "day" or column.kind == "timestamp"]
        shown = {"day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}[steps[level - 1]]
        return str(cell.strftime(shown))
    if isinstance(cell, float) and not math.isfinite(cell):
        return atom(cell)
    width = Fraction(str(spec["intervals"][level - 1]))
    return int((Fraction(str(cell)) - spec.get("origin", 0)) // width)


def group_of(column: DrawnColumn, entry: dict[str, Any], cell: Any) -> Hashable:
    """The group that a scheme file puts a cell into."""
    if "cuts" in entry:
        if cell is None:
            return "NULL" if entry["null"] == "apart" else 0
        return sum(_from(cell, _value(cut, column.kind)) for cut in entry["cuts"])
    if "groups" in entry:
        wanted = None if cell is None else atom(cell)
        for number, group in enumerate(entry["groups"]):
            atoms = [None if v is None else atom(_value(v, column.kind)) for v in group]
            if wanted in atoms:
                return number
        raise AssertionError(f"{cell!r} is in no group")
    if entry["level"] >= _height(column):
        return "all"
    return "NULL" if cell is None else _node(column, entry["level"], cell)


@dataclass
class Recount:
    """What becomes of every row of the source."""

    groups: list[tuple[Hashable, ...]]
    unsafe: list[bool]
    budget: int
    people: list[Hashable]
    k: int
    marks_violate: bool

    def problem(self, suppress: bool, marked: bool) -> bool:
        """Whether such a release must be refused."""
        gone = sum(self.unsafe)
        if not suppress:
            return gone > 0
        if gone > self.budget:
            return True
        if not marked:
            return gone == len(self.unsafe)
        marks = {p for p, s in zip(self.people, self.unsafe, strict=True) if s}
        return gone > 0 and (len(marks) < self.k or self.marks_violate)


def recount(drawn: Drawn, document: dict[str, Any]) -> Recount:
    entries = document["columns"]
    cells = zip(*[[group_of(c, entries[c.name], cell) for cell in c.cells] for c in drawn.columns],
                strict=True)  # fmt: skip
    groups = list(cells)
    people: list[Hashable] = list(drawn.people or range(drawn.rows))
    whole: list[Pair] = list(zip(people, drawn.illnesses, strict=True))
    classes: dict[Hashable, list[Pair]] = {}
    for group, pair in zip(groups, whole, strict=True):
        classes.setdefault(group, []).append(pair)
    privacy = drawn.policy["privacy"]
    unsafe = {
        group: len({person for person, _ in pairs}) < privacy["k"]
        or violates(privacy, pairs, whole)
        for group, pairs in classes.items()
    }
    gone = [unsafe[group] for group in groups]
    marks = [pair for pair, is_gone in zip(whole, gone, strict=True) if is_gone]
    limit = Decimal(str(drawn.policy.get("suppression", {}).get("limit", 0)))
    return Recount(
        groups,
        gone,
        int(limit * drawn.rows),
        people,
        privacy["k"],
        bool(marks) and violates(privacy, marks, whole),
    )


def violates(privacy: dict[str, Any], members: list[Pair], whole: list[Pair]) -> bool:
    """Whether a class violates the model that a policy has for the illness."""
    p, q = Shares.of(members), Shares.of(whole)
    if "t_closeness" in privacy:
        return is_violated(p.equal(q), "<=", privacy["t_closeness"]["t"])
    if "beta_likeness" in privacy:
        return is_violated(p.gain(q), "<=", privacy["beta_likeness"]["beta"])
    if "delta_disclosure" in privacy:
        return is_violated(p.ratio(q), "<", privacy["delta_disclosure"]["delta"])
    if "alpha_k" in privacy:
        return is_violated(p.share(), "<=", privacy["alpha_k"]["alpha"])
    if "l_diversity" not in privacy:
        return False
    keys = privacy["l_diversity"]
    if "c" in keys:
        return is_violated(p.recursive(keys["l"]), "<", keys["c"])
    return is_violated(p.perplexity() if "kind" in keys else p.distinct(), ">=", keys["l"])


INTERVAL = re.compile(r"\[(.*), (.*)([)\]])")


def admits(column: DrawnColumn, shown: Any, cell: Any) -> bool:
    """Whether a released value is true of the source's cell."""
    spec = column.section
    if cell is None or shown is None:
        hides = shown == "*" or (isinstance(shown, str) and {*shown} <= {*"*x#"})
        return (cell is None and shown in (None, spec.get("null_label"))) or bool(hides)
    if atom(shown) == atom(cell) or shown in ("*", _spelled(cell)):
        return True
    if not isinstance(shown, str):
        return False
    if "mask" in spec.get("hierarchy", {}):
        sign = spec["hierarchy"]["mask"].get("character", "*")
        fits = len(shown) == len(cell)
        whole = shown == sign * len(shown) and len(shown) >= len(cell)
        return whole or (fits and all(a in (b, sign) for a, b in zip(shown, cell, strict=True)))
    if "date" in spec.get("hierarchy", {}) and str(cell).startswith(shown):
        return True
    if shown.startswith("{") and _quoted(_spelled(cell)) in shown:
        return True
    return _in_interval(column, shown, cell)


def _in_interval(column: DrawnColumn, shown: str, cell: Any) -> bool:
    kind = column.kind
    if kind in ("text", "zip", "boolean"):
        return False
    if shown.startswith("<"):
        return not _from(cell, _number(shown[1:], kind))
    shown = shown.removesuffix(" or NaN")  # which is above everything
    if shown.endswith("+"):
        return _from(cell, _number(shown[:-1], kind))
    found = INTERVAL.fullmatch(shown)
    if not found:
        return False
    low, high = (_number(end, kind) for end in found.groups()[:2])
    below = not _from(cell, high) or (found[3] == "]" and atom(cell) == atom(high))
    return _from(cell, low) and below


def _number(text: str, kind: str) -> Any:
    return Decimal(text) if kind == "integer" else _value(text, kind)


def _quoted(text: str) -> str:
    awkward = not text or text != text.strip() or any(sign in '{},"' for sign in text)
    return '"' + text.replace('"', '""') + '"' if awkward else text


def released_names(drawn: Drawn, columns: Sequence[str]) -> list[str]:
    """The columns of the release, in the source's order."""
    names: list[str] = []
    for name in columns:
        section = drawn.policy["columns"].get(name, {"role": "identifying"})
        if section["role"] == "identifying":
            continue
        bounds = section.get("output") == "bounds"
        names += [f"{name}_low", f"{name}_high"] if bounds else [name]
    return names
