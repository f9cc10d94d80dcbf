"""Random tables, declarations and generalizations, with the groups the oracle needs.

What an atom is and how atoms are ordered is worked out here from the raw cells, so that a
wrong order or a wrong domain in the package shows as a difference.
"""

from __future__ import annotations

import datetime as dt
import math
import random
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st
from scheme_columns import from_bits
from score_oracle import OracleColumn, plain_atom

from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import count
from sqlanon.domain.column import Family
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.histogram import Histogram
from sqlanon.domain.scheme import Scheme
from sqlanon.engines.registry import open_source

NAMES = [
    "a",
    "select",
    'x"y',
    "two words",
    "naïve ☃",
    "q0",
    "n_rows",
    "subject",
    "v0",
    "a'b",
    "value",
]

TEXTS = ["", " ", "a", "A", "b", "'", '"', "é", "é", "☃", "NULL", "a\nb", "😀", "*", "nan"]
FLOATS = [0.0, -0.0, 1.5, -2.25, 1e300, 5e-324, math.inf, -math.inf, math.nan, 0.1, 7.0]
DAYS = [dt.date(2024, 2, 29) + dt.timedelta(days=d) for d in (0, 1, 2, 40, 400, -4000, 9999)]
POOLS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "text": (pa.string(), TEXTS),
    "integer": (pa.int64(), [0, 1, 2, 3, 10, -7, 2**62, -(2**62), 99]),
    "small": (pa.int16(), list(range(-3, 30))),
    "tiny": (pa.int8(), [-128, -127, -1, 0, 71, 72, 100, 126, 127]),
    "unsigned": (pa.uint64(), [0, 1, 2**60, 2**60 - 1, 2**63, 2**64 - 1]),
    "float": (pa.float64(), FLOATS),
    "single": (pa.float32(), [0.0, -0.0, 0.5, -1.25, math.inf, math.nan, 2.0**-130]),
    "decimal": (pa.decimal128(12, 2), [Decimal(f"{n}.25") for n in range(-3, 9)]),
    "date": (pa.date32(), DAYS),
    "timestamp": (pa.timestamp("us"), [dt.datetime(2020, 1, d, 7, d) for d in range(1, 9)]),
    "boolean": (pa.bool_(), [False, True]),
}
RANGES: dict[str, list[tuple[Any, Any, Any, list[Any]]]] = {  # low, high, granularity, edges
    "integer": [(-8, 101, 20, [-8, 12, 32, 52, 72, 92, 101])],
    "small": [(-3, 30, 5, [-3, 2, 7, 12, 17, 22, 27, 30]), (-3, 30, 11, [-3, 8, 19, 30])],
    "tiny": [(-128, 127, 50, [-128, -78, -28, 22, 72, 122, 127])],
    "unsigned": [(0, 2**64 - 1, 2**60, [*range(0, 2**64, 2**60), 2**64 - 1])],
    "float": [(-0.3, 2, 0.1, [-0.3, -0.2, -0.1, *(n / 10 for n in range(21))])],
    "decimal": [(-3, 9, Decimal("1.5"), [Decimal(-3) + n * Decimal("1.5") for n in range(9)])],
    "date": [
        (dt.date(2013, 1, 31), dt.date(2052, 1, 1), "decade",
         [*(dt.date(y, 1, 31) for y in (2013, 2023, 2033, 2043)), dt.date(2052, 1, 1)]),
        (dt.date(2013, 2, 1), dt.date(2051, 7, 18), "decade",
         [*(dt.date(y, 2, 1) for y in (2013, 2023, 2033, 2043)), dt.date(2051, 7, 18)]),
    ],
    "timestamp": [
        (dt.datetime(2019, 12, 1), dt.datetime(2020, 2, 10), "month",
         [*(dt.datetime(y, m, 1) for y, m in ((2019, 12), (2020, 1), (2020, 2))),
          dt.datetime(2020, 2, 10)]),
        (dt.datetime(2020, 1, 1, 7), dt.datetime(2020, 1, 8, 7), 2,
         [*(dt.datetime(2020, 1, d, 7) for d in (1, 3, 5, 7)), dt.datetime(2020, 1, 8, 7)]),
    ],
}  # fmt: skip


