"""The SQL of a release as people read it."""

from __future__ import annotations

from dataclasses import replace

import sqlglot
from sqlglot import exp

from sqlanon.errors import CompileError
from sqlanon.release.compile import compile_release
from sqlanon.release.lists import with_named_lists
from sqlanon.release.order import Order, Pseudonym
from sqlanon.render import NATIVE, in_dialect

DIALECTS = tuple(sorted(d.value for d in sqlglot.Dialects if d.value))
"""The dialects that SQL can be printed in."""


def release_text(recipe: Order, dialect: str = NATIVE, *, guarded: bool = False) -> str:
    """The SELECT of a release with its header, in a dialect; it ends with a newline."""
    recipe = with_named_lists(replace(recipe, standard=dialect != NATIVE), guarded=guarded)
    return text_of(compile_release(recipe, guarded=guarded).select, recipe, dialect)


def text_of(select: exp.Query, recipe: Order, dialect: str) -> str:
    """A SELECT that is compiled already, with the header of its order."""
    header = [*recipe.header, *(_keys(recipe, dialect) if recipe.header else ())]
    lines = [f"-- {' '.join(line.split())}" for line in header]
    return "\n".join([*lines, statement_text(select, dialect) + ";\n"])


def _keys(recipe: Order, dialect: str) -> list[str]:
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
    """In the dialect as far as it has collations, and with its parameters."""
    if dialect == NATIVE:
        return statement
    if any(join.method == "ASOF" for join in statement.find_all(exp.Join)):
        raise CompileError(f"an ASOF join cannot be written in {dialect}; compile it as standard")
    return in_dialect(statement, dialect, exactly=False)
