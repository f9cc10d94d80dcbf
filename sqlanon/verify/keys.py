"""Values as texts that are equal for equal values, in whatever table or database they stand.

A reference or a population may be another table, in another file or database, with the same
values in columns of other types: 1 and 1.00, an ENUM and a VARCHAR. Their keys are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias

from sqlanon.errors import CheckError
from sqlanon.model import Kind, format_value

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
