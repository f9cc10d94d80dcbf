"""What a cell costs when it is released as its group: a whole number for every group."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from sqlanon.domain import PartitionTable
from sqlanon.metrics.measurement import Ints

Ids = npt.NDArray[np.integer]


def group_of_atom(table: PartitionTable, ids: Ids) -> Ints:
    """The group number of every atom, one row per partition."""
    groups = np.zeros((len(ids), table.column.size), dtype=np.int64)
    np.cumsum(table.bits(ids), axis=1, out=groups[:, 1:])
    return groups


def cells_of(groups: Ints) -> Ints:
    """Numbers the groups of several partitions in one range: as many per partition as atoms."""
    partitions, atoms = groups.shape
    return np.asarray(groups + np.arange(partitions)[:, None] * atoms)


class GroupCost(ABC):
    """What the groups of the partitions of one column cost."""

    def __init__(self, table: PartitionTable, rows_by_atom: Ints) -> None:
        self.table = table
        self.rows_by_atom = rows_by_atom

    @abstractmethod
    def by_group(self, ids: Ids) -> Ints:
        """The cost of every group, one row per partition; beyond its last group, anything."""

    def fingerprint(self) -> bytes:
        """Names what costs depend on beside histogram and partition, for stored measurements."""
        return b""


class AtomCost(GroupCost):
    """Atoms in the group − 1: the cost of NWP and GLM."""

    def by_group(self, ids: Ids) -> Ints:
        groups = group_of_atom(self.table, ids)
        counts = np.bincount(cells_of(groups).ravel(), minlength=groups.size)
        return np.asarray(counts.reshape(groups.shape) - 1)
