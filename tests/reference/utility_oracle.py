"""Counts and estimates worked out row by row on the raw table, without the package's code."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from score_oracle import OracleColumn

Group = frozenset[Hashable]


@dataclass
class Released:
    """A table with its groups; rows of classes with fewer than k people are suppressed."""

    columns: Sequence[OracleColumn]
    people: Sequence[Hashable]
    k: int = 1
    suppress: bool = False
    mark: bool = False

    def rows(self) -> list[tuple[Group, ...]]:
        """The groups of every released row; a marked one has the whole domain everywhere."""
        classes: dict[tuple[Group, ...], set[Hashable]] = defaultdict(set)
        groups = [tuple(c.group_of(row) for c in self.columns) for row in range(len(self.people))]
        for row, person in zip(groups, self.people, strict=True):
            classes[row].add(person)
        whole = tuple(frozenset().union(*column.groups) for column in self.columns)
        found = []
        for row in groups:
            if not self.suppress or len(classes[row]) >= self.k:
                found.append(row)
            elif self.mark:
                found.append(whole)
        return found

    def count(self, query: Mapping[int, set[Hashable]]) -> int:
        """The rows of the source that a query takes."""
        total = 0
        for row in range(len(self.people)):
            atoms = [column.atom_of(column.cells[row]) for column in self.columns]
            total += all(atoms[j] in taken for j, taken in query.items())
        return total

    def estimate(self, query: Mapping[int, set[Hashable]]) -> Fraction:
        """The sum over released rows of the products of |query ∩ group| / |group|."""
        total = Fraction(0)
        for row in self.rows():
            share = Fraction(1)
            for j, taken in query.items():
                share *= Fraction(len(taken & row[j]), len(row[j]))
            total += share
        return total
