"""The default search: the best answer without parameters, beyond the papers.

A space of few schemes is tried whole, and the answer is exact. A larger one is searched in
rounds that are independent of each other. A round begins with short runs of NSGA-II from random
schemes, coarse to fine, most of them for little loss only, since few of the schemes with little
loss and little bias lie near those that are easy to find. Their best solutions are polished by
small moves until none improves. From there walks are annealed, and the best they came to is
polished again, now also by two cuts of contiguous columns shifted at once: where either alone
is much worse, walks seldom do both.

Good answers often differ in which columns they keep, and no walk leads from one such choice to
another if one of them is much easier to find. So further rounds hide columns.

The default effort ends after a fixed number of rounds with short walks. Each round but the
first begins at the best two places that no round has begun at yet. The best of all is one of
them only once: from there one leads to the same places again, and the way to a better choice
of columns may pass through worse ones. For the same reason no walk of a later round sets out
from where the walks of a former one ended, unless there is nowhere else.

The thorough effort walks longer. It begins anew until several rounds in a row found nothing
better. Further rounds hide one column each of those that the best answer does not hide, and
once that finds a better answer this column too. The thorough search ends when that has been
done several times for each column and found nothing better.

Effort is counted in rounds and evaluations, never in seconds: the same seed gives the same
answer on every machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass as checked

from sqlanon.domain import Batch, Bits, Space
from sqlanon.evaluate import Unfinished
from sqlanon.keys import Whole, about
from sqlanon.metrics import Scores
from sqlanon.search.fronts import MoopFront, bits_of, distinct
from sqlanon.search.lattice.exact import FrontSettings, front
from sqlanon.search.local.anneal import anneal
from sqlanon.search.local.polish import RankedScheme, place_of, polish
from sqlanon.search.local.screen import Screen
from sqlanon.search.method import MANY, SCORED, SETTINGS, Cuts, register
from sqlanon.search.nsga2 import Nsga2Settings, nsga2
from sqlanon.search.outcome import Outcome, Watch
from sqlanon.search.problem import MOST_CUTS, Problem
from sqlanon.search.splits import all_schemes, space_size
from sqlanon.wording import counted


@dataclass(frozen=True)
class Plan:
    """What an effort amounts to.

    evaluations   schemes asked for at most, repeated ones included
    annealed      schemes that the walks of one round ask for at most
    rounds        rounds in all; of a search that goes on, so many rounds in a row must find
                  nothing better, and then so many for each column that is hidden
    goes_on       whether the search goes on until nothing better is found
    """

    evaluations: int
    annealed: int
    rounds: int
    goes_on: bool


EFFORTS = {
    "default": Plan(evaluations=200_000, annealed=20_000, rounds=5, goes_on=False),
    "thorough": Plan(evaluations=4_000_000, annealed=120_000, rounds=2, goes_on=True),
}


@checked(frozen=True, config=SETTINGS)
class AutoSettings:
    """How long to search; the defaults suit every table. What is not given is as in Plan."""

    evaluations: Annotated[Annotated[Whole, Field(ge=1, le=MANY)] | None, about(SCORED)] = None
    exact: Annotated[
        Whole,
        about("If there are no more schemes than this, all are tried.", ge=0, le=10_000_000),
    ] = 20_000
    rounds: Annotated[
        Annotated[Whole, Field(ge=1, le=1_000)] | None,
        about(
            "Rounds in all; with effort: thorough, rounds without anything better before the "
            "end, and then for each column that is hidden."
        ),
    ] = None
    effort: Annotated[
        Literal["default", "thorough"],
        about("How long to search: a few rounds, or until nothing better is found."),
    ] = "default"
    cuts: Cuts = MOST_CUTS

    @property
    def plan(self) -> Plan:
        """The plan of the effort, with what is set instead."""
        plan = EFFORTS[self.effort]
        return replace(
            plan,
            evaluations=plan.evaluations if self.evaluations is None else self.evaluations,
            rounds=plan.rounds if self.rounds is None else self.rounds,
        )


SHORT = Nsga2Settings(population=100, evaluations=3_000, crossover=0.8, mutation=0.01)
"""How a round begins. It need not converge: polishing does that faster."""
COARSE_LEVELS = 4
"""The first round starts from so many of each column's highest levels, among others."""
MOST_NODES, FROM_LATTICE = 100_000, 20
"""It also starts from so many nodes of the exact front of a lattice, if that is no larger."""
BEGIN_AT, MOST_HIDDEN = 2, 12
"""At so many places a later round of the default effort begins, and so many columns it hides in
turn, drawn from all columns of these places if there are more."""
LOSS_ONLY, FOR_LOSS = 1e9, 3
"""A preferred bias under which only the loss counts, and how many runs a round begins with
for that alone."""

