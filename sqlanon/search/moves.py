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
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sqlanon.model import Family
from sqlanon.scheme import Bits, Space
from sqlanon.search.taxonomy import Splits

Ints = npt.NDArray[np.int64]

MOST_EXCHANGES = 10_000
"""So many exchanges of one scheme are tried, however many there are."""


@dataclass(frozen=True)
class Changes:
    """Some changes of schemes: the split that each makes and the one it undoes, −1 = none."""

    finer: Ints
    coarser: Ints

    def __len__(self) -> int:
        return len(self.finer)

    def take(self, rows: npt.NDArray[np.integer] | Bits) -> Changes:
        return Changes(self.finer[rows], self.coarser[rows])

    def applied(self, splits: Splits, made: Bits) -> Bits:
        """The splits after each change, one row a change; a split is made with the one above."""
        return self.applied_to(splits, np.tile(made, (len(self), 1)))

    def applied_to(self, splits: Splits, rows: Bits) -> Bits:
        """The same where each change has a scheme of its own, whose row is overwritten."""
        undone, done = np.flatnonzero(self.coarser >= 0), np.flatnonzero(self.finer >= 0)
        rows[undone, self.coarser[undone]] = False
        rows[done, self.finer[done]] = True
        above = splits.above[self.finer[done]]
        rows[done[above >= 0], above[above >= 0]] = True
        return rows


def moves(space: Space, made: Bits) -> Changes:
    """All moves from the scheme with these splits, the coarsening ones first."""
    finer, coarser = _single(space, made)
    no_finer, no_coarser = np.full(len(coarser), -1), np.full(len(finer), -1)
    return Changes(np.append(no_finer, finer), np.append(coarser, no_coarser))


def exchanges_of(space: Space, made: Bits) -> Changes:
    """All exchanges of the scheme with these splits, or those that are offered of very many.

    A column of thousands of atoms has millions of exchanges: of more than MOST_EXCHANGES,
    paired in order, only every s-th is offered, where s is the least number that leaves so
    few and shares no factor with the number of coarsening moves, so that the moves of either
    kind take part evenly.
    """
    splits = Splits.of_space(space)
    column, free = columns_of(space, splits)
    finer, coarser = _paired(*_single(space, made))
    meet = (column[finer] == column[coarser]) & ~free[finer]
    kept = ~meet & (splits.above[finer] != coarser)
    return Changes(finer[kept], coarser[kept])


def _single(space: Space, made: Bits) -> tuple[Ints, Ints]:
    """The splits that can be made and those that can be undone."""
    splits = Splits.of_space(space)
    _, free = columns_of(space, splits)
    finer = np.flatnonzero(splits.refining(made) | (free & ~made))
    return finer, np.flatnonzero(splits.coarsening(made))


def _paired(finer: Ints, coarser: Ints) -> tuple[Ints, Ints]:
    """All pairs, or every s-th where there are too many."""
    pairs = len(finer) * len(coarser)
    step = max(1, -(-pairs // MOST_EXCHANGES))
    while math.gcd(step, len(coarser)) > 1:
        step += 1
    i, j = np.divmod(np.arange(0, pairs, step), max(1, len(coarser)))
    return finer[i], coarser[j]


def columns_of(space: Space, splits: Splits) -> tuple[Ints, Bits]:
    """The column of each split, and whether its cuts are free: those of contiguous columns."""
    column = np.zeros(len(splits), dtype=np.int64)
    column[splits.at] = np.repeat(
        np.arange(len(space.columns)), [c.positions for c in space.columns]
    )
    contiguous = np.array([c.family is Family.CONTIGUOUS for c in space.columns], dtype=bool)
    return column, contiguous[column]
