"""The counts of a sensitive column that the audit formulas of models use."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sqlanon.domain import Hierarchy

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

Numbers: TypeAlias = npt.NDArray[Any]
"""Whole numbers, or floats where they would be too large."""

_EXACT = 2**62


def _none() -> Ints:
    return np.zeros(0, np.int64)


@dataclass(frozen=True)
class AuditedColumn:
    """The people of every class of a table by value, and of the reference by value.

    people      by class, its people, who may have several values each
    rows        by class, its rows
    population  by class, the people of the population who match it; empty without one
    whole       by value, people of the reference
    of_class    of every pair of a class and a value that it has, the number of the class;
    of_value    the number of the value, ascending within the class;
    counts      and how many people of the class have it: c_v
    is_ordered  whether the values are numbered in an order that says how far apart they are
    leaves      by value its leaf in the hierarchy, -1 for NULL
    """

    people: Ints
    rows: Ints
    population: Ints = field(default_factory=_none)
    whole: Ints = field(default_factory=_none)
    of_class: Ints = field(default_factory=_none)
    of_value: Ints = field(default_factory=_none)
    counts: Ints = field(default_factory=_none)
    is_ordered: bool = False
    hierarchy: Hierarchy | None = None
    leaves: Ints = field(default_factory=_none)

    @cached_property
    def starts(self) -> Ints:
        """Where the pairs of each class begin; every class has one."""
        return np.flatnonzero(np.diff(self.of_class, prepend=-1))

    @cached_property
    def n(self) -> Ints:
        """By class, Σ c_v."""
        return np.asarray(self.summed(self.counts))

    @property
    def total(self) -> int:
        """Σ over the values of the reference."""
        return int(self.whole.sum())

    def summed(self, values: Numbers) -> Numbers:
        """By class, the sum over its pairs."""
        return np.asarray(np.add.reduceat(values, self.starts))

    def largest(self, values: Floats) -> Floats:
        """By class, the maximum over its pairs."""
        return np.asarray(np.maximum.reduceat(values, self.starts))

    @property
    def expected(self) -> Numbers:
        """q_v of every pair, times n and the total of the reference."""
        return self.whole[self.of_value] * wide(self.n, self.total)[self.of_class]

    @property
    def excess(self) -> Numbers:
        """p_v − q_v of every pair, times the same."""
        return wide(self.counts, self.total) * self.total - self.expected

    def groups(self, level: int) -> Ints:
        """The group of every value on a level of the hierarchy; NULL is alone below the root."""
        assert self.hierarchy is not None
        if level >= max(1, self.hierarchy.height):
            return np.zeros(len(self.whole), np.int64)
        found = np.asarray([*self.hierarchy.groups(level), -1])[self.leaves]
        return np.unique(found, return_inverse=True)[1]

    def held_groups(self, groups: Ints) -> tuple[Ints, Ints, Numbers]:
        """Of every pair of a class and a group that it has: class, group, and excess."""
        whole = np.bincount(groups, self.whole).astype(np.int64)
        pairs, place = np.unique(
            self.of_class * whole.size + groups[self.of_value], return_inverse=True
        )
        counts = np.zeros(pairs.size, np.int64)
        np.add.at(counts, place, self.counts)
        of_class, group = pairs // whole.size, pairs % whole.size
        expected = whole[group] * wide(self.n, self.total)[of_class]
        return of_class, group, wide(counts, self.total) * self.total - expected


def divided(above: Numbers, below: Numbers) -> Floats:
    """The quotients, infinite where the divisor is 0."""
    out = np.full(above.size, np.inf)
    np.divide(above, below, out=out, where=below > 0)
    return out


def wide(values: Ints, *factors: int) -> Numbers:
    """The values as they are if products with the factors fit into 64 bits, else as floats."""
    size = max(1, int(values.max(initial=0)))
    for factor in factors:
        size *= max(1, factor)
    return values if size < _EXACT else values.astype(np.float64)
