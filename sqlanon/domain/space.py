"""Many schemes at once, as small integers.

A `Space` numbers the distinct partitions of each column as they turn up; a `Batch` is then
a matrix of those numbers, one row per scheme. Searches build batches from bit strings or
lattice levels without making a Scheme object for each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sqlanon.domain.column import Bits, Column, Partition, null_apart
from sqlanon.domain.scheme import Scheme, fingerprint
from sqlanon.errors import SchemeError
from sqlanon.wording import brief_list, counted

Ids = npt.NDArray[np.int32]


class PartitionTable:
    """The distinct partitions of one column met so far, numbered from 0.

    `level_ids[l]` is the id of level l of the hierarchy.
    """

    def __init__(self, column: Column) -> None:
        self.column = column
        self._packed: list[bytes] = []
        self._ids: dict[bytes, int] = {}
        self.level_ids = self.intern(np.stack([p.bits for p in column.levels]))

    def __len__(self) -> int:
        return len(self._packed)

    def intern(self, bits: Bits) -> Ids:
        """The ids of the partitions given as rows of canonical bits."""
        packed = np.packbits(bits, axis=1)
        width = packed.shape[1]
        raw = packed.tobytes()
        ids = np.empty(len(bits), dtype=np.int32)
        for i in range(len(bits)):
            key = raw[i * width : (i + 1) * width]
            known = self._ids.get(key)
            if known is None:
                known = self._ids[key] = len(self._packed)
                self._packed.append(key)
            ids[i] = known
        return ids

    def cuts(self, ids: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
        """The number of cuts of the partitions with these ids."""
        counts = [int.from_bytes(self._packed[i]).bit_count() for i in ids]
        return np.array(counts, dtype=np.int64)

    def packed(self, id_: int) -> bytes:
        return self._packed[id_]

    def bits(self, ids: npt.NDArray[np.integer]) -> Bits:
        """The partitions with these ids as rows of bits."""
        positions = self.column.positions
        if not positions or not len(ids):
            return np.zeros((len(ids), positions), dtype=bool)
        raw = b"".join(self._packed[i] for i in ids)
        packed = np.frombuffer(raw, dtype=np.uint8).reshape(len(ids), -1)
        return np.unpackbits(packed, axis=1, count=positions).astype(bool)


class Space:
    """All schemes of some columns: what a search walks in."""

    def __init__(
        self, columns: Sequence[Column], tables: tuple[PartitionTable, ...] | None = None
    ) -> None:
        self.columns = tuple(columns)
        self.tables = tables or tuple(PartitionTable(c) for c in self.columns)
        self.offsets = np.cumsum([0, *(c.positions for c in self.columns)])
        self._is_limited = any(c.is_limited for c in self.columns)

    def __repr__(self) -> str:
        sizes = [f"{c.name} {c.size:,}" for c in self.columns]
        return f"<Space of {counted(len(sizes), 'column')}, atoms: {brief_list(sizes)}>"

    @property
    def positions(self) -> int:
        """Length of the bit string over all columns."""
        return int(self.offsets[-1])

    @property
    def heights(self) -> tuple[int, ...]:
        """The DGH lengths."""
        return tuple(c.height for c in self.columns)

    @property
    def limits(self) -> tuple[tuple[int, int], ...]:
        """The least and the greatest level of each column: bottom and top of the lattice."""
        return tuple(c.limits for c in self.columns)

    @cached_property
    def demanded(self) -> Bits:
        """The cuts that every scheme has, because of max_level."""
        return np.concatenate([np.zeros(0, bool), *(c.coarsest.bits for c in self.columns)])

    @cached_property
    def permitted(self) -> Bits:
        """The only cuts that a scheme may have, because of min_level."""
        return np.concatenate([np.zeros(0, bool), *(c.finest.bits for c in self.columns)])

    def within_limits(self, bits: Bits) -> Bits:
        """`bits` (one string, or one per row) with the cuts demanded and no others than permitted.

        A string of the columns' families stays one: its groups are merged or split where
        nodes, or levels, of the hierarchies begin and end.
        """
        return (bits | self.demanded) & self.permitted if self._is_limited else bits

    def hiding(self, hidden: Collection[int]) -> Space:
        """The schemes of this space in which some columns are as coarse as they may be.

        Partitions have the same numbers in both, so a batch of the one is a batch of the other.
        """
        columns = [
            replace(column, min_level=column.limits[1]) if j in hidden else column
            for j, column in enumerate(self.columns)
        ]
        return Space(columns, self.tables)

    def segment(self, column: int) -> slice:
        """Where a column's bits lie in the string over all columns."""
        return slice(int(self.offsets[column]), int(self.offsets[column + 1]))

    def batch(self, schemes: Sequence[Scheme]) -> Batch:
        for scheme in schemes:
            if scheme.columns != self.columns:
                raise SchemeError("the scheme was made for other columns or domains")
            if scheme.cut_tree is not None:
                raise SchemeError("a scheme with a cut tree is scored by itself, not in a batch")
        ids = np.empty((len(schemes), len(self.columns)), dtype=np.int32)
        for j, table in enumerate(self.tables):
            if schemes:
                ids[:, j] = table.intern(np.stack([s.partitions[j].bits for s in schemes]))
        return Batch(self, ids)

    def unpacked(self, packed: bytes) -> Iterator[tuple[Column, Bits]]:
        """The columns with their bits, of a scheme as `Batch.packed` writes it."""
        raw = np.unpackbits(np.frombuffer(packed, dtype=np.uint8)).astype(bool)
        start = 0
        for column in self.columns:
            yield column, raw[start : start + column.positions]
            start += -(-column.positions // 8) * 8

    def batch_of_bits(self, bits: Bits) -> Batch:
        """One scheme per row of bits, within the limits; NULL's cuts are made to follow the others.

        No search can reach a scheme beyond the limits, whatever strings it makes up.
        """
        bits = np.asarray(bits, dtype=bool)
        if bits.ndim != 2 or bits.shape[1] != self.positions:
            raise SchemeError(f"bit strings of {self.positions} bits are needed, one a row")
        bits = self.within_limits(bits)
        ids = np.empty((len(bits), len(self.columns)), dtype=np.int32)
        for j, (column, table) in enumerate(zip(self.columns, self.tables, strict=True)):
            part = bits[:, self.segment(j)]
            if column.domain.has_null and column.positions:
                part = null_apart(part)
            ids[:, j] = table.intern(part)
        return Batch(self, ids)

    def batch_of_levels(self, levels: npt.NDArray[np.integer]) -> Batch:
        """One lattice node per row of levels."""
        levels = np.asarray(levels)
        if levels.ndim != 2 or levels.shape[1] != len(self.columns):
            raise SchemeError(f"nodes of {len(self.columns)} levels are needed, one a row")
        low, high = np.array(self.limits, dtype=np.int64).reshape(-1, 2).T
        if (levels < low).any() or (levels > high).any():
            raise SchemeError(f"levels must lie between {low.tolist()} and {high.tolist()}")
        ids = np.empty(levels.shape, dtype=np.int32)
        for j, table in enumerate(self.tables):
            ids[:, j] = table.level_ids[levels[:, j]]
        return Batch(self, ids)


@dataclass(frozen=True)
class Batch:
    """Schemes of one space as rows of partition ids."""

    space: Space
    ids: Ids

    def __repr__(self) -> str:
        return f"<Batch of {counted(len(self), 'scheme')}>"

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def cuts(self) -> npt.NDArray[np.int64]:
        """The number of cuts of each scheme."""
        pairs = zip(self.space.tables, self.ids.T, strict=True)
        return np.asarray(sum(table.cuts(ids) for table, ids in pairs))

    @cached_property
    def keys(self) -> list[bytes]:
        """A hashable name for each scheme, valid within the space."""
        raw = np.ascontiguousarray(self.ids).tobytes()
        width = self.ids.shape[1] * self.ids.itemsize
        return [raw[i : i + width] for i in range(0, len(raw), width)]

    def take(self, rows: Sequence[int] | npt.NDArray[np.integer]) -> Batch:
        return Batch(self.space, self.ids[np.asarray(rows, dtype=np.intp)])

    def scheme(self, row: int) -> Scheme:
        partitions = [
            Partition.from_bits(table.bits(self.ids[row : row + 1, j])[0])
            for j, table in enumerate(self.space.tables)
        ]
        return Scheme(self.space.columns, tuple(partitions))

    def fingerprint(self, row: int) -> str:
        """The fingerprint of one scheme, the same as `scheme(row).fingerprint`."""
        pairs = zip(self.space.tables, self.ids[row], strict=True)
        return fingerprint([table.packed(i) for table, i in pairs])

    def packed(self, row: int) -> bytes:
        """The bits of one scheme, those of every column in bytes of their own."""
        pairs = zip(self.space.tables, self.ids[row].tolist(), strict=True)
        return b"".join([table.packed(i) for table, i in pairs])
