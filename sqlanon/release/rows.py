"""Rows of a source or a population as they are released, one for one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from sqlanon.domain import Generalized
from sqlanon.errors import CompileError
from sqlanon.release.generalize import SOURCE, Mapping, Written, cell, written
from sqlanon.release.order import Order
from sqlanon.release.parts import Names, aliased, list_cte, named, unlike, with_ctes


def read_from(
    select: exp.Select, relation: exp.Expr, written: Iterable[Written], name: str = SOURCE
) -> tuple[exp.Select, list[Mapping]]:
    """A SELECT whose columns are the source's, reading a relation; and the lists it is joined with.

    `name` is what the relation is called in the statement; the columns of `select` and of the
    lists are written as the source's and follow.
    """
    read = {column.table for column in select.find_all(exp.Column)}
    joins: list[exp.Join] = []
    lists = []
    for mapping in (each.mapping for each in written):
        if mapping is not None and mapping.name in read:
            # DuckDB compares a row with half of the intervals in a range join.
            on, kind = mapping.condition, "left"
            if mapping.nearest is not None:
                on, kind = mapping.nearest, "asof left"
            joined = exp.select().join(named(mapping.name), on=on, join_type=kind)
            joins += joined.args["joins"]
            lists.append(mapping)
    if name != SOURCE:
        for part in (select, *joins):
            for column in part.find_all(exp.Column):
                if column.table == SOURCE:
                    column.set("table", exp.to_identifier(name, quoted=True))
    select = select.from_(aliased(relation, name))
    if joins:
        select.set("joins", joins)
    return select, lists


def covered_rows(select: exp.Select, written: Iterable[Written]) -> exp.Select:
    """Only rows whose values all belong to a group."""
    covered = [each.covered for each in written if each.covered is not None]
    return select.where(*covered) if covered else select


POPULATION = "population"


def compile_population(recipe: Order) -> exp.Query:
    """The population by its classes: one row per row of it, the class columns as released.

    Rows with a value that belongs to no group are left out. Where the population has a subject,
    that is the last column.
    """
    relation = population_of(recipe)
    names = Names(recipe.source, relation)
    columns = [
        (item, written(item, recipe, names.free(f"{item.name}_map"))) for item in recipe.generalized
    ]
    select, lists = population_rows(recipe, columns)
    return with_ctes(select, [list_cte(each) for each in lists])


def population_rows(
    recipe: Order, columns: Sequence[tuple[Generalized, Written]]
) -> tuple[exp.Select, list[Mapping]]:
    """The same as a part of a statement, and the lists that it reads."""
    as_sql = [each for _, each in columns]
    outputs = [
        expression.copy().as_(name, quoted=True)
        for item, each in columns
        for name, expression in zip(item.released_names, each.outputs, strict=True)
    ]
    subject = population_subject(recipe)
    if recipe.population_subject is not None and subject is not None:
        outputs.append(cell(recipe.population_subject).as_(subject, quoted=True))
    select = covered_rows(exp.select(*outputs), as_sql)
    return read_from(select, population_of(recipe), as_sql, POPULATION)


def population_subject(recipe: Order) -> str | None:
    """What the column that tells the population's people apart is called beside the classes."""
    if recipe.population_subject is None:
        return None
    return unlike(recipe.population_subject, recipe.class_names)


def population_of(recipe: Order) -> exp.Expr:
    if recipe.population is None:
        raise CompileError("k-map needs a population; give one with the same quasi-identifiers")
    return recipe.population
