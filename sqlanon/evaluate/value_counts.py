"""Counts the values of a column in the classes of a scheme, several counts per number.

A model needs the counts of sets of values: single values, all values up to one, or those under a
node of a hierarchy. Each count gets bits of a 64-bit word, enough for all people at once, so the
sum of two words is the word of the sums, and one SUM in SQL adds several counts.

If a model needs only which values occur, they are not counted: each has one bit of a word, and
one BIT_OR combines dozens of them where a SUM combines a few. People with a value in several
tuples then need no special treatment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from sqlanon.domain import Facet, Hierarchy
from sqlanon.evaluate.scoring_sql import bigint
from sqlanon.metrics import UNBOUNDED, Ints
from sqlanon.privacy import TOLERANCE, ClassCounts, Model

Members = npt.NDArray[np.bool_]
"""Which values of a column are in a set."""

WORD_BITS = 62
"""Sums of words stay clear of the sign."""
VALUES_PER_WORD = 63
"""Values per word if each has one bit that says whether it occurs."""


@dataclass(frozen=True)
class Demands:
    """What every class must satisfy.

    models       beyond k; a class that violates one is bad
    below        classes of fewer people are bad too; UNBOUNDED: of any number
    hierarchies  of sensitive columns, for distances by hierarchy
    """

    models: tuple[Model, ...] = ()
    below: int = UNBOUNDED
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """Names what measurements depend on; empty without models."""
        if not self.models:
            return ""
        trees = sorted((name, tree.fingerprint) for name, tree in self.hierarchies.items())
        return f"{self.below} ±{TOLERANCE} {list(map(repr, self.models))} {trees}"


def of_people(column: str) -> str:
    """The key of a column whose values are counted by people."""
    return f"people {column}"


def of_rows(column: str) -> str:
    """The key of a column whose values are counted by rows."""
    return f"rows {column}"


@dataclass
class ValueSets:
    """The distinct sets of values of one column whose counts a query needs.

    They count people, or rows for class labels. Names of the counts in SQL begin with `name`.
    With `only_occur` nothing is counted: bits say which values occur.
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
        """The number of people, or rows, with each value in the whole source."""
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
        """One row per set, one column per value."""
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
        """The words that one person with a value of the column adds, one row per value."""
        first = sum(len(each.names) for each in self.sets[:which])
        matrix = self.sets[which].matrix
        words = np.zeros((matrix.shape[1], self.words), dtype=np.int64)
        for members, place in zip(matrix, self.fields[first:], strict=False):
            words[members, place.word] += 1 << place.shift
        return words


Operand: TypeAlias = "Cells | Iterable[int] | float"


class Cells:
    """SQL expressions with the operators of arithmetic: one per value of a column, or a single one.

    A single one goes with each of the others.
    """

    def __init__(self, each: Sequence[exp.Expr]) -> None:
        self.each = each

    @property
    def single(self) -> exp.Expr:
        (expression,) = self.each
        return expression

    def __add__(self, other: Operand) -> Cells:
        return self._with(exp.Add, other)

    def __radd__(self, other: float) -> Cells:
        return cells(other)._with(exp.Add, self) if other else self

    def __sub__(self, other: Operand) -> Cells:
        return self._with(exp.Sub, other)

    def __mul__(self, other: Operand) -> Cells:
        return self._with(exp.Mul, other)

    def __truediv__(self, other: Operand) -> Cells:
        return self._with(exp.Div, other)

    def _with(self, kind: type[exp.Binary], other: Operand) -> Cells:
        return self.paired(lambda a, b: kind(this=_factor(a), expression=_factor(b)), other)

    def paired(self, combine: Callable[[exp.Expr, exp.Expr], exp.Expr], other: Operand) -> Cells:
        """Each with each of the others."""
        one, two = self.each, cells(other).each
        count = max(len(one), len(two)) if one and two else 0
        pairs = zip(range(count), cycle(one), cycle(two), strict=False)
        return Cells([combine(a.copy(), b.copy()) for _, a, b in pairs])

    def mapped(self, function: Callable[[exp.Expr], exp.Expr]) -> Cells:
        return Cells([function(each.copy()) for each in self.each])


def cells(given: Operand) -> Cells:
    """Numbers as cells, one or several."""
    if isinstance(given, Cells):
        return given
    return Cells([exp.convert(n) for n in (given if isinstance(given, Iterable) else [given])])


def cell(name: str) -> Cells:
    return Cells([exp.column(name, quoted=True)])