@dataclass
class Field:
    """A column: its cells, its declaration, and its atoms in their order, NULL aside."""

    quasi: Quasi
    type: pa.DataType
    cells: list[Any]
    atoms: list[Hashable]
    atom_of: Callable[[object], Hashable]
    levels: list[list[int]]  # group number of each atom, by level
    has_null: bool

    def oracle(self, bits: Sequence[bool]) -> OracleColumn:
        """The groups that Iyengar's bit string means, NULL settled by the rule of design 2."""
        atoms = [*self.atoms, None] if self.has_null else self.atoms
        groups: list[set[Hashable]] = [{atoms[0]}]
        for cut, atom in zip(bits, atoms[1:], strict=True):
            if cut or (atom is None and any(bits)):
                groups.append({atom})
            else:
                groups[-1].add(atom)
        frozen = [frozenset(group) for group in groups]
        return OracleColumn(self.cells, frozen, self.quasi.weight, self.atom_of)

    def random_bits(self, rng: random.Random) -> list[bool]:
        """A random partition of the column's family."""
        width = len(self.atoms)
        if self.quasi.family is Family.CONTIGUOUS:
            share = rng.choice([0, 0.2, 0.8, 1])
            return [rng.random() < share for _ in range(width - 1 + self.has_null)]
        if self.quasi.family is Family.FULL_DOMAIN:
            below_root = self.levels[:-1] or self.levels
            return self._cuts(rng.choice([*below_root, None]))
        return self._cuts(self._antichain(rng))

    def _antichain(self, rng: random.Random) -> list[int] | None:
        """Nodes of the tree that cover every leaf once: walk down and stop at random."""
        if rng.random() < 0.2:
            return None
        pending = [(len(self.levels) - 1, list(range(len(self.atoms))))]
        number = 0
        group_of = [0] * len(self.atoms)
        while pending:
            level, leaves = pending.pop()
            if level == 0 or rng.random() < 0.4:
                for leaf in leaves:
                    group_of[leaf] = number
                number += 1
                continue
            below = self.levels[level - 1]
            pending += [
                (level - 1, [leaf for leaf in leaves if below[leaf] == group])
                for group in sorted({below[leaf] for leaf in leaves})
            ]
        return group_of

    def _cuts(self, groups: list[int] | None) -> list[bool]:
        """Cuts of a level or antichain; None is the root, which takes NULL in."""
        if groups is None:
            return [False] * (len(self.atoms) - 1 + self.has_null)
        cuts = [a != b for a, b in pairwise(groups)]
        return [*cuts, True] if self.has_null and groups else cuts


@dataclass
class Case:
    fields: list[Field]
    subject: list[Any] | None
    label: list[Any] | None
    rng: random.Random

    @property
    def rows(self) -> int:
        return len(self.fields[0].cells)

    def histogram(self) -> Histogram:
        columns = {f.quasi.name: pa.array(f.cells, f.type) for f in self.fields}
        if self.subject is not None:
            columns["who is it"] = pa.array(self.subject)
        if self.label is not None:
            columns["label"] = pa.array(self.label, pa.string())
        source = open_source(data=pa.table(columns))
        try:
            return count(
                source,
                [f.quasi for f in self.fields],
                subject="who is it" if self.subject is not None else None,
                facets=["label"] if self.label is not None else [],
            )
        finally:
            source.engine.close()

    def random_bits(self) -> tuple[tuple[bool, ...], ...]:
        return tuple(tuple(f.random_bits(self.rng)) for f in self.fields)

    def scheme(self, histogram: Histogram, bits: tuple[tuple[bool, ...], ...]) -> Scheme:
        return from_bits(histogram.space.columns, [bit for part in bits for bit in part])

    def oracle(self, bits: tuple[tuple[bool, ...], ...]) -> list[OracleColumn]:
        return [f.oracle(part) for f, part in zip(self.fields, bits, strict=True)]


