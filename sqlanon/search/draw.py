"""Random changes of many schemes at once, for walks that go side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlanon.scheme import Bits, Space
from sqlanon.search.moves import Changes, columns_of
from sqlanon.search.problem import Floats, Ints
from sqlanon.search.taxonomy import Splits

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
