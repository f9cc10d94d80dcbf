"""GENITOR for k-anonymity (Lunacek, Whitley & Ray, GECCO 2006), with its two crossovers.

The population is sorted, best first, and entered one individual at a time (D. Whitley, The
GENITOR algorithm and selection pressure: why rank-based allocation of reproductive trials is
best, ICGA 1989).

NEW   one point, only where both parents have a cut: generalizations on either side of a cut
      do not depend on each other, so the child of valid parents is valid
TRAD  Booker's two-point crossover on reduced surrogates, then repair to a closest valid
      string, as Iyengar did

Both yield one child, or None where no choice of points makes a child that differs from both
parents; a search falls back on mutation there. Each mutates in its own way: TRAD flips a bit
and repairs, NEW crosses with a random valid individual, the stranger, wherever a flipped bit
may be invalid. A *point* p lies between the first p bits and the rest: "after bit p" in the
words of the paper.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Annotated, Literal, Protocol

import numpy as np
from pydantic.dataclasses import dataclass as checked

from sqlanon.domain import Bits, Family, Space, null_apart
from sqlanon.evaluate import Unfinished
from sqlanon.keys import Flag, Number, Share, Whole, about
from sqlanon.metrics import Ints, Scores
from sqlanon.search.fronts import bits_of, frontier
from sqlanon.search.method import MANY, SCORED, SETTINGS, Cuts, register
from sqlanon.search.outcome import Outcome, Progress, Watch
from sqlanon.search.problem import MOST_CUTS, Problem, exact_loss, shown_loss
from sqlanon.search.splits import Splits


class Crossover(Protocol):
    """Makes valid bit strings of a space from valid ones."""

    def __call__(self, first: Bits, second: Bits, rng: np.random.Generator) -> Bits | None:
        """A child that begins like the first parent, or None."""

    def mutated(self, parent: Bits, rng: np.random.Generator) -> Bits:
        """The parent changed at random."""


class New:
    """The crossover that keeps valid strings valid.

    A point is eligible right after a bit that is 1 in both parents, in a contiguous or
    taxonomic column, when it comes after a segment of agreement followed by one of
    disagreement, and when the parents disagree somewhere after it too: so the child differs
    from both.

    The border between two columns is a cut that every individual has, though no bit says so.
    It counts as a bit on which the parents agree, equal to 1: an eligible point, and a
    segment of agreement. So does the border before the first column. A full-domain column
    has one level for all its atoms, so its borders are its only points.

    All points between two neighbouring disagreements make the same child. They count once,
    as the first of them, and the point is drawn uniformly among those.
    """

    def __init__(self, space: Space) -> None:
        self._space = space
        self._splits = Splits.of_space(space)
        self._inner = np.zeros(space.positions, dtype=bool)
        for j, column in enumerate(space.columns):
            self._inner[space.segment(j)] = column.family is not Family.FULL_DOMAIN
        self._borders = np.zeros(space.positions + 1, dtype=bool)
        self._borders[space.offsets] = True

    def points(self, first: Bits, second: Bits) -> Ints:
        """The eligible points, one for each child that there can be."""
        differ = np.flatnonzero(first != second)
        cuts = self._borders.copy()
        cuts[1:] |= first & second & self._inner
        shared = np.flatnonzero(cuts)
        # Point p parts bits p − 1 and p: it lies between the disagreements d and e when
        # d < p ≤ e.
        following = shared[np.searchsorted(shared, differ[:-1], side="right")]
        return following[following <= differ[1:]]

    def __call__(self, first: Bits, second: Bits, rng: np.random.Generator) -> Bits | None:
        points = self.points(first, second)
        if not len(points):
            return None
        return joined(first, second, int(points[rng.integers(len(points))]))

    def mutated(self, parent: Bits, rng: np.random.Generator) -> Bits:
        """The parent changed in one column, that of a position drawn at random.

        The paper replaces mutation of a constrained attribute by crossover with a random
        individual. So in a contiguous column, where every string is valid, the bit is flipped,
        and elsewhere the parent is crossed with a stranger that differs from it in this column
        alone, or becomes the stranger where the two have no child.
        """
        free = self._splits.free
        if not len(free):
            return parent.copy()
        position = int(free[rng.integers(len(free))])
        j = int(np.searchsorted(self._space.offsets, position, side="right")) - 1
        segment, column = self._space.segment(j), self._space.columns[j]
        other = parent.copy()
        if column.family is Family.CONTIGUOUS:
            other[position] ^= True
            if column.domain.has_null:
                other[segment] = null_apart(other[segment])
            return other
        other[segment] = self._splits.random(1, rng)[0, segment]
        child = self(parent, other, rng)
        return other if child is None else child


class NewStrangers(New):
    """The same crossover; mutation is crossover of the whole string with a stranger.

    So it can be read too. It exchanges half of the string on average, and seldom helps.
    """

    def mutated(self, parent: Bits, rng: np.random.Generator) -> Bits:
        """The child of the parent and a stranger, or the stranger where the two have no child."""
        stranger = self._splits.random(1, rng)[0]
        child = self(parent, stranger, rng)
        return stranger if child is None else child


class Trad:
    """Two-point crossover on reduced surrogates, repaired.

    The reduced surrogates are the bits on which the parents disagree. Two different points
    are drawn among the places between, before and after those bits, not both ends at once;
    the first parent receives what lies between the points from the second. The repair may
    still end at a parent.
    """

    def __init__(self, splits: Splits) -> None:
        self._splits = splits

    def __call__(self, first: Bits, second: Bits, rng: np.random.Generator) -> Bits | None:
        differ = np.flatnonzero(first != second)
        last = len(differ)
        if last < 2:
            return None
        start, stop = two_places(last, rng)
        end = int(differ[stop]) if stop < last else len(first)
        return self._splits.closest(exchanged(first, second, int(differ[start]), end), rng)

    def mutated(self, parent: Bits, rng: np.random.Generator) -> Bits:
        """The parent with one bit flipped, repaired.

        So it may be the parent again: as the paper says, a flip in a taxonomic column often
        has no effect, or one that reaches further than the bit.
        """
        free, flipped = self._splits.free, parent.copy()
        if len(free):
            flipped[free[rng.integers(len(free))]] ^= True
        return self._splits.closest(flipped, rng)


def two_places(last: int, rng: np.random.Generator) -> tuple[int, int]:
    """Two different places from 0 to `last`, in order, uniformly, but not both ends at once."""
    start = stop = 0
    while start == stop or (start, stop) == (0, last):
        start, stop = sorted(rng.integers(last + 1, size=2).tolist())
    return start, stop


def joined(first: Bits, second: Bits, point: int) -> Bits:
    """The first parent's bits up to a point, the second's after it."""
    return np.concatenate([first[:point], second[point:]])


def exchanged(first: Bits, second: Bits, start: int, stop: int) -> Bits:
    """The first parent with the second's bits between two points."""
    child = first.copy()
    child[start:stop] = second[start:stop]
    return child


