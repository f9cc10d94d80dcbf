"""Random schemes, crossover and mutation, on a whole population at once.

A population is a matrix of bits, one scheme per row, the columns of the space side by side
(Iyengar's encoding). Every function takes valid rows and gives valid rows: each column's
partition stays within its family and its level limits, and NULL stands apart as soon as its
column is cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from sqlanon.domain import Bits, Family, Space, null_apart
from sqlanon.search.splits import Splits

Floats = npt.NDArray[np.float64]
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

    The splits of a full-domain column are a chain, one a level; they are drawn as levels.
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
