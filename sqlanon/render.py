"""SQL from the templates in `sql/`, where only quoted text and whole numbers can be printed.

A template prints one value through a filter: `identifier` for a name, `literal` for a value,
`sql` for a sqlglot expression. Lists whose length varies are printed by one filter each, so that
no template needs a loop with commas:

    columns    cells by name, one line each: `<expression> AS "name"`
    names      the names alone, `"q0", "q1"`
    ordinals   their places, `1, 2`, for GROUP BY and ORDER BY
    cells      expressions without names
    ascending  expressions to order by

An int may be printed as it is. Everything else, above all a plain string, is refused, so that a
forgotten filter fails in the first test and never reaches a database. Text from a `{% macro %}`
or `{% set %}…{% endset %}` block is a plain string too; use `{% include %}` to share text.

`render` yields the text of a query. `query` yields it as an expression, which other statements
can take in and which can be translated into any dialect.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterable, Mapping, Sized
from decimal import Decimal
from functools import cache, lru_cache, partial
from typing import Any

import jinja2
import sqlglot
from sqlglot import exp

from sqlanon import resources
from sqlanon.errors import EngineError

NATIVE = "duckdb"
"""The dialect that expressions and templates are written in before they are translated."""


class RenderError(TypeError):
    """A template or its caller is wrong: a defect of sqlanon, not of anyone's data."""


class Sql(str):
    """Text that is safe to print in a template; what the filters and `render` return."""

    __slots__ = ()


def render(name: str, *, dialect: str = NATIVE, **context: object) -> Sql:
    """The SQL of the template `name` below `sql/` (such as "count.sql") in a dialect.

    `dialect` is sqlglot's name of one. The text has no newline at its end. The result may be
    printed in another template. A name that the template uses and `context` lacks raises
    jinja2.UndefinedError.
    """
    return Sql(_environment(dialect).get_template(name).render(context).rstrip("\n"))


def render_text(template: str, *, dialect: str = NATIVE, **context: object) -> Sql:
    """As `render`, for the text of a template instead of its file."""
    return Sql(_environment(dialect).from_string(template).render(context).rstrip("\n"))


def query(
    name: str,
    /,
    *,
    tables: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    **context: object,
) -> exp.Select:
    """The query of the template `name`, written in DuckDB's SQL, as an expression.

    Only the template's own text is parsed. What the filters print is put in afterwards, as the
    expression that it is. A query that the template names `rows` is called `tables["rows"]` if
    that is given, and a column likewise, so that neither hides one of the user's. Of the
    comments, the line right above a query in a WITH is kept.
    """
    cells: list[exp.Expr] = []
    text = _cell_environment().get_template(name).render({**context, _CELLS: cells})
    tree = _parsed(text).copy()
    for written in list(tree.find_all(exp.Identifier)):
        number = written.this.removeprefix(_STAND_IN)
        if number != written.this:
            _put(cells[int(number)], written)
        else:
            renamed = tables if _names_table(written) else columns
            written.set("this", (renamed or {}).get(written.this, written.this))
            written.set("quoted", True)
    return tree


_CELLS = "cells of the query"
_STAND_IN = "cell_"
_READ_INTO: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Count: ("big_int",),
    exp.Div: ("safe", "typed"),
    exp.Ordered: ("nulls_first",),
}
"""What parsing adds to an expression although it is DuckDB's default."""


@lru_cache(maxsize=64)
def _parsed(text: str) -> exp.Select:
    """The text of a template as an expression, with no more in it than the template says."""
    tree = sqlglot.parse_one(text, read=NATIVE, into=exp.Select)
    for node in tree.walk():
        comments = node.pop_comments() or []
        if isinstance(node, exp.TableAlias):
            node.add_comments(comments[-1:])
        for argument in _READ_INTO.get(type(node), ()):
            node.set(argument, None)
    for negated in list(tree.find_all(exp.Not)):
        if isinstance(negated.this, exp.Is) and isinstance(negated.this.expression, exp.Null):
            null = exp.Not(this=exp.null())
            negated.replace(exp.Is(this=negated.this.this, expression=null))
    for order in tree.find_all(exp.Order):
        if isinstance(order.parent, exp.Query):  # where NULL stands is up to the database
            plain = [each if each.args.get("desc") else each.this for each in order.expressions]
            order.set("expressions", plain)
    return tree


