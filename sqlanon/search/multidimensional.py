"""The search for a cut tree: which columns it may cut and where, and what it must hold.

The ends of a region are released, and a cut that follows the data would show where people are. So
columns are cut at every edge of a declared range, at the borders of the hierarchy, and in a column
of numbers or dates without either between round values. There the ends that are written are the
observed values next to a line; declare a range to release lines that are known without the data.
"""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic.dataclasses import dataclass

from sqlanon.domain import (
    Column,
    CutTree,
    Hierarchy,
    Histogram,
    IntervalDomain,
    Ints,
    Labels,
    Scheme,
    Value,
    refined_partitions,
)
from sqlanon.errors import SearchError
from sqlanon.evaluate import BestCuts, Care, CutColumn, Demands
from sqlanon.keys import about
from sqlanon.privacy import Model
from sqlanon.search.method import SETTINGS
from sqlanon.search.outcome import Progress, Watch

EFFORTS = {
    "fast": Care(shortlist=0, lookahead=1),
    "default": Care(),
    "thorough": Care(shortlist=16, lookahead=8, within=sys.maxsize),
}


@dataclass(frozen=True, config=SETTINGS)
class TreeSettings:
    """What a policy may set of the search for a cut tree."""

    effort: Annotated[
        Literal["fast", "default", "thorough"],
        about("How carefully cuts are chosen: by one column, by all, or with the next cuts too."),
    ] = "default"


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
    labels: Labels = Labels.REGION,
    effort: str = "default",
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
            starts_of(column, labels),
            tuple(cut + 1 for cut in column.coarsest.cuts),
            column.weight if by_weight else 1.0,
        )
        for column in columns
    ]
    demands, boxed = Demands(tuple(models), k, hierarchies), labels is not Labels.REGION
    care = EFFORTS[effort]
    best = BestCuts(histogram, cut_columns, demands, workers, boxed=boxed, care=care)
    try:
        tree = best.tree(lambda nodes: not watch.step(Progress(evaluations=nodes)))
    finally:
        best.close()
    return scheme_of(columns, tree), best.queries


def scheme_of(columns: Sequence[Column], tree: CutTree) -> Scheme:
    """The scheme of a tree; a column that it does not cut is one group."""
    return Scheme(tuple(columns), refined_partitions(tree, columns), tree=tree)


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
    return _starts(column, _cuts(column))


def atom_starts(column: Column) -> Ints:
    """The same where regions may begin anywhere that `min_level` allows."""
    return _starts(column, column.finest.cuts)


def starts_of(column: Column, labels: Labels) -> Ints:
    """The atoms at which a region may begin in a search for such labels."""
    return atom_starts(column) if labels is Labels.TIGHT else line_starts(column)


def labels_of(scheme: Scheme) -> Labels | None:
    """What a scheme releases of the regions of its tree; None without a tree.

    Boxes whose ends all lie on lines are snapped, whoever made them.
    """
    tree = scheme.tree
    if tree is None or not tree.has_boxes:
        return None if tree is None else Labels.REGION
    snapped = all(
        np.isin(np.array(tree.groups[j]), [*line_starts(column), column.size]).all()
        for j, column in enumerate(scheme.columns)
    )
    return Labels.SNAPPED if snapped else Labels.TIGHT


def _starts(column: Column, positions: Sequence[int]) -> Ints:
    cuts = [p + 1 for p in positions]
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


class Uncut(NamedTuple):
    """Regions that stayed whole.

    A tree is cut as far as its requirements allow. So a region that k alone would have cut shows
    that a privacy model forbade it, which says something about the sensitive values in it.

    large    those of 2k people or more
    by_k     those of them that a search for k alone would have cut
    regions  all regions with people
    """

    large: int
    by_k: int
    regions: int


def uncut(histogram: Histogram, tree: CutTree, labels: Labels, k: int) -> Uncut | None:
    """Counts the regions that stayed whole; None where people cannot be added up."""
    tally = histogram.tally
    if tally.has_movers:
        return None
    region = tree.region_of(tally.codes)
    people = np.bincount(region, tally.people, len(tree.regions.node)).astype(np.int64)
    allowed = np.zeros(len(people), dtype=bool)
    for j, column in enumerate(histogram.space.columns):
        starts = starts_of(column, labels)
        segment = np.searchsorted(starts, tally.codes[:, j], side="right") - 1
        allowed |= _cut_by_k(region, segment, len(starts), tally.people, people, column, k)
    return Uncut(int((people >= 2 * k).sum()), int(allowed.sum()), int((people > 0).sum()))


def _cut_by_k(
    region: Ints, segment: Ints, segments: int, counted: Ints, people: Ints, column: Column, k: int
) -> npt.NDArray[np.bool_]:
    """The regions in which a cut between two segments leaves k people on both sides."""
    parts, inverse = np.unique(region * segments + segment, return_inverse=True)
    size = np.bincount(inverse.reshape(-1), counted, len(parts)).astype(np.int64)
    of, at = np.divmod(parts, segments)
    first = np.searchsorted(of, of)  # where the segments of the region begin
    total = np.cumsum(size)
    before = total - (total - size)[first]
    fits = (before >= k) & (people[of] - before >= k)
    if column.domain.has_null and column.domain.width:
        # As long as a region has NULL and values, it is cut between these or not at all.
        last = np.searchsorted(of, of, side="right") - 1
        is_mixed = (at[last] == segments - 1) & (first < last)
        fits &= ~is_mixed | (np.arange(len(parts)) == last - 1)
    found = np.zeros(len(people), dtype=bool)
    found[of[fits]] = True
    return found