Fitness = tuple[int | float, int | float, int | float]
"""What is missing to k or a model and the rows in classes that violate it, both 0 when feasible,
then the loss: the smaller the better."""


class RankedPopulation:
    """At most `size` bit strings, rank 0 the best; among equals the older ranks first."""

    def __init__(self, size: int, positions: int, *, duplicates: bool = False) -> None:
        self.size = size
        self.duplicates = duplicates
        self.fitness: list[Fitness] = []
        self._rows: list[int] = []  # where the individual of each rank is stored
        self._stored = np.zeros((size, positions), dtype=bool)
        self._names: set[bytes] = set()  # of all individuals, unless duplicates are allowed

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, rank: int) -> Bits:
        bits: Bits = self._stored[self._rows[rank]]
        return bits

    def __contains__(self, name: bytes) -> bool:
        """Whether an individual with these bytes is there; only without duplicates."""
        return name in self._names

    @property
    def bits(self) -> Bits:
        """All individuals by rank."""
        return self._stored[self._rows]

    def offer(self, bits: Bits, fitness: Fitness) -> bool:
        """Lets an individual in, and says whether it came in.

        A full population takes only what is better than its worst, which makes room. What is
        there already is turned away, unless duplicates are allowed.
        """
        full = len(self) == self.size
        if full and not fitness < self.fitness[-1]:
            return False
        name = bits.tobytes()
        if not self.duplicates and name in self._names:
            return False
        row = len(self)
        if full:
            row = self._rows.pop()
            self.fitness.pop()
            self._names.discard(self._stored[row].tobytes())
        rank = bisect_right(self.fitness, fitness)
        self.fitness.insert(rank, fitness)
        self._rows.insert(rank, row)
        self._stored[row] = bits
        self._names.add(name)
        return True


