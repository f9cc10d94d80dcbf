"""The entropy that groups hide."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sqlanon.metrics.group_costs import GroupCost, Ids, cells_of, group_of_atom
from sqlanon.metrics.measurement import Floats, Ints
from sqlanon.metrics.metric import Metric
from sqlanon.metrics.suppression import Remaining

UNITS = 2**20
"""Units in a bit: sums of whole units are exact, and below 2⁶³ for any table that is scored."""


def entropy_of_groups(groups: Ints, rows_by_atom: Ints) -> Ints:
    """H(g) = Σ_{a∈g} (n_a/n_g) log2(n_g/n_a) in units, for every group of several partitions.

    `groups` has the group number of every atom, one row per partition; so has the result, with
    one column per group. A group without rows has 0, and so has one beyond the last.
    """
    flat = cells_of(groups).ravel()
    rows = np.broadcast_to(rows_by_atom, groups.shape).ravel()
    # Only atoms that occur: log2 of the others is not needed. bincount adds in their order, so
    # a group has the same entropy in every batch.
    flat, rows = flat[rows > 0], rows[rows > 0]
    totals = np.bincount(flat, rows, minlength=groups.size)
    hidden = np.bincount(flat, rows * np.log2(totals[flat] / rows), minlength=groups.size)
    bits = hidden / np.maximum(totals, 1)
    return np.rint(bits * UNITS).astype(np.int64).reshape(groups.shape)


class EntropyCost(GroupCost):
    """The entropy of the atoms in the group, in whole units."""

    def by_group(self, ids: Ids) -> Ints:
        return entropy_of_groups(group_of_atom(self.table, ids), self.rows_by_atom)


class Entropy(Metric):
    """Σ_rows Σ_j H(g) / H_j / (N · columns), a suppressed row counts 1 per column."""

    key, kind, title, full_price = "entropy", "loss", "entropy", True
    meaning = "entropy: mean share of the information in a cell that is lost"
    citation = "Gionis and Tassa, TKDE 2009"
    cost = EntropyCost

    @cached_property
    def wholes(self) -> list[int]:
        """The entropy of each whole column, in units."""
        marginals = self.histogram.marginals
        one_group = (np.zeros((1, len(rows)), dtype=np.int64) for rows in marginals)
        return [
            int(entropy_of_groups(groups, rows)[0, 0])
            for groups, rows in zip(one_group, marginals, strict=True)
        ]

    def of(self, left: Remaining) -> Floats:
        return self.share_of_cost(left)
