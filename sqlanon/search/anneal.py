"""Annealing: a long walk of small changes that accepts worse schemes too, but ever less so.

Polishing and kicks only ever lead from a good scheme to those near it, and the schemes
between it and a better one may all be worse. Here a change may raise ach by a random amount
whose mean, a share of ach, sinks from HOT to COLD. That amount is drawn before a change is
scored: a change whose bound is beyond it, or that is known to be infeasible, costs no query.
Some changes are drawn ahead and scored together; the walk takes the first that it may.
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
STEPS, MOST_STEPS = 18, 200_000
"""Changes drawn: so many for each pair of splits, and at most."""
MOST_ASKED = 100_000
"""So many schemes are asked for at most; the walk cools faster where that would not suffice."""
REMEMBERED = 12_000
"""So many infeasible schemes are kept: more than for polishing, because the walk comes back."""
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
    """The best scheme on a walk from a feasible one; an infeasible one is returned as it is.

    Ends early when `budget` schemes have been asked for or when `stop`, called after every
    batch, says so.
    """
    screen = Screen(problem, REMEMBERED)
    splits = Splits.of_space(problem.space)
    draw = _Draw(problem, splits)
    steps, most = min(STEPS * len(splits) ** 2, MOST_STEPS), min(MOST_ASKED, budget)
    here = best = start
    step = asked = 0
    while start.feasible and step < steps and asked < most:
        heat = HOT * (COLD / HOT) ** max(step / steps, asked / MOST_ASKED)
        made = splits.made(here.bits)
        drawn, changes = draw.some(made, rng)
        limit = here.ach * (1 + heat * rng.exponential(size=DRAWN))[drawn]
        may = np.flatnonzero(screen.least_ach(problem.preference, made, changes) <= limit)
        rows = changes.take(may).applied(splits, made)
        may = may[~screen.refines(rows)]
        # A step is a draw: those after the last one scored or the one taken are not made.
        taken = int(drawn[may[ASKED]]) if len(may) > ASKED else DRAWN
        may = may[: min(ASKED, most - asked)]
        if len(may):
            bits = splits.bits(changes.take(may).applied(splits, made))
            scores = problem.evaluate(problem.space.batch_of_bits(bits))
            asked += len(may)
            screen.learn(bits, scores)
            first = np.flatnonzero(_accepted(rank_of(problem, scores), limit[may]))[:1]
            if len(first):
                here = place_of(problem, bits[first], take(scores, first))
                best = min(best, here, key=lambda place: place.rank)
                taken = int(drawn[may[first[0]]]) + 1
            if stop():
                break
        step += taken
    return best


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
