"""Schemes known to be infeasible: whatever refines one of them is no more feasible.

Sets of splits are kept as 64-bit words, so that "Y refines X" is a few bitwise operations.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.scheme import Bits
from sqlanon.search.moves import Changes
from sqlanon.search.problem import Ints
from sqlanon.search.taxonomy import Splits

Words = npt.NDArray[np.uint64]

MOST_ADDED = 2
"""A move or an exchange makes at most so many splits: one, and NULL's own above it."""


class Infeasible:
    """A memory of the latest infeasible schemes, `most` of them, as sets of splits."""

    def __init__(self, splits: Splits, most: int) -> None:
        self._splits = splits
        self._most = most
        self._made = np.zeros((0, len(splits)), dtype=bool)
        self._packed = packed(self._made)

    def learn(self, made: Bits) -> None:
        """Takes in infeasible schemes, one row of splits each."""
        self._made = np.concatenate([self._made, made])[-self._most :]
        self._packed = np.concatenate([self._packed, packed(made)])[-self._most :]

    def near(self, made: Bits) -> Words:
        """Those that a move or an exchange from a scheme may lead to a refinement of."""
        return self._packed[self._is_near(made)]

    def among(self, made: Bits, changes: Changes) -> Bits:
        """Which changes of a scheme lead to a refinement of a remembered one.

        One that makes split f and undoes split c does if making f alone does and the
        remembered scheme does without c.
        """
        known = np.zeros(len(changes), dtype=bool)
        near = np.flatnonzero(self._is_near(made))
        splits = np.unique(changes.finer[changes.finer >= 0])
        if not len(near) or not len(splits):
            return known
        finer = Changes(splits, np.full(len(splits), -1)).applied(self._splits, made)
        # The last entry of a row stands for a change that undoes nothing.
        hopeless = np.zeros((len(splits), len(made) + 1), dtype=bool)
        for row, words in enumerate(packed(finer)):
            refined = near[(self._packed[near] & ~words == 0).all(axis=1)]
            if len(refined):
                hopeless[row] = np.append(~self._made[refined].all(axis=0), True)
        makes = changes.finer >= 0
        row_of = np.searchsorted(splits, changes.finer[makes])
        known[makes] = hopeless[row_of, changes.coarser[makes]]
        return known

    def _is_near(self, made: Bits) -> Bits:
        return is_near(self._packed, made)


def is_near(words: Words, made: Bits) -> Bits:
    """Which schemes of `words` a move or an exchange from a scheme may refine."""
    return np.asarray(_count(words & ~packed(made[None])) <= MOST_ADDED)


def refines_any(words: Words, known: Words) -> Bits:
    """Which schemes of `words`, one a row, refine one of the `known`."""
    return np.asarray(((known[None] & ~words[:, None]) == 0).all(axis=2).any(axis=1))


def packed(made: Bits) -> Words:
    """Rows of splits as 64-bit words."""
    raw = np.packbits(made, axis=1)
    words = np.zeros((len(made), -(-max(made.shape[1], 1) // 64) * 8), dtype=np.uint8)
    words[:, : raw.shape[1]] = raw
    return words.view(np.uint64)


def _count(words: Words) -> Ints:
    return np.asarray(np.bitwise_count(words).sum(axis=1, dtype=np.int64))
