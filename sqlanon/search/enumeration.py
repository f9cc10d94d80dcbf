"""All schemes of a space, where there are few enough to try them one by one."""

from __future__ import annotations

import math

import numpy as np

from sqlanon.model import Family
from sqlanon.scheme import Bits, Column, Space
from sqlanon.scheme.partition import null_apart
from sqlanon.search.moves import inner_nodes


def space_size(space: Space) -> int:
    """How many schemes the families of the columns allow."""
    return math.prod(_number_of_partitions(column) for column in space.columns)


def _number_of_partitions(column: Column) -> int:
    if column.family is Family.FULL_DOMAIN:
        return len(set(column.levels))
    if column.family is Family.CONTIGUOUS:
        # With NULL: the values cut anyhow and NULL apart, or everything in one group.
        free = max(column.domain.width - 1, 0)
        return int(2**free) + bool(column.domain.has_null and column.domain.width)
    values = 2 if column.domain.width > 1 else 1
    if column.hierarchy is not None:
        values = column.hierarchy.count_partitions()
    return values + bool(column.domain.has_null and column.domain.width)


def all_schemes(space: Space) -> Bits:
    """Every scheme of a space once, as rows of bits."""
    parts = [_all_partitions(column) for column in space.columns]
    grid = np.indices([len(part) for part in parts]).reshape(len(parts), -1)
    return np.concatenate([part[i] for part, i in zip(parts, grid, strict=True)], axis=1)


def _all_partitions(column: Column) -> Bits:
    if column.family is Family.FULL_DOMAIN:
        bits = np.stack([level.bits for level in column.levels])
    elif column.family is Family.CONTIGUOUS:
        numbers = np.arange(2**column.positions)
        bits = (numbers[:, None] >> np.arange(column.positions)) & 1 == 1
        if column.domain.has_null and column.positions:
            bits = null_apart(bits)
    else:
        bits = np.zeros((1, column.positions), dtype=bool)
        for start, stop, cuts in inner_nodes(column):
            # Outer nodes come first, so a node can be split only where its parent is.
            group = _is_group(bits, start, stop)
            split = bits[group]
            split[:, cuts] = True
            bits = np.concatenate([bits, split])
    return np.unique(bits, axis=0)


def _is_group(bits: Bits, start: int, stop: int) -> Bits:
    """The rows in which atoms start..stop-1 are just one group."""
    inside = ~bits[:, start : stop - 1].any(axis=1)
    left = bits[:, start - 1] if start else True
    right = bits[:, stop - 1] if stop - 1 < bits.shape[1] else True
    return np.asarray(inside & left & right)
