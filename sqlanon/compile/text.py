"""The SQL of a release as people read it."""

from __future__ import annotations

import sqlglot
from sqlglot import exp

from sqlanon.compile.recipe import Recipe
from sqlanon.compile.select import compile_release
from sqlanon.errors import CompileError

DIALECTS = tuple(sorted(d.value for d in sqlglot.Dialects if d.value))
"""The dialects that SQL can be printed in."""


def release_text(recipe: Recipe, dialect: str = "duckdb", *, guarded: bool = False) -> str:
    """The SELECT of a release with its header, in a dialect; it ends with a newline."""
    compiled = compile_release(recipe, guarded=guarded)
    lines = [f"-- {' '.join(line.split())}" for line in recipe.header]
    return "\n".join([*lines, statement_text(compiled.select, dialect) + ";\n"])


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
    """PostgreSQL hashes bytes, not text; sqlglot does not know."""
    if dialect != "postgres" or statement.find(exp.SHA2) is None:
        return statement
    adapted = statement.copy()
    for hashed in adapted.find_all(exp.SHA2):
        utf8 = exp.Literal.string("UTF8")
        hashed.set("this", exp.Anonymous(this="CONVERT_TO", expressions=[hashed.this, utf8]))
    return adapted