def _factor(operand: exp.Expr) -> exp.Expr:
    return exp.paren(operand, copy=False) if isinstance(operand, exp.Binary) else operand


def greatest(each: Sequence[exp.Expr], kind: type[exp.Func] = exp.Greatest) -> exp.Expr:
    first, *others = each
    return kind(this=first, expressions=others, ignore_nulls=True) if others else first


class CountCells(ClassCounts):
    """The counts of one column as SQL: each value, and each set of values, has one of its own."""

    def __init__(
        self,
        sets: ValueSets | None,
        tree: Hierarchy | None = None,
        *,
        one_value_each: bool = True,
        groups: Ints | None = None,
    ) -> None:
        super().__init__(None if sets is None else sets.facet.domain, tree)
        self.size, self.population = cell("size"), cell("population")
        self._one_value_each = one_value_each
        if sets is None:
            return
        self._sets = sets
        groups = np.arange(sets.values) if groups is None else groups
        self._members = [groups == group for group in np.unique(groups)]
        self.values = len(self._members)
        self.totals = [int(sets.totals[members].sum()) for members in self._members]
        self.whole = sum(self.totals)

    @property
    def counts(self) -> Cells:  # only counts that a formula reads
        return self._count_of(self._members)

    @property
    def pairs(self) -> Cells:
        if self._one_value_each:
            return cell("size")
        return self._count_of([np.ones(self._sets.values, dtype=bool)])

    def grouped(self, groups: Ints) -> CountCells:
        return CountCells(
            self._sets, self._tree, one_value_each=self._one_value_each, groups=groups
        )

    def of_each(self, per_class: Cells) -> Cells:
        return per_class

    def summed(self, each: Cells) -> Cells:
        total = each.each[0]
        for further in each.each[1:]:
            total = exp.Add(this=total, expression=further)
        return Cells([total])

    def largest(self, each: Cells) -> Cells:
        return Cells([greatest(each.each)])

    def distinct(self) -> Cells:
        if self._sets.only_occur:
            words = Cells([exp.column(word, quoted=True) for word in self._sets.words])
            return self.summed(words.mapped(lambda word: bigint(exp.func("BIT_COUNT", word))))
        held = self.counts.paired(lambda a, b: exp.paren(exp.GT(this=a, expression=b)), 0)
        return self.summed(held.mapped(bigint))

    def least(self) -> Cells:
        return Cells([greatest(self.counts.each, exp.Least)])

    def most(self, number: int) -> Cells:
        if number == 0:
            return cells(0)
        if number == 1:
            return self.largest(self.counts)
        sorted_ = exp.Anonymous(
            this="LIST_SORT",
            expressions=[exp.Array(expressions=self.counts.each), exp.Literal.string("DESC")],
        )
        ends = [exp.Literal.number(1), exp.Literal.number(number)]
        first = exp.Anonymous(this="LIST_SLICE", expressions=[sorted_, *ends])
        return Cells([exp.Anonymous(this="LIST_SUM", expressions=[first])])

    def along(self) -> Cells:
        if self.values == 1:
            return cells(0)
        prefixes = [np.any(self._members[: i + 1], axis=0) for i in range(self.values - 1)]
        up_to = np.cumsum(self.totals)[:-1].tolist()
        moved = self._count_of(prefixes) * self.whole - self.pairs * up_to
        return self.summed(self.absolute(moved).mapped(lambda each: exp.cast(each, "double")))

    def positive(self, cell: Cells) -> Cells:
        return cell.paired(lambda a, b: greatest([a, b]), 0)

    def absolute(self, cell: Cells) -> Cells:
        return cell.mapped(lambda each: exp.Abs(this=each))

    def ln(self, cell: Cells) -> Cells:
        least = exp.Literal.number("1e-300")
        return cell.mapped(lambda each: exp.Ln(this=greatest([each, least.copy()])))

    def exp(self, cell: Cells) -> Cells:
        return cell.mapped(lambda each: exp.Exp(this=each))

    def infinite_at_0(self, divisor: Cells, number: Cells) -> Cells:
        infinite = exp.cast(exp.Literal.string("infinity"), "double")
        is_0 = exp.EQ(this=divisor.single.copy(), expression=exp.Literal.number(0))
        return Cells([exp.Case(ifs=[exp.If(this=is_0, true=infinite)], default=number.single)])

    def _count_of(self, members: Sequence[Members]) -> Cells:
        return Cells([exp.column(self._sets.count_of(each), quoted=True) for each in members])
