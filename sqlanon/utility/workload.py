"""Answers random COUNT queries on the source, and on a release as its readers would.

A reader knows only the group of a row in every column, and assumes that the atoms of a group are
equally likely and the columns independent: the row counts as the product over the columns of the
share of its group that the query includes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sqlanon.domain import Codes, Column, Histogram, Ints
from sqlanon.errors import UtilityError
from sqlanon.utility.released_classes import Flags, ReleasedClasses

MOST_VALUES = 3
"""The most values of a category that a query lists."""

Query = dict[int, Flags]
"""The atoms that the query includes, by number of the column; other columns are free."""


@dataclass(frozen=True)
class Workload:
    """The relative errors |estimate − count| / count of random COUNT queries.

    columns    by query the columns of its conditions
    counts     by query the matching rows of the source, at least one
    estimates  by query the count that a reader of the release estimates
    """

    seed: int
    columns: tuple[tuple[str, ...], ...] = field(repr=False)
    counts: tuple[int, ...] = field(repr=False)
    estimates: tuple[float, ...] = field(repr=False)

    @property
    def queries(self) -> int:
        return len(self.counts)

    @property
    def errors(self) -> tuple[float, ...]:
        pairs = zip(self.estimates, self.counts, strict=True)
        return tuple(abs(estimate - count) / count for estimate, count in pairs)

    @property
    def median(self) -> float:
        return self.quantile(0.5)

    @property
    def p95(self) -> float:
        return self.quantile(0.95)

    @property
    def mean(self) -> float:
        return math.fsum(self.errors) / self.queries

    def quantile(self, share: float) -> float:
        """The error that this share of the queries does not exceed, interpolated between two."""
        return float(np.quantile(np.array(self.errors), share))

    def to_dict(self) -> dict[str, Any]:
        return {
            "queries": self.queries,
            "seed": self.seed,
            "median": self.median,
            "p95": self.p95,
            "mean": self.mean,
        }


def workload(
    histogram: Histogram,
    classes: ReleasedClasses,
    number: int,
    seed: int,
    on_query: Callable[[int], None] | None = None,
) -> Workload:
    """Draws queries and answers them; calls `on_query` with the number answered so far."""
    if number < 1:
        raise UtilityError(f"{number} random queries are asked for; take at least 1")
    codes, rows = in_order(histogram.tally.codes, histogram.tally.rows)
    names = [column.name for column in histogram.space.columns]
    rng = np.random.default_rng(seed)
    columns, counts, estimates = [], [], []
    queries = draw_queries(histogram.space.columns, codes, rows, number, rng)
    for done, query in enumerate(queries, 1):
        columns.append(tuple(names[j] for j in query))
        counts.append(count_rows(query, codes, rows))
        estimates.append(estimate(query, classes))
        if on_query is not None:
            on_query(done)
    return Workload(seed, tuple(columns), tuple(counts), tuple(estimates))


def in_order(codes: Codes, rows: Ints) -> tuple[Codes, Ints]:
    """Entries of a tally in an order that depends on the data alone, not on the engine."""
    order = np.lexsort(codes.T[::-1])
    return np.asfortranarray(codes[order]), rows[order]  # column by column, as they are read


def draw_queries(
    columns: Sequence[Column], codes: Codes, rows: Ints, number: int, rng: np.random.Generator
) -> Iterator[Query]:
    """Conjunctions over some columns, each around a random row, so that none is empty."""
    up_to = np.cumsum(rows)
    for _ in range(number):
        row = codes[int(np.searchsorted(up_to, rng.integers(up_to[-1]), side="right"))]
        size = int(rng.integers(1, len(columns) + 1))
        chosen = sorted(int(j) for j in rng.permutation(len(columns))[:size])
        yield {j: _around(columns[j], int(row[j]), rng) for j in chosen}


def _around(column: Column, atom: int, rng: np.random.Generator) -> Flags:
    """Atoms that include this one: a range if the domain has an order, else a few."""
    width, taken = column.domain.width, np.zeros(column.size, dtype=bool)
    if atom == width:  # NULL lies in no range
        taken[atom] = True
    elif column.domain.is_sorted:
        length = int(rng.integers(1, width + 1))
        start = int(rng.integers(max(0, atom - length + 1), min(atom, width - length) + 1))
        taken[start : start + length] = True
    else:
        more = int(rng.integers(0, min(MOST_VALUES, column.size)))
        others = np.delete(np.arange(column.size), atom)
        taken[[atom, *rng.permutation(others)[:more]]] = True
    return taken


def count_rows(query: Query, codes: Codes, rows: Ints) -> int:
    """The rows of the source that match the query."""
    left = np.arange(len(rows))
    for j, taken in query.items():
        left = left[taken[codes[:, j][left]]]
    return int(rows[left].sum())


def estimate(query: Query, classes: ReleasedClasses) -> float:
    """The number of matching rows that a reader of the release expects."""
    left = np.arange(len(classes.rows))
    shares = np.ones(len(left))
    for j, taken in query.items():
        here = _shares(taken, [start for start, _ in classes.scheme.partitions[j].runs])
        shares = shares * here[classes.groups[:, j][left]]
        left, shares = left[shares > 0], shares[shares > 0]
    # An exact sum, whatever order and width a processor adds in.
    return math.fsum(classes.rows[left] * shares)


def _shares(taken: Flags, starts: Sequence[int]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """By group the share of its atoms that are taken; last, that of the whole domain."""
    hits = np.add.reduceat(taken.astype(np.int64), starts)
    sizes = np.diff([*starts, len(taken)])
    return np.asarray([*(hits / sizes), hits.sum() / len(taken)])
