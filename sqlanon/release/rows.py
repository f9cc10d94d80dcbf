"""Rows of a source or a population as they are released, one for one: release/generalized.sql."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlglot import exp

from sqlanon.domain import Generalized
from sqlanon.errors import CompileError
from sqlanon.release.generalize import SOURCE, Mapping, Written, cell, written
from sqlanon.release.order import Item, Order
from sqlanon.release.parts import Names, aliased, list_cte, unlike
from sqlanon.render import query

Context = dict[str, Any]
"""What a template is given."""


class Lookup(NamedTuple):
    """A list as a template joins it; `is_nearest` as an ASOF join does."""

    name: str
    condition: exp.Expr
    is_nearest: bool


def read_from(
    relation: exp.Expr,
    columns: Iterable[Written],
    cells: Iterable[exp.Expr],
    name: str = SOURCE,
) -> tuple[Context, list[Mapping]]:
    """What a template reads: a relation, and the lists of columns that its cells look up.

    `name` is what the relation is called in the statement.
    """
    read = {column.table for each in cells for column in each.find_all(exp.Column)}
    found = [m for each in columns if (m := each.mapping) is not None and m.name in read]
    lists = list({mapping.name: mapping for mapping in found}.values())
    joined = []
    for mapping in lists:
        # DuckDB compares a row with half of the intervals in a range join.
        is_nearest = mapping.nearest is not None
        condition = mapping.condition if mapping.nearest is None else mapping.nearest
        joined.append(Lookup(mapping.name, _reading(condition, name), is_nearest))
    return {"source": aliased(relation, name), "lists": joined}, lists


def _reading(expression: exp.Expr, name: str) -> exp.Expr:
    """An expression over the source that reads the relation called `name` in its place."""
    if name == SOURCE:
        return expression
    renamed = expression.copy()
    for column in renamed.find_all(exp.Column):
        if column.table == SOURCE:
            column.set("table", exp.to_identifier(name, quoted=True))
    return renamed


def generalized(
    relation: exp.Expr,
    columns: Sequence[Written],
    outputs: dict[str, exp.Expr],
    *,
    only_covered: bool,
    name: str = SOURCE,
) -> tuple[Context, list[Mapping]]:
    """What release/generalized.sql is given for outputs by their names, and the lists it reads.

    `only_covered` leaves out rows with a value that belongs to no group.
    """
    covered = [each.covered for each in columns if only_covered and each.covered is not None]
    condition = exp.and_(*covered) if covered else None
    cells = [*outputs.values(), *([] if condition is None else [condition])]
    context, lists = read_from(relation, columns, cells, name)
    context["released"] = {each: _reading(output, name) for each, output in outputs.items()}
    context["covered"] = None if condition is None else _reading(condition, name)
    return context, lists


def with_lists(
    select: exp.Select, lists: Iterable[Mapping], steps: Sequence[exp.CTE] = ()
) -> exp.Select:
    """Writes lists, and the steps before the statement, above it.

    In place, because sqlglot's builders copy everything at every step.
    """
    by_name = {mapping.name: mapping for mapping in lists}
    if ctes := [*map(list_cte, by_name.values()), *steps]:
        select.set("with_", exp.With(expressions=[*ctes, *select.ctes]))
    return select


POPULATION = "population"


def compile_population(recipe: Order) -> exp.Query:
    """The population by its classes: one row per row of it, the class columns as released.

    Rows with a value that belongs to no group are left out. Where the population has a subject,
    that is the last column.
    """
    names = Names(recipe.source, population_of(recipe))
    columns = [
        (item, written(item, recipe, names.free(f"{item.name}_map"))) for item in recipe.generalized
    ]
    context, lists = population_rows(recipe, columns)
    return with_lists(query("release/generalized.sql", **context), lists)


def population_rows(
    recipe: Order, columns: Sequence[tuple[Generalized, Written]]
) -> tuple[Context, list[Mapping]]:
    """What release/generalized.sql is given for the population, and the lists that it reads."""
    outputs = released_outputs(columns)
    subject = population_subject(recipe)
    if recipe.population_subject is not None and subject is not None:
        outputs[subject] = cell(recipe.population_subject)
    relation, as_sql = population_of(recipe), [each for _, each in columns]
    return generalized(relation, as_sql, outputs, only_covered=True, name=POPULATION)


def released_outputs(columns: Iterable[tuple[Item, Written]]) -> dict[str, exp.Expr]:
    """What is released, by its name."""
    pairs = [(item.released_names, each.outputs) for item, each in columns]
    return {name: out for some in pairs for name, out in zip(*some, strict=True)}


def population_subject(recipe: Order) -> str | None:
    """The name, beside the class columns, of the column that names the population's people."""
    if recipe.population_subject is None:
        return None
    return unlike(recipe.population_subject, recipe.class_names)


def population_of(recipe: Order) -> exp.Expr:
    if recipe.population is None:
        raise CompileError("k-map needs a population; give one with the same quasi-identifiers")
    return recipe.population
