"""The counts of a column in the classes of a scheme that the search formulas of models use."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sqlanon.domain import Hierarchy, ValueDomain, format_value, sort_key
from sqlanon.errors import EvaluationError

Ints = npt.NDArray[np.int64]

Cell: TypeAlias = Any
"""SQL expressions, or an array of numbers; both take + - * / with each other and with numbers."""


class ClassCounts(ABC):
    """How often the classes of schemes hold each value of a column.

    A model writes its formula once. SQL computes it if every value has a count of its own; if a
    column has too many values for that, arrays do.

    size        one number per class: its people
    population  the people of the population who match it
    pairs       n = Σ c_v; equal to the people of the class if each has one value
    counts      one number per value and class: c_v
    totals      one number per value: how many people of the source have it
    whole       the sum of the totals
    values      how many values there are
    """

    size: Cell
    population: Cell
    pairs: Cell
    counts: Cell
    totals: Cell
    whole: int
    values: int

    def __init__(self, domain: ValueDomain | None, tree: Hierarchy | None) -> None:
        self._domain = domain
        self._tree = tree

    @cached_property
    def levels(self) -> Sequence[Ints]:
        """The group of each value on every level of the column's hierarchy below the root."""
        assert self._domain is not None
        if self._tree is None:
            raise EvaluationError(f"there is no hierarchy of column {self._domain.column!r}")
        return levels_of(self._tree, self._domain)

    @property
    def surplus(self) -> Cell:
        """(p_v − q_v) · n · whole, a whole number per value and class."""
        return self.counts * self.whole - self.of_each(self.pairs) * self.totals

    @property
    def ratios(self) -> Cell:
        """p_v / q_v per value and class."""
        return self.counts * self.whole / (self.of_each(self.pairs) * self.totals)

    @abstractmethod
    def grouped(self, groups: Ints) -> ClassCounts:
        """The same with groups in place of values; `groups` has the number of each value's."""

    @abstractmethod
    def of_each(self, per_class: Cell) -> Cell:
        """A number per class beside every value of the class."""

    @abstractmethod
    def summed(self, each: Cell) -> Cell:
        """Per class the sum over its values. What values of count 0 add must be 0."""

    @abstractmethod
    def largest(self, each: Cell) -> Cell:
        """Per class the maximum over its values; one of count 0 must not have it."""

    @abstractmethod
    def distinct(self) -> Cell:
        """Per class the number of values that occur."""

    @abstractmethod
    def least(self) -> Cell:
        """Per class the least c_v, 0 where a value of the column is missing."""

    @abstractmethod
    def most(self, number: int) -> Cell:
        """Per class how often the most frequent values occur, so many of them."""

    @abstractmethod
    def along(self) -> Cell:
        """Per class Σ_i |Σ_{j≤i} surplus_j| over the values in order."""

    @abstractmethod
    def positive(self, cell: Cell) -> Cell:
        """The numbers above 0, and 0 in place of the others."""

    @abstractmethod
    def absolute(self, cell: Cell) -> Cell: ...

    @abstractmethod
    def ln(self, cell: Cell) -> Cell:
        """The natural logarithm of numbers; of 0 some finite number."""

    @abstractmethod
    def exp(self, cell: Cell) -> Cell: ...

    @abstractmethod
    def infinite_at_0(self, divisor: Cell, number: Cell) -> Cell:
        """The number, infinite where the divisor is 0."""


def levels_of(tree: Hierarchy, domain: ValueDomain) -> Sequence[Ints]:
    """The group of each value on every level below the root, where NULL is alone on each.

    There is one level at least: in a hierarchy of one value, that value and NULL.
    """
    places = {sort_key(leaf): i for i, leaf in enumerate(tree.parsed(domain.kind))}
    missing = [format_value(value) for value in domain.values if sort_key(value) not in places]
    tree.refuse_without_leaf(domain.column, missing)
    found = np.array([places[sort_key(value)] for value in domain.values], dtype=np.int64)
    alone = [len(tree.leaves)] if domain.has_null else []
    return [
        np.array([*np.asarray(tree.groups(level))[found], *alone], dtype=np.int64)
        for level in range(max(tree.height, 1))
    ]