_Name = tuple[object, ...]


@register("auto", AutoSettings)
def auto(
    problem: Problem, settings: AutoSettings, rng: np.random.Generator, watch: Watch
) -> Outcome:
    """Every non-dominated solution met, by ascending ach, and the solution to OP."""
    run = _Run(problem, settings.plan, watch)
    try:
        if space_size(problem.space) <= min(settings.exact, settings.plan.evaluations):
            run.try_all()
        else:
            run.in_rounds(rng)
    except Unfinished:
        if not run.found_any:
            raise
    return run.outcome()


class _Run:
    def __init__(self, problem: Problem, plan: Plan, watch: Watch) -> None:
        self._problem = replace(problem, evaluate=self._evaluate)
        self._score = problem.evaluate
        self._plan = plan
        self._watch = watch
        self._screens = {problem.space: Screen(problem)}
        self._met = MoopFront(problem)
        self._ends: dict[_Name, RankedScheme] = {}  # of polishing and of walks
        self._begun: set[_Name] = set()  # those at which a round began
        self._ended: set[_Name] = set()  # those at which a round ended
        self._limit = plan.evaluations  # it only falls
        self._over = False
        self._done = ""

    def _evaluate(self, batch: Batch) -> Scores:
        """Scores a batch and remembers what belongs to the front."""
        try:
            scores = self._score(batch)
        except Unfinished as ended:
            self._over = True
            self._met.meet_part(ended)
            raise
        self._met.meet(batch, scores)
        return scores

    @property
    def found_any(self) -> bool:
        return len(self._met) > 0

    def try_all(self) -> None:
        space = self._problem.space
        size = self._limit = space_size(space)
        for bits in all_schemes(space):
            self._evaluate(space.batch_of_bits(bits))
            if self._report() and self._met.asked < size:
                return
        self._done = "exact: every scheme was tried"

    def in_rounds(self, rng: np.random.Generator) -> None:
        """Searches a space that is too large to be tried whole."""
        start = np.concatenate([_coarse(self._problem.space), self._lattice_front()])
        if self._problem.start is not None:
            start = np.concatenate([self._problem.start, start])
        if self._over:
            return
        best = self._round(self._problem, rng, distinct(start))
        if self._plan.goes_on:
            rounds, stale = self._until_nothing_is_better(best, rng)
        else:
            rounds, stale = self._several(best, rng)
        if not self._over:
            self._done = _account(rounds, stale)

    def _several(self, best: RankedScheme, rng: np.random.Generator) -> tuple[int, int]:
        """Goes on for the rounds of the plan, the first of which ended at `best`.

        Returns how many rounds that makes, and how many of the last found nothing better.
        """
        rounds, stale, first = 1, 0, self._met.asked
        while rounds < self._plan.rounds and not self._over:
            # The others are seldom longer than the first.
            self._limit = min(self._limit, self._met.asked + (self._plan.rounds - rounds) * first)
            found = self._varied(self._to_begin_at() or [best], rng)
            rounds, stale = rounds + 1, 0 if found.rank < best.rank else stale + 1
            best = min(best, found, key=lambda place: place.rank)
        return rounds, stale

    def _to_begin_at(self) -> list[RankedScheme]:
        """The best places at which no round has begun."""
        fresh = [name for name in self._ends if name not in self._begun]
        fresh = sorted(fresh, key=lambda name: self._ends[name].rank)[:BEGIN_AT]
        self._begun.update(fresh)
        return [self._ends[name] for name in fresh]

    def _until_nothing_is_better(
        self, best: RankedScheme, rng: np.random.Generator
    ) -> tuple[int, int]:
        """Rounds until several in a row find nothing better, then rounds that hide columns."""
        space, wanted = self._problem.space, self._plan.rounds
        rounds, stale = 1, 0
        while stale < wanted and not self._over:
            found = self._round(self._problem, rng)
            rounds, stale = rounds + 1, 0 if found.rank < best.rank else stale + 1
            best = min(best, found, key=lambda place: place.rank)
        hidden: frozenset[int] = frozenset()
        to_hide = _open(space, best) * wanted
        while to_hide and not self._over:
            part = self._without(hidden | {to_hide[0]})
            found = self._polished(self._problem, self._round(part, rng))
            rounds, stale = rounds + 1, stale + 1
            if found.rank < best.rank:
                # What led there stays hidden: better ones like it may be as hard to come upon.
                best, stale, hidden = found, 0, hidden | {to_hide[0]}
                to_hide = _open(space, best) * wanted
            else:
                to_hide = to_hide[1:]
        return rounds, stale

    def _lattice_front(self) -> Bits:
        """Of the best lattice nodes for every k those with the least that is feasible, and what
        polishing makes of the best of them.

        None where the lattice is not small beside the budget.
        """
        space = self._problem.space
        nodes = math.prod(high - low + 1 for low, high in space.limits)
        if nodes > min(MOST_NODES, self._plan.evaluations // 2):
            return np.zeros((0, space.positions), dtype=bool)
        inner = Watch(on_progress=lambda _: self._pass_on(inner, whole=False))
        rng, least = np.random.default_rng(0), self._problem.k
        found = front(self._problem, FrontSettings(), rng, inner, least)
        feasible = np.flatnonzero(self._problem.feasible(found.scores))
        starts = space.within_limits(bits_of(found.solutions.take(feasible[-FROM_LATTICE:])))
        if not len(feasible):
            return starts
        # On a large table much time goes by before anything else comes near what this leads to.
        best = place_of(self._problem, bits_of(found.solutions), found.scores)
        return np.concatenate([starts, self._polished(self._problem, best).bits[None]])

    def _without(self, hidden: frozenset[int]) -> Problem:
        """The problem of the schemes that hide these columns."""
        whole = self._problem.space
        part = replace(self._problem, space=whole.hiding(hidden))
        self._screens = {whole: self._screens[whole], part.space: Screen(part)}
        return part

    def _round(
        self, problem: Problem, rng: np.random.Generator, start: Bits | None = None
    ) -> RankedScheme:
        """Where a round ends: evolved, polished, annealed, polished."""
        starts = [self._polished(problem, self._evolved(problem, rng, start))]
        for_loss = replace(problem, preference=replace(problem.preference, bias=LOSS_ONLY))
        for _ in range(FOR_LOSS):
            if self._over:
                break
            place = self._evolved(for_loss, rng, None)
            place = self._judged(self._polished(for_loss, place))
            starts.append(self._polished(problem, place))
        return self._walked(problem, starts, rng)

    def _varied(self, places: list[RankedScheme], rng: np.random.Generator) -> RankedScheme:
        """Where a round ends that begins at some places, each of their columns hidden in turn.

        What is polished without a column keeps others instead. Where that leads back to the end
        of a former round, no walk sets out.
        """
        starts, space = [], self._problem.space
        hidden = [(place, column) for place in places for column in _open(space, place)]
        if len(hidden) > MOST_HIDDEN:
            drawn = rng.choice(len(hidden), MOST_HIDDEN, replace=False)
            hidden = [hidden[i] for i in drawn.tolist()]
        for place, column in hidden:
            if self._over or self._left <= 0:
                break
            part = self._without(frozenset({column}))
            found = self._polished(part, self._hidden(place, column))
            starts.append(self._polished(self._problem, found))
        fresh = [place for place in starts if _name(space, place) not in self._ended]
        return self._walked(self._problem, fresh or starts or places, rng)

    def _hidden(self, place: RankedScheme, column: int) -> RankedScheme:
        """A place with one column as coarse as it may be."""
        space = self._problem.space
        bits, segment = place.bits.copy(), space.segment(column)
        bits[segment] = space.demanded[segment]
        scores = self._problem.evaluate(space.batch_of_bits(bits[None]))
        return place_of(self._problem, bits[None], scores)

    def _walked(
        self, problem: Problem, starts: list[RankedScheme], rng: np.random.Generator
    ) -> RankedScheme:
        """The best place that walks from some places come to, polished."""
        if self._over:
            return min(starts, key=lambda place: place.rank)
        budget = min(self._left, self._plan.annealed)
        walked = anneal(problem, starts, budget, rng, lambda: self._report(whole=False))
        found = self._polished(problem, walked, shifts=True)
        for place in (*starts, found):
            self._ends.setdefault(_name(problem.space, place), place)
        self._ended.add(_name(problem.space, found))
        return found

    def _evolved(
        self, problem: Problem, rng: np.random.Generator, start: Bits | None
    ) -> RankedScheme:
        """The best solution of a short run of NSGA-II.

        A budget smaller than its population cuts that short.
        """
        limit = min(SHORT.evaluations, self._left)
        inner = Watch(on_progress=lambda _: self._pass_on(inner))
        evolved = nsga2(problem, replace(SHORT, evaluations=limit), rng, inner, start)
        return place_of(problem, bits_of(evolved.solutions), evolved.scores)

    def _pass_on(self, inner: Watch, *, whole: bool = True) -> None:
        if self._report(whole=whole):
            inner.interrupt()

    def _judged(self, place: RankedScheme) -> RankedScheme:
        """A place with the rank that it has by the preference that was given."""
        return place_of(self._problem, place.bits[None], place.scores)

    def _polished(
        self, problem: Problem, place: RankedScheme, *, shifts: bool = False
    ) -> RankedScheme:
        if self._over or self._left <= 0:
            self._over = True
            return place
        found, _ = polish(
            problem,
            place,
            self._left,
            lambda: self._report(whole=False),
            screen=self._screens[problem.space],
            shifts=shifts,
        )
        if self._report() or self._left <= 0:
            self._over = True
        return found

    @property
    def _left(self) -> int:
        return self._plan.evaluations - self._met.asked

    def _report(self, *, whole: bool = True) -> bool:
        limit = max(self._limit, self._met.asked)
        stop = self._watch.step(self._met.progress(limit), whole=whole)
        self._over = self._over or stop
        return stop

    def outcome(self) -> Outcome:
        ended = self._watch.stopped
        if self._done:
            ended = "finished"
        elif self._left <= 0 or ended == "finished":
            ended = "evaluations"
        return self._met.outcome("auto", ended, (self._done,) if self._done else ())


def _account(rounds: int, stale: int) -> str:
    """A note on how a search in rounds ended, the last `stale` of which found nothing better."""
    if stale:
        return f"of {rounds} rounds the last {stale} found nothing better"
    return (
        f"ended after {counted(rounds, 'round')}, the last of which found the best solution; "
        "search.effort: thorough goes on"
    )


def _open(space: Space, place: RankedScheme) -> list[int]:
    """The columns that are not as coarse as they may be."""
    opened = place.bits & ~space.demanded
    return [j for j in range(len(space.columns)) if opened[space.segment(j)].any()]


def _name(space: Space, place: RankedScheme) -> _Name:
    """The columns left open and the rank: many places differ only in cuts that change nothing."""
    return (*_open(space, place), *place.rank[:3])


def _coarse(space: Space) -> Bits:
    """Schemes that hide all columns but one, and lattice nodes with all equally far from hidden."""
    rows = []
    for j, column in enumerate(space.columns):
        for level in column.levels[-COARSE_LEVELS:]:
            row = np.zeros(space.positions, dtype=bool)
            row[space.segment(j)] = level.bits
            rows.append(row)
    for steps in range(1, COARSE_LEVELS):
        nodes = [column.levels[max(column.height - steps, 0)].bits for column in space.columns]
        rows.append(np.concatenate(nodes))
    return distinct(np.stack(rows))
