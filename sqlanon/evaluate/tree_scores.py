"""Scores of a cut tree: its regions are counted as the atoms of one column.

What makes a class (sizes, suppression, models, people with several rows) is measured by the same
queries as for other schemes, on a histogram in which the region of a row stands in place of the
columns that the tree cuts. Losses follow from the rows that are left in each region.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlanon.domain import (
    Codes,
    Column,
    CutTree,
    Family,
    Hierarchy,
    Histogram,
    Ints,
    Partition,
    PartitionTable,
    Run,
    Scheme,
    Space,
    ValueDomain,
)
from sqlanon.engines import Kind
from sqlanon.evaluate.evaluator import Evaluator
from sqlanon.metrics import (
    METRICS,
    CostModel,
    GroupCost,
    Scores,
    Suppression,
    asked_of,
    score,
)
from sqlanon.privacy import Model

REGION = "region"
CHUNK = 4_000_000
"""Cells of group numbers that are held at a time."""


@dataclass(frozen=True)
class TreeScores:
    """The scores of a scheme with a cut tree, and by column the released rows of every group."""

    scores: Scores
    released: list[Ints]


def score_tree(
    histogram: Histogram,
    scheme: Scheme,
    *,
    suppression: Suppression,
    label: str | None = None,
    models: Sequence[Model] = (),
    hierarchies: Mapping[str, Hierarchy] | None = None,
    further: Collection[str] = (),
    workers: int | None = None,
) -> TreeScores:
    """Scores a scheme with a cut tree; further metrics that look at tuples are left out."""
    assert scheme.tree is not None
    by_region, classes = _by_region(histogram, scheme, scheme.tree)
    with Evaluator(
        by_region,
        suppression=suppression,
        label=label,
        models=models,
        hierarchies=hierarchies,
        workers=workers,
    ) as evaluator:
        batch = by_region.space.batch([classes])
        measured = evaluator.measure(batch)
        regions, *others = evaluator.released_rows(batch)[0]
    released = _released(scheme, scheme.tree, regions, others)
    asked = asked_of(histogram, [key for key in further if not METRICS[key].needs_tuples])
    loss = _losses(CostModel(histogram, asked), scheme, released)
    # What is left out has no loss here, so there is nothing to take off for it.
    nothing = np.zeros((len(measured.small_loss), len(loss)), dtype=np.int64)
    whole = replace(measured, loss=loss[None], small_loss=nothing)
    scores = score(whole, histogram, suppression, models, asked)
    return TreeScores(scores, released)


def _by_region(histogram: Histogram, scheme: Scheme, tree: CutTree) -> tuple[Histogram, Scheme]:
    """The histogram by regions and the uncut columns, and the scheme whose classes are counted."""
    cut = tree.cut_columns
    uncut = [j for j in range(len(scheme.columns)) if j not in cut]
    domain = ValueDomain(REGION, Kind.INTEGER, tuple(range(len(tree.regions.node))))
    # The finest level of a full-domain column is told apart by few bits.
    region = Column(domain, family=Family.FULL_DOMAIN)
    columns = (region, *(scheme.columns[j] for j in uncut))
    partitions = (Partition.atoms(domain.size), *(scheme.partitions[j] for j in uncut))

    def moved(codes: Codes) -> Codes:
        return np.column_stack([tree.region_of(codes), codes[:, uncut]]).astype(np.int32)

    facets = {
        name: replace(facet, tally=replace(facet.tally, codes=moved(facet.tally.codes)))
        for name, facet in histogram.facets.items()
    }
    counted = replace(
        histogram,
        space=Space(columns),
        tally=replace(histogram.tally, codes=moved(histogram.tally.codes)),
        facets=facets,
    )
    return counted, Scheme(columns, partitions)


def _released(scheme: Scheme, tree: CutTree, regions: Ints, others: Sequence[Ints]) -> list[Ints]:
    """By column the released rows of each of its groups."""
    uncut, found = iter(others), []
    for j, groups in enumerate(scheme.groups):
        if j in tree.cut_columns:
            rows = np.zeros(len(groups), dtype=np.int64)
            np.add.at(rows, tree.group_of_region[:, j], regions)
            found.append(rows)
        else:
            found.append(next(uncut))
    return found


def _losses(costs: CostModel, scheme: Scheme, released: Sequence[Ints]) -> Ints:
    """Σ over released rows of the cost of their group, by kind of cost and column."""
    return np.array(
        [
            int(rows @ run_costs(cost, groups))
            for kind in costs.kinds
            for cost, groups, rows in zip(kind, scheme.groups, released, strict=True)
        ],
        dtype=np.int64,
    )


def run_costs(cost: GroupCost, runs: Sequence[Run]) -> Ints:
    """What each of some runs of atoms costs; they may overlap."""
    column = cost.table.column
    found = [np.zeros(0, dtype=np.int64)]
    step = max(1, CHUNK // max(column.size, 1))
    for first in range(0, len(runs), step):
        some = runs[first : first + step]
        table = PartitionTable(column)  # of its own: no search should number these partitions
        own = type(cost)(table, cost.rows_by_atom)
        bits = np.zeros((len(some), column.positions), dtype=bool)
        for row, (start, stop) in zip(bits, some, strict=True):
            row[[p - 1 for p in (start, stop) if 0 < p < column.size]] = True
        ids = table.intern(bits)
        number = np.array([min(start, 1) for start, _ in some])
        found.append(own.by_group(ids)[np.arange(len(some)), number])
    return np.concatenate(found)