def _put(cell: exp.Expr, stand_in: exp.Expr) -> None:
    """Puts an expression where its stand-in was written."""
    parent = stand_in.parent
    place = stand_in if isinstance(cell, exp.Identifier) or parent is None else parent
    if isinstance(cell, exp.CTE):
        assert place.parent is not None
        place = place.parent
    elif isinstance(place.parent, exp.Binary | exp.Not) and _is_operation(cell):
        cell = exp.paren(cell)
    place.replace(cell if cell.parent is None else cell.copy())


def _is_operation(cell: exp.Expr) -> bool:
    return isinstance(cell, exp.Binary | exp.Predicate) and not isinstance(
        cell, exp.Collate | exp.Dot
    )


def _names_table(written: exp.Identifier) -> bool:
    """Whether an identifier of a template names a table or a query, rather than a column."""
    parent = written.parent
    if isinstance(parent, exp.Column):
        return written.arg_key == "table"
    return isinstance(parent, exp.Table | exp.TableAlias)


EXACT = "binary"
"""The collation under which texts are equal only if they are the same text, in that dialect."""

COLLATIONS = {
    "databricks": "UTF8_BINARY",
    "mysql": "utf8mb4_bin",
    "postgres": "C",
    "spark": "UTF8_BINARY",
    "sqlite": "BINARY",
}
"""What other dialects call it; an engine adds its own (`Capabilities.collation`)."""


_NUMBERED = ("materialize", "postgres", "redshift", "risingwave")
"""Dialects whose statements have parameters $1, $2, …; the names that sqlglot writes for them
are for a driver in Python, not for the database."""


def in_dialect(expression: exp.Expr, dialect: str, *, exactly: bool = True) -> exp.Expr:
    """What sqlglot does not translate: collations, parameters, and what PostgreSQL writes
    otherwise.

    Where texts cannot be compared exactly, EngineError is raised, unless `exactly` is False.
    """
    if dialect == NATIVE:
        return expression
    numbers: dict[str, int] = {}
    if dialect in _NUMBERED:  # in the order of the statement, each name once
        for named in expression.find_all(exp.Placeholder, bfs=False):
            numbers.setdefault(named.name, len(numbers) + 1)

    def adapted(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Collate) and node.expression.name == EXACT:
            if dialect in COLLATIONS:
                node.set("expression", exp.to_identifier(COLLATIONS[dialect], quoted=True))
            elif exactly:
                raise EngineError(f"texts cannot be compared exactly on {dialect!r}")
            else:
                plain: exp.Expr = node.this
                return plain
        if isinstance(node, exp.Placeholder) and node.name in numbers:
            return exp.Parameter(this=exp.Literal.number(numbers[node.name]))
        return _in_postgres(node) if dialect == "postgres" else node

    return expression.transform(adapted)


def _in_postgres(node: exp.Expr) -> exp.Expr:
    """PostgreSQL hashes bytes, divides whole numbers by /, and compares NaN like any number.

    A sum is no whole number there but NUMERIC, so what is divided by one stays DIV.
    """
    if isinstance(node, exp.SHA2):
        arguments = [node.this, exp.Literal.string("UTF8")]
        node.set("this", exp.Anonymous(this="CONVERT_TO", expressions=arguments))
    if isinstance(node, exp.IntDiv) and not node.find(exp.AggFunc):
        whole = exp.cast(node.this, exp.DataType.Type.BIGINT)
        return exp.Div(this=whole, expression=node.expression, typed=True)
    if isinstance(node, exp.IsNan):
        nan = exp.cast(exp.Literal.string("NaN"), exp.DataType.Type.DOUBLE)
        return exp.EQ(this=node.this, expression=nan)
    if isinstance(node, exp.DataType) and node.this in _WIDER_THAN_BIGINT:
        return exp.DataType.build("DECIMAL(38, 0)")
    if isinstance(node, exp.Anonymous) and node.name == "TO_MICROSECONDS":
        unit = exp.Interval(this=exp.Literal.string("1"), unit=exp.var("MICROSECOND"))
        return exp.paren(exp.Mul(this=node.expressions[0], expression=unit))
    return node


