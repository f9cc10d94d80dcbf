"""The loss of a column by itself: without suppression it needs no classes, only marginals."""

from __future__ import annotations

import numpy as np

from sqlanon.evaluate.price import Ids, Price, group_of_atom
from sqlanon.measurement import Ints
from sqlanon.scheme.batch import PartitionTable

CHUNK = 4_000_000
"""Cells computed at a time, to bound memory on wide domains."""


def rows_by_group(table: PartitionTable, partition: int, rows_by_atom: Ints) -> Ints:
    """The rows of every group of one partition."""
    (groups,) = group_of_atom(table, np.array([partition], dtype=np.int32))
    return np.add.reduceat(rows_by_atom, np.flatnonzero(np.diff(groups, prepend=-1)))


class ColumnLoss:
    """Σ over rows of the price of the row's group, by partition of one column."""

    def __init__(self, price: Price, rows_by_atom: Ints) -> None:
        self._price = price
        self._table = price.table
        self._rows = rows_by_atom
        self._loss = np.zeros(0, dtype=np.int64)

    def of(self, ids: Ids) -> Ints:
        """The losses of the partitions with these ids."""
        known, wanted = len(self._loss), len(self._table)
        if wanted > known:
            step = max(1, CHUNK // len(self._rows))
            starts = range(known, wanted, step)
            fresh = [self._compute(np.arange(a, min(a + step, wanted))) for a in starts]
            self._loss = np.concatenate([self._loss, *fresh])
        return np.take(self._loss, ids)

    def _compute(self, ids: Ints) -> Ints:
        prices = self._price.by_group(ids)
        groups = group_of_atom(self._table, ids)
        by_atom: Ints = np.take_along_axis(prices, groups, axis=1)
        return np.asarray(by_atom @ self._rows)
