"""1 − Prec: the height of cells in their hierarchies."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sqlanon.metrics.group_costs import GroupCost, Ids, cells_of, group_of_atom
from sqlanon.metrics.measurement import Floats, Ints
from sqlanon.metrics.metric import Metric
from sqlanon.metrics.suppression import Remaining


class HeightCost(GroupCost):
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
        heights = np.zeros(groups.size, dtype=np.int64)
        inside = ~self.table.bits(ids)  # both neighbours of the position are in one group
        joined = np.broadcast_to(self._joined_at, inside.shape)
        np.maximum.at(heights, cells_of(groups)[:, :-1][inside], joined[inside])
        return heights.reshape(groups.shape)

    def fingerprint(self) -> bytes:
        """Changes with the hierarchy; the schemes of two hierarchies may be the same."""
        return f"{self.table.column.height} {self._joined_at.tolist()}\n".encode()


class Precision(Metric):
    """Σ_rows Σ_j height(g) / height_j / (N · columns), a suppressed row counts 1 per column.

    height(g) is also defined for groups that are not a node.
    """

    key, kind, title, full_price = "precision", "loss", "precision", True
    meaning = "1 - Prec: mean share of its hierarchy that a cell was raised"
    citation = "Sweeney, IJUFKS 2002"
    cost = HeightCost

    @cached_property
    def wholes(self) -> list[int]:
        return [column.height for column in self.histogram.space.columns]

    def of(self, left: Remaining) -> Floats:
        return self.share_of_cost(left)
