"""The SQL of a release as people read it."""

from __future__ import annotations

import sqlglot
from sqlglot import exp

from sqlanon.compile.recipe import Pseudonym, Recipe
from sqlanon.compile.select import compile_release
from sqlanon.errors import CompileError
from sqlanon.histogram.atoms import EXACT_COLLATION

DIALECTS = tuple(sorted(d.value for d in sqlglot.Dialects if d.value))
"""The dialects that SQL can be printed in."""

_EXACT_COLLATION = {
    "databricks": "UTF8_BINARY",
    "duckdb": EXACT_COLLATION,
    "mysql": "utf8mb4_bin",
    "postgres": "C",
    "spark": "UTF8_BINARY",
    "sqlite": "BINARY",
}
"""How dialects call the collation that tells all texts apart; others compare as they do."""

_NUMBERED = ("materialize", "postgres", "redshift", "risingwave")
"""Dialects whose statements have parameters $1, $2, …; the names that sqlglot writes for them
are for a driver in Python, not for the database."""


def release_text(recipe: Recipe, dialect: str = "duckdb", *, guarded: bool = False) -> str:
    """The SELECT of a release with its header, in a dialect; it ends with a newline."""
    compiled = compile_release(recipe, guarded=guarded, standard=dialect != "duckdb")
    header = [*recipe.header, *(_keys(recipe, dialect) if recipe.header else ())]
    lines = [f"-- {' '.join(line.split())}" for line in header]
    return "\n".join([*lines, statement_text(compiled.select, dialect) + ";\n"])


def _keys(recipe: Recipe, dialect: str) -> list[str]:
    """Whose keys the parameters of the statement are."""
    items = [item for item in recipe.items if isinstance(item, Pseudonym)]
    select = exp.select(*(exp.Placeholder(this=item.key) for item in items))
    shown = _adapted(select, dialect).expressions
    return [
        f"{parameter.sql(dialect)} is the key of the pseudonyms in {item.name!r}, not written here"
        for item, parameter in zip(items, shown, strict=True)
    ]


def statement_text(statement: exp.Expr, dialect: str) -> str:
    """A statement over several lines, every identifier quoted."""
    if dialect not in DIALECTS:
        raise CompileError(f"there is no dialect {dialect!r}; sqlanon writes {', '.join(DIALECTS)}")
    try:
        return _adapted(statement, dialect).sql(
            dialect, pretty=True, identify=True, unsupported_level=sqlglot.ErrorLevel.RAISE
        )
    except sqlglot.UnsupportedError as error:
        raise CompileError(f"the release cannot be written in {dialect}: {error}") from error


def _adapted(statement: exp.Expr, dialect: str) -> exp.Expr:
    """What sqlglot does not know: collations, parameters, and that PostgreSQL hashes bytes."""
    if dialect == "duckdb":
        return statement
    adapted = statement.copy()
    if any(join.method == "ASOF" for join in adapted.find_all(exp.Join)):
        raise CompileError(f"an ASOF join cannot be written in {dialect}; compile it as standard")
    for collated in list(adapted.find_all(exp.Collate)):
        if collated.expression.name != EXACT_COLLATION:
            continue
        if dialect in _EXACT_COLLATION:
            collation = exp.to_identifier(_EXACT_COLLATION[dialect], quoted=True)
            collated.set("expression", collation)
        else:
            collated.replace(collated.this)
    for hashed in adapted.find_all(exp.SHA2) if dialect == "postgres" else ():
        utf8 = exp.Literal.string("UTF8")
        hashed.set("this", exp.Anonymous(this="CONVERT_TO", expressions=[hashed.this, utf8]))
    if dialect in _NUMBERED:
        _number(adapted)
    return adapted


def _number(statement: exp.Expr) -> None:
    """Numbers the named parameters, in the order of the statement, each name once."""
    numbers: dict[str, int] = {}
    for named in list(statement.find_all(exp.Placeholder, bfs=False)):
        number = numbers.setdefault(named.name, len(numbers) + 1)
        named.replace(exp.Parameter(this=exp.Literal.number(number)))
