"""The smallest changes of a scheme: one group split or two merged, a level up or down.

A move changes one column and stays within its family. Contiguous columns add or remove one
cut; taxonomic ones split a node into its children or merge all children into their parent;
full-domain ones go a level up or down. So a move makes or undoes one *split* (taxonomy.py),
but for one case: the first cut of a contiguous column with NULL sets NULL apart as well.

An exchange is a refining and a coarsening move at once, which keeps the amount of
generalization about the same: a cut moved to another place, or one column made finer and
another coarser. Within a tree nothing is exchanged.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sqlanon.model import Family
from sqlanon.scheme import Bits, Space
from sqlanon.search.taxonomy import Splits

Ints = npt.NDArray[np.int64]

MOST_EXCHANGES = 10_000
"""So many exchanges of one scheme are tried, however many there are."""
ROWS = 1_000
"""So many neighbours are laid out as bits at a time."""


def neighbours(space: Space, bits: Bits, *, exchanges: bool) -> Iterator[Bits]:
    """The schemes one move away, or those one exchange away, some rows at a time.

    Each comes once, the coarsening moves first. A column of thousands of atoms has millions
    of exchanges: of more than MOST_EXCHANGES, paired in order, only every s-th is offered,
    where s is the least number that leaves so few and shares no factor with the number of
    coarsening moves, so that the moves of either kind take part evenly.
    """
    splits = Splits.of_space(space)
    made = splits.made(bits)
    column, free = _columns_of(space, splits)
    finer = np.flatnonzero(splits.refining(made) | (free & ~made))
    coarser = np.flatnonzero(splits.coarsening(made))
    if exchanges:
        finer, coarser = _paired(finer, coarser)
        meet = (column[finer] == column[coarser]) & ~free[finer]
        kept = ~meet & (splits.above[finer] != coarser)
        finer, coarser = finer[kept], coarser[kept]
    else:
        no_finer, no_coarser = np.full(len(coarser), -1), np.full(len(finer), -1)
        finer, coarser = np.append(no_finer, finer), np.append(coarser, no_coarser)
    for start in range(0, len(finer), ROWS):
        chunk = slice(start, start + ROWS)
        yield splits.bits(_changed(splits, made, finer[chunk], coarser[chunk]))


def _changed(splits: Splits, made: Bits, finer: Ints, coarser: Ints) -> Bits:
    """A row for each pair of a split to make, with the one above it, and one to undo; −1 = none."""
    rows = np.tile(made, (len(finer), 1))
    undone, done = np.flatnonzero(coarser >= 0), np.flatnonzero(finer >= 0)
    rows[undone, coarser[undone]] = False
    rows[done, finer[done]] = True
    above = splits.above[finer[done]]
    rows[done[above >= 0], above[above >= 0]] = True
    return rows


def _paired(finer: Ints, coarser: Ints) -> tuple[Ints, Ints]:
    """All pairs, or every s-th where there are too many."""
    pairs = len(finer) * len(coarser)
    step = max(1, -(-pairs // MOST_EXCHANGES))
    while math.gcd(step, len(coarser)) > 1:
        step += 1
    i, j = np.divmod(np.arange(0, pairs, step), max(1, len(coarser)))
    return finer[i], coarser[j]


def _columns_of(space: Space, splits: Splits) -> tuple[Ints, Bits]:
    """The column of each split, and whether its cuts are free: those of contiguous columns."""
    column = np.zeros(len(splits), dtype=np.int64)
    column[splits.at] = np.repeat(
        np.arange(len(space.columns)), [c.positions for c in space.columns]
    )
    contiguous = np.array([c.family is Family.CONTIGUOUS for c in space.columns], dtype=bool)
    return column, contiguous[column]
