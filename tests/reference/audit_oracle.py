"""Random tables, and an audit of them in pandas that shares nothing with the package."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa
from hypothesis import strategies as st
from model_oracle import Shares
from random_cases import NAMES, POOLS


@dataclass(frozen=True)
class Case:
    """A table with its roles; `table` has columns of any name and type."""

    table: pa.Table
    quasi: list[str]
    subject: str | None
    sensitive: list[str]


@st.composite
def cases(draw: st.DrawFn, *, most_rows: int = 30) -> Case:
    rows = draw(st.integers(0, most_rows))
    names = draw(st.permutations(NAMES))
    columns: dict[str, pa.Array] = {}

    def add(nullable: bool) -> str:
        type_, pool = POOLS[draw(st.sampled_from(sorted(POOLS)))]
        # Few values, so that classes have several rows.
        chosen = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=3))
        cells = st.sampled_from([*chosen, None] if nullable else chosen)
        name = names[len(columns)]
        columns[name] = pa.array(draw(st.lists(cells, min_size=rows, max_size=rows)), type_)
        return name

    quasi = [add(nullable=True) for _ in range(draw(st.integers(1, 3)))]
    sensitive = [add(nullable=True) for _ in range(draw(st.integers(0, 2)))]
    subject = add(nullable=False) if draw(st.booleans()) else None
    return Case(pa.table(columns), quasi, subject, sensitive)


def key(cell: Any) -> str:
    """One text per value: NULL is none of them, NaN are all one, and -0.0 is 0.0."""
    if isinstance(cell, float):
        return "float nan" if math.isnan(cell) else f"float {cell + 0.0!r}"
    return f"{type(cell).__name__} {cell!r}"


@dataclass(frozen=True)
class Twin:
    """What the audit must find. Sizes are {size: (classes, rows)}."""

    rows: int
    people: int
    by_rows: dict[int, tuple[int, int]]
    by_people: dict[int, tuple[int, int]]
    average_risk: float
    above: float
    sensitive: dict[str, tuple[float, int]]


def twin(case: Case, threshold: float) -> Twin:
    keys = {
        name: [key(c) for c in case.table[name].to_pylist()] for name in case.table.schema.names
    }
    frame = pd.DataFrame(keys, index=range(case.table.num_rows), dtype="object")
    who = "\0who"
    frame[who] = frame[case.subject] if case.subject is not None else range(len(frame))
    by_rows: Counter[int] = Counter()
    by_people: Counter[int] = Counter()
    rows_of: Counter[int] = Counter()
    smallest: dict[Any, int] = {}
    sensitive = dict.fromkeys(case.sensitive, (0.0, 0))
    classes = [part for _, part in frame.groupby(case.quasi, dropna=False)] if len(frame) else []
    for part in classes:
        people = set(part[who])
        by_rows[len(part)] += 1
        by_people[len(people)] += 1
        rows_of[len(people)] += len(part)
        for person in people:
            smallest[person] = min(smallest.get(person, len(people)), len(people))
        for name in case.sensitive:
            having = [len(set(part[who][part[name] == value])) for value in set(part[name])]
            share, fewest = sensitive[name]
            share = max(share, max(having) / len(people))
            sensitive[name] = (share, min(fewest or len(having), len(having)))
    risks = [1 / size for size in smallest.values()]
    return Twin(
        rows=len(frame),
        people=len(smallest),
        by_rows={size: (n, n * size) for size, n in by_rows.items()},
        by_people={size: (n, rows_of[size]) for size, n in by_people.items()},
        average_risk=sum(risks) / len(risks) if risks else 0.0,
        above=sum(risk > threshold for risk in risks) / len(risks) if risks else 0.0,
        sensitive=sensitive,
    )


# Privacy models


@dataclass(frozen=True)
class Class:
    rows: int
    shares: Shares


def classes_of(
    table: pa.Table, quasi: Sequence[str], subject: str | None, sensitive: str
) -> list[Class]:
    """NULL is a value, all NaN are one, -0.0 is 0.0 (see key)."""
    found: dict[Hashable, list[tuple[Hashable, Hashable]]] = {}
    for number, row in enumerate(table.to_pylist()):
        person = number if subject is None else key(row[subject])
        name = tuple(key(row[each]) for each in quasi)
        found.setdefault(name, []).append((person, key(row[sensitive])))
    return [Class(len(pairs), Shares.of(pairs)) for pairs in found.values()]


def whole_of(table: pa.Table, subject: str | None, sensitive: str) -> Shares:
    """People by value, over all rows of a table."""
    one = classes_of(table, [], subject, sensitive)
    return one[0].shares if one else Shares.of([])


def in_order(tables: Sequence[pa.Table], column: str) -> list[Hashable]:
    """The distinct values of a column in ascending order, NaN after all numbers, NULL last."""
    cells: dict[Hashable, Any] = {
        key(cell): cell for table in tables for cell in table[column].to_pylist()
    }

    def rank(cell: Any) -> tuple[int, Any]:
        if cell is None:
            return (2, 0)
        return (1, 0) if isinstance(cell, float) and math.isnan(cell) else (0, cell)

    return sorted(cells, key=lambda each: rank(cells[each]))


def violating(
    classes: Sequence[Class], reached: Callable[[Shares], Any], fails: Callable[[Any], bool]
) -> tuple[int, int, int]:
    """Classes, rows and people where a bound does not hold."""
    bad = [each for each in classes if fails(reached(each.shares))]
    return len(bad), sum(each.rows for each in bad), sum(each.shares.people for each in bad)
