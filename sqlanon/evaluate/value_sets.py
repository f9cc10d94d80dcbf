"""How often the classes of a scheme hold the values of a column, several counts to a number.

A model asks for the counts of single values, of all values up to one, or of those under a node
of a hierarchy: of sets of values. Each count gets its bits of a 64-bit word, wide enough for
everybody at once, so the sum of two words is the word of the sums, and one SUM in SQL adds
several counts.

Where a model asks for no more than which values occur, they are not counted: each has one bit of
a word, and one BIT_OR does for dozens of them what a SUM does for a few. Someone who has a value
in several tuples changes nothing there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sqlanon.histogram import Facet
from sqlanon.measurement import Ints

Members = npt.NDArray[np.bool_]
"""Which values of a column are in a set."""

WORD_BITS = 62
"""Sums of words stay clear of the sign."""
VALUES_PER_WORD = 63
"""So many values have a bit each in a word that says which occur."""


def of_people(column: str) -> str:
    """The key of a column whose values are counted by people."""
    return f"people {column}"


def of_rows(column: str) -> str:
    """The key of a column whose values are counted by rows."""
    return f"rows {column}"


@dataclass
class ValueSets:
    """The sets of values of one column that somebody asks for; each is there once.

    By people, or by rows for class labels. `name` begins the names of its counts in SQL. With
    `only_occur` nothing is counted: bits say which values occur.
    """

    name: str
    facet: Facet
    by_rows: bool = False
    only_occur: bool = False
    _numbers: dict[bytes, int] = field(default_factory=dict)
    _members: list[Members] = field(default_factory=list)

    @property
    def values(self) -> int:
        return self.facet.domain.size

    @property
    def words(self) -> list[str]:
        """The names of the words that say which values occur."""
        number = -(-self.values // VALUES_PER_WORD) if self.only_occur else 0
        return [f"{self.name}_held_{word}" for word in range(number)]

    def occurring(self, size: int, place: Ints) -> dict[str, Ints]:
        """These words of each of `size` tuples; `place` is the tuple of each entry."""
        value = self.facet.tally.values
        assert value is not None
        held = np.zeros((len(self.words), size), dtype=np.int64)
        bit = np.int64(1) << (value % VALUES_PER_WORD).astype(np.int64)
        np.bitwise_or.at(held, (value // VALUES_PER_WORD, place), bit)
        return dict(zip(self.words, held, strict=True))

    @property
    def entries(self) -> Ints:
        """What the entries of the facet add to the counts that they belong to."""
        tally = self.facet.tally
        return tally.rows if self.by_rows else np.where(tally.mover < 0, tally.people, 1)

    @property
    def totals(self) -> Ints:
        """How often each value occurs in the whole source, a person once for each value."""
        tally = self.facet.tally
        assert tally.values is not None
        value, number = tally.values, self.entries
        if not self.by_rows and tally.has_movers:
            moves = tally.mover >= 0
            pairs = np.unique(np.stack([value[moves], tally.mover[moves]]), axis=1)
            value = np.concatenate([value[~moves], pairs[0]])
            number = np.concatenate([number[~moves], np.ones(pairs.shape[1], dtype=np.int64)])
        return np.bincount(value, number, minlength=self.values).astype(np.int64)

    def count_of(self, members: Members) -> str:
        """The name of the count of a set of values, in SQL."""
        key = members.tobytes()
        if key not in self._numbers:
            self._numbers[key] = len(self._members)
            self._members.append(members)
        return f"{self.name}_{self._numbers[key]}"

    @property
    def names(self) -> list[str]:
        return [f"{self.name}_{number}" for number in range(len(self._members))]

    @property
    def matrix(self) -> Members:
        """One row a set, one column a value."""
        return np.array(self._members, dtype=bool).reshape(-1, self.values)


@dataclass(frozen=True)
class Field:
    """Where a count is: the bits from `shift` on of a word."""

    name: str
    word: int
    shift: int


class Packing:
    """The counts of several columns in as few words as they need; the people come first."""

    def __init__(self, sets: Sequence[ValueSets], most: int) -> None:
        self.sets = tuple(sets)
        self.bits = max(most.bit_length(), 1)
        per_word = WORD_BITS // self.bits
        names = [name for each in sets for name in each.names]
        self.fields = tuple(
            Field(name, i // per_word, i % per_word * self.bits) for i, name in enumerate(names, 1)
        )
        self.words = -(-(1 + len(names)) // per_word)

    @property
    def mask(self) -> int:
        """The bits of one count, from bit 0 on."""
        return (1 << self.bits) - 1

    def value_words(self, which: int) -> npt.NDArray[np.int64]:
        """What one person with a value of the column adds: a row of words a value."""
        first = sum(len(each.names) for each in self.sets[:which])
        matrix = self.sets[which].matrix
        words = np.zeros((matrix.shape[1], self.words), dtype=np.int64)
        for members, place in zip(matrix, self.fields[first:], strict=False):
            words[members, place.word] += 1 << place.shift
        return words
