"""A cut tree: multidimensional recoding, where a cut holds for a part of the table only.

Every split parts the rows of one node by one column: atoms before a position go on at one node,
the others at another. A node that is not split is a region: a box with a run of neighbouring
atoms in every column. The regions are disjoint and cover every tuple of atoms, so that rows which
join the table later belong to exactly one of them.

What is released of a region may be a smaller box in it, which holds the rows of the table. A row
that joins the table later and lies in the region, but outside its box, is not covered.

NULL is the last atom of its column. It is parted from the values before these are cut, so that no
region holds some values and NULL.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.domain.column import Partition
from sqlanon.errors import SchemeError

Ints = npt.NDArray[np.int64]
Run = tuple[int, int]

ROOT = 1
"""The number of the node that holds all rows."""


class Regions(NamedTuple):
    """Regions of a tree, or boxes in them; all regions are in the order of their lowest corners.

    node  the number of the node
    low   the first atom in every column, a row per region
    high  the atom after the last in every column, a row per region
    """

    node: Ints
    low: Ints
    high: Ints


@dataclass(frozen=True, eq=False, repr=False)
class CutTree:
    """The splits of a tree, one entry of each array per split, in ascending order of nodes.

    names    the columns of the scheme
    sizes    how many atoms these have
    node     the number of the node that is split; the root is 1
    column   the place in `names` of the column that parts its rows
    at       the first atom of the second part
    first    the node at which atoms before `at` go on
    second   the node at which the others go on
    boxes    what is released of some regions; of others it is the region itself
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    node: Ints
    column: Ints
    at: Ints
    first: Ints
    second: Ints
    boxes: Regions | None = None

    @classmethod
    def of(
        cls, names: Sequence[str], sizes: Sequence[int], splits: Sequence[Sequence[int]]
    ) -> CutTree:
        """The tree of splits that are given as (node, column, at, first, second)."""
        table = np.array(sorted(map(tuple, splits)), dtype=np.int64).reshape(-1, 5)
        return cls(tuple(names), tuple(sizes), *table.T)

    def __post_init__(self) -> None:
        children = np.concatenate([self.first, self.second])
        numbers = np.concatenate([[ROOT], children])
        if len(np.unique(numbers)) < len(numbers):
            repeated, times = np.unique(numbers, return_counts=True)
            raise SchemeError(
                f"tree: node {repeated[times > 1][0]} is reached in two ways; give every part of "
                "a split a number of its own"
            )
        lost = np.setdiff1d(self.node, numbers)
        if len(lost):
            raise SchemeError(f"tree: no split leads to node {lost[0]}; the root is node {ROOT}")
        if len(self.regions.node) != len(self.node) + 1:
            raise SchemeError(f"tree: some splits are not reached from node {ROOT}")
        self._check_boxes()

    def _check_boxes(self) -> None:
        if self.boxes is None:
            return
        node, low, high = self.boxes
        lost = np.setdiff1d(node, self.regions.node)
        if len(lost):
            raise SchemeError(f"boxes: node {lost[0]} is no region of the tree")
        region = self._region_of_node(node)
        outside = (low < self.regions.low[region]) | (high > self.regions.high[region])
        wrong = outside | (low >= high)
        if wrong.any():
            row, j = np.argwhere(wrong)[0]
            raise SchemeError(
                f"boxes: node {node[row]}: the box has no values of {self.names[j]!r}, or some "
                "that its region does not have"
            )

    def _region_of_node(self, node: Ints) -> Ints:
        """The numbers of the regions that some nodes are."""
        order = np.argsort(self.regions.node)
        return np.asarray(order[np.searchsorted(self.regions.node[order], node)])

    def __repr__(self) -> str:
        return f"<CutTree: {len(self.node):,} splits of {', '.join(self.cut_names)}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CutTree) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    @cached_property
    def fingerprint(self) -> bytes:
        """Names regions and boxes: trees that release the tuples alike have one fingerprint."""
        parts = [self.regions, *([self.released] if self.has_boxes else [])]
        corners = np.concatenate([end for each in parts for end in (each.low, each.high)], axis=1)
        return hashlib.sha256(np.ascontiguousarray(corners).tobytes()).digest()

    @property
    def cut_columns(self) -> tuple[int, ...]:
        """The places of the columns of which no region has all, or not every one."""
        _, low, high = self.released
        return tuple(np.flatnonzero(((low > 0) | (high < self.sizes)).any(axis=0)).tolist())

    @property
    def cut_names(self) -> tuple[str, ...]:
        """The names of these columns."""
        return tuple(self.names[j] for j in self.cut_columns)

    @cached_property
    def released(self) -> Regions:
        """Where what is released of every region begins and ends."""
        node, low, high = self.regions
        if self.boxes is None:
            return self.regions
        low, high, region = low.copy(), high.copy(), self._region_of_node(self.boxes.node)
        low[region], high[region] = self.boxes.low, self.boxes.high
        return Regions(node, low, high)

    @cached_property
    def has_boxes(self) -> bool:
        """Whether less than a whole region is released somewhere."""
        pairs = zip(self.regions, self.released, strict=True)
        return any(not np.array_equal(whole, box) for whole, box in pairs)

    @cached_property
    def levels(self) -> tuple[Ints, ...]:
        """The rows of the splits by their depth, the root's first."""
        return tuple(self._walk()[0])

    @cached_property
    def regions(self) -> Regions:
        """Where every region begins and ends in every column."""
        found = self._walk()[1]
        node, low, high = (np.concatenate(parts) for parts in zip(*found, strict=True))
        order = np.lexsort(low.T[::-1]) if low.shape[1] else np.arange(len(node))
        return Regions(node[order], low[order], high[order])

    def _walk(self) -> tuple[list[Ints], list[tuple[Ints, Ints, Ints]]]:
        """The splits and the regions, level by level."""
        node = np.array([ROOT], dtype=np.int64)
        low = np.zeros((1, len(self.sizes)), dtype=np.int64)
        high = np.array([self.sizes], dtype=np.int64).reshape(1, -1)
        levels: list[Ints] = []
        regions: list[tuple[Ints, Ints, Ints]] = []
        while len(node):
            place = np.searchsorted(self.node, node)
            is_split = np.zeros(len(node), dtype=bool)
            inside = place < len(self.node)
            is_split[inside] = self.node[place[inside]] == node[inside]
            regions.append((node[~is_split], low[~is_split], high[~is_split]))
            split, low, high = place[is_split], low[is_split], high[is_split]
            rows, column, at = np.arange(len(split)), self.column[split], self.at[split]
            wrong = (at <= low[rows, column]) | (at >= high[rows, column])
            if wrong.any():
                raise SchemeError(
                    f"tree: the split of node {self.node[split][wrong][0]} leaves one side empty: "
                    f"the node holds no such values of {self.names[column[wrong][0]]!r}"
                )
            if len(split):
                levels.append(split)
            below, above = high.copy(), low.copy()
            below[rows, column] = above[rows, column] = at
            node = np.concatenate([self.first[split], self.second[split]])
            low, high = np.concatenate([low, above]), np.concatenate([below, high])
        return levels, regions

    @cached_property
    def groups(self) -> tuple[tuple[Run, ...], ...]:
        """By column the runs that are released there, each once, ascending; they may overlap."""
        return tuple(tuple(map(tuple, runs.tolist())) for runs, _ in self._runs)

    @cached_property
    def group_of_region(self) -> Ints:
        """By region and column the number of its run in `groups`."""
        return np.column_stack([number for _, number in self._runs])

    @cached_property
    def _runs(self) -> list[tuple[Any, Ints]]:
        _, low, high = self.released
        found = []
        for j in range(len(self.sizes)):
            runs, number = np.unique(
                np.column_stack([low[:, j], high[:, j]]), axis=0, return_inverse=True
            )
            found.append((runs, number.reshape(-1).astype(np.int64)))
        return found

    def refined(self, column: int) -> Partition:
        """The groups of a column that no split and no end of a box parts."""
        splits, runs = self.at[self.column == column], np.array(self.groups[column])
        places = np.unique(np.concatenate([splits, runs.ravel()]))
        cuts = places[(places > 0) & (places < self.sizes[column])] - 1
        return Partition(self.sizes[column], tuple(cuts.tolist()))

    def outside(self, codes: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
        """Which atoms of tuples lie outside the box of their region, a row per tuple."""
        region = self.region_of(codes)
        below, beyond = (end[region] for end in self.released[1:])
        return np.asarray((codes < below) | (codes >= beyond))

    def region_of(self, codes: npt.NDArray[np.integer]) -> Ints:
        """The number of the region of every tuple of atoms, a row per tuple."""
        at_node = np.full(len(codes), ROOT, dtype=np.int64)
        for split in map(np.sort, self.levels):
            place = np.searchsorted(self.node[split], at_node)
            place[place == len(split)] = 0
            here = np.flatnonzero(self.node[split][place] == at_node)
            own = split[place[here]]
            is_first = codes[here, self.column[own]] < self.at[own]
            at_node[here] = np.where(is_first, self.first[own], self.second[own])
        return self._region_of_node(at_node)
