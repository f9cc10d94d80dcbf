"""Values of a column: read, written, ordered, and compared in SQL the same way everywhere.

Numbers are ordered by size with -inf first, +inf after every number and NaN after +inf; text by
code point; false before true. NULL is not a value: where it may occur it is written None, and
it always comes last."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias

from sqlglot import exp

from sqlanon.engines import Kind, is_text_type
from sqlanon.errors import DomainError
from sqlanon.render import EXACT

Value: TypeAlias = int | Decimal | float | dt.date | dt.datetime | bool | str

MAX_EXPONENT = 400
"""No engine has exact numbers beyond 10 to this power; 1e999999999 would fill the memory."""


def parse_value(raw: object, kind: Kind) -> Value:
    """The Value that `raw` (from YAML, JSON, CSV or a database) means in a column of `kind`.

    Raises DomainError when it means none.
    """
    try:
        return _parse(raw, kind)
    except (ValueError, TypeError, InvalidOperation, OverflowError):
        raise DomainError(f"{raw!r} is not a value of kind {kind}") from None


def _parse(raw: Any, kind: Kind) -> Value:
    if kind is Kind.TEXT:
        if isinstance(raw, bool) or not isinstance(raw, str | int | float | Decimal | dt.date):
            raise TypeError
        return raw if isinstance(raw, str) else str(raw)
    if kind is Kind.BOOLEAN:
        word = str(raw).lower()
        return word == "true" if word in ("true", "false") else _refuse()
    if isinstance(raw, bool):
        raise TypeError
    if kind is Kind.INTEGER:
        number = _finite(raw)
        return int(number) if number == number.to_integral_value() else _refuse()
    if kind is Kind.DECIMAL:
        number = _finite(raw)
        return number or abs(number)  # -0 and 0 are one value
    if kind is Kind.FLOAT:
        # -0.0 and 0.0 are one value; one NaN object makes tuples of values comparable.
        return math.nan if math.isnan(raw := float(raw)) else raw + 0.0
    if kind is Kind.DATE:
        if isinstance(raw, dt.datetime):
            return raw.date() if raw.time() == dt.time() else _refuse()
        return raw if isinstance(raw, dt.date) else dt.date.fromisoformat(str(raw))
    if isinstance(raw, dt.datetime):
        return raw
    if isinstance(raw, dt.date):
        return dt.datetime(raw.year, raw.month, raw.day)
    return dt.datetime.fromisoformat(str(raw))


def _finite(raw: object) -> Decimal:
    number = Decimal(str(raw))
    if not number.is_finite() or abs(number.adjusted()) > MAX_EXPONENT:
        raise ValueError
    return number


def _refuse() -> Any:
    raise ValueError


def format_value(value: Value) -> str:
    """The one spelling of a value in labels, scheme files and fingerprints."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isfinite(value) and value == int(value) and abs(value) < 1e15:
            return str(int(value))
        return repr(value)
    if isinstance(value, Decimal):
        text = format(value, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, dt.date):
        return value.isoformat()
    return str(value)


def json_value(value: Value) -> int | float | bool | str:
    """The value as scheme files write it: numbers as numbers where JSON keeps them exact."""
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return format_value(value)


def literal(value: Value) -> exp.Expr:
    """A value as an SQL literal of its own type."""
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    text = format_value(value)
    if isinstance(value, int | Decimal):
        return exp.Literal.number(text)
    string = exp.Literal.string(text)
    if isinstance(value, str):
        return string
    if isinstance(value, float):
        return exp.cast(string, "double")
    if isinstance(value, dt.datetime):
        return exp.cast(string, "timestamptz" if value.tzinfo else "timestamp")
    return exp.cast(string, "date")


def counted_value(name: str, kind: Kind, type_: str) -> exp.Expr:
    """The column in the form in which its values are compared."""
    value: exp.Expr = exp.column(name, quoted=True)
    if kind is Kind.FLOAT:
        return exp.Add(this=value, expression=exp.Literal.number("0.0"))  # -0.0 becomes 0.0
    if kind is Kind.TEXT and not is_text_type(type_):
        return exp.cast(value, "text")
    return value


def exact(text: exp.Expr) -> exp.Expr:
    """The text compared character by character, whatever the collation of its column or session."""
    return exp.Collate(this=text, expression=exp.to_identifier(EXACT, quoted=True))


def told_apart(name: str, kind: Kind, type_: str) -> exp.Expr:
    """The column for exact comparison, even if its collation treats different values as equal."""
    value = counted_value(name, kind, type_)
    return exact(value) if kind is Kind.TEXT else value


def sort_key(value: Value) -> tuple[bool, Any]:
    """Orders values of one kind; NaN after everything."""
    if isinstance(value, float) and math.isnan(value):
        return (True, 0.0)
    return (False, value)
