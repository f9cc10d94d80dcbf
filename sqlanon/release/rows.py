"""Rows of a source or a population as they are released, one for one: release/generalized.sql.

And what the statements that read such rows share: free names, conditions, lists.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import count
from typing import Any, NamedTuple

from sqlglot import exp

from sqlanon.domain import Generalized, Output, Value, exact, literal
from sqlanon.engines import Kind
from sqlanon.errors import CompileError
from sqlanon.release.generalize import (
    SOURCE,
    Mapping,
    Written,
    cell,
    is_null,
    is_text,
    keeps_values,
    written,
)
from sqlanon.release.order import Item, Order
from sqlanon.render import query


class Names:
    """Names of the queries of a statement: none hides a table that the statement reads."""

    def __init__(self, *relations: exp.Expr) -> None:
        self._taken = {SOURCE}
        for relation in relations:
            self._taken |= {table.name.lower() for table in relation.find_all(exp.Table)}

    def free(self, wanted: str) -> str:
        """The wanted name, with a number where it is taken; from now on it is."""
        name = unlike(wanted, self._taken)
        self._taken.add(name)
        return name


def unlike(wanted: str, taken: Iterable[str]) -> str:
    """The wanted name, with a number where it is among those taken."""
    used = {name.lower() for name in taken}
    numbered = (wanted if n == 1 else f"{wanted}_{n}" for n in count(1))
    return next(name for name in numbered if name.lower() not in used)


def of(table: str, column: str) -> exp.Column:
    return exp.column(column, table=table, quoted=True)


def named(name: str) -> exp.Table:
    """A table, or a query of the statement, by its name."""
    return exp.Table(this=exp.to_identifier(name, quoted=True))


def aliased(relation: exp.Expr, name: str) -> exp.Expr:
    """A relation under the name by which its columns are read."""
    renamed = relation.copy()
    renamed.set("alias", exp.TableAlias(this=exp.to_identifier(name, quoted=True)))
    return renamed


def ordinals(columns: Sequence[object]) -> list[exp.Expr]:
    """The numbers of so many columns, for GROUP BY and ORDER BY."""
    return [exp.Literal.number(n) for n in range(1, len(columns) + 1)]


def people(subject: exp.Expr | None) -> exp.Expr:
    """How many people the rows of a group are about; without a subject every row is one."""
    if subject is None:
        return exp.Count(this=exp.Star())
    return exp.Count(this=exp.Distinct(expressions=[subject]))


def class_values(recipe: Order, table: str | None = None) -> Iterator[tuple[str, exp.Expr]]:
    """By name what is compared: texts exactly, but a column with one label needs no care."""
    for item in recipe.generalized:
        for name in item.released_names:
            value = exp.column(name, table=table, quoted=True)
            yield name, exact(value) if is_text(item, recipe) and not item.takes_all else value


def in_class(recipe: Order, rows: str, classes: str) -> exp.Expr:
    """Whether a row is in a class; NULL equals NULL there.

    Every condition is an equality of what cannot be NULL: PostgreSQL compares row by row for
    IS NOT DISTINCT FROM, and BigQuery refuses it in an outer join.
    """
    conditions: list[exp.Expr] = []
    values = dict(class_values(recipe, rows))
    for item in recipe.generalized:
        kind = _kind_with_null(item, recipe)
        for name in item.released_names:
            conditions += equalities(values[name], of(classes, name), kind)
    return exp.and_(*conditions)


def _kind_with_null(item: Generalized, recipe: Order) -> Kind | None:
    """The kind of the released values; None where none of them can be NULL."""
    if item.output is not Output.LABEL or keeps_values(item, recipe):
        return item.column.domain.kind
    return Kind.TEXT if any(None in group for group in item.cells) else None


_NEVER_NULL: dict[Kind, Value] = {
    Kind.TEXT: "",
    Kind.BOOLEAN: False,
    Kind.DATE: dt.date(1970, 1, 1),
    Kind.TIMESTAMP: dt.datetime(1970, 1, 1),
}


def equalities(one: exp.Expr, other: exp.Expr, kind: Kind | None) -> Iterator[exp.EQ]:
    """Equalities without NULL that say whether two values are the same.

    `kind` is that of values that may be NULL; None where there is no NULL.
    """
    if kind is None:
        yield exp.EQ(this=one, expression=other)
        return
    filled, flags = [], []
    for value in (one, other):
        plain = value.this if isinstance(value, exp.Collate) else value
        default = literal(_NEVER_NULL.get(kind, 0))
        whole: exp.Expr = exp.Coalesce(this=plain.copy(), expressions=[default])
        if isinstance(value, exp.Collate):
            whole = exp.Collate(this=whole, expression=value.expression.copy())
        filled.append(whole)
        null = exp.If(this=is_null(plain.copy()), true=exp.Literal.number(1))
        flags.append(exp.Case(ifs=[null], default=exp.Literal.number(0)))
    yield exp.EQ(this=filled[0], expression=filled[1])
    yield exp.EQ(this=flags[0], expression=flags[1])


def cte(name: str, query: exp.Query) -> exp.CTE:
    return exp.CTE(this=query, alias=exp.TableAlias(this=exp.to_identifier(name, quoted=True)))


def named_queries(name: str, select: exp.Select, comment: str) -> list[exp.CTE]:
    """A query by its name, with a comment, after those of its own WITH."""
    steps = list(select.ctes)
    select.set("with_", None)
    last = cte(name, select)
    last.args["alias"].add_comments([f" {comment} "])
    return [*steps, last]


def values_cte(name: str, columns: Iterable[str], rows: list[exp.Tuple]) -> exp.CTE:
    """A list that is written into the statement."""
    titles = [exp.to_identifier(column, quoted=True) for column in columns]
    alias = exp.TableAlias(this=exp.to_identifier(name, quoted=True), columns=titles)
    values = exp.Values(expressions=rows, alias=alias)
    return cte(name, exp.Select(expressions=[exp.Star()], from_=exp.From(this=values)))


def list_cte(mapping: Mapping) -> exp.CTE:
    columns = (*mapping.keys, *mapping.released)
    if mapping.table is None:
        return values_cte(mapping.name, columns, mapping.tuples())
    read = exp.select(*(exp.column(name, quoted=True) for name in columns))
    return cte(mapping.name, read.from_(mapping.table.copy()))


def number(value: int | float) -> exp.Expr:
    """A number without an exponent."""
    digits = f"{Decimal(repr(value)):f}"
    return exp.Literal.number(digits.rstrip("0").rstrip(".") if "." in digits else digits)


def same_value(one: str, other: str, kind: Kind) -> exp.Expr:
    """Whether two queries hold the same value; NULL equals NULL."""
    value = of(one, "value")
    value_exactly = exact(value) if kind is Kind.TEXT else value
    return exp.and_(*equalities(value_exactly, of(other, "value"), kind))


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
