"""What the SELECT of a release counts of a sensitive column, as the formulas of models see it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sqlglot import exp

from sqlanon.domain import Hierarchy, Value
from sqlanon.engines import Kind


class Released(NamedTuple):
    """A statistic of a class in SQL; `is_infinite` where it is beyond every bound."""

    number: exp.Expr
    is_infinite: exp.Expr | None = None


class ValueRows(ABC):
    """The values of one column by class, a row for each value that a class has.

    What a formula reads is computed, and nothing else.

    kind        of the values
    size        the people of the class
    population  the people of the population who fit the class, where there is a population
    """

    kind: Kind
    size: exp.Expr
    population: exp.Expr

    @property
    @abstractmethod
    def hierarchy(self) -> Hierarchy:
        """The hierarchy of the column; raises CompileError without one."""

    @abstractmethod
    def read(self, part: str, column: str) -> exp.Expr:
        """A column of a part, `counts` or `source`, which is counted from now on."""

    @property
    def people(self) -> exp.Expr:
        """Of a row: how many people of the class have the value, c_v."""
        return self.read("counts", "people")

    @property
    def total(self) -> exp.Expr:
        """Of a row: n = Σ c_v over the rows of its class."""
        return self.read("counts", "total")

    @property
    def rank(self) -> exp.Expr:
        """Of a row: its place in its class, 1 for the most frequent value."""
        return self.read("counts", "rank")

    @property
    def source_people(self) -> exp.Expr:
        """Of a row: how many people of the source have the value."""
        return self.read("source", "people")

    @property
    def source_total(self) -> exp.Expr:
        """Of a row: the sum of these over all values."""
        return self.read("source", "total")

    @property
    def source_values(self) -> exp.Expr:
        """Of a row: how many values the source has."""
        return self.read("source", "values")

    @property
    def leaf(self) -> exp.Expr:
        """Of a row: the number of its value among those of the source, from 1."""
        return self.read("source", "leaf")

    @abstractmethod
    def per_class(self, name: str, aggregate: exp.Expr) -> exp.Expr:
        """An aggregate over the rows of each class; `name` is its own."""

    @abstractmethod
    def listed(self, part: str, columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> None:
        """Writes a list into the statement, which a template reads by the name of the part."""

    @abstractmethod
    def by_template(
        self,
        template: str,
        parts: Sequence[str],
        same: Mapping[str, tuple[str, str]],
        **context: object,
    ) -> exp.Expr:
        """The column `distance` of a template, which has one row per class.

        The template reads `counts`: the class, the value and the people, and `source`: the value,
        the people and their total; both also have what was read of rows before. `parts` names
        the queries of its WITH and, last, the whole; each is called after the column. `same` asks
        for conditions that the values of two parts are the same.
        """


def times(*factors: exp.Expr) -> exp.Expr:
    product, *more = factors
    for factor in more:
        product = exp.Mul(this=product, expression=factor)
    return product


def quotient(above: exp.Expr, below: exp.Expr) -> exp.Expr:
    """A quotient of whole numbers as a float."""
    divisor = exp.paren(below, copy=False) if isinstance(below, exp.Binary) else below
    return exp.Div(this=exp.cast(above, "double"), expression=divisor)


def found(v: ValueRows) -> exp.Expr:
    """c·N, the people of a class with a value, in parts of n·N."""
    return times(v.people, v.source_total)


def expected(v: ValueRows) -> exp.Expr:
    """n·Q, how many they would be with the source's share."""
    return times(v.total, v.source_people)


def excess(v: ValueRows) -> exp.Expr:
    """c·N − n·Q: what a class has too much of a value, compared with the source."""
    return exp.Sub(this=found(v), expression=expected(v))


def positive(value: exp.Expr) -> exp.Expr:
    """The value, or 0 where it is less; there is no NULL among counts."""
    return exp.Greatest(this=value, expressions=[exp.Literal.number(0)], ignore_nulls=True)
