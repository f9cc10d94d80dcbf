"""What is counted of one sensitive column in every class, for the formulas of its models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain import Hierarchy, Value, literal
from sqlanon.errors import CompileError
from sqlanon.privacy import ValueRows
from sqlanon.release.order import MeasuredColumn
from sqlanon.release.parts import Names, named_queries, of, people, same_value, values_cte
from sqlanon.render import query

MOST_BYTES = 40
"""Of a column's name, what names of queries begin with: databases cut long names."""


@dataclass(frozen=True)
class Rows:
    """Rows that a sensitive column is counted in, and how they tell values and people apart."""

    relation: exp.Expr
    value: exp.Expr
    subject: exp.Expr | None


class ColumnRows(ValueRows):
    """The queries about one sensitive column; what its models read decides which there are.

    number      the column with the number of a class, in `members` and in all that reads it
    members     the rows by class
    source      all rows of the source
    ctes        the queries, in the order of the statement
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
        self._called: dict[str, str] = {}  # by the templates' names of queries those they have
        self._read: set[str] = set()  # the columns that formulas read
        self._measures: dict[str, exp.Expr] = {}
        self._further: list[exp.CTE] = []
        self._distances: dict[str, str] = {}

    @property
    def hierarchy(self) -> Hierarchy:
        if self._hierarchy is None:
            raise CompileError(
                f"the hierarchical distance needs a hierarchy of column {self._column.name!r}"
            )
        return self._hierarchy

    def read(self, part: str, column: str) -> exp.Expr:
        self._read.add(column)
        return of(self._name(part), column)

    def per_class(self, name: str, aggregate: exp.Expr) -> exp.Expr:
        self._name("counts")
        self._measures.setdefault(name, aggregate)
        return of(self._name("measures"), name)

    def listed(self, part: str, columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> None:
        tuples = [exp.Tuple(expressions=[literal(value) for value in row]) for row in rows]
        self._further.append(values_cte(self._name(part), columns, tuples))

    def by_template(
        self,
        template: str,
        parts: Sequence[str],
        same: Mapping[str, tuple[str, str]],
        **context: object,
    ) -> exp.Expr:
        if template not in self._distances:
            for part in ("counts", "source", *parts):
                self._name(part)
            for condition, (one, other) in same.items():
                context[condition] = same_value(self._name(one), self._name(other), self.kind)
            last = self._distances[template] = self._name(parts[-1])
            select = self._query(template, **context)
            self._further += named_queries(last, select, "how far each class is from the source")
        return of(self._distances[template], "distance")

    @property
    def ctes(self) -> list[exp.CTE]:
        made: list[exp.CTE] = []
        for part, make, comment in (
            ("counts", self._by_value, "the people of each class by value"),
            ("source", self._in_source, "the people of the source by value"),
            ("measures", self._by_class, "what the models of this column need of each class"),
        ):
            if part in self._called:
                made += named_queries(self._called[part], make(), comment)
        return made + self._further

    @property
    def tables(self) -> list[str]:
        measures = [self._called["measures"]] if "measures" in self._called else []
        return [*measures, *self._distances.values()]

    def _name(self, part: str) -> str:
        """The name of a query, which is in the statement from now on."""
        if part not in self._called:
            start = self._column.name.encode()[:MOST_BYTES].decode(errors="ignore")
            self._called[part] = self._names.free(f"{start}_{part}")
        return self._called[part]

    def _query(self, template: str, **context: object) -> exp.Select:
        tables = {**self._called, "members": self._members.relation.name}
        return query(template, tables=tables, columns={"class": self._number}, **context)

    def _by_value(self) -> exp.Select:
        rows = self._members
        counted = people(rows.subject)
        select = self._query("release/values_of_classes.sql", value=rows.value, people=counted)
        return self._only_read(select, self._number, "value", "people")

    def _in_source(self) -> exp.Select:
        rows = self._whole
        select = self._query(
            "release/values_of_source.sql",
            value=rows.value,
            people=people(rows.subject),
            source=rows.relation,
            subject=rows.subject,
        )
        return self._only_read(select, "value", "people", "total")

    def _by_class(self) -> exp.Select:
        counts, source = self._name("counts"), self._called.get("source")
        cells = self._measures.values()
        read = {column.table for each in cells for column in each.find_all(exp.Column)}
        same = same_value(counts, source, self.kind) if source in read else None
        return self._query(
            "release/measures_of_classes.sql", measures=self._measures, same_value=same
        )

    def _only_read(self, select: exp.Select, *always: str) -> exp.Select:
        """The query without columns that no formula reads."""
        kept = [each for each in select.expressions if each.alias_or_name in {*always, *self._read}]
        select.set("expressions", kept)
        return select
