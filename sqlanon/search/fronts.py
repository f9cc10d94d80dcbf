"""Which of many solutions are best when two goals pull apart, and those kept during a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np
import numpy.typing as npt

from sqlanon.domain import Batch, Bits, Space
from sqlanon.metrics import Scores

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def pareto_rank(points: Floats) -> Ints:
    """0 for points that nothing dominates, 1 for those that only the former do, and so on."""
    import moocore

    return np.asarray(moocore.pareto_rank(points), dtype=np.int64)


def non_dominated(points: Floats) -> Mask:
    """The points in two objectives that no other dominates; of equal points only the first."""
    order = np.lexsort((points[:, 1], points[:, 0]))
    second = points[order, 1]
    kept = np.ones(len(points), dtype=bool)
    kept[order[1:]] = second[1:] < np.minimum.accumulate(second)[:-1]
    return kept


def take(scores: Scores, rows: npt.NDArray[np.integer]) -> Scores:
    """The scores of some schemes, in the order of `rows`."""
    return Scores(**{f.name: getattr(scores, f.name)[rows] for f in fields(scores)})


def join(parts: Sequence[Scores]) -> Scores:
    """The scores of several batches end to end."""
    names = [f.name for f in fields(Scores)]
    return Scores(**{n: np.concatenate([getattr(p, n) for p in parts]) for n in names})


class Front:
    """A non-dominated set in two objectives, in ascending order of the first.

    Of solutions with equal objectives the one with the smallest `tie` stays, compared entry by
    entry, and of those the earliest; so a scheme is never listed twice.
    """

    def __init__(self, space: Space) -> None:
        self.solutions = Batch(space, np.zeros((0, len(space.columns)), dtype=np.int32))
        self._scores: Scores | None = None
        self.points = np.zeros((0, 2))
        self._ties: Floats | None = None

    def __len__(self) -> int:
        return len(self.solutions)

    @property
    def scores(self) -> Scores:
        """The scores of the solutions; there must have been an offer."""
        assert self._scores is not None
        return self._scores

    def offer(self, batch: Batch, scores: Scores, points: Floats, ties: Floats) -> None:
        """Keeps what belongs to the front; `points` and `ties` have one row per scheme."""
        rows = np.flatnonzero(self._promising(points, ties))
        fresh, points, ties = take(scores, rows), points[rows], ties[rows]
        if self._scores is not None and self._ties is not None:
            if not len(rows):
                return
            fresh = join([self._scores, fresh])
            points = np.concatenate([self.points, points])
            ties = np.concatenate([self._ties, ties])
        ids = np.concatenate([self.solutions.ids, batch.ids[rows]])
        # The first of equal points is kept, so the one to keep has to come first.
        order = np.lexsort((*ties.T[::-1], points[:, 1], points[:, 0]))
        order = order[non_dominated(points[order])] if len(order) else order
        self.solutions = Batch(self.solutions.space, ids[order])
        self._scores, self.points, self._ties = take(fresh, order), points[order], ties[order]

    def _promising(self, points: Floats, ties: Floats) -> npt.NDArray[np.bool_]:
        """Not dominated by the front so far, nor equal to a point of it without a better tie.

        Most of what a converged search offers is already here: this is much cheaper than
        building the front anew.
        """
        if not len(self) or self._ties is None:
            return np.ones(len(points), dtype=bool)
        # The second objective descends, so the last point no greater in the first decides.
        rival = np.searchsorted(self.points[:, 0], points[:, 0], side="right") - 1
        beaten = (rival >= 0) & (self.points[rival, 1] <= points[:, 1])
        same = (self.points[rival] == points).all(axis=1)
        return np.asarray(~beaten | (same & _less(ties, self._ties[rival])))


def _less(one: Floats, other: Floats) -> npt.NDArray[np.bool_]:
    """Which rows come before those of the other, compared entry by entry."""
    less = np.zeros(len(one), dtype=bool)
    for a, b in zip(one.T[::-1], other.T[::-1], strict=True):
        less = (a < b) | ((a == b) & less)
    return less


def distinct(bits: Bits) -> Bits:
    """The distinct rows in ascending order, as np.unique gives them.

    np.unique compares rows of a million bits field by field, which takes minutes.
    """
    packed = np.packbits(bits, axis=1)
    first = {row.tobytes(): i for i, row in reversed(list(enumerate(packed)))}
    return bits[[first[key] for key in sorted(first)]]


def bits_of(batch: Batch) -> Bits:
    """The bit strings of the schemes, one per row."""
    tables = batch.space.tables
    return np.concatenate([t.bits(batch.ids[:, j]) for j, t in enumerate(tables)], axis=1)
