"""The crossovers of the GENITOR paper (Lunacek, Whitley & Ray, GECCO 2006).

NEW   one point, only where both parents have a cut: generalizations on either side of a cut
      do not depend on each other, so the child of valid parents is valid
TRAD  Booker's two-point crossover on reduced surrogates, then repair to a closest valid
      string, as Iyengar did

Both yield one child, or None where no choice of points makes a child that differs from both
parents; a search falls back on mutation there. Each mutates in its own way: TRAD flips a bit
and repairs, NEW crosses with a random valid individual, the stranger, wherever a flipped bit
may be invalid. A *point* p lies between the first p bits and the rest: "after bit p" in the
words of the paper.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from sqlanon.domain import Bits, Family, Space, null_apart
from sqlanon.search.splits import Splits

Ints = npt.NDArray[np.int64]


class Crossover(Protocol):
    """Makes valid bit strings of a space from valid ones."""

    def __call__(self, first: Bits, second: Bits, rng: np.random.Generator) -> Bits | None:
        """A child that begins like the first parent, or None."""

    def mutated(self, parent: Bits, rng: np.random.Generator) -> Bits:
        """The parent changed at random."""


class New:
    """The crossover that keeps valid strings valid.

    A point is eligible right after a bit that is 1 in both parents, in a contiguous or
    taxonomic column, when it comes after a segment of agreement followed by one of
    disagreement, and when the parents disagree somewhere after it too: so the child is none
    of them.

    The border between two columns is a cut that every individual has, though no bit says so.
    It counts as a bit on which the parents agree, equal to 1: an eligible point, and a
    segment of agreement. So does the border before the first column. A full-domain column
    has one level for all its atoms, so its borders are its only points.

    All points between two neighbouring disagreements make the same child. They count once,
    as the first of them, and the point is drawn uniformly among those.
    """

    def __init__(self, space: Space) -> None:
        self._space = space
        self._splits = Splits.of_space(space)
        self._inner = np.zeros(space.positions, dtype=bool)
        for j, column in enumerate(space.columns):
            self._inner[space.segment(j)] = column.family is not Family.FULL_DOMAIN
        self._borders = np.zeros(space.positions + 1, dtype=bool)
        self._borders[space.offsets] = True

    def points(self, first: Bits, second: Bits) -> Ints:
        """The eligible points, one for each child that there can be."""
        differ = np.flatnonzero(first != second)
        cuts = self._borders.copy()
        cuts[1:] |= first & second & self._inner
        shared = np.flatnonzero(cuts)
        # Point p parts bits p − 1 and p: it lies between the disagreements d and e when
        # d < p ≤ e.
        following = shared[np.searchsorted(shared, differ[:-1], side="right")]
        return following[following <= differ[1:]]

    def __call__(self, first: Bits, second: Bits, rng: np.random.Generator) -> Bits | None:
        points = self.points(first, second)
        if not len(points):
            return None
        return joined(first, second, int(points[rng.integers(len(points))]))

    def mutated(self, parent: Bits, rng: np.random.Generator) -> Bits:
        """The parent changed in one column, that of a position drawn at random.

        The paper replaces mutation of a constrained attribute by crossover with a random
        individual. So in a contiguous column, where every string is valid, the bit is flipped,
        and elsewhere the parent is crossed with a stranger that differs from it in this column
        alone, or becomes the stranger where the two have no child.
        """
        free = self._splits.free
        if not len(free):
            return parent.copy()
        position = int(free[rng.integers(len(free))])
        j = int(np.searchsorted(self._space.offsets, position, side="right")) - 1
        segment, column = self._space.segment(j), self._space.columns[j]
        other = parent.copy()
        if column.family is Family.CONTIGUOUS:
            other[position] ^= True
            if column.domain.has_null:
                other[segment] = null_apart(other[segment])
            return other
        other[segment] = self._splits.random(1, rng)[0, segment]
        child = self(parent, other, rng)
        return other if child is None else child


class NewStrangers(New):
    """The same crossover; mutation is crossover of the whole string with a stranger.

    So it can be read too. It exchanges half of the string on average, and seldom helps.
    """

    def mutated(self, parent: Bits, rng: np.random.Generator) -> Bits:
        """The child of the parent and a stranger, or the stranger where the two have no child."""
        stranger = self._splits.random(1, rng)[0]
        child = self(parent, stranger, rng)
        return stranger if child is None else child


class Trad:
    """Two-point crossover on reduced surrogates, repaired.

    The reduced surrogates are the bits on which the parents disagree. Two different points
    are drawn among the places between, before and after those bits, not both ends at once;
    the first parent receives what lies between the points from the second. The repair may
    still end at a parent.
    """

    def __init__(self, splits: Splits) -> None:
        self._splits = splits

    def __call__(self, first: Bits, second: Bits, rng: np.random.Generator) -> Bits | None:
        differ = np.flatnonzero(first != second)
        last = len(differ)
        if last < 2:
            return None
        start, stop = two_places(last, rng)
        end = int(differ[stop]) if stop < last else len(first)
        return self._splits.closest(exchanged(first, second, int(differ[start]), end), rng)

    def mutated(self, parent: Bits, rng: np.random.Generator) -> Bits:
        """The parent with one bit flipped, repaired.

        So it may be the parent again: as the paper says, a flip in a taxonomic column often
        has no effect, or one that reaches further than the bit.
        """
        free, flipped = self._splits.free, parent.copy()
        if len(free):
            flipped[free[rng.integers(len(free))]] ^= True
        return self._splits.closest(flipped, rng)


def two_places(last: int, rng: np.random.Generator) -> tuple[int, int]:
    """Two different places from 0 to `last`, in order, uniformly, but not both ends at once."""
    start = stop = 0
    while start == stop or (start, stop) == (0, last):
        start, stop = sorted(rng.integers(last + 1, size=2).tolist())
    return start, stop


def joined(first: Bits, second: Bits, point: int) -> Bits:
    """The first parent's bits up to a point, the second's after it."""
    return np.concatenate([first[:point], second[point:]])


def exchanged(first: Bits, second: Bits, start: int, stop: int) -> Bits:
    """The first parent with the second's bits between two points."""
    child = first.copy()
    child[start:stop] = second[start:stop]
    return child
