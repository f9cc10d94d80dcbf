"""The search for a cut tree: which columns it may cut and where, and what it must hold."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Literal

from pydantic.dataclasses import dataclass

from sqlanon.domain import (
    Column,
    CutTree,
    Hierarchy,
    Histogram,
    Labels,
    Scheme,
    refined_partitions,
)
from sqlanon.errors import SearchError
from sqlanon.evaluate import BestCuts, Care, CutColumn, Demands
from sqlanon.keys import about
from sqlanon.privacy import Model
from sqlanon.search.method import SETTINGS
from sqlanon.search.multidimensional.public_lines import starts_of
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
        CutColumn(starts_of(c, labels), _forced(c), c.weight if by_weight else 1.0) for c in columns
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


def _forced(column: Column) -> tuple[int, ...]:
    return tuple(cut + 1 for cut in column.coarsest.cuts)


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
