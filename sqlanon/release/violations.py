"""The classes that violate k or a privacy model: what release/unsafe_classes.sql is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.counting import exact
from sqlanon.engines import Kind, is_text_once_released
from sqlanon.release.class_statistics import ColumnRows, Rows
from sqlanon.release.generalize import SOURCE, as_it_is, cell
from sqlanon.release.order import MeasuredColumn, Order
from sqlanon.release.parts import (
    Names,
    aliased,
    in_class,
    named,
    named_queries,
    number,
    of,
    people,
    unlike,
)
from sqlanon.release.rows import Context, population_subject
from sqlanon.render import query

NO_COLUMN = MeasuredColumn("", "", Kind.TEXT)
"""Stands in for the column of models that need none; nothing of it is read."""


@dataclass(frozen=True)
class Scene:
    """What is known where the classes of a release are looked at.

    rows          the query with the rows as they are released
    subject       its column that names people; None where rows are people
    carried       by sensitive column the name that it has there
    rows_are_all  whether it holds every row of the source
    population    what release/generalized.sql is given for the population, for k-map
    """

    recipe: Order
    names: Names
    rows: str
    subject: str | None
    carried: Mapping[str, str]
    rows_are_all: bool
    population: Context | None = None


@dataclass(frozen=True)
class UnsafeClasses:
    """What release/unsafe_classes.sql is given, and what its own names become."""

    context: Context
    tables: dict[str, str]
    columns: dict[str, str]


def unsafe_classes(scene: Scene) -> UnsafeClasses:
    """The search for classes that have fewer than k people or violate a model."""
    return _Search(scene).found()


class _Search:
    def __init__(self, scene: Scene) -> None:
        recipe = self._recipe = scene.recipe
        self._scene, self._names = scene, scene.names
        self._subject = None if scene.subject is None else exp.column(scene.subject, quoted=True)
        private = [*scene.carried.values(), *([scene.subject] if scene.subject else [])]
        # Every query that has them calls them so: they are the names of no released column.
        number = unlike("class", [*recipe.class_names, *private])
        self._columns = {
            "class": number,
            "people": unlike("people", [*recipe.class_names, number]),
            "is_unsafe": unlike("is_unsafe", recipe.class_names),
        }
        self._tables = {"generalized": scene.rows, "classes": self._names.free("classes")}
        if recipe.measured:
            self._tables["members"] = self._names.free("members")

    def found(self) -> UnsafeClasses:
        recipe, classes = self._recipe, self._tables["classes"]
        fitting: exp.Expr = exp.Literal.number(0)
        population: list[exp.CTE] = []
        joined: list[str] = []
        if self._scene.population is not None:
            population, name = self._population(self._scene.population)
            joined.append(name)
            fitting = exp.Coalesce(this=of(name, self._columns["people"]), expressions=[fitting])
        size = of(classes, self._columns["people"])
        columns = {each.name: self._rows_of(each, size, fitting) for each in recipe.measured}
        nothing = self._rows_of(NO_COLUMN, size, fitting)
        short: list[exp.Expr] = [size < exp.Literal.number(recipe.k)]
        for model in recipe.models:
            reached = model.released(columns.get(model.column or "", nothing))
            short += filter(None, [reached.is_infinite])
            short.append(model.violation(reached.number, number(model.limit)))
        counted = [part for each in columns.values() for part in each.ctes]
        self._tables["unsafe_classes"] = self._names.free("unsafe_classes")
        context: Context = {
            "people": people(self._subject),
            "sensitive": self._sensitive(),
            "subject": None if self._subject is None else of(self._scene.rows, self._subject.name),
            "in_class": in_class(recipe, self._scene.rows, classes),
            "counted": [*counted, *population],
            "class_names": recipe.class_names,
            "measured": [*(name for each in columns.values() for name in each.tables), *joined],
            "falls_short": exp.or_(*short),
        }
        return UnsafeClasses(context, self._tables, self._columns)

    def _sensitive(self) -> list[exp.Expr]:
        """What `members` holds beside the number of the class."""
        rows = self._scene.rows
        found: list[exp.Expr] = []
        if self._scene.subject is not None:
            found.append(of(rows, self._scene.subject))
        for column in self._recipe.measured:
            name = self._scene.carried[column.name]
            value = _told_apart(column, of(rows, name))
            found.append(value if isinstance(value, exp.Column) else value.as_(name, quoted=True))
        return found if self._recipe.measured else []

    def _rows_of(self, column: MeasuredColumn, size: exp.Expr, fitting: exp.Expr) -> ColumnRows:
        recipe = self._recipe
        value = exp.column(self._scene.carried.get(column.name, column.name), quoted=True)
        if self._scene.rows_are_all:
            relation: exp.Expr = named(self._scene.rows)
            whole = Rows(relation, _told_apart(column, value.copy()), self._subject)
        else:
            subject = None if recipe.subject is None else cell(recipe.subject)
            as_released = _told_apart(column, as_it_is(column.name, column.type))
            whole = Rows(aliased(recipe.source, SOURCE), as_released, subject)
        members = named(self._tables.get("members", "members"))
        return ColumnRows(
            self._names,
            column,
            self._columns["class"],
            Rows(members, value, self._subject),
            whole,
            size,
            fitting,
            recipe.hierarchies.get(column.name),
        )

    def _population(self, rows: Context) -> tuple[list[exp.CTE], str]:
        """The queries that count who fits each class, and the name of the last."""
        tables = {each: self._names.free(each) for each in ("population", "population_counts")}
        everybody, last = tables.values()
        subject = population_subject(self._recipe)
        select = query(
            "release/population_of_classes.sql",
            tables={**self._tables, **tables},
            columns=self._columns,
            people=people(None if subject is None else of(everybody, subject)),
            in_class=in_class(self._recipe, everybody, self._tables["classes"]),
            **rows,
        )
        return named_queries(last, select, "the people of the population who fit each class"), last


def _told_apart(column: MeasuredColumn, value: exp.Expr) -> exp.Expr:
    """The value as it is compared: texts exactly, whatever is text in the end as one."""
    if column.kind is not Kind.TEXT:
        return value
    return exact(value if is_text_once_released(column.type) else exp.cast(value, "text"))
