"""Annealing: many walks of small changes that accept worse schemes too, but ever less so.

Polishing only ever leads from a good scheme to better ones near it, and the schemes between
it and a better one may all be worse. Here a change may raise a scheme's value by a random
amount whose mean, a share of the value, sinks from HOT to COLD, or is more where hardly any
walk moves. That amount is drawn before a
change is scored: a change whose bound is beyond it, or that is known to be infeasible, costs
no query. Some changes are drawn ahead and scored together; a walk takes the first it may. The
answer is the best of all that were scored, whether or not a walk went there.

The walks go side by side, so that a query has enough to do, and halfway the worse half of them
goes on from where the better half is (Aldous & Vazirani, "Go with the winners", 1994). Done more
often it leaves walks of one origin only, and these come to the same end.

The value is ach and, at first, a part of the lesser of its two terms. ach is the greater one;
where both are equal few small changes lower both, and one that lowers only the lesser makes
room for others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.domain import Bits, Space
from sqlanon.metrics import Floats, Ints, Scores
from sqlanon.search.fronts import join
from sqlanon.search.local.polish import RankedScheme, never, place_of
from sqlanon.search.local.screen import Infeasible, Prices, is_near, least_ach, packed, refines_any
from sqlanon.search.problem import Problem
from sqlanon.search.splits import Changes, Splits, columns_of

HOT, COLD = 0.03, 0.004
"""By which share of its value a change may be worse on average, at first and at last."""
WALKS = 24
"""Walks side by side."""
STEPS, MOST_STEPS = 0.7, 8_000
"""Changes that a walk draws: so many for each pair of splits, and at most."""
WANTED, STEP, MOST_BOOST = 0.3, 1.1, 10.0
"""Fewer than the share WANTED of the walks moving, less as they cool, raises the heat by the
factor STEP, up to MOST_BOOST times: how far apart values of neighbours are differs greatly."""
SHARED = 0.5
"""After this share of the steps the worse half goes on from where the better half is."""
LESSER, LESSER_UNTIL = 0.3, 0.9
"""The part of the lesser term in the value at first, and the share of the steps until it is 0."""
REMEMBERED = 12_000
"""So many infeasible schemes are kept: more than for polishing, because walks come back."""
DRAWN, ASKED = 32, 8
"""Changes drawn ahead from one scheme, and how many of them are scored together at most."""
UNDO, MAKE, SHIFT = 0.2, 0.5, 0.75
"""Up to UNDO of a random number a split is undone, up to MAKE one made, up to SHIFT two of
one column are exchanged, else any two."""


def anneal(
    problem: Problem,
    starts: Sequence[RankedScheme],
    budget: int,
    rng: np.random.Generator,
    stop: Callable[[], bool] = never,
) -> RankedScheme:
    """The best scheme on walks from feasible ones; without any the best is returned as it is.

    Asks for at most `budget` schemes, and cools in time for that. Ends early when `stop`,
    called after every batch, says so.
    """
    feasible = [place for place in starts if place.feasible]
    splits = Splits.of_space(problem.space)
    if not feasible or not splits.choices or budget < 1:
        return min(starts, key=lambda place: place.rank)
    walks = _Chains(problem, feasible)
    steps = WALKS * min(STEPS * len(splits) ** 2, MOST_STEPS)
    cooled, boost, asked, shared = 0.0, 1.0, 0, False
    while cooled < 1:
        lesser = LESSER * max(0.0, 1 - cooled / LESSER_UNTIL)
        heat = boost * HOT * (COLD / HOT) ** cooled
        number = walks.go_on(heat, lesser, budget - asked, rng)
        enough = walks.moved >= WANTED * (1 - cooled) * WALKS
        boost = max(boost / STEP, 1.0) if enough else min(boost * STEP, MOST_BOOST)
        asked += number
        cooled = max(walks.steps / steps, asked / budget)
        if number and stop():
            break
        if cooled >= SHARED and not shared:
            shared = True
            walks.share(lesser)
    return walks.best


class _Chains:
    """Where the walks are, and what is known of changes before they are scored.

    best   the best place that a walk has come to or passed by
    moved  how many walks took a change the last time
    steps  changes drawn so far, by all walks together
    """

    def __init__(self, problem: Problem, starts: Sequence[RankedScheme]) -> None:
        self._problem = problem
        self._splits = Splits.of_space(problem.space)
        self._draw, self._prices = Draw(problem.space), Prices(problem)
        self._infeasible = Infeasible(self._splits, REMEMBERED)
        chosen = [starts[i % len(starts)] for i in range(WALKS)]
        bits = np.stack([place.bits for place in chosen])
        self._made = self._splits.made(bits)
        self._batch = problem.space.batch_of_bits(bits)
        scores = join([place.scores for place in chosen])
        self._nwp = self._prices.of(self._batch)
        self._suppressed = np.maximum(scores.nwp - self._nwp, 0.0)
        self._terms = _terms(problem, scores)
        self._near = [self._infeasible.near(made) for made in self._made]
        self.best = min(starts, key=lambda place: place.rank)
        self.moved = self.steps = 0

    def go_on(self, heat: float, lesser: float, room: int, rng: np.random.Generator) -> int:
        """Every walk draws some changes and takes the first it may, if there is one.

        Returns how many schemes were scored for that, `room` at most.
        """
        spread = 1 + heat * rng.exponential(size=(WALKS, DRAWN))
        limit = _value(self._terms, lesser)[:, None] * spread
        drawn = self._draw.some(self._made, DRAWN, rng)
        bound = least_ach(self._problem.preference, self._least_nwp(drawn))
        drawn = drawn.take(bound <= limit[drawn.scheme, drawn.number])
        rows = drawn.changes.applied_to(self._splits, self._made[drawn.scheme])
        unknown = ~self._known(drawn.scheme, rows)
        drawn, rows = drawn.take(unknown), rows[unknown]
        place = np.arange(len(drawn)) - np.searchsorted(drawn.scheme, drawn.scheme)
        # A step is a draw: those after the last one scored or the one taken are not made.
        steps = np.full(WALKS, DRAWN)
        beyond = place == ASKED
        steps[drawn.scheme[beyond]] = drawn.number[beyond]
        asked = np.flatnonzero(place < ASKED)[:room]
        self.moved = 0
        if len(asked):
            drawn, rows = drawn.take(asked), rows[asked]
            taken = self._scored(drawn, rows, limit[drawn.scheme, drawn.number], lesser)
            steps[drawn.scheme[taken]] = drawn.number[taken] + 1
            self.moved = len(taken)
        self.steps += int(steps.sum())
        return len(asked)

    def share(self, lesser: float) -> None:
        """The worse half goes on from where the better half is."""
        order = np.argsort(_value(self._terms, lesser), kind="stable")
        better, worse = order[: WALKS // 2], order[WALKS - WALKS // 2 :]
        source = np.arange(WALKS)
        source[worse] = better
        self._made, self._terms = self._made[source], self._terms[source]
        self._batch, self._nwp = self._batch.take(source), self._nwp[source]
        self._suppressed = self._suppressed[source]
        self._near = [self._near[walk] for walk in source.tolist()]

    def _least_nwp(self, drawn: Drawn) -> Floats:
        """No change leads to a feasible scheme of less NWP."""
        walk, changes = drawn.scheme, drawn.changes
        added = self._prices.added(self._batch, self._made, walk, changes)
        suppressed = np.zeros(len(walk))
        if not self._problem.models:
            # What is only made finer suppresses at least the same rows, which lose more by that.
            suppressed = np.where(changes.coarser < 0, self._suppressed[walk], 0.0)
        return self._nwp[walk] + added + suppressed

    def _known(self, walk: Ints, rows: Bits) -> Bits:
        """Which schemes, one row of splits each, are known to be infeasible."""
        known, words = np.zeros(len(rows), dtype=bool), packed(rows)
        ends = np.searchsorted(walk, np.arange(WALKS + 1))
        for near, first, last in zip(self._near, ends, ends[1:], strict=False):
            if first < last and near.size:
                known[first:last] = refines_any(words[:, first:last], near)
        return known

    def _scored(self, drawn: Drawn, rows: Bits, limit: Floats, lesser: float) -> Ints:
        """Scores changed schemes and goes to the first of each walk that it may go to.

        Returns which of them these are.
        """
        problem = self._problem
        bits = self._splits.bits(rows)
        batch = problem.space.batch_of_bits(bits)
        scores = problem.evaluate(batch)
        terms = _terms(problem, scores)
        self._learn(rows[problem.hopeless(scores)])
        may = np.flatnonzero(problem.feasible(scores) & (_value(terms, lesser) <= limit))
        walk, first = np.unique(drawn.scheme[may], return_index=True)
        taken = may[first]
        self._made[walk], self._terms[walk] = rows[taken], terms[taken]
        self._batch.ids[walk] = batch.ids[taken]
        self._nwp[walk] = self._prices.of(batch.take(taken))
        self._suppressed[walk] = np.maximum(scores.nwp[taken] - self._nwp[walk], 0.0)
        for number, made in zip(walk.tolist(), rows[taken], strict=True):
            self._near[number] = self._infeasible.near(made)
        found = place_of(problem, bits, scores)
        self.best = min(self.best, found, key=lambda place: place.rank)
        return taken

    def _learn(self, infeasible: Bits) -> None:
        if len(infeasible):
            self._infeasible.learn(infeasible)
            words = packed(infeasible)
            self._near = [
                np.concatenate([near, words[:, is_near(words, made)]], axis=1)
                for near, made in zip(self._near, self._made, strict=True)
            ]


def _terms(problem: Problem, scores: Scores) -> Floats:
    """The two terms of ach, one row a scheme."""
    return np.column_stack(problem.preference.terms(*problem.loss_and_bias(scores)))


def _value(terms: Floats, lesser: float) -> Floats:
    return np.asarray(terms.max(axis=1) + lesser * terms.min(axis=1))


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
        """Draws splits to make in the columns of those to undo; −1 for a column without any."""
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
