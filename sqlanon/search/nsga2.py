"""NSGA-II with publisher preferences (Dewri et al., GECCO 2009; TKDE, section 7).

MOOP: minimize f1 = ach, the achievement function, and f2 = k_pref − k. A solution is feasible
when f2 ≤ 0. NSGA-II (Deb et al. 2002) is taken as it is but for the selection of parents,
which leads towards feasible solutions first.

The answer, the solution to OP, is the feasible non-dominated one with least ach. By dominance
it has the highest k among those of that ach, and by least pref_dev it is chosen among those of
that ach and k: Example 7 of the paper answers G_8.

Its operators work on a whole population at once: a matrix of bits, one scheme per row, the
columns of the space side by side (Iyengar's encoding). Each takes valid rows and gives valid rows:
a column's partition stays within its family and its level limits, and NULL stands apart as soon
as its column is cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
from pydantic.dataclasses import dataclass as checked

from sqlanon.domain import Bits, Family, Space, null_apart
from sqlanon.evaluate import Unfinished
from sqlanon.keys import Share, Whole, about
from sqlanon.metrics import Floats, Ints
from sqlanon.search.fronts import MoopFront, pareto_rank
from sqlanon.search.method import MANY, SCORED, SETTINGS, Cuts, register
from sqlanon.search.outcome import Outcome, Watch
from sqlanon.search.problem import MOST_CUTS, Problem
from sqlanon.search.splits import Splits


def crowding(points: Floats, ranks: Ints) -> Floats:
    """Crowding distance of NSGA-II (Deb et al. 2002), within the points of equal rank.

    The gap between a point's two neighbours, summed over the coordinates, each in parts of
    the front's extent; infinite at the ends of a front.
    """
    distance = np.zeros(len(points))
    if not len(points):
        return distance
    for values in points.T:
        order = np.lexsort((values, ranks))
        value, rank = values[order], ranks[order]
        new = rank[1:] != rank[:-1]
        first, last = np.append(True, new), np.append(new, True)
        extents = value[last] - value[first]
        extent = np.repeat(extents, np.diff(np.append(np.flatnonzero(first), len(value))))
        gap = np.zeros(len(value))
        np.divide(value[2:] - value[:-2], extent[1:-1], out=gap[1:-1], where=extent[1:-1] > 0)
        gap[first | last] = np.inf
        distance[order] += gap
    return distance


@checked(frozen=True, config=SETTINGS)
class Nsga2Settings:
    """The papers' settings."""

    population: Annotated[Whole, about("Schemes that are kept at a time.", ge=2, le=100_000)] = 100
    evaluations: Annotated[Whole, about(SCORED, ge=1, le=MANY)] = 50_000
    crossover: Annotated[Share, about("The chance that two parents exchange parts.")] = 0.8
    mutation: Annotated[Share, about("The chance that a bit flips.")] = 0.001
    cuts: Cuts = MOST_CUTS


