"""Schemes known to be infeasible: whatever refines one of them is no more feasible.

Sets of splits are kept as 64-bit words, so that "Y refines X" is a few bitwise operations. An
array of them has a row for each word and a column for each scheme: schemes are many, words few,
and numpy is fast along long rows only.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.scheme import Bits
from sqlanon.search.moves import Changes
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
        self._packed = np.concatenate([self._packed, packed(made)], axis=1)[:, -self._most :]

    def near(self, made: Bits) -> Words:
        """Those that a move or an exchange from a scheme may lead to a refinement of."""
        return self._packed[:, is_near(self._packed, made)]

    def among(self, made: Bits, changes: Changes) -> Bits:
        """Which changes of a scheme lead to a refinement of a remembered one.

        One that makes split f and undoes split c does if making f alone does and the
        remembered scheme does without c.
        """
        known = np.zeros(len(changes), dtype=bool)
        near = np.flatnonzero(is_near(self._packed, made))
        splits = np.unique(changes.finer[changes.finer >= 0])
        if not len(near) or not len(splits):
            return known
        finer = Changes(splits, np.full(len(splits), -1)).applied(self._splits, made)
        # The last entry of a row stands for a change that undoes nothing.
        hopeless = np.zeros((len(splits), len(made) + 1), dtype=bool)
        candidates = self._packed[:, near]
        for row, words in enumerate(packed(finer).T):
            refined = near[_missing(candidates, words[:, None]) == 0]
            if len(refined):
                hopeless[row] = np.append(~self._made[refined].all(axis=0), True)
        makes = changes.finer >= 0
        row_of = np.searchsorted(splits, changes.finer[makes])
        known[makes] = hopeless[row_of, changes.coarser[makes]]
        return known


def is_near(known: Words, made: Bits) -> Bits:
    """Which of the `known` schemes a move or an exchange from a scheme may refine."""
    absent = np.zeros(known.shape[1], dtype=np.int64)
    for word, of_scheme in zip(known, packed(made[None]), strict=True):
        absent += np.bitwise_count(word & ~of_scheme)
    return np.asarray(absent <= MOST_ADDED)


def refines_any(schemes: Words, known: Words) -> Bits:
    """Which of the `schemes` refine one of the `known`."""
    return np.asarray((_missing(known[:, None], schemes[:, :, None]) == 0).any(axis=1))


def _missing(known: Words, schemes: Words) -> Words:
    """Splits of known schemes that others lack, 0 where there are none; folded into one word."""
    missing: Words = known[0] & ~schemes[0]
    for of_known, of_scheme in zip(known[1:], schemes[1:], strict=True):
        missing |= of_known & ~of_scheme
    return missing


def packed(made: Bits) -> Words:
    """Schemes, a row of splits each, as 64-bit words."""
    raw = np.packbits(made, axis=1)
    words = np.zeros((len(made), -(-max(made.shape[1], 1) // 64) * 8), dtype=np.uint8)
    words[:, : raw.shape[1]] = raw
    return np.ascontiguousarray(words.view(np.uint64).T)
