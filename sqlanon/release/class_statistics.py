"""The parts of a release's statement that count the values of one sensitive column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from sqlanon.domain import Hierarchy, Value, literal
from sqlanon.errors import CompileError
from sqlanon.privacy import ValueRows
from sqlanon.release.generalize import is_not_null
from sqlanon.release.order import MeasuredColumn
from sqlanon.release.parts import (
    Names,
    cte,
    named,
    of,
    ordinals,
    people,
    same_value,
    values_cte,
)
from sqlanon.render import NATIVE, render

MOST_BYTES = 40
"""Of a column's name, what names of parts begin with: databases cut long names."""


@dataclass(frozen=True)
class Rows:
    """Rows that a sensitive column is counted in, and how they tell values and people apart."""

    relation: exp.Expr
    value: exp.Expr
    subject: exp.Expr | None


class ColumnRows(ValueRows):
    """The parts for one sensitive column; what its models read decides which there are.

    number      the column with the number of a class, in `members` and all that is made of them
    members     the rows by class
    source      all rows of the source
    ctes        the parts, in the order of the statement
    tables      those of them that have one row per class
    """

    def __init__(
        self,
        names: Names,
        column: MeasuredColumn,
        number: str,
        members: Rows,
        source: Rows,
        size: exp.Expr,
        population: exp.Expr,
        hierarchy: Hierarchy | None,
    ) -> None:
        self._names, self._column, self._number = names, column, number
        self._members, self._whole = members, source
        self._hierarchy = hierarchy
        self.kind, self.size, self.population = column.kind, size, population
        self._parts: dict[str, str] = {}  # the names of those that are there
        self._read: dict[str, None] = {}  # the columns that formulas read
        self._of_classes: dict[str, exp.Expr] = {}
        self._templates: list[exp.CTE] = []
        self._distances: dict[str, str] = {}

    @property
    def hierarchy(self) -> Hierarchy:
        if self._hierarchy is None:
            raise CompileError(
                f"the hierarchical distance needs a hierarchy of column {self._column.name!r}"
            )
        return self._hierarchy

    def read(self, part: str, column: str) -> exp.Expr:
        self._read[column] = None
        return of(self._part(part), column)

    def per_class(self, name: str, aggregate: exp.Expr) -> exp.Expr:
        self._part("counts")
        self._of_classes.setdefault(name, aggregate)
        return of(self._part("measures"), name)

    def listed(self, part: str, columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
        name = self._name(part)
        tuples = [exp.Tuple(expressions=[literal(value) for value in row]) for row in rows]
        self._templates.append(values_cte(name, columns, tuples))
        return name

    def by_template(
        self,
        template: str,
        parts: Sequence[str],
        same: Mapping[str, tuple[str, str]],
        **context: object,
    ) -> exp.Expr:
        if template not in self._distances:
            names = {part: self._name(part) for part in parts}
            conditions = {name: same_value(*two, self.kind) for name, two in same.items()}
            context |= {"number": self._number, **names, **conditions}
            context |= {each: self._part(each) for each in ("counts", "source")}
            self._templates += _parsed(render(template, dialect=NATIVE, **context))
            self._distances[template] = names[parts[-1]]
        return of(self._distances[template], "distance")

    @property
    def ctes(self) -> list[exp.CTE]:
        queries = {"counts": self._by_value, "source": self._in_source, "measures": self._by_class}
        found = [cte(self._parts[each], queries[each]()) for each in queries if each in self._parts]
        return found + self._templates

    @property
    def tables(self) -> list[str]:
        measures = [self._parts["measures"]] if "measures" in self._parts else []
        return [*measures, *self._distances.values()]

    def _part(self, name: str) -> str:
        """The name of a part, which is there from now on."""
        if name not in self._parts:
            self._parts[name] = self._name(name)
        return self._parts[name]

    def _name(self, part: str) -> str:
        start = self._column.name.encode()[:MOST_BYTES].decode(errors="ignore")
        return self._names.free(f"{start}_{part}")

    def _by_value(self) -> exp.Select:
        """The people of each class by value."""
        rows, owner = self._members, exp.column(self._number, quoted=True)
        counted = people(rows.subject)
        outputs = {"value": rows.value, "people": counted}
        further = {
            "total": exp.Window(this=exp.Sum(this=counted.copy()), partition_by=[owner.copy()]),
            "rank": _ranked(exp.Ordered(this=counted.copy(), desc=True), [owner.copy()]),
        }
        outputs |= {name: further[name] for name in self._read if name in further}
        select = exp.select(owner, *_called(outputs)).from_(rows.relation)
        return select.group_by(*ordinals(range(2)))

    def _in_source(self) -> exp.Select:
        """The people of the whole source by value."""
        rows, counted = self._whole, people(self._whole.subject)
        every = exp.Window(this=exp.Sum(this=counted.copy()))
        outputs = {"value": rows.value, "people": counted, "total": every}
        further = {
            "values": exp.Window(this=exp.Count(this=exp.Star())),
            "leaf": _ranked(exp.Ordered(this=rows.value.copy())),
        }
        outputs |= {name: further[name] for name in self._read if name in further}
        select = exp.select(*_called(outputs)).from_(rows.relation)
        if rows.subject is not None:  # a row without a subject is about nobody
            select = select.where(is_not_null(rows.subject.copy()))
        return select.group_by(*ordinals(range(1)))

    def _by_class(self) -> exp.Select:
        """What one pass over the counts tells of each class."""
        counts, source = self._part("counts"), self._parts.get("source")
        select = exp.select(of(counts, self._number), *_called(self._of_classes))
        select = select.from_(named(counts))
        read = [
            each.table for every in self._of_classes.values() for each in every.find_all(exp.Column)
        ]
        if source in read:
            select = select.join(named(source), on=same_value(counts, source, self.kind))
        return select.group_by(*ordinals(range(1)))


def _ranked(first: exp.Ordered, within: Sequence[exp.Expr] = ()) -> exp.Window:
    order = exp.Order(expressions=[first])
    return exp.Window(this=exp.RowNumber(), partition_by=list(within), order=order)


def _called(values: Mapping[str, exp.Expr]) -> list[exp.Expr]:
    return [value.as_(name, quoted=True) for name, value in values.items()]


def _parsed(text: str) -> list[exp.CTE]:
    """The named parts of a template, with no more in them than the template says."""
    query = sqlglot.parse_one(text, read=NATIVE, into=exp.Select)
    for division in query.find_all(exp.Div):
        division.set("safe", None)
        division.set("typed", None)
    for ordered in query.find_all(exp.Ordered):
        ordered.set("nulls_first", None)
    for node in query.walk():
        node.pop_comments()
    return list(query.ctes)
