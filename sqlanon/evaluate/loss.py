"""The loss of a column by itself: without suppression it needs no classes, only marginals."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.measurement import Ints
from sqlanon.scheme.batch import PartitionTable

CHUNK = 4_000_000
"""Cells computed at a time, to bound memory on wide domains."""


class ColumnLoss:
    """Σ over rows of (atoms in the row's group − 1), by partition of one column."""

    def __init__(self, table: PartitionTable, rows_by_atom: Ints) -> None:
        self._table = table
        self._rows = rows_by_atom
        self._loss = np.zeros(0, dtype=np.int64)

    def of(self, ids: npt.NDArray[np.integer]) -> Ints:
        """The losses of the partitions with these ids."""
        known, wanted = len(self._loss), len(self._table)
        if wanted > known:
            step = max(1, CHUNK // len(self._rows))
            starts = range(known, wanted, step)
            fresh = [self._compute(np.arange(a, min(a + step, wanted))) for a in starts]
            self._loss = np.concatenate([self._loss, *fresh])
        return np.take(self._loss, ids)

    def _compute(self, ids: Ints) -> Ints:
        sizes = atoms_by_group(self._table, ids)
        groups = group_of_atom(self._table, ids)
        penalties: Ints = np.take_along_axis(sizes, groups, axis=1) - 1
        return np.asarray(penalties @ self._rows)


def group_of_atom(table: PartitionTable, ids: npt.NDArray[np.integer]) -> Ints:
    """The group number of every atom, one row a partition."""
    groups = np.zeros((len(ids), table.column.size), dtype=np.int64)
    np.cumsum(table.bits(ids), axis=1, out=groups[:, 1:])
    return groups


def atoms_by_group(table: PartitionTable, ids: npt.NDArray[np.integer]) -> Ints:
    """The number of atoms in every group, one row a partition, 0 beyond its last group."""
    groups = group_of_atom(table, ids)
    size = table.column.size
    flat = groups + np.arange(len(ids))[:, None] * size
    return np.bincount(flat.ravel(), minlength=len(ids) * size).reshape(len(ids), size)