def biased_rank(size: int, bias: float, rng: np.random.Generator) -> int:
    """A rank by Whitley's linear selection: the best is `bias` times as likely as the median.

    With u uniform in [0, 1) the rank is the floor of

        size · (bias − √(bias² − 4 (bias − 1) u)) / (2 (bias − 1)),

    and uniform in the limit of bias 1.
    """
    u = rng.random()
    if bias == 1:
        return int(size * u)
    root = math.sqrt(bias * bias - 4 * (bias - 1) * u)
    return min(int(size * (bias - root) / (2 * (bias - 1))), size - 1)


def parents(size: int, bias: float, rng: np.random.Generator) -> tuple[int, int]:
    """The ranks of two different individuals, each drawn by `biased_rank`."""
    first = second = biased_rank(size, bias, rng)
    while second == first:
        second = biased_rank(size, bias, rng)
    return first, second


DUPLICATES = 100
"""After so many offspring in a row that the population has already, a stranger is taken."""


@checked(frozen=True, config=SETTINGS)
class GenitorSettings:
    """The paper's settings, except for bias and mutation, which it does not state.

    A brood is bred from the same population, scored together and entered one by one; 1 is the
    paper's steady state to the letter, more make better use of SQL.
    """

    population: Annotated[Whole, about("Schemes that are kept at a time.", ge=2, le=100_000)] = 200
    evaluations: Annotated[Whole, about(SCORED, ge=2, le=MANY)] = 30_000
    crossover: Annotated[Literal["new", "new_strangers", "trad"], about("The operator.")] = "new"
    bias: Annotated[
        Number, about("How much likelier the best is a parent than the median.", ge=1, le=2)
    ] = 1.5
    mutation: Annotated[Share, about("The share of mutated offspring.")] = 0.05
    allow_duplicates: Annotated[Flag, about("Whether a population may hold a scheme twice.")] = (
        False
    )
    brood: Annotated[Whole, about("Offspring that are scored together.", ge=1, le=100_000)] = 1
    cuts: Cuts = MOST_CUTS


@register("genitor", GenitorSettings, default_loss="glm")
def genitor(
    problem: Problem,
    settings: GenitorSettings,
    rng: np.random.Generator,
    watch: Watch,
    start: Bits | None = None,
) -> Outcome:
    """The best of the last population, and what it offers at higher k.

    `start` holds valid bit strings that the first population begins with; the rest of it is
    drawn uniformly among the valid ones. Without it, that population begins with the coarsest
    scheme where not everything may be suppressed, as it may in the paper, because few others
    may be feasible. Among equal solutions the first found is taken.
    """
    run = Run(problem, settings, rng, watch)
    if start is None and (problem.models or problem.budget < problem.rows):
        start = problem.space.demanded[None]
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
        self.population = RankedPopulation(
            size, space.positions, duplicates=settings.allow_duplicates
        )
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
    # What violates a model offers nothing at any k.
    ks = np.where(problem.satisfied(scores), scores.k, 0)
    front = frontier(exact_loss(problem, scores), -ks)
    solutions = everyone.take(front)
    feasible = np.flatnonzero(ks[front] >= problem.k)
    return Outcome(
        method="genitor",
        solutions=solutions,
        scores=problem.evaluate(solutions),
        # Whatever loses less is not feasible, so the front holds the best feasible individual.
        chosen=int(feasible[0]) if len(feasible) else None,
        objectives=(problem.loss, "k"),
        stopped=run.ended,
        trajectory=tuple(run.trajectory),
    )
