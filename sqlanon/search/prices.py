"""NWP of changed schemes, known without a query and mostly from memory.

NWP without suppression is a sum over columns, and what a change does to a column depends on
nothing but the column's partition. Searches that walk come back to the same partitions all
the time, so what a change costs is worked out once and remembered.
"""

from __future__ import annotations

import numpy as np

from sqlanon.scheme import Batch, Bits
from sqlanon.search.moves import Changes, columns_of
from sqlanon.search.problem import Floats, Ints, Problem
from sqlanon.search.taxonomy import Splits

MOST = 200_000
"""So many changes of a column are remembered, then all are forgotten."""
CHUNK = 20_000_000
"""Bits worked on at a time: between two such parts a search can end."""


class Prices:
    """What changes of the schemes of one problem add to NWP."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._splits = Splits.of_space(problem.space)
        self._column, _ = columns_of(problem.space, self._splits)
        columns = problem.space.columns
        weights = np.array([c.weight for c in columns], dtype=np.float64)
        steps = np.array([max(c.size - 1, 1) for c in columns], dtype=np.float64)
        self._price = weights / weights.sum() / steps / problem.rows
        self._known: dict[int, float] = {}

    def of(self, batch: Batch) -> Floats:
        """The NWP of schemes without suppression."""
        # Column by column, so that a scheme's NWP does not depend on those beside it.
        total = np.zeros(len(batch))
        for price, loss in zip(self._price, self._problem.column_loss(batch).T, strict=True):
            total += price * loss
        return total

    def added(self, batch: Batch, made: Bits, which: Ints, changes: Changes) -> Floats:
        """What each change adds to the NWP of the scheme in row `which` of a batch.

        `made` holds the splits of the batch's schemes.
        """
        finer, coarser, column = changes.finer, changes.coarser, self._column
        both = (finer >= 0) & (coarser >= 0)
        # A change of two columns is two changes of one column each.
        two = np.flatnonzero(both & (column[finer] != column[coarser]))
        first = np.where(finer >= 0, column[finer], column[coarser])
        alone = coarser.copy()
        alone[two] = -1
        none = np.full(len(two), -1)
        parts = self._of_columns(
            batch,
            made,
            np.concatenate([which, which[two]]),
            np.concatenate([first, column[coarser[two]]]),
            Changes(np.concatenate([finer, none]), np.concatenate([alone, coarser[two]])),
        )
        added = parts[: len(changes)]
        added[two] += parts[len(changes) :]
        return added

    def _of_columns(
        self, batch: Batch, made: Bits, which: Ints, column: Ints, changes: Changes
    ) -> Floats:
        """The same for changes of the given columns alone."""
        base = len(self._splits) + 1
        ids = batch.ids[which, column].astype(np.int64)
        # A split tells its column, so the number of the partition within it is enough.
        keys = ((ids * base + changes.finer + 1) * base + changes.coarser + 1).tolist()
        found = [self._known.get(key) for key in keys]
        missing = [i for i, known in enumerate(found) if known is None]
        if missing:
            if len(self._known) > MOST:
                self._known.clear()
            step = max(1, CHUNK // max(self._splits.positions, 1))
            for start in range(0, len(missing), step):
                rows = np.array(missing[start : start + step])
                worked_out = self._worked_out(
                    batch, made, which[rows], column[rows], changes.take(rows)
                )
                for i, price in zip(rows.tolist(), worked_out.tolist(), strict=True):
                    found[i] = self._known[keys[i]] = price
                self._problem.pulse.check()
        return np.array(found, dtype=np.float64)

    def _worked_out(
        self, batch: Batch, made: Bits, which: Ints, column: Ints, changes: Changes
    ) -> Floats:
        space, rows = self._problem.space, np.arange(len(which))
        bits = self._splits.bits(changes.applied_to(self._splits, made[which]))
        after = self._problem.column_loss(space.batch_of_bits(bits))[rows, column]
        before = self._problem.column_loss(batch.take(which))[rows, column]
        return np.asarray((after - before) * self._price[column])
