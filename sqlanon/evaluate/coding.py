"""Encodes the atoms of one column as bits, so that a partition of it is a bitwise AND.

A coding gives every atom a bit string and every partition it can express a string of kept
bits, such that two atoms lie in one group exactly when their kept bits agree. All bits of
all columns together are a row's mask; `mask & kept` then names a row's class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from sqlanon.domain import Bits, GroupFit, Ids, PartitionTable

Numbers = npt.NDArray[np.integer[Any]]
MAX_PATH_BITS = 62


def joined(parts: Sequence[Mapping[str, Numbers]]) -> dict[str, Numbers]:
    """Concatenates tables of the same columns; masked values stay masked."""
    concatenate: Any = np.ma.concatenate
    return {name: concatenate([part[name] for part in parts]) for name in parts[0]}


class MaskCoding:
    """One bit per position: set in the atoms above it, kept by the partitions that cut there.

    Expresses every partition whose cuts are among `positions`.
    """

    def __init__(self, table: PartitionTable, positions: Numbers) -> None:
        self.table = table
        self.positions = positions
        self.width = len(positions)

    @property
    def _is_whole(self) -> bool:
        return self.width == self.table.column.positions

    def atom_word(self, start: int, stop: int) -> Numbers:
        """The bits from start to stop, at most a word, of each atom: as many ones as are below."""
        below = np.searchsorted(self.positions, np.arange(self.table.column.size))
        return (np.int64(1) << np.clip(below - start, 0, stop - start)) - 1

    def expresses(self, ids: Numbers) -> bool:
        if self._is_whole:
            return True
        cut = np.flatnonzero(self.table.bits(ids).any(axis=0))
        return bool(np.isin(cut, self.positions).all())

    def kept_bits(self, ids: Numbers) -> Bits:
        if self._is_whole:
            return self.table.bits(ids)
        distinct, which = np.unique(ids, return_inverse=True)  # a wide domain has long strings
        return self.table.bits(distinct)[:, self.positions][which]

    def parting_bits(self, place: GroupFit) -> Bits:
        """The bits of which a partition keeps none exactly if a place's atoms are in one group."""
        return np.asarray((self.positions >= place.start) & (self.positions < place.stop - 1))

    def parting_pairs(self, place: GroupFit) -> Bits:
        """The later of two bits that both are kept exactly where a place's atom has no company."""
        both = np.isin((place.atom - 1, place.atom), self.positions).all()
        return np.asarray((self.positions == place.atom) & (place.company & both))

    @cached_property
    def groups_by_kept(self) -> Numbers:
        """Number of groups of a partition (or union of partitions) that keeps n bits."""
        return np.arange(1, self.width + 2)

    def group_numbers(self, key: Sequence[Numbers], ids: Ids, scheme: Numbers) -> Numbers:
        """The number of the group that each key names, of the partition of the scheme beside it.

        `ids` has the partition of every scheme. `key` is the column's bits, in one or more whole
        numbers. The cuts below a value number its group, so counting the bits gives the number.
        """
        numbers = np.zeros(len(scheme), dtype=np.int64)
        for part in key:
            numbers += np.bitwise_count(part)
        return numbers


class PathCoding:
    """The path from the root of a chain of nested partitions, as child numbers.

    Expresses just the partitions of the chain, in far fewer bits than a mask: the levels
    of a hierarchy, or any single partition however wide its domain is.
    """

    def __init__(self, table: PartitionTable, chain: Sequence[int]) -> None:
        self.table = table
        self.chain = tuple(dict.fromkeys(int(i) for i in chain))
        bits = table.bits(np.array(self.chain))
        start = np.zeros((len(bits), 1), dtype=np.int64)
        self._groups = np.concatenate([start, np.cumsum(bits, axis=1)], axis=1)
        counts = self._groups[:, -1] + 1
        # From the coarsest partition down: the number of each group among its siblings.
        steps = [_child_numbers(lower, upper) for lower, upper in pairwise(self._groups)]
        children = [*steps, self._groups[-1]]
        self._step_bits = [int(c.max()).bit_length() for c in children]
        self.width = sum(self._step_bits)
        self._children = children
        # A partition keeps the bits of its own step and of all coarser ones.
        self._kept = [sum(self._step_bits[i:]) for i in range(len(self.chain))]
        by_kept = dict(zip(self._kept, counts.tolist(), strict=True))
        self.groups_by_kept = np.array([by_kept.get(n, 1) for n in range(self.width + 1)])

    @cached_property
    def _path(self) -> Numbers:
        """All bits of each atom, the coarsest step in the lowest."""
        path, taken = np.zeros(self.table.column.size, dtype=np.int64), 0
        for numbers, bits in zip(self._children[::-1], self._step_bits[::-1], strict=True):
            path |= numbers << taken
            taken += bits
        return path

    def atom_word(self, start: int, stop: int) -> Numbers:
        """The bits from start to stop, at most a word, of each atom."""
        return (self._path >> start) & ((1 << (stop - start)) - 1)

    def expresses(self, ids: Numbers) -> bool:
        return bool(np.isin(ids, self.chain).all())

    def parting_bits(self, place: GroupFit) -> Bits:
        """As MaskCoding.parting_bits, and a place's atom has company then."""
        groups = self._groups
        parted = groups[:, place.start] != groups[:, place.stop - 1]
        if place.company:
            before, own, after = groups[:, place.atom - 1 : place.atom + 2].T
            parted = parted | ((before < own) & (own < after))
        kept = np.array(self._kept)[parted]
        return np.asarray(np.arange(self.width) + 1 == kept.min(initial=self.width + 1))

    def parting_pairs(self, place: GroupFit) -> Bits:
        """None: a single bit says it all."""
        return np.zeros(self.width, dtype=bool)

    def kept_bits(self, ids: Numbers) -> Bits:
        order = np.argsort(self.chain)
        place = order[np.searchsorted(self.chain, ids, sorter=order)]
        kept = np.array(self._kept)[place]
        return np.asarray(np.arange(self.width)[None, :] < kept[:, None])

    def group_numbers(self, key: Sequence[Numbers], ids: Ids, scheme: Numbers) -> Numbers:
        """As MaskCoding.group_numbers; a path has at most MAX_PATH_BITS, so it is one number."""
        (path,) = key
        partition = ids[scheme]
        numbers = np.empty(len(scheme), dtype=np.int64)
        for id_ in np.unique(ids).tolist():
            paths, groups = self._paths[id_]
            mine = partition == id_
            numbers[mine] = groups[np.searchsorted(paths, path[mine])]
        return numbers

    @cached_property
    def _paths(self) -> dict[int, tuple[Numbers, Numbers]]:
        """For each partition: the paths of its groups, and the number of each group."""
        found = {}
        for id_, kept, numbers in zip(self.chain, self._kept, self._groups, strict=True):
            paths, first = np.unique(self._path & ((1 << kept) - 1), return_index=True)
            found[id_] = paths, numbers[first]
        return found


Coding = MaskCoding | PathCoding


def _child_numbers(lower: Numbers, upper: Numbers) -> Numbers:
    """For each atom, which child of its `upper` group its `lower` group is."""
    first = np.concatenate([[True], upper[1:] != upper[:-1]])
    start = np.maximum.accumulate(np.where(first, lower, 0))
    return lower - start
