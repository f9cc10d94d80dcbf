"""Random schemes, crossover and mutation, on a whole population at once.

A population is a matrix of bits, one scheme a row, the columns of the space side by side
(Iyengar's encoding). Every function takes valid rows and gives valid rows: each column's
partition stays within its family, and NULL stands apart as soon as its column is cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from sqlanon.model import Family
from sqlanon.scheme import Bits, Column, Space
from sqlanon.scheme.partition import null_apart

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
    population: Bits = rng.random((n, space.positions)) < density[:, None] ** 2
    for column in rules.guarded:
        population[:, column.segment] = column.family.random(density, rng)
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
        broken = inside[~column.family.valid(children[inside, column.segment])]
        point[broken] = np.where(rng.random(len(broken)) < 0.5, start, stop)
        children[broken] = _joined(first[broken], second[broken], point[broken])
    return rules.settled(children)


def mutate(space: Space, population: Bits, rate: float, rng: np.random.Generator) -> Bits:
    """The population with each bit of a contiguous column flipped with probability `rate`.

    In a taxonomic column a random node is split into its children or a full set of siblings
    merged into its parent, in a full-domain one the level goes one up or down: one move, with
    the probability `rate` times the bits of the column, so that as many changes are expected
    as in a contiguous column of that width.
    """
    rules = _rules(space)
    flips = rng.random(population.shape) < rate
    mutated: Bits = population ^ (flips & rules.flippable)
    for column in rules.guarded:
        width = column.segment.stop - column.segment.start
        chance = min(rate * width, MOST_MOVED)
        rows = np.flatnonzero(rng.random(len(mutated)) < chance)
        if len(rows):
            moved = column.family.move(mutated[rows, column.segment], rng)
            mutated[rows, column.segment] = moved
    return rules.settled(mutated)


def _joined(first: Bits, second: Bits, point: Index) -> Bits:
    ahead = np.arange(first.shape[1]) < point[:, None]
    return np.where(ahead, first, second)


class _Guarded(Protocol):
    """A family whose partitions are not just any bits."""

    def random(self, density: Floats, rng: np.random.Generator) -> Bits:
        """One partition for each density."""

    def valid(self, bits: Bits) -> Bits:
        """Whether each row is a partition of the family."""

    def move(self, bits: Bits, rng: np.random.Generator) -> Bits:
        """A random neighbour of each row."""


class _Taxonomic:
    """Valid partitions as sets of split nodes.

    Every position lies between two children of exactly one node. A partition is valid when
    each node has either all of its positions cut (it is split) or none, and when the parent
    of every split node is split too. NULL and the tree of the values are the children of the
    root of all.
    """

    def __init__(self, column: Column) -> None:
        self._owner = np.zeros(column.positions, dtype=np.intp)
        parents: list[int] = []
        if column.domain.has_null:
            self._owner[column.domain.width - 1] = self._add(parents, 0)
        if column.hierarchy is None:
            if column.domain.width > 1:
                self._owner[: column.domain.width - 1] = self._add(parents, 0)
        else:
            above = {column.hierarchy.nodes()[0]: 0}
            for node in column.hierarchy.nodes():
                children = column.hierarchy.children(node)
                if children:
                    number = self._add(parents, above[node])
                    self._owner[[child.start - 1 for child in children[1:]]] = number
                    above |= dict.fromkeys(children, number)
        self._parent = np.array(parents, dtype=np.intp)
        _, self._sample = np.unique(self._owner, return_index=True)

    @staticmethod
    def _add(parents: list[int], parent: int) -> int:
        """Numbers the next node in preorder; the first is its own parent."""
        parents.append(parent)
        return len(parents) - 1

    def random(self, density: Floats, rng: np.random.Generator) -> Bits:
        split: Bits = rng.random((len(density), len(self._parent))) < density[:, None]
        for node, parent in enumerate(self._parent):
            split[:, node] &= split[:, parent]
        return split[:, self._owner]

    def valid(self, bits: Bits) -> Bits:
        split = bits[:, self._sample]
        whole = (bits == split[:, self._owner]).all(axis=1)
        return np.asarray(whole & (split <= split[:, self._parent]).all(axis=1))

    def move(self, bits: Bits, rng: np.random.Generator) -> Bits:
        split = bits[:, self._sample]
        reachable = split[:, self._parent]
        reachable[:, 0] = True
        busy = np.zeros(split.shape, dtype=np.int64)  # split children of each node
        np.add.at(busy.T, self._parent[1:], split[:, 1:].T)
        possible = np.where(split, busy == 0, reachable)
        chosen = np.where(possible, rng.random(split.shape), -1.0).argmax(axis=1)
        split[np.arange(len(split)), chosen] ^= True
        return split[:, self._owner]


class _FullDomain:
    """The levels of a hierarchy that differ, from the atoms to the root."""

    def __init__(self, column: Column) -> None:
        distinct = dict.fromkeys(column.levels)
        self._levels = np.stack([p.bits for p in distinct])
        # A chain: the number of cuts tells the level.
        self._fewest_first = self._levels.sum(axis=1)[::-1]
        self._top = len(self._levels) - 1

    def random(self, density: Floats, rng: np.random.Generator) -> Bits:
        return self._levels[rng.binomial(self._top, 1 - density)]

    def valid(self, bits: Bits) -> Bits:
        return np.asarray((self._levels[self._level(bits)] == bits).all(axis=1))

    def move(self, bits: Bits, rng: np.random.Generator) -> Bits:
        level = self._level(bits)
        up = np.where(level == 0, True, (level < self._top) & (rng.random(len(bits)) < 0.5))
        return self._levels[level + np.where(up, 1, -1)]

    def _level(self, bits: Bits) -> Index:
        """The coarsest level with at least as many cuts."""
        return np.asarray(self._top - np.searchsorted(self._fewest_first, bits.sum(axis=1)))


@dataclass(frozen=True)
class _GuardedColumn:
    segment: slice
    family: _Guarded


@dataclass(frozen=True)
class _Rules:
    """What the operators must know of a space: which bits are free, which columns are not."""

    flippable: Bits
    nullable: tuple[slice, ...]
    guarded: tuple[_GuardedColumn, ...]

    def settled(self, population: Bits) -> Bits:
        """NULL set apart in contiguous columns; the other families see to it themselves."""
        for segment in self.nullable:
            population[:, segment] = null_apart(population[:, segment])
        return population


_KNOWN: WeakKeyDictionary[Space, _Rules] = WeakKeyDictionary()
"""Trees are laid out once a space, not once a generation."""


def _rules(space: Space) -> _Rules:
    known = _KNOWN.get(space)
    if known is None:
        known = _KNOWN[space] = _make_rules(space)
    return known


def _make_rules(space: Space) -> _Rules:
    flippable = np.zeros(space.positions, dtype=bool)
    nullable, guarded = [], []
    for j, column in enumerate(space.columns):
        segment = space.segment(j)
        if not column.positions:
            continue
        if column.family is Family.CONTIGUOUS:
            flippable[segment] = True
            if column.domain.has_null:
                nullable.append(segment)
        else:
            taxonomic = column.family is Family.TAXONOMIC
            family = _Taxonomic(column) if taxonomic else _FullDomain(column)
            guarded.append(_GuardedColumn(segment, family))
    return _Rules(flippable, tuple(nullable), tuple(guarded))
