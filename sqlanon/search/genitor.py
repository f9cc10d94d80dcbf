"""GENITOR for k-anonymity (Lunacek, Whitley & Ray, GECCO 2006): the least loss at a given k.

Steady state: two parents chosen by rank have one offspring, which enters the sorted
population only if it is better than the worst. Fitness is the problem's loss under its
suppression rule; the paper's is GLM where every class below k may be suppressed, whatever
the number of its rows. Where a limit leaves schemes below k, these rank after all feasible
ones, the closest to k first; as many differ only in loss, which is least for the finest, the
rows in classes below k decide before it does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from sqlanon.errors import PolicyError, SchemeError
from sqlanon.evaluate.pulse import Unfinished
from sqlanon.metrics import Scores
from sqlanon.scheme import Bits, Space
from sqlanon.search.crossover import Crossover, New, NewStrangers, Trad
from sqlanon.search.front import bits_of
from sqlanon.search.outcome import UNREPEATABLE, Outcome, Progress, Watch
from sqlanon.search.population import Fitness, Population, parents
from sqlanon.search.problem import Problem, exact_loss, shown_loss
from sqlanon.search.taxonomy import Splits

DUPLICATES = 100
"""After so many offspring in a row that the population has already, a stranger is taken."""


@dataclass(frozen=True)
class GenitorSettings:
    """The paper's settings, except for bias and mutation, which it does not state.

    evaluations  individuals scored, the first population included
    bias         how many times the best is as likely a parent as the median, 1 to 2
    mutation     share of the offspring that are made by mutation
    brood        offspring bred from the same population, scored together and entered one by
                 one; 1 is the paper's steady state to the letter, more make better use of SQL
    """

    population: int = 200
    evaluations: int = 30_000
    crossover: Literal["new", "new_strangers", "trad"] = "new"
    bias: float = 1.5
    mutation: float = 0.05
    allow_duplicates: bool = False
    brood: int = 1

    def __post_init__(self) -> None:
        rules = [
            ("population", self.population >= 2, "at least 2"),
            ("evaluations", self.evaluations >= 2, "at least 2"),
            (
                "crossover",
                self.crossover in ("new", "new_strangers", "trad"),
                "new, new_strangers or trad",
            ),
            ("bias", 1 <= self.bias <= 2, "between 1 and 2"),
            ("mutation", 0 <= self.mutation <= 1, "between 0 and 1"),
            ("brood", self.brood >= 1, "at least 1"),
        ]
        wrong = [
            f"{key} must be {wanted}, not {getattr(self, key)}"
            for key, holds, wanted in rules
            if not holds
        ]
        if wrong:
            raise PolicyError(f"search: {'; '.join(wrong)}")


def genitor(
    problem: Problem,
    settings: GenitorSettings,
    rng: np.random.Generator,
    watch: Watch,
    start: Bits | None = None,
) -> Outcome:
    """The best of the last population, and what it offers at higher k.

    `start` holds valid bit strings that the first population begins with; the rest of it is
    drawn uniformly among the valid ones. Unless told otherwise it begins with the coarsest
    scheme where not everything may be suppressed, as it may in the paper, because few others
    may be feasible. Among equal solutions the first found is taken.
    """
    run = Run(problem, settings, rng, watch)
    if start is None and (problem.models or problem.budget < problem.rows):
        start = np.concatenate([c.coarsest.bits for c in problem.space.columns])[None]
    try:
        run.begin(start)
        while not run.ended:
            run.step()
    except Unfinished as ended:
        run.keep(ended)
    return _outcome(run)


@dataclass
class Run:
    """A GENITOR run in the middle of its work."""

    problem: Problem
    settings: GenitorSettings
    rng: np.random.Generator
    watch: Watch
    evaluations: int = 0
    ended: str = ""
    trajectory: list[tuple[int, float]] = field(default_factory=list)
    _best_k: int | None = None
    _lost: float | None = None

    def __post_init__(self) -> None:
        space, settings = self.problem.space, self.settings
        self.splits = Splits.of_space(space)
        size = min(settings.population, settings.evaluations)
        if not settings.allow_duplicates:
            size = min(size, self.splits.count)
        self.population = Population(size, space.positions, duplicates=settings.allow_duplicates)
        self._crossover = _crossover(settings, space, self.splits)
        # All that was scored, where that may be everything there is; else there is no need.
        self._seen: set[bytes] | None = None
        if not settings.allow_duplicates and self.splits.count <= settings.evaluations:
            self._seen = set()

    def begin(self, start: Bits | None = None) -> None:
        """Scores the first population."""
        self._enter(self._first(start))

    def step(self) -> None:
        """Breeds one brood and enters it."""
        number = min(self.settings.brood, self.settings.evaluations - self.evaluations)
        if self.settings.allow_duplicates:
            brood = [self._offspring() for _ in range(number)]
        else:
            brood = self._without_duplicates(number)
        self._enter(np.stack(brood))

    def _without_duplicates(self, number: int) -> list[Bits]:
        """Offspring that the population and the brood do not hold; fewer if there are no more.

        A duplicate is turned away before it is scored. After many in a row a stranger comes
        in place of an offspring, so that a population whose parents have no others goes on.
        """
        brood: dict[bytes, Bits] = {}
        number = min(number, self.splits.count - len(self.population))
        in_a_row = 0
        while len(brood) < number:
            self.problem.pulse.check()
            tired = in_a_row >= DUPLICATES
            child = self.splits.random(1, self.rng)[0] if tired else self._offspring()
            name = child.tobytes()
            if name in brood or name in self.population:
                in_a_row += 1
            else:
                brood[name], in_a_row = child, 0
        return list(brood.values())

    def _offspring(self) -> Bits:
        """One offspring: by crossover, or by mutation where chance or the parents want it."""
        rng, population = self.rng, self.population
        by_mutation = rng.random() < self.settings.mutation
        first, second = parents(len(population), self.settings.bias, rng)
        child = None
        if not by_mutation:
            child = self._crossover(population[first], population[second], rng)
        if child is None:
            child = self._crossover.mutated(population[first], rng)
        return child

    def _first(self, start: Bits | None) -> Bits:
        """The first population: `start`, filled up at random."""
        size, positions = self.population.size, self.splits.positions
        rows = np.zeros((0, positions), dtype=bool) if start is None else start
        if rows.ndim != 2 or rows.shape[1] != positions:
            raise SchemeError(f"bit strings of {positions} bits are needed, one a row")
        if not self.splits.valid(rows).all():
            raise SchemeError("the search was to start from a scheme that its columns forbid")
        rows = self._distinct(rows)
        while len(rows) < size:
            more = self.splits.random(size - len(rows), self.rng)
            rows = self._distinct(np.concatenate([rows, more]))
        return rows[:size]

    def _distinct(self, rows: Bits) -> Bits:
        """Each individual once, in order of first appearance, unless duplicates are allowed."""
        if self.settings.allow_duplicates:
            return rows
        first = {row.tobytes(): i for i, row in reversed(list(enumerate(rows)))}
        return rows[sorted(first.values())]

    def _enter(self, bits: Bits) -> None:
        """Scores individuals together and offers them to the population one by one."""
        self._offer(bits, self.problem.evaluate(self.problem.space.batch_of_bits(bits)))
        limit = self.settings.evaluations
        loss = self.trajectory[-1][1] if self.trajectory else None
        if self.watch.step(Progress(self.evaluations, limit, loss, self._best_k, self._lost)):
            self.ended = self.watch.stopped
        if self.evaluations >= limit:
            self.ended = "evaluations"
        if self._seen is not None:
            self._seen.update(row.tobytes() for row in bits)
            if len(self._seen) == self.splits.count:
                self.ended = "finished"  # every valid scheme is scored

    def keep(self, ended: Unfinished) -> None:
        """Takes in what was scored of the last brood; there must be something to answer with."""
        if ended.part is not None:
            self._offer(bits_of(ended.part.batch), ended.part.scores)
        if not len(self.population):
            raise ended
        self.ended = self.watch.stopped

    def _offer(self, bits: Bits, scores: Scores) -> None:
        losses = shown_loss(self.problem, scores)
        for i, fitness in enumerate(fitness_of(self.problem, scores)):
            self.evaluations += 1
            best = self.population.fitness[:1]
            if not fitness[0] and (not best or fitness < best[0]):
                self.trajectory.append((self.evaluations, float(losses[i])))
                self._best_k, self._lost = int(scores.k[i]), float(scores.nwp[i])
            self.population.offer(bits[i], fitness)


def _crossover(settings: GenitorSettings, space: Space, splits: Splits) -> Crossover:
    if settings.crossover == "trad":
        return Trad(splits)
    return NewStrangers(space) if settings.crossover == "new_strangers" else New(space)


def fitness_of(problem: Problem, scores: Scores) -> list[Fitness]:
    """What the population is sorted by.

    What is missing to models beyond k says little: often it is the same for all schemes but the
    coarsest. So with these the rows in classes that violate one come first.
    """
    missing = np.maximum(problem.f2(scores), 0)
    below = np.where(missing > 0, scores.violating, 0)
    loss = exact_loss(problem, scores)
    first, second = (below, missing) if problem.models else (missing, below)
    return list(zip(first.tolist(), second.tolist(), loss.tolist(), strict=True))


def _outcome(run: Run) -> Outcome:
    """The individuals of the last population that none dominates in loss and k."""
    problem = run.problem
    everyone = problem.space.batch_of_bits(run.population.bits)
    scores = problem.evaluate(everyone)
    losses = exact_loss(problem, scores).tolist()
    # What violates a model offers nothing at any k.
    ks = np.where(problem.satisfied(scores), scores.k, 0).tolist()
    front: list[int] = []
    for rank in sorted(range(len(ks)), key=lambda rank: (losses[rank], -ks[rank])):
        if not front or ks[rank] > ks[front[-1]]:
            front.append(rank)
    solutions = everyone.take(front)
    return Outcome(
        method="genitor",
        solutions=solutions,
        scores=problem.evaluate(solutions),
        # Whatever loses less is not feasible, so the front holds the best feasible individual.
        chosen=next((i for i, rank in enumerate(front) if ks[rank] >= problem.k), None),
        objectives=(problem.loss.value, "k"),
        stopped=run.ended,
        reproducible=run.ended not in UNREPEATABLE,
        trajectory=tuple(run.trajectory),
    )
