"""The splits of one column, as its family has them; `taxonomy` says what a split is."""

from __future__ import annotations

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
    for positions, parent in _splits_of_values(column):
        at[positions] = len(above)
        above.append(root if parent is None else parent + root + 1)
    return at, np.array(above, dtype=np.int64)


def _splits_of_values(column: Column) -> list[tuple[list[int], int | None]]:
    """Positions of each split but NULL's own, and the number of the split above it."""
    if column.family is _LEVELS:
        return _splits_of_levels(column)
    inner = list(range(column.domain.width - 1))
    if column.family is Family.CONTIGUOUS:
        return [([position], None) for position in inner]
    if column.hierarchy is None:
        return [(inner, None)] if inner else []
    found: list[tuple[list[int], int | None]] = []
    pending: list[tuple[int, int | None]] = []
    for node in column.hierarchy.nodes():
        while pending and pending[-1][0] <= node.start:
            pending.pop()
        children = column.hierarchy.children(node)
        if children:
            cuts = [child.start - 1 for child in children[1:]]
            found.append((cuts, pending[-1][1] if pending else None))
            pending.append((node.stop, len(found) - 1))
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
