"""The classes that violate k or a privacy model: what release/unsafe_classes.sql is given.

Of every sensitive column it counts in each class what the formulas of its models read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain import Hierarchy, Value, exact, literal
from sqlanon.engines import Kind, is_text_once_released
from sqlanon.errors import CompileError
from sqlanon.privacy import ValueRows
from sqlanon.release.generalize import SOURCE, as_it_is, cell
from sqlanon.release.order import MeasuredColumn, Order
from sqlanon.release.rows import (
    Context,
    Names,
    aliased,
    in_class,
    named,
    named_queries,
    number,
    of,
    people,
    population_subject,
    same_value,
    unlike,
    values_cte,
)
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
        """A list that models of this column read; the first of them writes it."""
        if part in self._called:
            return
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


NO_COLUMN = MeasuredColumn("", "", Kind.TEXT)
"""Stands in for the column of models that need none; nothing of it is read."""


@dataclass
class UnsafeClasses:
    """The search for classes that have fewer than k people or violate a model.

    rows          the query with the rows as they are released
    subject       its column that names people; None where rows are people
    carried       by sensitive column the name that it has there
    rows_are_all  whether it holds every row of the source
    population    what release/generalized.sql is given for the population, for k-map
    tables, columns  what names of release/unsafe_classes.sql become
    """

    recipe: Order
    names: Names
    rows: str
    subject: str | None
    carried: Mapping[str, str]
    rows_are_all: bool
    population: Context | None = None

    def __post_init__(self) -> None:
        recipe, subject = self.recipe, self.subject
        self._subject = None if subject is None else exp.column(subject, quoted=True)
        private = [*self.carried.values(), *([subject] if subject else [])]
        # Every query that has them calls them so: they are the names of no released column.
        number = unlike("class", [*recipe.class_names, *private])
        self.columns = {
            "class": number,
            "people": unlike("people", [*recipe.class_names, number]),
            "is_unsafe": unlike("is_unsafe", recipe.class_names),
        }
        self.tables = {"generalized": self.rows, "classes": self.names.free("classes")}
        if recipe.measured:
            self.tables["members"] = self.names.free("members")

    def context(self) -> Context:
        """What release/unsafe_classes.sql is given."""
        recipe, classes = self.recipe, self.tables["classes"]
        fitting: exp.Expr = exp.Literal.number(0)
        population: list[exp.CTE] = []
        joined: list[str] = []
        if self.population is not None:
            population, name = self._population(self.population)
            joined.append(name)
            fitting = exp.Coalesce(this=of(name, self.columns["people"]), expressions=[fitting])
        size = of(classes, self.columns["people"])
        columns = {each.name: self._rows_of(each, size, fitting) for each in recipe.measured}
        nothing = self._rows_of(NO_COLUMN, size, fitting)
        short: list[exp.Expr] = [size < exp.Literal.number(recipe.k)]
        for model in recipe.models:
            reached = model.released(columns.get(model.column or "", nothing))
            short += filter(None, [reached.is_infinite])
            short.append(model.violation(reached.number, number(model.limit)))
        counted = [part for each in columns.values() for part in each.ctes]
        self.tables["unsafe_classes"] = self.names.free("unsafe_classes")
        return {
            "people": people(self._subject),
            "sensitive": self._sensitive(),
            "subject": None if self._subject is None else of(self.rows, self._subject.name),
            "in_class": in_class(recipe, self.rows, classes),
            "counted": [*counted, *population],
            "class_names": recipe.class_names,
            "measured": [*(name for each in columns.values() for name in each.tables), *joined],
            "falls_short": exp.or_(*short),
        }

    def _sensitive(self) -> list[exp.Expr]:
        """What `members` holds beside the number of the class."""
        rows = self.rows
        found: list[exp.Expr] = []
        if self.subject is not None:
            found.append(of(rows, self.subject))
        for column in self.recipe.measured:
            name = self.carried[column.name]
            value = _told_apart(column, of(rows, name))
            found.append(value if isinstance(value, exp.Column) else value.as_(name, quoted=True))
        return found if self.recipe.measured else []

    def _rows_of(self, column: MeasuredColumn, size: exp.Expr, fitting: exp.Expr) -> ColumnRows:
        recipe = self.recipe
        value = exp.column(self.carried.get(column.name, column.name), quoted=True)
        if self.rows_are_all:
            relation: exp.Expr = named(self.rows)
            whole = Rows(relation, _told_apart(column, value.copy()), self._subject)
        else:
            subject = None if recipe.subject is None else cell(recipe.subject)
            as_released = _told_apart(column, as_it_is(column.name, column.type))
            whole = Rows(aliased(recipe.source, SOURCE), as_released, subject)
        members = named(self.tables.get("members", "members"))
        return ColumnRows(
            self.names,
            column,
            self.columns["class"],
            Rows(members, value, self._subject),
            whole,
            size,
            fitting,
            recipe.hierarchies.get(column.name),
        )

    def _population(self, rows: Context) -> tuple[list[exp.CTE], str]:
        """The queries that count who fits each class, and the name of the last."""
        tables = {each: self.names.free(each) for each in ("population", "population_counts")}
        everybody, last = tables.values()
        subject = population_subject(self.recipe)
        select = query(
            "release/population_of_classes.sql",
            tables={**self.tables, **tables},
            columns=self.columns,
            people=people(None if subject is None else of(everybody, subject)),
            in_class=in_class(self.recipe, everybody, self.tables["classes"]),
            **rows,
        )
        return named_queries(last, select, "the people of the population who fit each class"), last


def _told_apart(column: MeasuredColumn, value: exp.Expr) -> exp.Expr:
    """The value as it is compared: texts exactly, whatever is text in the end as one."""
    if column.kind is not Kind.TEXT:
        return value
    return exact(value if is_text_once_released(column.type) else exp.cast(value, "text"))
