"""Prices of groups: what a cell loses when it is released as its group."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Collection
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sqlanon.histogram import Histogram
from sqlanon.measurement import Ints
from sqlanon.metrics.entropy import entropy_of_groups
from sqlanon.metrics.further import measurable, priced
from sqlanon.model import BiasName, LossName
from sqlanon.scheme.batch import PartitionTable

Ids = npt.NDArray[np.integer]


def group_of_atom(table: PartitionTable, ids: Ids) -> Ints:
    """The group number of every atom, one row a partition."""
    groups = np.zeros((len(ids), table.column.size), dtype=np.int64)
    np.cumsum(table.bits(ids), axis=1, out=groups[:, 1:])
    return groups


def atoms_by_group(table: PartitionTable, ids: Ids) -> Ints:
    """The number of atoms in every group, one row a partition, 0 beyond its last group."""
    groups = group_of_atom(table, ids)
    size = table.column.size
    flat = groups + np.arange(len(ids))[:, None] * size
    return np.bincount(flat.ravel(), minlength=len(ids) * size).reshape(len(ids), size)


class Price(ABC):
    """A whole number for every group of the partitions of one column."""

    def __init__(self, table: PartitionTable) -> None:
        self.table = table

    @abstractmethod
    def by_group(self, ids: Ids) -> Ints:
        """The price of every group, one row a partition; beyond its last group, anything."""


class AtomPrice(Price):
    """Atoms in the group − 1, for NWP and GLM."""

    def by_group(self, ids: Ids) -> Ints:
        return atoms_by_group(self.table, ids) - 1


class HeightPrice(Price):
    """The least level of the hierarchy on which the atoms of the group are together."""

    @cached_property
    def _joined_at(self) -> Ints:
        """For each position, the least level that does not cut there.

        Levels are nested: a cut that is gone on one is gone on all above.
        """
        apart = self.table.bits(self.table.level_ids)
        return np.asarray(apart.sum(axis=0, dtype=np.int64))

    def by_group(self, ids: Ids) -> Ints:
        groups = group_of_atom(self.table, ids)
        partitions, atoms = groups.shape
        heights = np.zeros(groups.size, dtype=np.int64)
        flat = groups + np.arange(partitions)[:, None] * atoms
        inside = ~self.table.bits(ids)  # both neighbours of the position are in one group
        joined = np.broadcast_to(self._joined_at, inside.shape)
        np.maximum.at(heights, flat[:, :-1][inside], joined[inside])
        return heights.reshape(groups.shape)

    def fingerprint(self) -> bytes:
        """Changes with the hierarchy; the schemes of two hierarchies may be the same."""
        return f"{self.table.column.height} {self._joined_at.tolist()}\n".encode()


class EntropyPrice(Price):
    """The entropy of the atoms in the group, in whole units."""

    def __init__(self, table: PartitionTable, rows_by_atom: Ints) -> None:
        super().__init__(table)
        self._rows = rows_by_atom

    def by_group(self, ids: Ids) -> Ints:
        return entropy_of_groups(group_of_atom(self.table, ids), self._rows)


class Tariff:
    """What is measured of a scheme's groups, for the measures that are asked for.

    kinds      the prices of all columns, kind by kind, in the order of Measurement.loss
    ambiguity  whether every class is looked at, for the atoms of all its groups
    """

    def __init__(self, histogram: Histogram, asked: Collection[LossName | BiasName]) -> None:
        tables = histogram.space.tables
        wanted = measurable(histogram, asked)
        self.ambiguity = LossName.AMBIGUITY in wanted
        self._names = [*priced(wanted), *[LossName.AMBIGUITY] * self.ambiguity]
        self._heights = [HeightPrice(table) for table in tables]
        self.kinds: list[list[Price]] = [[AtomPrice(table) for table in tables]]
        if LossName.PRECISION in wanted:
            self.kinds.append([*self._heights])
        if LossName.ENTROPY in wanted:
            pairs = zip(tables, histogram.marginals, strict=True)
            self.kinds.append([EntropyPrice(table, rows) for table, rows in pairs])

    @property
    def fingerprint(self) -> str:
        """Names what measurements depend on; empty where nothing further is measured."""
        names = " ".join(self._names)
        if LossName.PRECISION not in self._names:
            return names
        digest = hashlib.sha256(b"".join(price.fingerprint() for price in self._heights))
        return f"{names} {digest.hexdigest()}"