_WIDER_THAN_BIGINT = (exp.DataType.Type.INT128, exp.DataType.Type.UINT128)


def identifier(name: str, dialect: str) -> Sql:
    """The name as one quoted identifier; dots and quotes in it are part of the name."""
    return Sql(_identifier(name).sql(dialect))


def literal(value: object, dialect: str) -> Sql:
    """The value as a literal or a cast of one, never subject to another reading.

    None is NULL. A float is cast from text, because 0.1 alone is a DECIMAL to most engines and
    NaN and the infinities have no other spelling.
    """
    return Sql(_literal(value).sql(dialect))


def sql(expression: exp.Expr, dialect: str) -> Sql:
    """The expression in the dialect, every identifier quoted."""
    text = in_dialect(_expression(expression), dialect).sql(dialect, identify=True)
    _refuse_nul(text, "The SQL")
    return Sql(text)


def columns(cells: Mapping[str, exp.Expr], indent: int = 4, *, dialect: str) -> Sql:
    """The cells of a SELECT by their names, each on a line of its own.

    `indent` is where the template has the first one: 4 within a WITH.
    """
    _refuse_empty(cells)
    return Sql((",\n" + " " * indent).join(_named(*each, dialect) for each in cells.items()))


def _named(name: str, cell: exp.Expr, dialect: str) -> str:
    text, called = sql(cell, dialect), identifier(name, dialect)
    return text if text == called else f"{text} AS {called}"


def names(cells: Iterable[str], table: str = "", *, dialect: str) -> Sql:
    """The names of cells in one line, those of `table` if one is given."""
    _refuse_empty(cells)
    of = f"{identifier(table, dialect)}." if table else ""
    return Sql(", ".join(of + identifier(name, dialect) for name in cells))


def ordinals(cells: Sized) -> Sql:
    """The places of cells that come first in a SELECT."""
    _refuse_empty(cells)
    return Sql(", ".join(str(place + 1) for place in range(len(cells))))


def cells(expressions: Iterable[exp.Expr], *, dialect: str) -> Sql:
    """Expressions without names, in one line."""
    _refuse_empty(expressions)
    return Sql(", ".join(sql(each, dialect) for each in expressions))


def ascending(expressions: Iterable[exp.Expr], *, dialect: str) -> Sql:
    """Expressions to order by, NULL last, whatever the defaults of a session are."""
    _refuse_empty(expressions)
    return Sql(", ".join(f"{sql(each, dialect)} ASC NULLS LAST" for each in expressions))


def _refuse_empty(cells: object) -> None:
    _refuse_undefined(cells)
    if not cells:
        raise RenderError("a list in a template is empty; SQL has no empty lists")


def _identifier(name: str) -> exp.Identifier:
    _refuse_undefined(name)
    if not isinstance(name, str):
        raise RenderError(f"an identifier is text, not {name!r}")
    if not name:
        raise EngineError("A name must not be empty.")
    _refuse_nul(name, "The name")
    return exp.to_identifier(name, quoted=True)


def _expression(expression: exp.Expr) -> exp.Expr:
    _refuse_undefined(expression)
    if not isinstance(expression, exp.Expr):
        raise RenderError(f"the filter `sql` takes a sqlglot expression, not {expression!r}")
    return expression


def _literal(value: object) -> exp.Expr:
    _refuse_undefined(value)
    if value is None or isinstance(value, bool | int):
        return exp.convert(value)
    if isinstance(value, str):
        _refuse_nul(value, "The text")
        return exp.Literal.string(value)
    if isinstance(value, Decimal) and value.is_finite():
        # str() may answer 1E+5, which engines read as a float.
        return exp.Literal.number(format(value, "f"))
    if isinstance(value, float):
        return exp.cast(exp.Literal.string(_float_text(value)), exp.DataType.Type.DOUBLE)
    if isinstance(value, dt.datetime):
        kind = exp.DataType.Type.TIMESTAMPTZ if value.tzinfo else exp.DataType.Type.TIMESTAMP
        return exp.cast(exp.Literal.string(value.isoformat(sep=" ")), kind)
    if isinstance(value, dt.date):
        return exp.cast(exp.Literal.string(value.isoformat()), exp.DataType.Type.DATE)
    raise RenderError(f"no literal for {value!r} of type {type(value).__name__}")


