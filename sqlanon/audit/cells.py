"""How an audit asks a table, and compares cells: exactly, whatever the column's type says."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias

import pyarrow as pa
from sqlglot import exp

from sqlanon.domain import format_value
from sqlanon.engines import ColumnInfo, Engine, Kind, Source, folds_case
from sqlanon.errors import CheckError, EngineError
from sqlanon.render import EXACT, render


def fetch(
    engine: Engine,
    relation: exp.Expr,
    template: str,
    parameters: Mapping[str, str] | None = None,
    /,
    **cells: object,
) -> pa.Table:
    """The answer to a template that reads one relation; its parameters are secrets."""
    query = render(f"audit/{template}", dialect=engine.dialect, source=relation, **cells)
    return engine.fetch(query, parameters)


def fetch_row(
    engine: Engine,
    relation: exp.Expr,
    template: str,
    parameters: Mapping[str, str] | None = None,
    /,
    **cells: object,
) -> dict[str, Any]:
    """The same where the answer has one row."""
    (row,) = fetch(engine, relation, template, parameters, **cells).to_pylist()
    found: dict[str, Any] = row
    return found


def column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))


def people(subject: exp.Expr | None) -> exp.Expr:
    """The number of people in a group of rows: distinct subjects, or rows without a subject."""
    if subject is None:
        return exp.Count(this=exp.Star())
    return exp.Count(this=exp.Distinct(expressions=[subject.copy()]))


def one_person(subject: exp.Expr | None) -> exp.Expr:
    """Whether a group of rows is of one person; cheaper than counting distinct subjects."""
    if subject is None:
        return exp.EQ(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1))
    return exp.EQ(this=exp.Min(this=subject), expression=exp.Max(this=subject.copy()))


def compared(info: ColumnInfo) -> exp.Expr:
    """A column as GROUP BY and DISTINCT must see it.

    Two cells are equal exactly if the project calls their values equal: -0.0 and 0.0 are, and
    all NaN are. Texts are compared character by character: a column or a session with a
    collation that ignores case would join classes that a reader can tell apart. What has no
    kind is compared by its text, because INTERVAL '1 month' equals '30 days'.
    """
    value = person(info)
    if isinstance(value, exp.Lower):
        value = value.this
    return exact(value) if info.kind in (Kind.TEXT, None) else value


def person(info: ColumnInfo) -> exp.Expr:
    """A subject: as `compared`, but texts that the database treats as equal are one person.

    A collation can only join texts, so people are never overcounted. A staged table has the
    collations of its source.
    """
    value: exp.Expr = column(info.name)
    if info.kind is Kind.FLOAT:
        return exp.Add(this=value, expression=exp.Literal.number("0.0"))
    if info.kind in (Kind.TEXT, None) and not info.is_text:
        text = exp.cast(value, "text")
        return exp.Lower(this=text) if folds_case(info.type) else text
    return value


def canonical_text(info: ColumnInfo, *, as_double: bool = False) -> exp.Expr:
    """A column as text that is the same for equal values, in every session; NULL stays NULL.

    With `as_double` it is the same for equal values of two tables: a number of single precision
    is written as the double that it equals, since its own text is shorter, and that of another.
    """
    value: exp.Expr = column(info.name)
    if info.kind is Kind.FLOAT:
        number = exp.cast(compared(info), "double") if as_double else compared(info)
        # A NaN with its sign set is spelled -nan.
        nan = exp.If(this=exp.IsNan(this=value), true=exp.Literal.string("nan"))
        return exp.Case(ifs=[nan], default=exp.cast(number, "text"))
    if info.has_time_zone and info.kind is Kind.TIMESTAMP:
        # The text of an instant depends on the session's time zone.
        value = exp.AtTimeZone(this=value, zone=exp.Literal.string("UTC"))
    return exp.cast(value, "text")


def exact(value: exp.Expr) -> exp.Expr:
    """A text under the collation in which only the same texts are equal."""
    return exp.Collate(this=value, expression=exp.to_identifier(EXACT, quoted=True))


def described(source: Source, names: Sequence[str]) -> list[ColumnInfo]:
    """The columns of these names, in this order; all must be there."""
    present = {info.name: info for info in source.columns}
    missing = [name for name in names if name not in present]
    if missing:
        raise EngineError(f"the table has no column {', '.join(map(repr, missing))}")
    return [present[name] for name in names]


Key: TypeAlias = str | None
"""The text of a value; None is NULL."""

NUMBERS = frozenset({Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT})
MOMENTS = frozenset({Kind.DATE, Kind.TIMESTAMP})


_SPELLED = frozenset({Kind.DECIMAL, Kind.FLOAT, Kind.TIMESTAMP})
"""Kinds of which engines and types write the same value differently: 1.5 and 1.50."""


def keys_of(texts: list[Key], kind: Kind) -> list[Key]:
    """The keys of values whose canonical texts (see values.canonical_text) an engine wrote."""
    return [key(text, kind) for text in texts] if kind in _SPELLED else texts


def key(text: Key, kind: Kind) -> Key:
    """The key of one of them."""
    if text is None or kind not in _SPELLED:
        return text
    if kind is Kind.TIMESTAMP:
        return text.rstrip("0").rstrip(".") if "." in text else text
    return format_value(Decimal(text))


def ascending(keys: Collection[Key], kind: Kind) -> list[Key]:
    """Distinct keys in the order of their values, NULL last; texts go by code points."""
    present = [each for each in keys if each is not None]
    try:
        ordered = sorted(present, key=_rank(kind))
    except (ValueError, InvalidOperation):
        raise CheckError(
            "values of one column are numbers or dates in one table and texts in another, so they "
            "have no order; cast the column in one of them"
        ) from None
    return [*ordered, *([None] if len(present) < len(keys) else [])]


def _rank(kind: Kind) -> Callable[[str], Any]:
    if kind is Kind.INTEGER:
        return int
    if kind in NUMBERS:
        return _number
    return _moment if kind in MOMENTS else str


def _number(text: str) -> tuple[bool, Decimal]:
    number = Decimal(text)
    return (True, Decimal(0)) if number.is_nan() else (False, number)  # NaN after everything


def _moment(text: str) -> tuple[int, str]:
    """The year and what follows it: years may have five digits, or be before Christ."""
    if text.endswith("infinity"):
        return (-(10**9) if text.startswith("-") else 10**9, "")
    year, rest = text.split("-", 1)
    before_christ = rest.removesuffix(")").endswith("BC")
    return (-int(year) if before_christ else int(year), rest)
