"""The population of k-map: its rows generalized like those of the source."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.compile.generalize import Written, written
from sqlanon.compile.mappings import Mapping
from sqlanon.compile.parts import Names, list_cte, unlike, with_ctes
from sqlanon.compile.recipe import Generalized, Recipe
from sqlanon.compile.rows import covered_rows, read_from
from sqlanon.compile.values import cell
from sqlanon.errors import CompileError

POPULATION = "population"


def compile_population(recipe: Recipe, *, standard: bool = False) -> exp.Query:
    """The population by its classes: one row per row of it, the class columns as released.

    Rows with a value that belongs to no group are left out. Where the population has a subject,
    that is the last column. `standard` as for `compile_release`.
    """
    relation = population_of(recipe)
    names = Names(recipe.source, relation)
    columns = [
        (item, written(item, recipe, names.free(f"{item.name}_map"), standard=standard))
        for item in recipe.generalized
    ]
    select, lists = population_rows(recipe, columns)
    return with_ctes(select, [list_cte(each) for each in lists])


def population_rows(
    recipe: Recipe, columns: Sequence[tuple[Generalized, Written]]
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


def population_subject(recipe: Recipe) -> str | None:
    """What the column that tells the population's people apart is called beside the classes."""
    if recipe.population_subject is None:
        return None
    return unlike(recipe.population_subject, recipe.class_names)


def population_of(recipe: Recipe) -> exp.Expr:
    if recipe.population is None:
        raise CompileError("k-map needs a population; give one with the same quasi-identifiers")
    return recipe.population
