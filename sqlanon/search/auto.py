"""The default search: the best answer without parameters, beyond the papers.

A space of few schemes is tried whole, and the answer is exact. A larger one is searched in
rounds: a short NSGA-II from random schemes, coarse to fine, then its best solutions are
polished by small moves until none improves, then the best of them is kicked and polished
again until that has failed a number of times. Of three rounds one looks for little loss only
at first, since few of the schemes with little loss and little bias lie near those that are
easy to find, and one starts from what the others ended with. Rounds go on until several in
a row find nothing better. Then the best is annealed, a long walk that may lead to where no
round came; if that finds something better, rounds go on from there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sqlanon.errors import SearchError
from sqlanon.metrics import Scores
from sqlanon.preference import Preference
from sqlanon.scheme import Batch, Bits, Space
from sqlanon.search.anneal import anneal
from sqlanon.search.enumeration import all_schemes, space_size
from sqlanon.search.front import Front, bits_of, take
from sqlanon.search.kick import another, kicked
from sqlanon.search.nsga2 import OBJECTIVES, Nsga2Settings, nsga2
from sqlanon.search.outcome import Outcome, Progress, Watch
from sqlanon.search.polish import Place, best_of, place_of, polish, rank_of
from sqlanon.search.problem import Problem
from sqlanon.search.screen import Screen
from sqlanon.search.taxonomy import Splits


@dataclass(frozen=True)
class AutoSettings:
    """How long to search; nobody needs to set any of it.

    evaluations   schemes asked for at most, repeated ones included
    exact         spaces of at most so many schemes are tried whole, if `evaluations` suffice
    rounds        the search ends when so many rounds in a row find nothing better
    """

    evaluations: int = 200_000
    exact: int = 20_000
    rounds: int = 5

    def __post_init__(self) -> None:
        for name, least in (("evaluations", 1), ("exact", 0), ("rounds", 1)):
            if getattr(self, name) < least:
                raise SearchError(
                    f"auto: {name} must be at least {least}, not {getattr(self, name)}"
                )


ROUND = Nsga2Settings(population=100, evaluations=3_000, crossover=0.8, mutation=0.01)
"""One round's evolution. It need not converge: polishing does that faster."""
POLISHED = 3
"""How many different solutions of a round are polished."""
COARSE_LEVELS = 4
"""The first round starts from so many of each column's highest levels, among others."""
ROUNDS = ("as wished", "loss first", "mixed")
"""Kinds of rounds, in turn."""
LOSS_ONLY = 1e9
"""A preferred NECD under which only NWP counts."""
KICKS = 40
"""A round ends after so many kicks in a row that led to nothing better; in a space of few
splits after a third as many as there are splits."""
NEAR = 1.01
"""Exchanges are many: after a kick they are tried up to so many times the ach of the best."""


def auto(
    problem: Problem, settings: AutoSettings, rng: np.random.Generator, watch: Watch
) -> Outcome:
    """Every non-dominated solution met, by ascending ach, and the solution to OP."""
    run = _Run(problem, settings, watch)
    if space_size(problem.space) <= min(settings.exact, settings.evaluations):
        run.try_all()
    else:
        run.in_rounds(rng)
    return run.outcome()