def spelled(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def order_key(atom: Hashable) -> tuple[bool, object]:
    return (True, 0) if atom == "NaN" else (False, atom)


def random_levels(rng: random.Random, width: int) -> list[list[int]]:
    """Nested groupings, finest first, the last one a single group."""
    levels = [list(range(width))]
    while max(levels[-1], default=0) > 0:
        upper, number = [0], 0
        for a, b in pairwise(levels[-1]):
            number += a != b and rng.random() < 0.5
            upper.append(number)
        levels.append(upper)
    if rng.random() < 0.3:
        levels.append(levels[-1])  # a level that changes nothing
    return levels


def make_field(
    rng: random.Random, name: str, kind: str, form: str, rows: int, nulls: bool
) -> Field:
    type_, pool = POOLS[kind]
    pool = rng.sample(pool, rng.randint(1, len(pool)))
    cells = [None if nulls and rng.random() < 0.2 else rng.choice(pool) for _ in range(rows)]
    family = rng.choice(list(Family))
    weight = rng.choice([1.0, 0.0, 0.3, 7.0])
    has_null = None in cells
    quasi = Quasi(name, family, weight)
    observed = sorted({plain_atom(c) for c in cells if c is not None}, key=order_key)
    if form == "range" and kind in RANGES:
        low, high, step, edges = rng.choice(RANGES[kind])
        cells = [None if c is None else clamped(c, low, high) for c in cells]
        nested = [list(range(len(edges) - 1)), [0] * (len(edges) - 1)]
        atoms: list[Hashable] = [*nested[0]]
        quasi = Quasi(name, family, weight, range=(low, high), granularity=step)
        return Field(quasi, type_, cells, atoms, _interval_of(edges), nested, has_null)
    if form == "observed" or (form == "range" and not observed):
        levels = [list(range(len(observed))), [0] * len(observed)]
        return Field(quasi, type_, cells, observed, plain_atom, levels, has_null)
    values = {plain_atom(v): v for v in pool}
    listed = [values[a] for a in rng.sample(sorted(values, key=order_key), len(values))]
    atoms = [plain_atom(v) for v in listed]
    if form != "hierarchy":
        declared = [*listed, None] if has_null and rng.random() < 0.5 else listed
        quasi = Quasi(name, family, weight, values=tuple(declared))
        return Field(
            quasi,
            type_,
            cells,
            atoms,
            plain_atom,
            [list(range(len(atoms))), [0] * len(atoms)],
            has_null,
        )
    levels = random_levels(rng, len(atoms))
    lines = [
        [spelled(v), *(f"{level} {groups[i]}" for level, groups in enumerate(levels[1:], 1))]
        for i, v in enumerate(listed)
    ]
    quasi = Quasi(name, family, weight, hierarchy=Hierarchy.from_rows(lines, "of the test"))
    return Field(quasi, type_, cells, atoms, plain_atom, levels, has_null)


def clamped(cell: Any, low: Any, high: Any) -> object:
    return high if isinstance(cell, float) and math.isnan(cell) else min(max(cell, low), high)


def _interval_of(edges: Sequence[Any]) -> Callable[[Any], Hashable]:
    def atom(cell: Any) -> Hashable:
        if cell is None:
            return None
        inside = [i for i in range(len(edges) - 1) if edges[i] <= cell < edges[i + 1]]
        return inside[0] if inside else len(edges) - 2  # the last interval is closed

    return atom


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    rows = draw(st.one_of(st.integers(1, 4), st.integers(5, 60)))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique_by=str.lower))
    fields = []
    for name in names:
        kind = draw(st.sampled_from(sorted(POOLS)))
        form = draw(st.sampled_from(["observed", "values", "range", "hierarchy"]))
        fields.append(make_field(rng, name, kind, form, rows, draw(st.booleans())))
    if not any(f.quasi.weight for f in fields):
        fields[0].quasi = Quasi(**{**vars(fields[0].quasi), "weight": 1.0})
    subject: list[Any] | None = None
    how = draw(st.sampled_from(["none", "still", "moving", "text"]))
    if how == "still":  # every subject keeps to one tuple of cells
        subject = [repr([[f.cells[r] for f in fields], rng.randint(0, 2)]) for r in range(rows)]
    elif how == "moving":
        subject = [rng.randint(0, max(1, rows // 3)) for _ in range(rows)]
    elif how == "text":
        subject = [rng.choice(TEXTS) for _ in range(rows)]
    label = None
    if draw(st.booleans()):
        label = [rng.choice(["yes", "no", "", None]) for _ in range(rows)]
    return Case(fields, subject, label, rng)
