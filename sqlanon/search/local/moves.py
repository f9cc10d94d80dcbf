"""Random changes of many schemes at once, for walks that go side by side."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sqlanon.domain import Bits, Family, Space
from sqlanon.search.problem import Floats
from sqlanon.search.splits import Splits

UNDO, MAKE, SHIFT = 0.2, 0.5, 0.75
"""Up to UNDO of a random number a split is undone, up to MAKE one made, up to SHIFT two of
one column are exchanged, else any two."""


@dataclass(frozen=True)
class Drawn:
    """Changes, the scheme that each is of and its number among the draws for that scheme.

    They come in the order of the schemes and, for each, of the draws. A draw that is not a
    change of its scheme is missing.
    """

    scheme: Ints
    number: Ints
    changes: Changes

    def __len__(self) -> int:
        return len(self.scheme)

    def take(self, rows: Ints | Bits) -> Drawn:
        return Drawn(self.scheme[rows], self.number[rows], self.changes.take(rows))


class Draw:
    """Draws changes of the schemes of one space."""

    def __init__(self, space: Space) -> None:
        self._splits = splits = Splits.of_space(space)
        self._column, self._free = columns_of(space, splits)
        # Splits are numbered column by column.
        columns = np.arange(len(space.columns) + 1)
        self._starts = np.searchsorted(self._column[: splits.choices], columns)

    def some(self, made: Bits, number: int, rng: np.random.Generator) -> Drawn:
        """The changes among `number` draws for each row of splits."""
        splits, column, free = self._splits, self._column, self._free
        finer = splits.refining(made) | (free & ~made)
        kind, by_up, by_down = rng.random((3, len(made), number))
        downs = _picked(_Listed(splits.coarsening(made)), by_down)
        listed = _Listed(finer)
        ups = _picked(listed, by_up)
        shifted = (kind >= MAKE) & (kind < SHIFT) & (downs >= 0)
        ups = np.where(shifted, self._beside(listed, finer, downs, by_up), ups)
        ups = np.where(kind < UNDO, -1, ups)
        downs = np.where((kind >= UNDO) & (kind < MAKE), -1, downs)
        both = (ups >= 0) & (downs >= 0)
        wanted = np.where(kind < UNDO, downs >= 0, np.where(kind < MAKE, ups >= 0, both))
        # Within a tree nothing is exchanged, and no split without the one above it is made.
        meet = both & (column[ups] == column[downs]) & ~free[ups]
        wanted &= ~meet & ~(both & (splits.above[ups] == downs))
        scheme, draw = np.nonzero(wanted)
        return Drawn(scheme, draw, Changes(ups[wanted], downs[wanted]))

    def _beside(self, listed: _Listed, finer: Bits, downs: Ints, chance: Floats) -> Ints:
        """Splits to make in the columns of those to undo, −1 where there are none."""
        before = np.concatenate([np.zeros((len(finer), 1), int), finer.cumsum(axis=1)], axis=1)
        starts = before[:, self._starts]
        rows, column = np.arange(len(finer))[:, None], self._column[downs]
        first = starts[rows, column]
        return listed.at(first, starts[rows, column + 1] - first, chance)


class _Listed:
    """The splits of a mask, row by row."""

    def __init__(self, mask: Bits) -> None:
        self.order = np.argsort(~mask, axis=1, kind="stable")
        self.count = mask.sum(axis=1)

    def at(self, first: Ints, count: Ints, chance: Floats) -> Ints:
        """One of `count` splits from the `first` on by chance, −1 of none."""
        place = np.minimum(first + (chance * count).astype(np.int64), self.order.shape[1] - 1)
        rows = np.arange(len(self.order))[:, None]
        return np.where(count > 0, self.order[rows, place], -1)


def _picked(listed: _Listed, chance: Floats) -> Ints:
    """One split a draw, any of its row's."""
    return listed.at(np.zeros(chance.shape, dtype=np.int64), listed.count[:, None], chance)


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
