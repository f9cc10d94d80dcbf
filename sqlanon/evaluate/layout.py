"""The bits of all columns side by side in 64-bit words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from sqlanon.domain import Batch, Bits, Codes, CountedPopulation, Family, PartitionTable
from sqlanon.evaluate.coding import MAX_PATH_BITS, Coding, MaskCoding, Numbers, PathCoding

CANDIDATE_BITS = 10
"""The first word has room for the number of the scheme that a key belongs to."""
WORD_BITS = 63
"""The sign bit stays clear, so that shifts and comparisons mean what they say."""
FIRST_WORD_BITS = WORD_BITS - CANDIDATE_BITS
MAX_CANDIDATES = 1 << CANDIDATE_BITS

NARROW = 256
"""Up to this many atoms a column is masked whole, so that all batches share one layout."""
MAX_BITS = 16 * WORD_BITS
"""A batch whose schemes need more is evaluated in parts."""


class Layout:
    """One coding per column; the bits of column 0 come first, from the low end of word 0."""

    def __init__(self, codings: Sequence[Coding]) -> None:
        self.codings = tuple(codings)
        self.offsets = np.cumsum([0, *(c.width for c in self.codings)])
        self.bits = int(self.offsets[-1])
        self.words = 1 + max(0, -(-(self.bits - FIRST_WORD_BITS) // WORD_BITS))

    def expresses(self, batch: Batch) -> bool:
        return all(coding.expresses(batch.ids[:, j]) for j, coding in enumerate(self.codings))

    def kept_bits(self, batch: Batch) -> Bits:
        """One row of bits per scheme."""
        parts = [coding.kept_bits(batch.ids[:, j]) for j, coding in enumerate(self.codings)]
        return np.concatenate(parts, axis=1)

    def row_words(self, codes: Codes) -> Numbers:
        """The masks of rows given by their atoms, one row of words each."""
        words = np.zeros((self.words, len(codes)), dtype=np.int64)
        for j, coding in enumerate(self.codings):
            first, last = int(self.offsets[j]), int(self.offsets[j + 1])
            for w, (start, stop) in enumerate(self._word_ranges):
                low, high = max(first, start), min(last, stop)
                if low < high:
                    part = coding.atom_word(low - first, high - first) << (low - start)
                    words[w] |= part[codes[:, j]]
        return words.T

    def parting_words(self, population: CountedPopulation) -> tuple[Numbers, Numbers]:
        """The bits that a scheme must not keep if it matches an entry of a population.

        No bit of the first words, and no bit of the second together with the one before it.
        """
        codes = population.tally.codes
        words = np.zeros((2, len(codes), self.words), dtype=np.int64)
        for j, (coding, places) in enumerate(zip(self.codings, population.places, strict=True)):
            for which, bits_of in enumerate((coding.parting_bits, coding.parting_pairs)):
                bits = np.zeros((len(places), self.bits), dtype=bool)
                for row, place in zip(bits, places, strict=True):
                    row[self.offsets[j] : self.offsets[j + 1]] = bits_of(place)
                words[which] |= self.pack(bits)[codes[:, j]]
        return words[0], words[1]

    def pack(self, bits: Bits) -> Numbers:
        """Rows of bits as rows of words."""
        words = np.empty((len(bits), self.words), dtype=np.int64)
        for w, (start, stop) in enumerate(self._word_ranges):
            powers = np.int64(1) << np.arange(stop - start, dtype=np.int64)
            words[:, w] = bits[:, start:stop] @ powers
        return words

    def column_key(self, words: Numbers, j: int) -> list[Numbers]:
        """The bits of column j as integers: one if they fit into a word, else one per word."""
        parts: list[Numbers] = []
        taken = 0
        first, last = int(self.offsets[j]), int(self.offsets[j + 1])
        for w, (start, stop) in enumerate(self._word_ranges):
            low, high = max(first, start), min(last, stop)
            if low < high:
                part = (words[:, w] >> (low - start)) & ((1 << (high - low)) - 1)
                parts.append(part << taken if last - first <= MAX_PATH_BITS else part)
                taken += high - low
        if last - first <= MAX_PATH_BITS:
            return [np.bitwise_or.reduce(parts)] if parts else [np.zeros_like(words[:, 0])]
        return parts

    @cached_property
    def _word_ranges(self) -> list[tuple[int, int]]:
        ends = [min(FIRST_WORD_BITS + w * WORD_BITS, self.bits) for w in range(self.words)]
        return list(zip([0, *ends[:-1]], ends, strict=True))

    def kept_by_column(self, bits: Bits) -> Numbers:
        """How many bits of each column are set, one row per row of bits."""
        sums = np.zeros((len(bits), self.bits + 1), dtype=np.int64)
        np.cumsum(bits, axis=1, out=sums[:, 1:])
        return sums[:, self.offsets[1:]] - sums[:, self.offsets[:-1]]


def layout_for(batch: Batch) -> Layout | None:
    """A layout that expresses a batch, or None when the batch must be split.

    It depends on the batch as little as possible, so that few layouts serve a whole search:
    one for lattice nodes, one for bit strings, more only where domains are wide or many.
    """
    ids = [np.unique(column) for column in batch.ids.T]
    tables = batch.space.tables
    lattice = is_lattice(batch)
    for narrow in (NARROW, 0):
        codings = [_coding_for(t, i, lattice, narrow) for t, i in zip(tables, ids, strict=True)]
        layout = Layout(codings)
        if layout.bits <= MAX_BITS or (len(batch) == 1 and not narrow):
            return layout
    return None


def is_lattice(batch: Batch) -> bool:
    """Whether every scheme is a node of the lattice, each column at a level."""
    pairs = zip(batch.space.tables, batch.ids.T, strict=True)
    return all(_are_levels(table, ids) for table, ids in pairs)


def _coding_for(table: PartitionTable, ids: Numbers, lattice: bool, narrow: int) -> Coding:
    positions = table.column.positions
    full_domain = table.column.family is Family.FULL_DOMAIN and _are_levels(table, ids)
    if lattice or full_domain:
        levels = PathCoding(table, table.level_ids.tolist())
        if levels.width <= min(positions, MAX_PATH_BITS):
            return levels
    if positions < narrow:
        return MaskCoding(table, np.arange(positions))
    if len(ids) == 1:
        return PathCoding(table, ids.tolist())
    return MaskCoding(table, np.flatnonzero(table.bits(ids).any(axis=0)))


def _are_levels(table: PartitionTable, ids: Numbers) -> bool:
    return bool(np.isin(ids, table.level_ids).all())
