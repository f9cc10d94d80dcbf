"""Random tables, domains and partitions, and later data that the scheme has not seen."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st
from random_cases import POOLS, RANGES, Field, make_field, order_key
from row_oracle import TwinColumn
from score_oracle import plain_atom

from sqlanon.counting.binding import Quasi
from sqlanon.domain.column import Family
from sqlanon.domain.presentation import Form, RowOrder, Unseen

HOSTILE = [
    "source", "generalized", "small_classes", "subject", "is_small", "age", "age_map", "value",
    "low", "high", "label", "released_1", "select", 'a"b', "x;--", "two\nlines", "n" * 70, "a'b",
    "age_low", "Group", "naïve ☃", "$key", "a.b", "`", "\\",
]  # fmt: skip

UTC = dt.UTC
INSTANTS = [dt.datetime(2024, 3, 31, h, tzinfo=UTC) for h in range(6)]
UUIDS = [f"{d * 8}-{d * 4}-{d * 4}-{d * 4}-{d * 12}" for d in "0159abf"]
EXTRA: dict[str, list[Any]] = {  # beyond the pools, between their values, beyond the ranges
    "text": ["new", "It's", "(b)", "c" * 300],
    "integer": [-9, 5, 50, 101, 102, 2**63 - 1],
    "small": [-4, 31, 1000],
    "tiny": [5, 99],
    "unsigned": [3, 2**62, 2**63 + 1],
    "float": [-0.31, 0.05, 1.9999, 2.0, 2.1, 1e301, -1e308],
    "single": [0.25, 3.5, -7.0],
    "decimal": [Decimal("-3.01"), Decimal("0.00"), Decimal("9.01"), Decimal("8.99")],
    "date": [dt.date(2013, 1, 30), dt.date(2024, 4, 4), dt.date(2060, 1, 1), dt.date(1, 1, 1)],
    "timestamp": [dt.datetime(2020, 1, 3, 12), dt.datetime(2019, 1, 1), dt.datetime(2021, 1, 1)],
    "boolean": [],
    "enum": ["new", "it's"],
    "uuid": ["12345678-1234-1234-1234-123456789abc"],
    "instant": [dt.datetime(2024, 3, 31, 1, 30, tzinfo=UTC)],
}
TYPES = {"uuid": pa.string(), "instant": pa.timestamp("us", tz="UTC")}
KINDS = sorted(EXTRA)


@dataclass
class Drawn:
    """A column before it is counted, and its cells in the later data."""

    kind: str
    field: Field
    later: list[Any]

    @property
    def name(self) -> str:
        return self.field.quasi.name

    def enum_values(self) -> list[str]:
        cells = [*self.field.cells, *self.later, *self.field.atoms]
        return sorted({c for c in cells if isinstance(c, str)}) or ["x"]

    def twin(self, groups: list[list[int]], **presentation: Any) -> TwinColumn:
        quasi, edges = self.field.quasi, None
        if quasi.range is not None:
            ranges = RANGES[self.kind]
            edges = next(e for low, *_, step, e in ranges if (low, step) == (quasi.range[0],
                         quasi.granularity))  # fmt: skip
        values = [float("nan") if a == "NaN" else a for a in self.field.atoms]
        return TwinColumn(
            self.name,
            None if edges is not None else values,
            edges,
            self.field.has_null,
            groups,
            self.field.levels if quasi.hierarchy is not None else None,
            self.kind not in ("text", "boolean", "enum", "uuid"),
            **presentation,
        )


def draw_column(rng: random.Random, name: str, kind: str, form: str, rows: int) -> Drawn:
    nulls = rng.random() < 0.5
    if kind in TYPES:
        pool: list[Any] = INSTANTS if kind == "instant" else UUIDS
        field = _plain_field(rng, name, kind, form, rows, nulls)
    else:
        base = "text" if kind == "enum" else kind
        pool = POOLS[base][1]
        field = make_field(rng, name, base, form, rows, nulls)
    used = [c for c in field.cells if c is not None] or pool
    later = [rng.choice([rng.choice(used), rng.choice(used), rng.choice([*pool, *EXTRA[kind]])])
             for _ in range(rng.randint(0, 30))]  # fmt: skip
    if rng.random() < 0.5:
        later = [None if rng.random() < 0.2 else cell for cell in later]
    return Drawn(kind, field, later)


def _plain_field(
    rng: random.Random, name: str, kind: str, form: str, rows: int, nulls: bool
) -> Field:
    pool = list(INSTANTS) if kind == "instant" else list(UUIDS)
    pool = rng.sample(pool, rng.randint(1, len(pool)))
    cells = [None if nulls and rng.random() < 0.2 else rng.choice(pool) for _ in range(rows)]
    atoms = sorted({c for c in cells if c is not None}, key=order_key)
    quasi = Quasi(name, Family.CONTIGUOUS)
    if form != "observed" and kind == "uuid":
        atoms = rng.sample(pool, len(pool))
        quasi = Quasi(name, Family.CONTIGUOUS, values=tuple(atoms))
    levels = [list(range(len(atoms))), [0] * len(atoms)]
    return Field(quasi, TYPES[kind], cells, atoms, plain_atom, levels, None in cells)


@dataclass
class Case:
    columns: list[Drawn]
    rows: int  # of the later data
    people: list[int]
    by_subject: bool
    k: int
    suppress: bool
    marker: str | None
    unseen: Unseen
    order: RowOrder
    form: Form
    guarded: bool
    rng: random.Random


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    names = draw(st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=3, unique_by=str.lower))
    rows = draw(st.integers(1, 25))
    columns = []
    for name in names:
        kind = draw(st.sampled_from(KINDS))
        form = draw(st.sampled_from(["observed", "values", "range", "hierarchy"]))
        columns.append(draw_column(rng, name, kind, form, rows))
    later = min(len(column.later) for column in columns)
    for column in columns:
        column.later = column.later[:later]
    suppress = draw(st.booleans())
    marker = draw(st.sampled_from([None, "#", "*"])) if suppress else None
    return Case(
        columns,
        later,
        [rng.randint(0, 4) for _ in range(later)],
        draw(st.booleans()),
        draw(st.integers(1, 4)),
        suppress,
        marker,
        draw(st.sampled_from(list(Unseen))),
        draw(st.sampled_from(list(RowOrder))),
        draw(st.sampled_from(list(Form))),
        marker is None and draw(st.booleans()),
        rng,
    )
