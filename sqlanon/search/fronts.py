"""Which of many solutions are best when two goals pull apart, and those kept during a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from sqlanon.domain import Batch, Bits, Space
from sqlanon.evaluate import Unfinished
from sqlanon.metrics import Floats, Ints, Scores
from sqlanon.search.outcome import Outcome, Progress
from sqlanon.search.problem import Problem


def pareto_rank(points: Floats) -> Ints:
    """0 for points that nothing dominates, 1 for those that only the former do, and so on."""
    import moocore

    return np.asarray(moocore.pareto_rank(points), dtype=np.int64)


def frontier(first: npt.NDArray[Any], second: npt.NDArray[Any], *ties: npt.NDArray[Any]) -> Ints:
    """The rows of the points that no other dominates, ascending in the first objective.

    Of equal points the one with the smallest ties stays, and of those the earliest.
    """
    order = np.lexsort((*ties[::-1], second, first))
    ordered = second[order]
    best_before = np.minimum.accumulate(ordered)[:-1]
    return np.asarray(order[np.append(True, ordered[1:] < best_before)[: len(order)]])


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
        order = frontier(*points.T, *ties.T)
        self.solutions = Batch(self.solutions.space, ids[order])
        self._scores, self.points, self._ties = take(fresh, order), points[order], ties[order]

    def _promising(self, points: Floats, ties: Floats) -> Bits:
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


class MoopFront(Front):
    """What a search met of the solutions of MOOP: the front in f1 and f2."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.space)
        self._problem = problem
        self.asked = 0

    def meet(self, batch: Batch, scores: Scores) -> Floats:
        """Takes in scored schemes, and returns their objectives."""
        problem = self._problem
        points = np.column_stack([problem.f1(scores), problem.f2(scores)])
        self.offer(batch, scores, points, problem.ties(scores))
        self.asked += len(batch)
        return points

    def meet_part(self, ended: Unfinished) -> None:
        """Takes in what was scored of a batch before the search had to end."""
        if ended.part is not None:
            self.meet(ended.part.batch, ended.part.scores)

    @property
    def best(self) -> int | None:
        """The feasible solution with least f1, which the front ascends in."""
        feasible = np.flatnonzero(self.points[:, 1] <= 0)
        return int(feasible[0]) if len(feasible) else None

    def progress(self, limit: int) -> Progress:
        """Where a search stands that asks for so many schemes."""
        best, scores = self.best, self._scores
        if best is None or scores is None:
            return Progress(self.asked, limit)
        least = float(self.points[best, 0])
        return Progress(self.asked, limit, least, int(scores.k[best]), float(scores.nwp[best]))

    def outcome(self, method: str, stopped: str, notes: tuple[str, ...] = ()) -> Outcome:
        """Everything met, and the solution to OP."""
        objectives = objectives_of(self._problem)
        return Outcome(method, self.solutions, self.scores, self.best, objectives, stopped, notes)


def objectives_of(problem: Problem) -> tuple[str, ...]:
    """What the front is one in: with further models the worst shortfall takes the place of k."""
    return ("ach", "shortfall" if problem.models else "k")


def _less(one: Floats, other: Floats) -> Bits:
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
