"""Polishing: from a good scheme to one that no small change improves."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sqlanon.domain import Bits, Space
from sqlanon.metrics import Floats, Ints, Scores
from sqlanon.search.fronts import take
from sqlanon.search.local.screen import ExchangeBias, Screen
from sqlanon.search.problem import Problem
from sqlanon.search.splits import Changes, Splits, columns_of

FIRST, LATER = 24, 200
"""Neighbours scored together: few at first, because the most promising come first."""


MOST_EXCHANGES = 10_000
"""So many exchanges of one scheme are tried, however many there are."""


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


def double_shifts(space: Space, made: Bits) -> Bits:
    """The schemes with two free cuts one place further each, or those of an even selection.

    A row of splits each.
    """
    splits = Splits.of_space(space)
    column, free = columns_of(space, splits)
    cuts = np.flatnonzero(splits.coarsening(made) & free)
    old, new = np.repeat(cuts, 2), np.repeat(cuts, 2) + np.tile([-1, 1], len(cuts))
    places = np.append(splits.refining(made) & free, False)
    new = np.where((new < 0) | (new > len(made)), len(made), new)
    may = places[new]
    old, new = old[may], new[may]
    may = (column[new] == column[old]) & (splits.above[new] != old)
    old, new = old[may], new[may]
    a, b = _paired(np.arange(len(old)), np.arange(len(old)))
    apart = (a < b) & (old[a] != old[b]) & (new[a] != new[b])
    a, b = a[apart], b[apart]
    rows, each = np.repeat(made[None], len(a), axis=0), np.arange(len(a))
    for one in (a, b):
        rows[each, old[one]], rows[each, new[one]] = False, True
    return rows


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


@dataclass(frozen=True)
class RankedScheme:
    """A scheme and how good it is: smaller ranks are better, compared entry by entry."""

    bits: Bits
    rank: tuple[float, ...]
    scores: Scores

    @property
    def feasible(self) -> bool:
        return self.rank[:2] == (0, 0)

    @property
    def ach(self) -> float:
        return self.rank[2]


def rank_of(problem: Problem, scores: Scores) -> Floats:
    """What the solution to OP minimizes: f1, then f2, then `Problem.ties`, feasible schemes first.

    Before them come, for those that are not, the rows in classes that violate k or a model,
    beyond the suppression limit, and the shortfall: the way is longer than that can tell.
    """
    beyond = np.maximum(scores.violating - problem.budget, 0)
    f1, f2 = problem.f1(scores), problem.f2(scores)
    shortfall = np.maximum(f2, 0)
    beyond = np.where(shortfall > 0, beyond, 0)
    return np.column_stack([beyond, shortfall, f1, f2, problem.ties(scores)])


def place_of(problem: Problem, bits: Bits, scores: Scores) -> RankedScheme:
    """The best of some scored schemes, the first of equals."""
    ranks = rank_of(problem, scores)
    first = np.lexsort(ranks.T[::-1])[0]
    return RankedScheme(bits[first], tuple(ranks[first].tolist()), take(scores, np.array([first])))


def never() -> bool:
    return False


def polish(
    problem: Problem,
    start: RankedScheme,
    budget: int,
    stop: Callable[[], bool] = never,
    *,
    screen: Screen | None = None,
    shifts: bool = False,
) -> tuple[RankedScheme, int]:
    """Goes to the best scheme one move away while that is better, else to a better exchange.

    Ends at a scheme that neither a move nor an exchange improves (of very many exchanges:
    none of those that `exchanges_of` offers). A scheme with too many rows in classes that
    violate k or a model is made coarser until it has few enough, better or not: for k nothing
    else lowers their number, and sometimes only two merges together do. Ends earlier when
    `budget` schemes have been asked for or when `stop`, called after every batch, says so.
    Returns the best scheme on the way and how many were asked. `screen` takes along what is
    known from before; neighbours that cannot be better are not asked for. With `shifts` it ends
    only where two cuts shifted together improve nothing either.
    """
    walk = _Descent(problem, screen or Screen(problem), budget, stop)
    here = best = start
    while not walk.over:
        if here.rank[0] > 0:
            found = walk.by_merging(here)
        else:
            found = walk.by_a_move(here)
            if found is None and not walk.over:
                found = walk.by_an_exchange(here)
            if found is None and shifts and not walk.over:
                found = walk.by_two_shifts(here)
        if found is None:
            break
        here = found
        best = min(best, here, key=lambda place: place.rank)
    return best, walk.asked


class _Descent:
    def __init__(
        self, problem: Problem, screen: Screen, budget: int, stop: Callable[[], bool]
    ) -> None:
        self._problem = problem
        self._screen = screen
        self._splits = Splits.of_space(problem.space)
        self._stop = stop
        self._left = budget
        self._spread: ExchangeBias | None = None
        self.asked = 0
        self.over = budget <= 0

    def by_merging(self, here: RankedScheme) -> RankedScheme | None:
        """The best scheme one coarsening move away, if there is one."""
        changes = moves(self._problem.space, self._splits.made(here.bits))
        changes = changes.take(changes.finer < 0)
        return self._ask(here, changes, None) if len(changes) else None

    def by_a_move(self, here: RankedScheme) -> RankedScheme | None:
        """The best scheme one move away, if it is better."""
        made = self._splits.made(here.bits)
        changes = moves(self._problem.space, made)
        self._spread = ExchangeBias(self._problem, here.scores, len(made))
        return self._best(here, changes, self._spread.learn)

    def by_an_exchange(self, here: RankedScheme) -> RankedScheme | None:
        """A better scheme one exchange away: the best of the first batch that has one."""
        assert self._spread is not None
        made = self._splits.made(here.bits)
        changes = exchanges_of(self._problem.space, made)
        if here.feasible and self._by_bias(here):
            singles = moves(self._problem.space, made)
            better = self._scored(here, singles.take(self._spread.unknown(singles)))
            if better is not None or self.over:
                return better
        if here.feasible:
            changes = changes.take(self._spread.least_ach(changes) <= here.ach)
        return self._best(here, changes, None)

    def by_two_shifts(self, here: RankedScheme) -> RankedScheme | None:
        """A better scheme with two cuts shifted: the best of the first batch that has one."""
        bits = self._splits.bits(double_shifts(self._problem.space, self._splits.made(here.bits)))
        if here.feasible:
            bounds = self._screen.least_ach_of(self._problem.preference, bits)
            order = np.argsort(bounds, kind="stable")
            bits = bits[order[bounds[order] <= here.ach]]
        for start in range(0, len(bits), LATER):
            if self.over:
                break
            found, _ = self._score(bits[start : start + LATER])
            if found.rank < here.rank:
                return found
        return None

    def _by_bias(self, here: RankedScheme) -> bool:
        """Whether the ach of a scheme is that of its bias, so that bounds on it will help."""
        loss, _ = self._problem.loss_and_bias(here.scores)
        by_loss = self._problem.preference.ach(loss, np.zeros(1))
        return not self._problem.budget and float(by_loss[0]) < here.ach

    def _scored(self, here: RankedScheme, changes: Changes) -> RankedScheme | None:
        """Scores moves that cannot be better for what they tell about exchanges."""
        assert self._spread is not None
        if not len(changes):
            return None
        found = self._ask(here, changes, self._spread.learn)
        return found if found.rank < here.rank else None

    def _best(
        self, here: RankedScheme, changes: Changes, learn: Callable[[Changes, Scores], None] | None
    ) -> RankedScheme | None:
        """The best change, if it is better; without `learn` the first batch with one decides.

        The changes are asked for in the order of their bounds, so once something is better
        than the next bound all others are worse.
        """
        made = self._splits.made(here.bits)
        bounds = np.zeros(len(changes))
        if here.feasible:
            changes = changes.take(~self._screen.infeasible(made, changes))
            bounds = self._screen.least_ach(self._problem.preference, made, changes)
            order = np.argsort(bounds, kind="stable")
            order = order[bounds[order] <= here.ach]
            changes, bounds = changes.take(order), bounds[order]
        best, start, size = here, 0, FIRST
        while start < len(changes) and not self.over:
            if best is not here and (learn is None or best.ach < bounds[start]):
                break
            part = changes.take(np.arange(start, min(start + size, len(changes))))
            found = self._ask(here, part, learn)
            best = min(best, found, key=lambda place: place.rank)
            start, size = start + size, min(2 * size, LATER)
        return None if best is here else best

    def _ask(
        self, here: RankedScheme, changes: Changes, learn: Callable[[Changes, Scores], None] | None
    ) -> RankedScheme:
        """The best of some changes, as far as the budget goes."""
        changes = changes.take(np.arange(min(len(changes), self._left)))
        bits = self._splits.bits(changes.applied(self._splits, self._splits.made(here.bits)))
        found, scores = self._score(bits)
        if learn is not None:
            learn(changes, scores)
        return found

    def _score(self, bits: Bits) -> tuple[RankedScheme, Scores]:
        """The best of some schemes, as far as the budget goes, and their scores."""
        problem = self._problem
        bits = bits[: self._left]
        scores = problem.evaluate(problem.space.batch_of_bits(bits))
        self.asked += len(bits)
        self._left -= len(bits)
        self._screen.learn(bits, scores)
        self.over = self._stop() or self._left <= 0
        return place_of(problem, bits, scores), scores
