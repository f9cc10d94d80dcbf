"""The SQL in which an audit compares cells: exactly, whatever the column's type says."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.engines import ColumnInfo, Engine
from sqlanon.errors import EngineError
from sqlanon.model import Kind

# The collation under which texts are equal only if they are the same text, by dialect.
_EXACT_COLLATION = {"duckdb": "binary", "postgres": "C", "spark": "UTF8_BINARY"}


def column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))


def people(subject: exp.Expr | None) -> exp.Expr:
    """The number of people in a group of rows: distinct subjects, or rows without a subject."""
    if subject is None:
        return exp.Count(this=exp.Star())
    return exp.Count(this=exp.Distinct(expressions=[subject.copy()]))


def compared(info: ColumnInfo, dialect: str) -> exp.Expr:
    """A column as GROUP BY and DISTINCT must see it.

    Two cells are equal exactly if the project calls their values equal: -0.0 and 0.0 are, and
    all NaN are. Texts are compared character by character: a column or a session with a
    collation that ignores case would join classes that a reader can tell apart. What has no
    kind is compared by its text, because INTERVAL '1 month' equals '30 days'.
    """
    value = person(info)
    return exact(value, dialect) if info.kind in (Kind.TEXT, None) else value


def person(info: ColumnInfo) -> exp.Expr:
    """A subject: as `compared`, but texts that the database takes for equal are one person.

    A collation can only join them, so there are never more people than the database knows. A
    staged table has the collations of its source.
    """
    value: exp.Expr = column(info.name)
    if info.kind is Kind.FLOAT:
        return exp.Add(this=value, expression=exp.Literal.number("0.0"))
    is_text = info.type.upper().startswith(("VARCHAR", "TEXT", "STRING"))
    if info.kind in (Kind.TEXT, None) and not is_text:
        return exp.cast(value, "text")
    return value


def canonical_text(info: ColumnInfo, dialect: str) -> exp.Expr:
    """A column as text that is the same for equal values, in every session; NULL stays NULL."""
    value: exp.Expr = column(info.name)
    if info.kind is Kind.FLOAT:
        # A NaN with its sign set is spelled -nan.
        text = exp.cast(compared(info, dialect), "text")
        nan = exp.Literal.string("nan")
        return exp.Case(
            ifs=[exp.If(this=exp.IsNan(this=value), true=nan)],
            default=text,
        )
    if "ZONE" in info.type.upper() and info.kind is Kind.TIMESTAMP:
        # The text of an instant depends on the session's time zone.
        value = exp.AtTimeZone(this=value, zone=exp.Literal.string("UTC"))
    return exp.cast(value, "text")


def value_text(info: ColumnInfo, dialect: str) -> exp.Expr:
    """As `canonical_text`, the same for equal values of two tables.

    A number of single precision is written as the double that it equals: its own text is
    shorter, and that of another number.
    """
    if info.kind is not Kind.FLOAT:
        return canonical_text(info, dialect)
    value = column(info.name)
    text = exp.cast(exp.cast(compared(info, dialect), "double"), "text")
    nan = exp.If(this=exp.IsNan(this=value), true=exp.Literal.string("nan"))
    return exp.Case(ifs=[nan], default=text)


def exact(value: exp.Expr, dialect: str) -> exp.Expr:
    """A text under the collation in which only the same texts are equal."""
    if dialect not in _EXACT_COLLATION:
        raise EngineError(f"texts cannot be compared exactly on {dialect!r}")
    collation = exp.to_identifier(_EXACT_COLLATION[dialect], quoted=True)
    return exp.Collate(this=value, expression=collation)


def described(engine: Engine, relation: exp.Expr, names: Sequence[str]) -> list[ColumnInfo]:
    """The columns of these names, in this order; all must be there."""
    present = {info.name: info for info in engine.columns(relation)}
    missing = [name for name in names if name not in present]
    if missing:
        raise EngineError(f"the table has no column {', '.join(map(repr, missing))}")
    return [present[name] for name in names]
