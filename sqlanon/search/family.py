"""The splits of one column, as its family has them; `taxonomy` says what a split is."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sqlanon.model import Family
from sqlanon.scheme import Column

Ints = npt.NDArray[np.int64]

_LEVELS = Family.FULL_DOMAIN


def splits_of_family(column: Column) -> tuple[Ints, Ints]:
    """The split of every position, and the split that each split needs, −1 where it needs none.

    A split follows those above it. Level limits play no part here.
    """
    at = np.full(column.positions, -1, dtype=np.int64)
    above: list[int] = []
    root = -1
    if column.domain.has_null and column.positions and column.family is not _LEVELS:
        at[-1] = root = 0
        above.append(-1)
    if column.family is Family.CONTIGUOUS:  # a split for each position; there may be a million
        inner = max(column.domain.width - 1, 0)
        at[:inner] = np.arange(inner) + len(above)
        return at, np.array(above + [root] * inner, dtype=np.int64)
    for positions, parent in _splits_of_values(column):
        at[positions] = len(above)
        above.append(root if parent is None else parent + root + 1)
    return at, np.array(above, dtype=np.int64)


def _splits_of_values(column: Column) -> list[tuple[list[int], int | None]]:
    """Positions of each split but NULL's own, and the number of the split above it."""
    if column.family is _LEVELS:
        return _splits_of_levels(column)
    if column.hierarchy is None:
        inner = list(range(column.domain.width - 1))
        return [(inner, None)] if inner else []
    return _splits_of_tree(column)


def _splits_of_tree(column: Column) -> list[tuple[list[int], int | None]]:
    """One split for each node with several children, outer nodes before inner ones."""
    width = column.domain.width
    nodes: list[tuple[int, int, list[int]]] = []
    for lower, upper in pairwise(column.levels):
        parted = upper.bits[: width - 1]
        fresh = np.flatnonzero(lower.bits[: width - 1] & ~parted)
        edges = np.concatenate([[0], np.flatnonzero(parted) + 1, [width]])
        owner = np.searchsorted(edges, fresh, side="right") - 1
        first = np.flatnonzero(np.append(True, owner[1:] != owner[:-1])[: len(owner)])
        for node, part in zip(owner[first].tolist(), np.split(fresh, first[1:]), strict=False):
            nodes.append((int(edges[node]), -int(edges[node + 1]), part.tolist()))
    found: list[tuple[list[int], int | None]] = []
    pending: list[tuple[int, int]] = []
    for start, stop, cuts in sorted(nodes):
        while pending and pending[-1][0] <= start:
            pending.pop()
        found.append((cuts, pending[-1][1] if pending else None))
        pending.append((-stop, len(found) - 1))
    return found


def _splits_of_levels(column: Column) -> list[tuple[list[int], int | None]]:
    found: list[tuple[list[int], int | None]] = []
    known: set[int] = set()
    for level in reversed(column.levels):
        fresh = set(level.cuts) - known
        if fresh:
            found.append((sorted(fresh), len(found) - 1 if found else None))
            known |= fresh
    return found