class _Run:
    def __init__(self, problem: Problem, settings: AutoSettings, watch: Watch) -> None:
        self._problem = replace(problem, evaluate=self._evaluate)
        self._score = problem.evaluate
        self._settings = settings
        self._watch = watch
        self._screen = Screen(problem)
        self._front = Front(problem.space)
        self._asked = 0
        self._over = False
        self._done = ""

    def _evaluate(self, batch: Batch) -> Scores:
        """Scores a batch and remembers what belongs to the front."""
        problem = self._problem
        scores = self._score(batch)
        points = np.column_stack([problem.f1(scores), problem.f2(scores)])
        self._front.offer(batch, scores, points, problem.pref_dev(scores))
        self._asked += len(batch)
        return scores

    def try_all(self) -> None:
        space = self._problem.space
        size = space_size(space)
        for bits in all_schemes(space):
            self._evaluate(space.batch_of_bits(bits))
            if self._report(size) and self._asked < size:
                return
        self._done = "exact: every scheme was tried"

    def in_rounds(self, rng: np.random.Generator) -> None:
        """Rounds of three kinds, until several in a row and annealing find nothing better."""
        elites: list[Place] = []
        stale = rounds = 0
        while not self._over:
            rounds += 1
            kind = ROUNDS[len(elites) % len(ROUNDS)]
            start = np.stack([place.bits for place in elites]) if kind == "mixed" else None
            if not elites:
                start = _coarse(self._problem.space)
            found = self._round(rng, start, loss_first=kind == "loss first")
            if elites and found.rank >= min(place.rank for place in elites):
                stale += 1
            else:
                stale = 0
            elites.append(found)
            if stale == self._settings.rounds and not self._over:
                self._annealed(min(elites, key=lambda place: place.rank), rng)
                break
        if not self._over:
            self._done = f"of {rounds} rounds the last {stale} found nothing better"

    def _round(self, rng: np.random.Generator, start: Bits | None, *, loss_first: bool) -> Place:
        """Where a round ends: evolved, polished, kicked."""
        problem = self._problem
        if loss_first:
            aim = Preference(problem.preference.nwp, LOSS_ONLY)
            problem = replace(problem, preference=aim)
        places = self._evolved(problem, rng, start)
        if loss_first:
            places = [self._polished(problem, place) for place in places[:1]]
            places = [self._judged(place) for place in places]
        best = places[0]
        for place in places:
            found = self._polished(self._problem, place)
            best = min(best, found, key=lambda place: place.rank)
        return self._kicked(best, rng)

    def _evolved(
        self, problem: Problem, rng: np.random.Generator, start: Bits | None
    ) -> list[Place]:
        """The best different solutions of a short run of NSGA-II, the best first.

        A budget smaller than its population cuts that short.
        """
        limit = min(ROUND.evaluations, self._left)
        inner = Watch(on_progress=lambda _: self._pass_on(inner))
        evolved = nsga2(problem, replace(ROUND, evaluations=limit), rng, inner, start)
        bits, ranks = bits_of(evolved.solutions), rank_of(problem, evolved.scores)
        order = np.lexsort(ranks.T[::-1])[:POLISHED, None]
        return [place_of(problem, bits[i], take(evolved.scores, i)) for i in order]

    def _pass_on(self, inner: Watch) -> None:
        if self._report(self._settings.evaluations):
            inner.interrupt()

    def _judged(self, place: Place) -> Place:
        """A place with the rank that it has by the preference that was given."""
        return place_of(self._problem, place.bits[None], place.scores)

    def _polished(self, problem: Problem, place: Place, near: float = np.inf) -> Place:
        """A place polished, with exchanges up to the ach `near`."""
        if self._over or self._left <= 0:
            self._over = True
            return place
        limit = self._settings.evaluations
        found, _ = polish(
            problem,
            place,
            self._left,
            lambda: self._report(limit, whole=False),
            screen=self._screen,
            exchange_up_to=near,
        )
        if self._report(limit) or self._left <= 0:
            self._over = True
        return found

    def _kicked(self, place: Place, rng: np.random.Generator) -> Place:
        """The best after kicks from a place that lead to nothing better any more.

        Every second one is polished by another preference at first.
        """
        problem, space = self._problem, self._problem.space
        most, failed, number = min(KICKS, len(Splits.of_space(space)) // 3), 0, 0
        while failed < most and not self._over and self._left > 0:
            number += 1
            bits = kicked(space, place.bits, rng, refining=problem.budget > 0)
            start = best_of(problem, bits[None])
            if number % 2 == 0:
                aim = another(problem.preference, rng)
                detour = replace(problem, preference=aim)
                start = place_of(detour, start.bits[None], start.scores)
                start = self._judged(self._polished(detour, start, 0.0))
            found = self._polished(problem, start, NEAR * place.ach)
            failed = 0 if found.rank < place.rank else failed + 1
            place = found if found.rank <= place.rank else place
        self._over = self._over or self._left <= 0
        return place

    def _annealed(self, place: Place, rng: np.random.Generator) -> None:
        """Long walks from a place, their best polished, as long as that leads to better ones."""
        limit = self._settings.evaluations
        while not self._over:
            found = anneal(
                self._problem, place, self._left, rng, lambda: self._report(limit, whole=False)
            )
            found = self._polished(self._problem, found)
            if found.rank >= place.rank:
                return
            place = found

    @property
    def _left(self) -> int:
        return self._settings.evaluations - self._asked

    def _chosen(self) -> int | None:
        """The feasible solution with least ach: the front ascends in it."""
        feasible = np.flatnonzero(self._front.points[:, 1] <= 0)
        return int(feasible[0]) if len(feasible) else None

    def _report(self, limit: int, *, whole: bool = True) -> bool:
        chosen = self._chosen()
        best = None if chosen is None else float(self._front.points[chosen, 0])
        k = None if chosen is None else int(self._front.scores.k[chosen])
        stop = self._watch.step(Progress(self._asked, limit, best, k), whole=whole)
        self._over = self._over or stop
        return stop

    def outcome(self) -> Outcome:
        ended = self._watch.stopped
        if self._done:
            ended = "finished"
        elif ended == "finished":
            ended = "evaluations"
        return Outcome(
            method="auto",
            solutions=self._front.solutions,
            scores=self._front.scores,
            chosen=self._chosen(),
            objectives=OBJECTIVES,
            stopped=ended,
            reproducible=ended not in ("time", "interrupted"),
            notes=(self._done,) if self._done else (),
        )


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
    return np.unique(np.stack(rows), axis=0)
