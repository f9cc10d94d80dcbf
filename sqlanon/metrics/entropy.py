"""The entropy that a group hides, in whole units, so that sums of it are exact."""

from __future__ import annotations

import numpy as np

from sqlanon.measurement import Ints

UNITS = 2**20
"""Units in a bit. Sums over the cells of a column stay below 2⁶³ for any table that is scored."""


def entropy_of_groups(groups: Ints, rows_by_atom: Ints) -> Ints:
    """H(g) = Σ_{a∈g} (n_a/n_g) log2(n_g/n_a) in units, for every group of several partitions.

    `groups` has the group number of every atom, one row a partition; so has the result a row a
    partition, and a column a group. A group without rows has 0, and so has one that is not there.
    """
    partitions, atoms = groups.shape
    flat = (groups + np.arange(partitions)[:, None] * atoms).ravel()
    rows = np.broadcast_to(rows_by_atom, groups.shape).ravel()
    # Only atoms that occur: log2 of the others is not needed. bincount adds in their order, so
    # a group has the same entropy in every batch.
    flat, rows = flat[rows > 0], rows[rows > 0]
    totals = np.bincount(flat, rows, minlength=groups.size)
    hidden = np.bincount(flat, rows * np.log2(totals[flat] / rows), minlength=groups.size)
    bits = hidden / np.maximum(totals, 1)
    return np.rint(bits * UNITS).astype(np.int64).reshape(groups.shape)


def entropy_of_column(rows_by_atom: Ints) -> int:
    """The entropy of a whole column, in units."""
    one_group = np.zeros((1, len(rows_by_atom)), dtype=np.int64)
    return int(entropy_of_groups(one_group, rows_by_atom)[0, 0])
