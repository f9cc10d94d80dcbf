"""The search for a cut tree: which columns it may cut and where, and what it must hold."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

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
from sqlanon.evaluate import BestCuts, CutColumn, Demands
from sqlanon.privacy import Model
from sqlanon.search.multidimensional.public_lines import atom_starts, line_starts
from sqlanon.search.outcome import Progress, Watch

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
    starts = atom_starts if labels is Labels.TIGHT else line_starts
    cut_columns = [
        CutColumn(starts(c), _forced(c), c.weight if by_weight else 1.0) for c in columns
    ]
    demands, boxed = Demands(tuple(models), k, hierarchies), labels is not Labels.REGION
    best = BestCuts(histogram, cut_columns, demands, workers, boxed=boxed)
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
