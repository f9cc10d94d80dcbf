"""Where the intervals of numbers begin and end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from sqlanon.hierarchy.tree import Span
from sqlanon.model import Kind, Value, format_value

MOST_DIGITS = 38
"""Databases compare decimals of more digits as floats, which is not exact."""
LARGEST = 2**127 - 1
"""The same of whole numbers."""


def number_span(
    kind: Kind, widths: Sequence[Fraction], zero: Fraction, level: int, value: Value
) -> Span | None:
    """The interval [low, high) that holds a number, as numbers of the column's kind.

    `widths` are those of the levels above the values, `zero` is an end on all of them. The root
    has no ends. None for the value itself, for NaN and the infinities, which are in no interval,
    and where an end cannot be compared exactly.
    """
    if level == 0:
        return None
    if level > len(widths):
        return None, None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    width = widths[level - 1]
    low = zero + (Fraction(str(value)) - zero) // width * width
    first, last = _end(low, kind), _end(low + width, kind)
    return None if first is None or last is None else (first, last)


def _end(number: Fraction, kind: Kind) -> Value | None:
    """The least number of a kind that is not below this one; None where it is not exact."""
    if kind is Kind.INTEGER:
        whole = math.ceil(number)
        return whole if abs(whole) <= LARGEST else None
    if kind is Kind.FLOAT:
        try:
            nearest = float(number)
        except OverflowError:
            return None
        return nearest if Fraction(str(nearest)) == number else None
    digits, places = _digits(number)
    exact = max(len(str(abs(digits))), places) <= MOST_DIGITS
    return Decimal(f"{digits}e-{places}") if exact else None


def expansion(number: Fraction) -> str:
    """The decimal expansion, exact at any size; every number here has a finite one."""
    digits, places = _digits(number)
    return format_value(Decimal(f"{digits}e-{places}"))


def _digits(number: Fraction) -> tuple[int, int]:
    """A number with a finite expansion as (n, m): n / 10**m."""
    places = 0
    while (number * 10**places).denominator != 1:
        places += 1
    return (number * 10**places).numerator, places
