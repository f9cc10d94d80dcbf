"""The default search: the best answer without parameters, beyond the papers.

A space of few schemes is tried whole, and the answer is exact. A larger one is searched in
rounds: a short NSGA-II from random schemes, coarse to fine, then its best solutions are
polished by small moves until none improves; every third round starts from what the others
ended with. Rounds go on until several in a row find nothing better, which closes the gap
between most of the local optima where single runs end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sqlanon.errors import SearchError
from sqlanon.metrics import Scores
from sqlanon.scheme import Batch, Bits, Space
from sqlanon.search.enumeration import all_schemes, space_size
from sqlanon.search.front import Front, bits_of
from sqlanon.search.nsga2 import OBJECTIVES, Nsga2Settings, nsga2
from sqlanon.search.outcome import Outcome, Progress, Watch
from sqlanon.search.polish import Place, polish, rank_of
from sqlanon.search.problem import Problem


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
MIXING = 3
"""Every so many rounds the solutions of all rounds are brought together."""


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
        """Rounds on their own, every third one with what the others found brought together."""
        elites: list[Place] = []
        stale = 0
        while not self._over:
            mixing = len(elites) % MIXING == MIXING - 1
            start = np.stack([place.bits for place in elites]) if mixing else None
            if not elites:
                start = _coarse(self._problem.space)
            found = self._polished(self._evolved(rng, start))
            best = min((place.rank for place in elites), default=(np.inf,))
            stale = 0 if found.rank < best else stale + 1
            elites.append(found)
            if stale == self._settings.rounds and not self._over:
                self._done = f"of {len(elites)} rounds the last {stale} found nothing better"
                return

    def _evolved(self, rng: np.random.Generator, start: Bits | None) -> Outcome:
        """A short run of NSGA-II; a budget smaller than its population cuts that short."""
        limit = min(ROUND.evaluations, self._left)
        inner = Watch(on_progress=lambda _: self._pass_on(inner))
        return nsga2(self._problem, replace(ROUND, evaluations=limit), rng, inner, start)

    def _pass_on(self, inner: Watch) -> None:
        if self._report(self._settings.evaluations):
            inner.interrupt()

    def _polished(self, evolved: Outcome) -> Place:
        """The best after polishing the best different solutions of a run."""
        problem, limit = self._problem, self._settings.evaluations
        bits, ranks = bits_of(evolved.solutions), rank_of(problem, evolved.scores)
        order = np.lexsort(ranks.T[::-1])[:POLISHED]
        places = [Place(bits[i], tuple(ranks[i].tolist())) for i in order]
        for number, place in enumerate(places):
            if self._over:
                break
            places[number], _ = polish(
                problem, place, self._left, lambda: self._report(limit, whole=False)
            )
            if self._report(limit) or self._left <= 0:
                self._over = True
        return min(places, key=lambda place: place.rank)

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
    """Schemes that keep one column at a level of its hierarchy and hide all others."""
    rows = []
    for j, column in enumerate(space.columns):
        for level in column.levels[-COARSE_LEVELS:]:
            row = np.zeros(space.positions, dtype=bool)
            row[space.segment(j)] = level.bits
            rows.append(row)
    return np.unique(np.stack(rows), axis=0)
