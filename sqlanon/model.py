"""The words that every layer shares: the kinds of columns and the values they hold.

Values are ordered the way the engines order them: numbers by size with -inf first, +inf
after every number and NaN after +inf; text by code point; false before true. NULL is not
a value: where it may occur it is written None, and it always comes last.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any, TypeAlias

from sqlanon.errors import DomainError

Value: TypeAlias = int | Decimal | float | dt.date | dt.datetime | bool | str

MAX_EXPONENT = 400
"""No engine has exact numbers beyond 10 to this power; 1e999999999 would fill the memory."""


class Kind(StrEnum):
    """What a column's values are; decides their order, spelling and arithmetic."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOAT = "float"
    DATE = "date"
    TIMESTAMP = "timestamp"
    BOOLEAN = "boolean"
    TEXT = "text"

    @property
    def is_ordered(self) -> bool:
        """Whether neighbours have a natural meaning, so that groups read as intervals."""
        return self not in (Kind.BOOLEAN, Kind.TEXT)


class Family(StrEnum):
    """Which partitions of a column a search may use (see docs/schemes.md)."""

    CONTIGUOUS = "contiguous"
    TAXONOMIC = "taxonomic"
    FULL_DOMAIN = "full-domain"


class Output(StrEnum):
    """How the groups of numbers and dates are written; bounds are columns NAME_low, NAME_high."""

    LABEL = "label"
    LOWER = "lower"
    MIDPOINT = "midpoint"
    BOUNDS = "bounds"


class Unseen(StrEnum):
    """What becomes of rows with values that were not there when the scheme was found."""

    ERROR = "error"
    LEAVE_OUT = "leave_out"
    TOP = "top"


class SuppressedRows(StrEnum):
    """What becomes of the rows of classes that are too small."""

    LEAVE_OUT = "leave_out"
    MARK = "mark"


class Order(StrEnum):
    """The order of released rows; a release never keeps the order of its source."""

    SORTED = "sorted"
    SHUFFLED = "shuffled"


class Form(StrEnum):
    """How a generalization is written in SQL."""

    AUTO = "auto"
    CASE = "case"
    JOIN = "join"


class LossName(StrEnum):
    """Measures of information loss (see sqlanon/metrics)."""

    NWP = "nwp"
    GLM = "glm"
    DCN = "dcn"
    CE = "ce"
    CLASS_SIZE = "class_size"
    PRECISION = "precision"
    ENTROPY = "entropy"
    AMBIGUITY = "ambiguity"


class BiasName(StrEnum):
    """Measures of how unequally people are protected (see sqlanon/metrics)."""

    NECD = "necd"
    GINI = "gini"
    VARIATION = "variation"
    MINIMUM = "minimum"


class Mode(StrEnum):
    """What publishing makes: a new table, a new content of the source's table, or a view."""

    TABLE = "table"
    REPLACE = "replace"
    VIEW = "view"


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


def counted(number: int, noun: str) -> str:
    """A number with its noun: 1 row, 2,000 rows, 1 person, 3 people."""
    several = _PLURALS.get(noun, f"{noun}s")
    return f"{number:,} {noun if number == 1 else several}"


_PLURALS = {"person": "people", "class": "classes"}


def brief_list(texts: Sequence[str], most: int = 5, width: int = 40) -> str:
    """The first of some texts, each cut to a width: for a repr, which must stay short."""
    shown = [text if len(text) <= width else f"{text[: width - 1]}…" for text in texts[:most]]
    more = len(texts) - len(shown)
    return ", ".join([*shown, *([f"{more:,} more"] if more else [])])


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


def marking_problems(outputs: Mapping[str, Output], *, in_view: bool) -> Iterator[str]:
    """Why suppressed rows cannot be marked in a release; `outputs` are its quasi-identifiers'."""
    if in_view:
        yield (
            "suppression.rows: a view leaves small classes out; it cannot mark them, because "
            "the marked rows might become too few later"
        )
    for name, output in outputs.items():
        if output is not Output.LABEL:
            yield (
                f"column {name!r}: output {output} has no place for the marker of suppressed "
                "rows; say `rows: leave_out` in suppression, or take output label"
            )


def json_value(value: Value) -> int | float | bool | str:
    """The value as scheme files write it: numbers as numbers where JSON keeps them exact."""
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return format_value(value)


def sort_key(value: Value) -> tuple[bool, Any]:
    """Orders values of one kind; NaN after everything."""
    if isinstance(value, float) and math.isnan(value):
        return (True, 0.0)
    return (False, value)
