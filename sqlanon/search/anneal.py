"""Annealing: long walks of small changes that accept worse schemes too, but ever less so.

Polishing and kicks only ever lead from a good scheme to those near it, and the schemes
between it and a better one may all be worse. Here a change may raise ach by a random amount
whose mean, a share of ach, sinks from HOT to COLD. That amount is drawn before a change is
scored: a change whose bound is beyond it, or that is known to be infeasible, costs no query.
Some changes are drawn ahead and scored together; the walk takes the first that it may.

Several walks go side by side, so that a query has enough to do. They differ by chance only.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sqlanon.scheme import Bits
from sqlanon.search.front import take
from sqlanon.search.moves import Changes, columns_of
from sqlanon.search.polish import Place, never, place_of, rank_of
from sqlanon.search.problem import Floats, Ints, Problem
from sqlanon.search.screen import Screen
from sqlanon.search.taxonomy import Splits

HOT, COLD = 0.02, 0.004
"""By which share of ach a change may be worse on average, at first and at last."""
WALKS = 6
"""Walks side by side."""
STEPS, MOST_STEPS = 4, 50_000
"""Changes that a walk draws: so many for each pair of splits, and at most."""
MOST_ASKED = 120_000
"""So many schemes are asked for at most; the walks cool faster where that would not suffice."""
REMEMBERED = 12_000
"""So many infeasible schemes are kept: more than for polishing, because walks come back."""
DRAWN, ASKED = 32, 8
"""Changes drawn ahead from one scheme, and how many of them are scored together at most."""
UNDO, MAKE, SHIFT = 0.2, 0.5, 0.75
"""Up to UNDO of a random number a split is undone, up to MAKE one made, up to SHIFT two of
one column are exchanged, else any two."""


def anneal(
    problem: Problem,
    start: Place,
    budget: int,
    rng: np.random.Generator,
    stop: Callable[[], bool] = never,
) -> Place:
    """The best scheme on walks from a feasible one; an infeasible one is returned as it is.

    Ends early when `budget` schemes have been asked for or when `stop`, called after every
    batch, says so.
    """
    splits = Splits.of_space(problem.space)
    if not start.feasible or not len(splits):
        return start
    draw, screen = _Draw(problem, splits), Screen(problem, REMEMBERED)
    steps, most = min(STEPS * len(splits) ** 2, MOST_STEPS), min(MOST_ASKED, budget)
    walks = [_Walk(problem, splits, start, own) for own in rng.spawn(WALKS)]
    best, asked = start, 0
    while walks and asked < most:
        room = most - asked
        for walk in walks:
            cooled = max(walk.step / steps, asked / MOST_ASKED)
            walk.propose(draw, screen, HOT * (COLD / HOT) ** cooled, min(ASKED, room))
            room -= len(walk.proposed)
        bits = np.concatenate([walk.proposed for walk in walks])
        ends = np.cumsum([len(walk.proposed) for walk in walks])
        if len(bits):
            scores = problem.evaluate(problem.space.batch_of_bits(bits))
            asked += len(bits)
            screen.learn(bits, scores)
            ranks = rank_of(problem, scores)
            for walk, end in zip(walks, ends.tolist(), strict=True):
                first = end - len(walk.proposed)
                taken = walk.go_on(ranks[first:end])
                if taken is not None:
                    row = np.array([first + taken])
                    walk.here = place_of(problem, bits[row], take(scores, row))
                    best = min(best, walk.here, key=lambda place: place.rank)
            if stop():
                break
        else:
            for walk in walks:
                walk.go_on(np.zeros((0, 3)))
        walks = [walk for walk in walks if walk.step < steps]
    return best


class _Walk:
    """One walk: where it is, how far it has come, and what it wants to know next."""

    def __init__(
        self, problem: Problem, splits: Splits, start: Place, rng: np.random.Generator
    ) -> None:
        self.here, self.step = start, 0
        self._problem, self._splits, self._rng = problem, splits, rng

    def propose(self, draw: _Draw, screen: Screen, heat: float, most: int) -> None:
        """Draws changes; `proposed` are the schemes, so many at most, that are to be scored."""
        splits, rng = self._splits, self._rng
        made = splits.made(self.here.bits)
        drawn, changes = draw.some(made, rng)
        limit = self.here.ach * (1 + heat * rng.exponential(size=DRAWN))[drawn]
        bounds = screen.least_ach(self._problem.preference, made, changes)
        may = np.flatnonzero(bounds <= limit)
        rows = changes.take(may).applied(splits, made)
        kept = ~screen.refines(rows)
        may, rows = may[kept], rows[kept]
        # A step is a draw: those after the last one scored or the one taken are not made.
        self._all = int(drawn[may[most]]) if len(may) > most else DRAWN
        self._drawn, self._limit = drawn[may[:most]], limit[may[:most]]
        self.proposed = splits.bits(rows[:most])

    def go_on(self, ranks: Floats) -> int | None:
        """Counts the steps that were made; the row of the proposal to go to, if there is one."""
        first = np.flatnonzero(_accepted(ranks, self._limit))[:1]
        if not len(first):
            self.step += self._all
            return None
        self.step += int(self._drawn[first[0]]) + 1
        return int(first[0])


def _accepted(ranks: Floats, limit: Floats) -> Bits:
    return np.asarray((ranks[:, :2] == 0).all(axis=1) & (ranks[:, 2] <= limit))


class _Draw:
    """Random changes of a scheme."""

    def __init__(self, problem: Problem, splits: Splits) -> None:
        self._splits = splits
        self._column, self._free = columns_of(problem.space, splits)

    def some(self, made: Bits, rng: np.random.Generator) -> tuple[Ints, Changes]:
        """Which of DRAWN draws gave a change, and these changes."""
        splits, column, free = self._splits, self._column, self._free
        finer = np.flatnonzero(splits.refining(made) | (free & ~made))
        coarser = np.flatnonzero(splits.coarsening(made))
        kind = rng.random(DRAWN)
        ups, downs = _picked(finer, rng), _picked(coarser, rng)
        # One of the same column: the first of the splits in a random order.
        shifted = np.flatnonzero((kind >= MAKE) & (kind < SHIFT) & (downs >= 0))
        if len(finer) and len(shifted):
            fits = column[finer] == column[downs[shifted], None]
            chosen = np.where(fits, rng.random(fits.shape), -1.0).argmax(axis=1)
            ups[shifted] = np.where(fits.any(axis=1), finer[chosen], -1)
        ups = np.where(kind < UNDO, -1, ups)
        downs = np.where((kind >= UNDO) & (kind < MAKE), -1, downs)
        both = (ups >= 0) & (downs >= 0)
        meet = both & (column[ups] == column[downs]) & ~free[ups]
        wanted = np.where(kind < UNDO, downs >= 0, np.where(kind < MAKE, ups >= 0, both))
        drawn = np.flatnonzero(wanted & ~meet & ~(both & (splits.above[ups] == downs)))
        return drawn, Changes(ups[drawn], downs[drawn])


def _picked(splits: Ints, rng: np.random.Generator) -> Ints:
    """DRAWN of some splits at random, −1 where there are none."""
    if not len(splits):
        return np.full(DRAWN, -1)
    return np.asarray(splits[rng.integers(len(splits), size=DRAWN)])
