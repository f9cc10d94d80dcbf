"""Candidate cuts: where a search may cut a column that has very many values.

A contiguous column of thousands of values has as many places for a cut, and a search that must
try them all gets nowhere. So of a wide column only some are candidates, spread so that about as
many rows lie between any two of them: the fullest group is parted in the middle, again and
again. A value that many rows have ends up between two candidates of its own.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from sqlanon.model import Family
from sqlanon.scheme import Column, Partition, Space
from sqlanon.search.problem import Ints

MOST = 200
"""Candidates of a column, unless told otherwise."""


def with_candidates(
    space: Space, rows: Sequence[Ints], most: int = MOST
) -> tuple[Space, tuple[str, ...]]:
    """The same space with at most so many candidates a contiguous column, and what to say of it.

    `rows` has the rows of each atom, by column. Partitions have the same numbers in both
    spaces, so a batch of the one is a batch of the other. Cuts that limits demand, and NULL's,
    are candidates beside the others.
    """
    columns, notes = list(space.columns), []
    for j, column in enumerate(space.columns):
        places = len(column.finest.cuts)
        if column.family is not Family.CONTIGUOUS or places <= most:
            continue
        columns[j] = replace(column, candidates=_candidates(column, rows[j], most))
        notes.append(
            f"column {column.name!r} may be cut in {len(columns[j].finest.cuts):,} of {places:,} "
            "places, spread evenly over its rows; a higher search.cuts allows more"
        )
    if not notes:
        return space, ()
    return Space(columns, space.tables), tuple(notes)


def _candidates(column: Column, rows: Ints, most: int) -> Partition:
    allowed, kept = column.finest.bits, column.coarsest.bits.copy()
    if column.domain.has_null:
        kept[-1] = True
    # Positions and the rows up to them, with an edge before the first atom and after the last.
    edges = np.flatnonzero(np.concatenate([[True], allowed, [True]]))
    below = np.concatenate([[0], np.cumsum(rows)])[edges]
    fixed = np.flatnonzero(np.concatenate([[True], kept, [True]])[edges])
    heap = [(-int(below[b] - below[a]), int(a), int(b)) for a, b in pairwise(fixed)]
    heapq.heapify(heap)
    chosen = 0
    while heap and chosen < most:
        _, first, last = heapq.heappop(heap)
        if last - first < 2:
            continue
        middle = _middle(below, first, last)
        kept[edges[middle] - 1] = True
        chosen += 1
        for a, b in ((first, middle), (middle, last)):
            heapq.heappush(heap, (-int(below[b] - below[a]), a, b))
    return Partition.from_bits(kept)


def _middle(below: Ints, first: int, last: int) -> int:
    """The edge between two others that parts the rows between them most evenly."""
    aim = (below[first] + below[last]) / 2
    after = int(np.searchsorted(below[first + 1 : last], aim)) + first + 1
    inner = [edge for edge in (after - 1, after) if first < edge < last]
    return min(inner, key=lambda edge: (abs(float(below[edge]) - aim), edge))
