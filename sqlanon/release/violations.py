"""The classes that violate k or a privacy model, found step by step.

The steps are parts of one statement: the classes with numbers, the rows by the number of their
class, for every sensitive column what is measured of each class, last the classes that fall
short. The numbers follow the order of the classes, so a database that works a part out twice
gives every class the same number again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.counting import exact
from sqlanon.engines import Kind, is_text_once_released
from sqlanon.release.class_statistics import ColumnRows, Rows
from sqlanon.release.generalize import SOURCE, as_it_is, cell, is_not_null
from sqlanon.release.order import MeasuredColumn, Order
from sqlanon.release.parts import (
    Names,
    aliased,
    class_values,
    cte,
    named,
    number,
    of,
    ordinals,
    people,
    same_class,
    unlike,
)
from sqlanon.release.rows import population_subject

NO_COLUMN = MeasuredColumn("", "", Kind.TEXT)
"""Stands in for the column of models that need none; nothing of it is read."""


@dataclass(frozen=True)
class Scene:
    """What is known where the classes of a release are looked at.

    rows          the part of the statement with the rows as they are released
    subject       its column that names people; None where rows are people
    carried       by sensitive column the name that it has there
    rows_are_all  whether it holds every row of the source
    population    the population by its classes, for k-map
    """

    recipe: Order
    names: Names
    rows: str
    subject: str | None
    carried: Mapping[str, str]
    rows_are_all: bool
    population: exp.Select | None = None


def unsafe_classes(scene: Scene) -> tuple[list[exp.CTE], str, str]:
    """The parts of the statement, the name of the last, and of its flag.

    The last has one row per class that has fewer than k people or violates a model.
    """
    return _Search(scene).steps()


class _Search:
    def __init__(self, scene: Scene) -> None:
        recipe = self._recipe = scene.recipe
        self._scene = scene
        self._names = scene.names
        private = [*scene.carried.values(), *([scene.subject] if scene.subject else [])]
        # By these names in every part that has them, so they are none of the rows' own.
        self._number = unlike("class", [*recipe.class_names, *private])
        self._size = unlike("people", [*recipe.class_names, self._number])
        self._classes = self._names.free("classes")

    def steps(self) -> tuple[list[exp.CTE], str, str]:
        recipe = self._recipe
        ctes = [cte(self._classes, self._numbered())]
        tables: list[str] = []
        members = self._names.free("members") if recipe.measured else ""
        if members:
            ctes.append(cte(members, self._members()))
        fitting: exp.Expr = exp.Literal.number(0)
        people_ctes: list[exp.CTE] = []
        if self._scene.population is not None:
            everybody = self._names.free("population")
            tables.append(self._names.free("population_counts"))
            people_ctes = [
                cte(everybody, self._scene.population),
                cte(tables[0], self._fitting(everybody)),
            ]
            fitting = exp.Coalesce(this=of(tables[0], "people"), expressions=[fitting])
        columns = {each.name: self._rows_of(each, members, fitting) for each in recipe.measured}
        nothing = self._rows_of(NO_COLUMN, members, fitting)
        short: list[exp.Expr] = [of(self._classes, self._size) < exp.Literal.number(recipe.k)]
        for model in recipe.models:
            reached = model.released(columns.get(model.column or "", nothing))
            short += filter(None, [reached.is_infinite])
            short.append(model.violation(reached.number, number(model.limit)))
        ctes += [*(part for each in columns.values() for part in each.ctes), *people_ctes]
        tables = [*(name for each in columns.values() for name in each.tables), *tables]
        unsafe = self._names.free("unsafe_classes")
        flag = unlike("is_unsafe", recipe.class_names)
        shown = [of(self._classes, name) for name in recipe.class_names]
        select = exp.select(*shown, exp.true().as_(flag, quoted=True)).from_(named(self._classes))
        for table in tables:
            same = exp.EQ(this=of(table, self._number), expression=of(self._classes, self._number))
            select = select.join(named(table), on=same, join_type="left")
        ctes.append(cte(unsafe, select.where(exp.or_(*short))))
        return ctes, unsafe, flag

    def _numbered(self) -> exp.Select:
        """One row per class: its columns, its people and its number."""
        values = list(class_values(self._recipe))
        columns = [v.as_(n, quoted=True) if isinstance(v, exp.Collate) else v for n, v in values]
        order = exp.Order(expressions=[exp.Ordered(this=value.copy()) for _, value in values])
        numbers = exp.Window(this=exp.RowNumber(), order=order)
        outputs = [
            *columns,
            people(self._subject()).as_(self._size, quoted=True),
            numbers.as_(self._number, quoted=True),
        ]
        return exp.select(*outputs).from_(named(self._scene.rows)).group_by(*ordinals(columns))

    def _members(self) -> exp.Select:
        """The rows by class: whose they are, and their sensitive values."""
        rows = self._scene.rows
        outputs: list[exp.Expr] = [of(self._classes, self._number)]
        if self._scene.subject is not None:
            outputs.append(of(rows, self._scene.subject))
        for column in self._recipe.measured:
            name = self._scene.carried[column.name]
            value = _told_apart(column, of(rows, name))
            outputs.append(value if isinstance(value, exp.Column) else value.as_(name, quoted=True))
        same = same_class(self._recipe, rows, self._classes)
        select = exp.select(*outputs).from_(named(rows)).join(named(self._classes), on=same)
        if self._scene.subject is not None:  # a row without a subject is about nobody
            select = select.where(is_not_null(of(rows, self._scene.subject)))
        return select

    def _rows_of(self, column: MeasuredColumn, members: str, fitting: exp.Expr) -> ColumnRows:
        recipe = self._recipe
        carried = self._scene.carried.get(column.name, column.name)
        value = exp.column(carried, quoted=True)
        if self._scene.rows_are_all:
            relation = named(self._scene.rows)
            whole = Rows(relation, _told_apart(column, value.copy()), self._subject())
        else:
            subject = None if recipe.subject is None else cell(recipe.subject)
            as_released = _told_apart(column, as_it_is(column.name, column.type))
            whole = Rows(aliased(recipe.source, SOURCE), as_released, subject)
        return ColumnRows(
            self._names,
            column,
            self._number,
            Rows(named(members), value, self._subject()),
            whole,
            of(self._classes, self._size),
            fitting,
            recipe.hierarchies.get(column.name),
        )

    def _fitting(self, everybody: str) -> exp.Select:
        """How many people of the population fit each class."""
        subject = population_subject(self._recipe)
        counted = people(None if subject is None else of(everybody, subject))
        select = exp.select(of(self._classes, self._number), counted.as_("people", quoted=True))
        same = same_class(self._recipe, everybody, self._classes)
        select = select.from_(named(everybody)).join(named(self._classes), on=same)
        return select.group_by(*ordinals(range(1)))

    def _subject(self) -> exp.Expr | None:
        subject = self._scene.subject
        return None if subject is None else exp.column(subject, quoted=True)


def _told_apart(column: MeasuredColumn, value: exp.Expr) -> exp.Expr:
    """The value as it is compared: texts exactly, whatever is text in the end as one."""
    if column.kind is not Kind.TEXT:
        return value
    return exact(value if is_text_once_released(column.type) else exp.cast(value, "text"))
