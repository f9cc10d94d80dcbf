"""Small parts that statements are put together from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from sqlglot import exp

from sqlanon.compile.mappings import Mapping
from sqlanon.compile.present import is_text
from sqlanon.compile.recipe import Recipe
from sqlanon.compile.values import SOURCE
from sqlanon.histogram.atoms import exact


class Names:
    """Names of the parts of a statement: none hides a table that the statement reads."""

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
    """A table, or a part of the statement, by its name."""
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


def class_values(recipe: Recipe, table: str | None = None) -> Iterator[tuple[str, exp.Expr]]:
    """By name what is compared: texts exactly, but a column with one label needs no care."""
    for item in recipe.generalized:
        for name in item.released_names:
            value = exp.column(name, table=table, quoted=True)
            yield name, exact(value) if is_text(item, recipe) and not item.takes_all else value


def same_class(recipe: Recipe, rows: str, classes: str) -> exp.Expr:
    """Whether a row is in a class; NULL equals NULL there."""
    return exp.and_(
        *[
            exp.NullSafeEQ(this=value, expression=of(classes, name))
            for name, value in class_values(recipe, rows)
        ]
    )


def cte(name: str, query: exp.Query) -> exp.CTE:
    return exp.CTE(this=query, alias=exp.TableAlias(this=exp.to_identifier(name, quoted=True)))


def values_cte(name: str, columns: Iterable[str], rows: list[exp.Tuple]) -> exp.CTE:
    """A list that is written into the statement."""
    titles = [exp.to_identifier(column, quoted=True) for column in columns]
    alias = exp.TableAlias(this=exp.to_identifier(name, quoted=True), columns=titles)
    values = exp.Values(expressions=rows, alias=alias)
    return cte(name, exp.Select(expressions=[exp.Star()], from_=exp.From(this=values)))


def list_cte(mapping: Mapping) -> exp.CTE:
    return values_cte(mapping.name, (*mapping.keys, *mapping.released), mapping.tuples())


def with_ctes(select: exp.Select, ctes: list[exp.CTE]) -> exp.Select:
    """Added last and in place: sqlglot's builders copy everything at every step."""
    if ctes:
        select.set("with_", exp.With(expressions=ctes))
    return select
