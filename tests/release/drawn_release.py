"""Random tables with random policies and schemes, as a user might write them."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from sqlanon.domain.column import Column, Partition
from sqlanon.domain.scheme import Scheme
from sqlanon.domain.space import Space

NAMES = ["age", "select", 'x"y', "it's; --", "naïve ☃", "value", "subject_2", "low", "two\nlines",
         "source", "is_small", "n" * 70]  # fmt: skip
TEXTS = ["", " ", "a", "A", "b'", '"q"', "é☃", "NULL", "a\nb", "*", "{a, b}", "[1, 2)", "<3"]
POOLS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "integer": (pa.int32(), [0, 1, 4, 5, 9, 12, 17, 20]),
    "float": (pa.float64(), [-1.5, 0.0, -0.0, 0.5, 1.0, 2.0, float("nan")]),
    "decimal": (pa.decimal128(8, 2), [Decimal(n) / 4 for n in range(0, 40, 5)]),
    "date": (pa.date32(), [dt.date(2020 + n // 3, 1 + 5 * n % 12, 1 + 3 * n) for n in range(9)]),
    "timestamp": (pa.timestamp("us"), [dt.datetime(2021, m, 9, m, 30) for m in range(1, 9)]),
    "boolean": (pa.bool_(), [False, True]),
    "text": (pa.string(), TEXTS),
    "zip": (pa.string(), ["10115", "10117", "10243", "20095", "20097", "8001"]),
}
RANGES: dict[str, tuple[list[Any], Any, list[Any]]] = {  # the range, its granularity, its edges
    "integer": ([0, 22], 5, [0, 5, 10, 15, 20, 22]),
    "float": ([-2, 2], 0.5, [-2 + n / 2 for n in range(9)]),
    "decimal": ([0, 10], 2.5, [Decimal(n) / 2 for n in (0, 5, 10, 15, 20)]),
    "date": (["2020-01-01", "2023-01-01"], "year", [dt.date(y, 1, 1) for y in range(2020, 2024)]),
    "timestamp": (["2021-01-01", "2021-12-01"], "month",
                  [dt.datetime(2021, m, 1) for m in range(1, 13)]),
}  # fmt: skip
HIERARCHIES: dict[str, list[dict[str, Any]]] = {
    "integer": [{"intervals": [5, 10]}, {"intervals": [4], "origin": 1}],
    "float": [{"intervals": [0.5, 1, 2]}],
    "decimal": [{"intervals": [2.5, 5]}],
    "date": [{"date": ["day", "month", "year"]}, {"date": ["year"]}],
    "timestamp": [{"date": ["day", "month"]}],
    "zip": [{"mask": {}}, {"mask": {"character": "x", "from": "left"}}],
    "text": [{"mask": {"character": "#"}}],
}
REASON = "it is in the test"


@dataclass
class DrawnColumn:
    """A quasi-identifier: its cells, and its section of the policy."""

    name: str
    kind: str
    cells: list[Any]
    section: dict[str, Any]

    @property
    def type(self) -> pa.DataType:
        return POOLS[self.kind][0]

    @property
    def edges(self) -> list[Any]:
        """Of its range."""
        return RANGES[self.kind][2]


@dataclass
class Drawn:
    """A table, a policy without places, and what is asked of the release."""

    columns: list[DrawnColumn]
    people: list[int] | None
    wards: list[str | None]
    illnesses: list[str | None]
    numbered: bool
    policy: dict[str, Any]
    place: str  # where the source is: connection, file or data
    mode: str  # table, replace, view, csv, parquet
    later: list[int]  # rows of the table that come after the scheme was found
    rng: random.Random

    @property
    def rows(self) -> int:
        return len(self.wards)

    def table(self) -> pa.Table:
        arrays = {c.name: pa.array(c.cells, c.type) for c in self.columns}
        arrays["name"] = pa.array([f"Name {n}" for n in range(self.rows)])
        arrays["ward"] = pa.array(self.wards, pa.string())
        arrays["illness"] = pa.array(self.illnesses, pa.string())
        if self.people is not None:
            arrays["who"] = pa.array(self.people, pa.int64())
        if self.numbered:
            arrays["number"] = pa.array(range(self.rows), pa.int64())
        names = sorted(
            arrays, key=lambda name: self.policy["columns"].get(name, {}).get("role", "")
        )
        return pa.table({name: arrays[name] for name in names})

    def scheme(self, space: Space) -> Scheme:
        """Any scheme of the families and limits, rather coarse."""
        return Scheme(space.columns, tuple(self._partition(c) for c in space.columns))

    def _partition(self, column: Column) -> Partition:
        low, high = column.limits
        level = self.rng.choice([high, self.rng.randint(low, high)])
        plain = column.hierarchy is None and (low, high) == (0, column.height)
        if not plain or column.family != "contiguous" or not column.positions:
            return column.levels[level]
        cuts = [c for c in range(column.positions) if self.rng.random() < 0.25]
        if column.domain.has_null and cuts:
            cuts = sorted({*cuts, column.positions - 1})  # NULL stands apart
        return Partition(column.size, tuple(cuts))


def _section(rng: random.Random, kind: str, cells: list[Any]) -> dict[str, Any]:
    section: dict[str, Any] = {"role": "quasi"}
    form = rng.choice(["observed", "values", "range", "range", "hierarchy", "hierarchy"])
    if form == "range" and kind in RANGES:
        section["range"], section["granularity"], _ = RANGES[kind]
        section["output"] = rng.choice(["label", "lower", "midpoint", "bounds"])
    elif form == "hierarchy" and kind in HIERARCHIES:
        section["hierarchy"] = rng.choice(HIERARCHIES[kind])
        section["family"] = rng.choice(["taxonomic", "full-domain"])
        if rng.random() < 0.3:
            section["min_level"] = 1
        if rng.random() < 0.3:
            section["max_level"] = rng.choice([1, 2])
    elif form == "values":
        listed = [v for v in POOLS[kind][1] if v == v and str(v) != "-0.0"]
        section["values"] = [str(v) if kind in ("decimal", "date", "timestamp") else v
                             for v in rng.sample(listed, len(listed))]  # fmt: skip
    else:
        section["family"] = rng.choice(["contiguous", "full-domain"])
    if rng.random() < 0.5:
        section["open_ends"] = rng.choice([True, False])
    if rng.random() < 0.3 and section.get("output", "label") == "label":
        section["null_label"] = rng.choice(["none", "*", "it's"])
    if rng.random() < 0.3:
        section["weight"] = rng.choice([0.5, 3])
    if rng.random() < 0.2:
        section["form"] = rng.choice(["case", "join"])
    return section


MODELS: list[dict[str, Any]] = [
    {"l_diversity": {"l": 2}},
    {"l_diversity": {"kind": "entropy", "l": 1.3}},
    {"l_diversity": {"kind": "recursive", "c": 1.7, "l": 2}},
    {"t_closeness": {"t": 0.37}},
    {"beta_likeness": {"beta": 0.9}},
    {"delta_disclosure": {"delta": 1.1}},
    {"alpha_k": {"alpha": 0.7}},
]
"""For the illness; bounds that many classes miss and many keep."""


def _column(rng: random.Random, name: str, rows: int) -> DrawnColumn:
    kind = rng.choice(sorted(POOLS))
    pool = rng.sample(POOLS[kind][1], rng.randint(1, min(5, len(POOLS[kind][1]))))
    nulls = rng.choice([0, 0, 0.15])
    cells = [None if rng.random() < nulls else rng.choice(pool) for _ in range(rows)]
    return DrawnColumn(name, kind, cells, _section(rng, kind, cells))


@st.composite
def drawn_releases(draw: st.DrawFn) -> Drawn:
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    rows = draw(st.one_of(st.integers(1, 5), st.integers(6, 60)))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True))
    columns = [_column(rng, name, rows) for name in names]
    place = rng.choice(["connection", "connection", "connection", "file", "data"])
    mode = rng.choice(["table", "table", "replace", "view", "csv", "parquet"])
    if place == "data" and mode in ("replace", "view"):
        mode = "table"
    people = [rng.randint(0, rows // 2) for _ in range(rows)] if draw(st.booleans()) else None
    numbered = rng.random() < 0.8
    sections: dict[str, Any] = {c.name: c.section for c in columns}
    sections["name"] = {"role": "identifying"}
    sections["ward"] = {"role": rng.choice(["insensitive", "pseudonym", "label"]), "accept": REASON}
    sections["illness"] = {"role": "sensitive", "accept": REASON}
    if numbered:
        sections["number"] = {"role": "insensitive", "accept": REASON}
    model = rng.choice(MODELS) if rng.random() < 0.6 else {"homogeneity": {"accept": REASON}}
    privacy = {"k": rng.choice([1, 2, 2, 3, 4]), **model}
    policy: dict[str, Any] = {"columns": sections, "privacy": privacy}
    if people is None:
        policy["one_row_per_person"] = True
    else:
        policy["subject"] = "who"
        if rng.random() < 0.5:
            sections["who"] = rng.choice(
                [{"role": "identifying"}, {"role": "pseudonym", "accept": REASON}]
            )
    if rng.random() < 0.6:
        policy["suppression"] = {"limit": rng.choice([0.07, 0.29, 0.5, 1.0])}
        if rng.random() < 0.4:
            policy["suppression"] |= {"rows": "mark", "marker": rng.choice(["*", "suppr'd", "a"])}
    policy["publish"] = {
        "unseen": rng.choice(["error", "leave_out", "top"]),
        "order": rng.choice(["sorted", "shuffled"]),
        "form": rng.choice(["auto", "case", "join"]),
    }
    policy["search"] = {"evaluations": 40, "exact": 20, "rounds": 1}
    later = [n for n in range(rows) if n and rng.random() < 0.1] if rng.random() < 0.25 else []
    return Drawn(
        columns,
        people,
        [rng.choice(["north", "south", "", None]) for _ in range(rows)],
        [rng.choice(["flu", "it's", None]) for _ in range(rows)],
        numbered,
        policy,
        place,
        mode,
        later,
        rng,
    )
