"""Random columns, trees and partitions for the tests of schemes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from sqlanon.domain.atoms import Domain, IntervalDomain, ValueDomain
from sqlanon.domain.column import Bits, Column, Family, Partition, null_apart
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.scheme import Scheme
from sqlanon.engines.protocol import Kind

VALUES: dict[Kind, st.SearchStrategy[Any]] = {
    Kind.INTEGER: st.integers(-60, 60),
    Kind.DECIMAL: st.decimals(-100, 100, places=2).map(lambda d: d or abs(d)),
    Kind.FLOAT: st.floats().map(lambda f: math.nan if math.isnan(f) else f + 0.0),
    Kind.DATE: st.dates(),
    Kind.TIMESTAMP: st.datetimes(),
    Kind.BOOLEAN: st.booleans(),
    Kind.TEXT: st.text('ab{},"* ', max_size=4),
}
ORDERED = [kind for kind in Kind if kind not in (Kind.BOOLEAN, Kind.TEXT)]


def nan_last(value: Any) -> tuple[bool, Any]:
    return (True, 0) if value != value else (False, value)


@st.composite
def trees(
    draw: st.DrawFn, leaves: Sequence[str], names: st.SearchStrategy[str] | None = None
) -> Hierarchy:
    """A tree over the leaves in their order, its inner nodes named by `names`."""
    names = st.text("nm", min_size=1, max_size=5) if names is None else names
    groups = list(range(len(leaves)))
    columns = [list(leaves)]
    for last in [False] * draw(st.integers(0, 2)) + [True]:
        cuts = [not last and draw(st.booleans()) for _ in range(groups[-1])]
        parents = [sum(cuts[:i]) for i in range(groups[-1] + 1)]
        groups = [parents[group] for group in groups]
        count = groups[-1] + 1
        labels = draw(st.lists(names, min_size=count, max_size=count, unique=True))
        columns.append([labels[group] for group in groups])
    if len(leaves) == 1 and draw(st.booleans()):
        columns = columns[:1]  # a single value may be its own root
    return Hierarchy.from_rows(list(zip(*columns, strict=True)), "a test")


@st.composite
def domains(draw: st.DrawFn, name: str, most: int = 6) -> Domain:
    """A domain of any kind: intervals, sorted values, or values in a declared order."""
    has_null = draw(st.booleans())
    intervals = draw(st.booleans())
    kind = draw(st.sampled_from(ORDERED if intervals else list(Kind)))
    least = 2 if intervals else 1 - has_null
    values = draw(st.lists(VALUES[kind], min_size=least, max_size=most, unique_by=nan_last))
    if intervals:
        return IntervalDomain(name, kind, tuple(sorted(values, key=nan_last)), has_null)
    if draw(st.booleans()):
        values.sort(key=nan_last)
    return ValueDomain(name, kind, tuple(values), has_null)


@st.composite
def columns(draw: st.DrawFn, name: str = "c", most: int = 6, *, limits: bool = False) -> Column:
    """A column of any family; with `limits`, often with level limits."""
    domain = draw(domains(name, most))
    hierarchy = None
    if domain.width and draw(st.booleans()):
        hierarchy = draw(trees([f"leaf {i}" for i in range(domain.width)]))
    column = Column(domain, hierarchy, draw(st.sampled_from(list(Family))))
    return draw(limited(column)) if limits else column


@st.composite
def limited(draw: st.DrawFn, column: Column) -> Column:
    """The column with any level limits, none among them."""
    low = draw(st.integers(0, column.height))
    high = draw(st.none() | st.integers(low, column.height))
    return replace(column, min_level=low, max_level=high)


@st.composite
def bit_strings(draw: st.DrawFn, column: Column) -> list[bool]:
    """Bits of the column in which NULL stands apart unless nothing is cut."""
    positions = column.domain.size - 1
    bits = draw(st.lists(st.booleans(), min_size=positions, max_size=positions))
    if column.domain.has_null and any(bits):
        bits[-1] = True
    return bits


def partitions(column: Column) -> st.SearchStrategy[Partition]:
    """Partitions in which NULL stands apart, and the levels of the hierarchy."""
    cut = bit_strings(column).map(
        lambda bits: Partition(len(bits) + 1, tuple(i for i, bit in enumerate(bits) if bit))
    )
    return cut | st.sampled_from(column.levels)


def from_bits(columns: Sequence[Column], bits: Sequence[bool] | Bits) -> Scheme:
    """The scheme of one bit string over all columns; NULL's cut follows the others."""
    parts = np.split(np.asarray(bits, dtype=bool), np.cumsum([c.positions for c in columns])[:-1])
    partitions = []
    for column, part in zip(columns, parts, strict=True):
        apart = column.domain.has_null and column.positions
        partitions.append(Partition.from_bits(null_apart(part) if apart else part))
    return Scheme(tuple(columns), tuple(partitions))


def allows(column: Column, partition: Partition) -> bool:
    """Whether the partition is within the limits and the column's family contains it."""
    if column.beyond_limits(partition) is not None:
        return False
    if column.family is Family.CONTIGUOUS:
        return column.is_canonical(partition)
    if column.family is Family.FULL_DOMAIN:
        return column.level_of(partition) is not None
    return is_taxonomic(column, partition)


def is_taxonomic(column: Column, partition: Partition) -> bool:
    """Whether every group is a node of the tree (an atom, an inner node, or the root)."""
    return column.is_canonical(partition) and all(is_node(column, *run) for run in partition.runs)


def is_node(column: Column, start: int, stop: int) -> bool:
    """Whether atoms start..stop-1 are one node.

    The tree of the values is one node and NULL another; both together are the root.
    """
    if (start, stop) == (0, column.size) or stop - start == 1:
        return True
    if column.hierarchy is None:
        return (start, stop) == (0, column.domain.width)
    return column.hierarchy.label_of(start, stop) is not None


def refines(fine: Partition, coarse: Partition) -> bool:
    """Whether every group of the coarse partition is a union of groups of the fine one."""
    return fine.size == coarse.size and set(coarse.cuts) <= set(fine.cuts)