def _float_text(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(float(value))  # a subclass, such as numpy's, has a repr of its own


def _refuse_nul(text: str, what: str) -> None:
    if "\0" in text:
        raise EngineError(
            f"{what} {text!r} contains a NUL character, which has no safe spelling in SQL. "
            "Remove it from the source first."
        )


def _refuse_undefined(value: object) -> None:
    if isinstance(value, jinja2.Undefined):
        str(value)  # raises UndefinedError, which knows the name


def _finalize(value: object) -> object:
    """What Jinja calls on everything that a template prints, except its own text."""
    if isinstance(value, Sql) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    _refuse_undefined(value)
    raise RenderError(
        f"a plain {type(value).__name__} in a template is an error: {value!r}; "
        "print it through `identifier`, `literal`, `sql` or a filter for lists"
    )


@cache
def _environment(dialect: str) -> jinja2.Environment:
    # No autoescape: the text is SQL, and _finalize lets nothing unquoted pass.
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(resources.path("sql"), encoding="utf-8"),
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
        autoescape=False,
    )
    for function in (identifier, literal, sql, columns, names, cells, ascending):
        environment.filters[function.__name__] = partial(function, dialect=dialect)
    environment.filters["ordinals"] = ordinals
    return environment


@cache
def _cell_environment() -> jinja2.Environment:
    """Its filters print stand-ins, and keep what they stand for among the cells of the query."""

    def keep(context: jinja2.runtime.Context, cell: exp.Expr) -> str:
        context[_CELLS].append(cell)
        return f"{_STAND_IN}{len(context[_CELLS]) - 1}"

    def one(make: Callable[[Any], exp.Expr]) -> Callable[[jinja2.runtime.Context, Any], Sql]:
        return jinja2.pass_context(lambda context, value: Sql(keep(context, make(value))))

    @jinja2.pass_context
    def columns(context: jinja2.runtime.Context, cells: Mapping[str, exp.Expr]) -> Sql:
        """Cells by their names: `<expression> AS "name"`."""
        named = (_expression(cell).copy().as_(name, quoted=True) for name, cell in cells.items())
        return _joined(keep(context, each) for each in named)

    @jinja2.pass_context
    def names(context: jinja2.runtime.Context, cells: Iterable[str], table: str) -> Sql:
        """The names of cells, as columns of a query of the template."""
        return _joined(f"{table}.{keep(context, _identifier(name))}" for name in cells)

    @jinja2.pass_context
    def cells(context: jinja2.runtime.Context, expressions: Iterable[exp.Expr]) -> Sql:
        """Expressions without names."""
        return _joined(keep(context, _expression(each)) for each in expressions)

    def ordinals(cells: Sized) -> Sql:
        """The places of cells that come first in a SELECT."""
        return _joined(str(place + 1) for place in range(len(cells)))

    @jinja2.pass_context
    def ctes(context: jinja2.runtime.Context, queries: Iterable[exp.CTE]) -> Sql:
        """Queries of a WITH that another one follows."""
        return Sql("".join(f"{keep(context, each)} AS (SELECT 1),\n" for each in queries))

    environment = _environment(NATIVE).overlay()
    lists = {each.__name__: each for each in (columns, names, cells, ordinals, ctes)}
    single = {"identifier": one(_identifier), "literal": one(_literal), "sql": one(_expression)}
    environment.filters = single | lists  # no others: what they print would be parsed as text
    return environment


def _joined(parts: Iterable[str]) -> Sql:
    text = ", ".join(parts)
    if not text:
        raise RenderError("a list in a template is empty; SQL has no empty lists")
    return Sql(text)