@register("nsga2", Nsga2Settings)
def nsga2(
    problem: Problem,
    settings: Nsga2Settings,
    rng: np.random.Generator,
    watch: Watch,
    start: Bits | None = None,
) -> Outcome:
    """Every non-dominated solution of MOOP that was met, by ascending k, and the one for OP.

    `start` are bit strings of the columns' families for the first population, which is filled
    up with random ones; the level limits are imposed on them, and of more than a population the
    best survive. The same generator gives the same outcome
    unless the watch's clock or an interrupt ends the search.
    """
    space, met, limit = problem.space, MoopFront(problem), settings.evaluations
    fresh = _first_population(problem, settings, rng, start)
    people = _People(fresh[:0], np.zeros((0, 2)), np.zeros(0, dtype=np.int64))
    try:
        while True:
            batch = space.batch_of_bits(fresh)
            points = met.meet(batch, problem.evaluate(batch))
            people = _survivors(people, fresh, points, settings.population)
            if watch.step(met.progress(limit)) or met.asked >= limit:
                break
            number = min(settings.population, limit - met.asked)
            a, b = _parents(people, -(-number // 2), rng)
            children = one_point_crossover(space, a, b, settings.crossover, rng)[:number]
            problem.pulse.check()
            fresh = mutate(space, children, settings.mutation, rng)
    except Unfinished as ended:
        met.meet_part(ended)
        if not len(met):
            raise
    # What is done has not been stopped, even where the clock ran out with the last of it.
    return met.outcome("nsga2", "evaluations" if met.asked >= limit else watch.stopped)


@dataclass(frozen=True)
class _People:
    """Some schemes with their objectives f1 and f2, and their place in the tournament."""

    bits: Bits
    points: Floats
    places: Ints


def _first_population(
    problem: Problem, settings: Nsga2Settings, rng: np.random.Generator, start: Bits | None
) -> Bits:
    space = problem.space
    given = np.zeros((0, space.positions), dtype=bool) if start is None else start
    missing = max(0, min(settings.population, settings.evaluations) - len(given))
    everyone = np.concatenate([space.within_limits(given), random_population(space, missing, rng)])
    return everyone[: settings.evaluations]


def _survivors(people: _People, bits: Bits, points: Floats, number: int) -> _People:
    """Elitist survival: the best ranks, and of the last rank that fits the least crowded."""
    bits = np.concatenate([people.bits, bits])
    points = np.concatenate([people.points, points])
    ranks = pareto_rank(points)
    distances = crowding(points, ranks)
    kept = np.lexsort((-distances, ranks))[:number]
    places = tournament_places(points[kept], ranks[kept], distances[kept])
    return _People(bits[kept], points[kept], places)


def tournament_places(points: Floats, ranks: Ints, distances: Floats) -> Ints:
    """A number for each solution, such that the smaller one wins the modified tournament.

    1. both feasible: the crowded comparison, lower rank, then larger crowding distance
    2. one feasible: that one
    3. both infeasible: less f2, then less f1, then larger crowding distance
    4. unresolved: the numbers are equal

    A feasible solution always beats an infeasible one, so the three rules are one order.
    """
    f1, f2 = points.T
    feasible = f2 <= 0
    keys: tuple[npt.NDArray[np.generic], ...] = (
        ~feasible,
        np.where(feasible, ranks, f2),
        np.where(feasible, -distances, f1),
        np.where(feasible, 0.0, -distances),
    )
    order = np.lexsort(keys[::-1])
    differs = np.zeros(len(order), dtype=bool)
    for key in keys:
        ordered = key[order]
        differs[1:] |= ordered[1:] != ordered[:-1]
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.cumsum(differs)
    return places


def _parents(people: _People, pairs: int, rng: np.random.Generator) -> tuple[Bits, Bits]:
    """Two rows of winners of binary tournaments, as many as there are pairs."""
    x, y = rng.integers(0, len(people.bits), (2, 2 * pairs))
    # Step 4: both were drawn at random, so staying with the first is as arbitrary as a coin.
    winners = np.where(people.places[y] < people.places[x], y, x)
    return people.bits[winners[:pairs]], people.bits[winners[pairs:]]


Index = npt.NDArray[np.intp]

MOST_MOVED = 0.5
"""The share of children that may lose a column's partition to a move, however wide it is."""


def random_population(space: Space, n: int, rng: np.random.Generator) -> Bits:
    """`n` random schemes, from very coarse to very fine.

    Each individual has its own density, and the densities are spread evenly between 0 and 1,
    so that even a small population has coarse members. The density is the chance that a node
    is split (asked from the root down) in taxonomic columns and of every step down in
    full-domain ones, whose levels are then all equally likely; its square is the chance of a
    cut in contiguous ones, where feasible schemes have few. Fair coins for the single bits
    would make fine schemes only, and on real tables none of those is feasible.
    """
    rules = _rules(space)
    density = (rng.permutation(n) + rng.random(n)) / max(n, 1)
    drawn = rng.random((n, len(rules.drawn))) < density[:, None] ** 2
    population = np.zeros((n, space.positions), dtype=bool)
    population[:, rules.drawn] = drawn
    population = space.within_limits(population)
    for column in rules.guarded:
        population[:, column.segment] = column.random(density, rng)
    return rules.settled(population)


def one_point_crossover(
    space: Space, parents_a: Bits, parents_b: Bits, rate: float, rng: np.random.Generator
) -> Bits:
    """Both children of every pair: first those that begin like a, then those like b.

    With probability `rate` a pair exchanges what lies behind a random point of the whole
    chromosome, else the children are copies. A point inside a taxonomic or full-domain column
    may yield a partition that the family does not have. Such a child takes this column whole
    from one of its parents, at random: its point moves to an end of the column.
    """
    rules = _rules(space)
    pairs, positions = parents_a.shape
    first, second = np.concatenate([parents_a, parents_b]), np.concatenate([parents_b, parents_a])
    if positions < 2:
        return first
    drawn = rng.integers(1, positions, pairs)
    point: Index = np.tile(np.where(rng.random(pairs) < rate, drawn, positions), 2)
    children = _joined(first, second, point)
    for column in rules.guarded:
        start, stop = column.segment.start, column.segment.stop
        inside = np.flatnonzero((start < point) & (point < stop))
        broken = inside[~column.splits.valid(children[inside, column.segment])]
        point[broken] = np.where(rng.random(len(broken)) < 0.5, start, stop)
        children[broken] = _joined(first[broken], second[broken], point[broken])
    return rules.settled(children)


def mutate(space: Space, population: Bits, rate: float, rng: np.random.Generator) -> Bits:
    """The population with each bit of a contiguous column flipped with probability `rate`.

    Bits that the level limits decide stay.
    In a taxonomic column a random node is split into its children or a full set of siblings
    merged into its parent, in a full-domain one the level goes one up or down: one move, with
    the probability `rate` times the bits of the column, so that as many changes are expected
    as in a contiguous column of that width.
    """
    rules = _rules(space)
    flips = rng.random((len(population), len(rules.drawn))) < rate
    mutated = population.copy()
    mutated[:, rules.drawn] ^= flips & rules.flippable[rules.drawn]
    for column in rules.guarded:
        width = column.segment.stop - column.segment.start
        chance = min(rate * width, MOST_MOVED)
        rows = np.flatnonzero(rng.random(len(mutated)) < chance)
        if len(rows):
            moved = column.move(mutated[rows, column.segment], rng)
            mutated[rows, column.segment] = moved
    return rules.settled(mutated)


def _joined(first: Bits, second: Bits, point: Index) -> Bits:
    ahead = np.arange(first.shape[1]) < point[:, None]
    return np.where(ahead, first, second)


@dataclass(frozen=True)
class _Guarded:
    """A taxonomic or full-domain column, whose partitions are not just any bits.

    The splits of a full-domain column are a chain, one per level; they are drawn as levels.
    """

    segment: slice
    splits: Splits
    levels: bool

    def random(self, density: Floats, rng: np.random.Generator) -> Bits:
        """One partition for each density."""
        size, choices = len(self.splits), self.splits.choices
        if self.levels:
            level = rng.binomial(choices, 1 - density)
            made: Bits = np.arange(size) < choices - level[:, None]
        else:
            made = self.splits.rooted(rng.random((len(density), size)) < density[:, None])
        return self.splits.bits(made)

    def move(self, bits: Bits, rng: np.random.Generator) -> Bits:
        """A random neighbour of each row, or the row itself where limits leave it none."""
        made = self.splits.made(bits)
        finer, coarser = self.splits.refining(made), self.splits.coarsening(made)
        if self.levels:
            up = ~finer.any(axis=1) | (coarser.any(axis=1) & (rng.random(len(bits)) < 0.5))
            chosen = np.where(up[:, None], coarser, finer).argmax(axis=1)
        else:
            chosen = np.where(finer | coarser, rng.random(made.shape), -1.0).argmax(axis=1)
        made[np.arange(len(made)), chosen] ^= True
        return self.splits.bits(made)


@dataclass(frozen=True)
class _Rules:
    """What the operators must know of a space: which bits are free, which columns are not.

    drawn  the positions that random numbers are drawn for: a column of a million values has a
           few hundred candidates for cuts, and no others count
    """

    flippable: Bits
    drawn: Index
    nullable: tuple[slice, ...]
    guarded: tuple[_Guarded, ...]

    def settled(self, population: Bits) -> Bits:
        """NULL set apart in contiguous columns; the other families see to it themselves."""
        for segment in self.nullable:
            population[:, segment] = null_apart(population[:, segment])
        return population


_KNOWN: WeakKeyDictionary[Space, _Rules] = WeakKeyDictionary()
"""Rules are made once per space, not once per generation."""


def _rules(space: Space) -> _Rules:
    known = _KNOWN.get(space)
    if known is None:
        known = _KNOWN[space] = _make_rules(space)
    return known


def _make_rules(space: Space) -> _Rules:
    flippable = np.zeros(space.positions, dtype=bool)
    drawn = np.ones(space.positions, dtype=bool)
    nullable, guarded = [], []
    for j, column in enumerate(space.columns):
        segment = space.segment(j)
        if not column.positions:
            continue
        if column.candidates is not None:
            drawn[segment] = column.finest.bits
        if column.family is Family.CONTIGUOUS:
            flippable[segment] = (space.permitted & ~space.demanded)[segment]
            if column.domain.has_null:
                nullable.append(segment)
        else:
            levels = column.family is Family.FULL_DOMAIN
            guarded.append(_Guarded(segment, Splits.of_column(column), levels))
    return _Rules(flippable, np.flatnonzero(drawn), tuple(nullable), tuple(guarded))
