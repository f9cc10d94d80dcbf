"""The search for a cut tree: which columns it may cut and where, and what it must hold.

The ends of a region are released, and a cut that follows the data would show where people are. So
columns are cut at every edge of a declared range, at the borders of the hierarchy, and in a column
of numbers or dates without either between round values. There the ends that are written are the
observed values next to a line; declare a range to release lines that are known without the data.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np

from sqlanon.domain import (
    Column,
    CutTree,
    Hierarchy,
    Histogram,
    IntervalDomain,
    Ints,
    Partition,
    Scheme,
    Value,
)
from sqlanon.errors import SearchError
from sqlanon.evaluate import BestCuts, CutColumn, Demands
from sqlanon.privacy import Model
from sqlanon.search.outcome import Progress, Watch

MOST_FORCED = 10_000
"""So many regions at most may follow from the max_level of the columns alone."""
MOST_LINES = 40
"""Round steps are so wide that a column has at most so many lines."""


def cut_tree(
    histogram: Histogram,
    k: int,
    models: Sequence[Model],
    hierarchies: Mapping[str, Hierarchy],
    watch: Watch,
    *,
    by_weight: bool = True,
    workers: int | None = None,
) -> tuple[Scheme, int]:
    """The scheme of the best tree for a k, level by level, and the queries that it took.

    Every region that holds people holds at least k of them, and satisfies the models, unless
    `max_level` asks for regions that cannot. With `by_weight` the columns count by their weights.
    """
    _refuse(histogram, models)
    columns = histogram.space.columns
    _refuse_forced(columns)
    cut_columns = [
        CutColumn(
            line_starts(column),
            tuple(cut + 1 for cut in column.coarsest.cuts),
            column.weight if by_weight else 1.0,
        )
        for column in columns
    ]
    best = BestCuts(histogram, cut_columns, Demands(tuple(models), k, hierarchies), workers)
    try:
        tree = best.tree(lambda nodes: not watch.step(Progress(evaluations=nodes)))
    finally:
        best.close()
    return scheme_of(columns, tree), best.queries


def scheme_of(columns: Sequence[Column], tree: CutTree) -> Scheme:
    """The scheme of a tree; a column that it does not cut is one group."""
    cut = tree.cut_columns
    partitions = [
        tree.refined(j) if j in cut else Partition.whole(column.size)
        for j, column in enumerate(columns)
    ]
    return Scheme(tuple(columns), tuple(partitions), tree=tree)


def _refuse_forced(columns: Collection[Column]) -> None:
    regions = 1
    for column in columns:
        regions *= len(column.coarsest)
        if regions > MOST_FORCED:
            raise SearchError(
                f"search.recoding: multidimensional: the max_level of the columns up to "
                f"{column.name!r} alone asks for {regions:,} regions, and {MOST_FORCED:,} is the "
                "most; raise max_level, or take recoding global"
            )


def _refuse(histogram: Histogram, models: Sequence[Model]) -> None:
    """Refuses models that prefix sums cannot judge."""
    moves = histogram.tally.has_movers
    for model in models:
        reason = None
        if model.needs_population:
            reason = "counts a population, which regions are not counted on yet"
        elif moves and not model.asks_which_occur:
            reason = "cannot be added up where people have rows in several places"
        if reason is not None:
            raise SearchError(
                f"search.recoding: multidimensional: {model.describe()} {reason}; take recoding "
                "global"
            )


def line_starts(column: Column) -> Ints:
    """The atoms at which a region may begin, and 0, ascending."""
    cuts = [p + 1 for p in _cuts(column)]
    if column.domain.has_null and column.domain.width:
        cuts.append(column.domain.width)
    return np.array(sorted({0, *cuts}), dtype=np.int64)


def _cuts(column: Column) -> Sequence[int]:
    domain, finest = column.domain, column.finest.cuts
    if isinstance(domain, IntervalDomain) or not domain.is_sorted:
        return finest
    if column.hierarchy is not None:
        # The leaves of numbers are the values themselves; the groups above them are public.
        above = column.levels[min(max(1, column.limits[0]), column.height)].cuts
        return above or finest
    allowed = set(finest)
    return [cut for cut in _round_cuts(domain.values) if cut in allowed]


def _round_cuts(values: Sequence[Value]) -> list[int]:
    """The places between values where a multiple of a round step lies."""
    numbers = [_number(value) for value in values]
    if any(number is None for number in numbers) or len(values) <= 2:
        return list(range(len(values) - 1))
    known: list[Decimal] = [number for number in numbers if number is not None]
    for step in _steps(values[0], (known[-1] - known[0]) / MOST_LINES):
        places = [number // step for number in known]
        cuts = [i for i, (a, b) in enumerate(pairwise(places)) if a != b]
        if len(cuts) <= MOST_LINES:
            return cuts
    return []


def _number(value: Any) -> Decimal | None:
    """A number, or the days of a date; None where it has neither."""
    if isinstance(value, dt.datetime):
        value = value.replace(tzinfo=None) - dt.datetime(1, 1, 1)
        return Decimal(value.days) + Decimal(value.seconds) / 86_400
    if isinstance(value, dt.date):
        return Decimal(value.toordinal())
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    number = Decimal(str(value))
    return number if number.is_finite() else None


def _steps(first: Value, least: Decimal) -> list[Decimal]:
    """Round steps of at least a width: 1, 2 and 5 times a power of ten."""
    exponent = least.adjusted() if least else 0
    steps = [
        Decimal(digit).scaleb(power)
        for power in range(exponent, exponent + 4)
        for digit in (1, 2, 5)
    ]
    return [step for step in steps if step >= least]
