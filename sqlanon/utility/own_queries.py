"""The user's own aggregates, on the source and on the reconstruction of its release."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
import sqlglot
from sqlglot import exp

from sqlanon.engines import Engine
from sqlanon.errors import EngineError, UtilityError
from sqlanon.render import Sql, render

Number = int | float

TABLE = "data"
"""What queries call the table."""

# Parts of a query that would change the database.
_CHANGES = (exp.DML, exp.DDL, exp.Drop, exp.Command)
_EXAMPLE = f"SELECT AVG(age) FROM {TABLE}"


@dataclass(frozen=True)
class OwnQuery:
    """One SELECT, as text and parsed; numbered from 1."""

    number: int
    text: str
    query: exp.Query


@dataclass(frozen=True)
class Answer:
    """A query with its two results; a `release` of None is NULL, NaN or infinite."""

    sql: str
    source: Number
    release: Number | None

    @property
    def relative_error(self) -> float | None:
        """|release − source| / |source|; None if it is undefined."""
        if self.release is None:
            return None
        difference = abs(Fraction(self.release) - Fraction(self.source))
        if not self.source:
            return None if difference else 0.0
        return float(difference / abs(Fraction(self.source)))

    def to_dict(self) -> dict[str, Any]:
        return {
            "sql": self.sql,
            "source": self.source,
            "release": self.release,
            "relative_error": self.relative_error,
        }


def statements_in(texts: Sequence[str], dialect: str) -> list[OwnQuery]:
    """The SELECTs in some texts, separated by semicolons."""
    found: list[OwnQuery] = []
    for text in texts:
        before = len(found)
        for part in parts_of(text, before + 1, dialect):
            found.append(OwnQuery(len(found) + 1, part, _parsed(part, len(found) + 1, dialect)))
        if len(found) == before:
            raise UtilityError(f"query {before + 1} is empty; write a SELECT, such as {_EXAMPLE}")
    return found


def parts_of(text: str, number: int, dialect: str) -> Iterator[str]:
    """The statements of a text, separated by semicolons; `number` is that of the first."""
    try:
        tokens = sqlglot.tokenize(text, dialect=dialect)
    except sqlglot.TokenError:
        raise UtilityError(
            f"query {number} is no SQL: a quote or a comment in it has no end"
        ) from None
    parting = sqlglot.TokenType.SEMICOLON
    start = 0
    for end in [*(t.start for t in tokens if t.token_type is parting), len(text)]:
        if any(start <= t.start < end for t in tokens):
            yield text[start:end].strip()
        start = end + 1


def _parsed(text: str, number: int, dialect: str) -> exp.Query:
    try:
        parsed = sqlglot.parse_one(text, dialect=dialect)
    except sqlglot.ParseError as error:
        raise UtilityError(
            f"query {number} cannot be parsed: {str(error).splitlines()[0]} Write one SELECT, "
            f"such as {_EXAMPLE}"
        ) from None
    if not isinstance(parsed, exp.Query) or parsed.find(*_CHANGES):
        raise UtilityError(
            f"query {number} is no SELECT, and nothing else is run; write one that returns a "
            f"number, such as {_EXAMPLE}"
        )
    return parsed


def answer(engine: Engine, statement: OwnQuery, source: exp.Expr, release: Sql) -> Answer:
    """Runs a query on the source relation and on the rows of the SELECT `release`."""
    where = f"query {statement.number}"
    tables = [*source.find_all(exp.Table), *statement.query.find_all(exp.Table)]
    name = unlike("sqlanon_table", {table.name.lower() for table in tables})
    rows = Sql(exp.select("*").from_(source).sql(engine.dialect, identify=True))
    of_source = _run(engine, statement, rows, name, f"{where} on the source")
    if of_source is None:
        raise UtilityError(
            f"{where} yields NULL on the source, so there is nothing to compare with; loosen its "
            "conditions"
        )
    if not math.isfinite(of_source):
        raise UtilityError(
            f"{where} yields {of_source} on the source, which nothing can be compared with; leave "
            "such values out of it"
        )
    of_release = _run(engine, statement, release, name, f"{where} on the release")
    if of_release is not None and not math.isfinite(of_release):
        of_release = None
    return Answer(" ".join(statement.text.split()), of_source, of_release)


def unlike(wanted: str, taken: Collection[str]) -> str:
    """A name that is no prefix of another one."""
    while any(name.startswith(wanted) for name in taken):
        wanted += "_"
    return wanted


def _run(
    engine: Engine, statement: OwnQuery, relation: Sql, name: str, where: str
) -> Number | None:
    text = render(
        "utility/query.sql",
        dialect=engine.dialect,
        rows=name,
        relation=relation,
        query=statement.query,
    )
    try:
        table = engine.fetch(text)
    except EngineError as error:
        raise UtilityError(
            f"{where} fails. {error}\nA query reads the table {TABLE!r}; it has the columns of the "
            "source, and on the release those that are released."
        ) from error
    return _number(table, where)


def _number(table: pa.Table, where: str) -> Number | None:
    """The one number of an answer, None for NULL; it may be NaN or infinite."""
    if table.num_columns != 1 or table.num_rows != 1:
        found = f"{table.num_columns} columns" if table.num_columns != 1 else "several rows"
        found = found if table.num_rows else "no row"
        raise UtilityError(f"{where} yields {found}, not one number; aggregate, such as {_EXAMPLE}")
    value = table.column(0)[0].as_py()
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise UtilityError(
            f"{where} yields a {table.schema.types[0]}, not a number; aggregate, such as {_EXAMPLE}"
        )
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value
