"""The cost of releasing a cell as its group, summed over the rows."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sqlanon.domain import Histogram, PartitionTable
from sqlanon.metrics.measurement import Ints

if TYPE_CHECKING:
    from sqlanon.metrics.metric import Metric

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
    """The costs of the groups of one column's partitions."""

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


class CostModel:
    """The measured costs of a scheme's groups, for the requested metrics.

    kinds   the costs of all columns, kind by kind, in the order of Measurement.loss: atoms
            first, then those that metrics declare
    tuples  whether every class is examined, for the tuples that its rows may come from
    """

    def __init__(self, histogram: Histogram, asked: Sequence[Metric]) -> None:
        tables, rows = histogram.space.tables, histogram.marginals
        kinds: list[type[GroupCost]] = [AtomCost, *(m.cost for m in asked if m.cost is not None)]
        self.kinds = [
            [cost(table, counts) for table, counts in zip(tables, rows, strict=True)]
            for cost in kinds
        ]
        self.tuples = any(metric.needs_tuples for metric in asked)
        self._keys = [m.key for m in asked if m.cost is not None or m.needs_tuples]

    @property
    def fingerprint(self) -> str:
        """Names what measurements depend on; empty if nothing further is measured."""
        names = " ".join(self._keys)
        details = b"".join(cost.fingerprint() for kind in self.kinds for cost in kind)
        return f"{names} {hashlib.sha256(details).hexdigest()}" if details else names


CHUNK = 4_000_000
"""Cells computed at a time, to bound memory on wide domains."""


def rows_by_group(table: PartitionTable, partition: int, rows_by_atom: Ints) -> Ints:
    """The rows of every group of one partition."""
    (groups,) = group_of_atom(table, np.array([partition], dtype=np.int32))
    return np.add.reduceat(rows_by_atom, np.flatnonzero(np.diff(groups, prepend=-1)))


class ColumnLoss:
    """Σ over rows of the cost of the row's group, by partition of one column."""

    def __init__(self, cost: GroupCost) -> None:
        self._cost = cost
        self._loss = np.zeros(0, dtype=np.int64)

    def of(self, ids: Ids) -> Ints:
        """The losses of the partitions with these ids."""
        known, wanted = len(self._loss), len(self._cost.table)
        if wanted > known:
            step = max(1, CHUNK // len(self._cost.rows_by_atom))
            starts = range(known, wanted, step)
            fresh = [self._compute(np.arange(a, min(a + step, wanted))) for a in starts]
            self._loss = np.concatenate([self._loss, *fresh])
        return np.take(self._loss, ids)

    def _compute(self, ids: Ints) -> Ints:
        costs = self._cost.by_group(ids)
        groups = group_of_atom(self._cost.table, ids)
        by_atom: Ints = np.take_along_axis(costs, groups, axis=1)
        return np.asarray(by_atom @ self._cost.rows_by_atom)
