"""Figures, lists and days as a certificate's sentences spell them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

MOST_LISTED = 12

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def listed(names: Sequence[str]) -> str:
    """Names as a sentence lists them: a, b and c."""
    if len(names) > MOST_LISTED:
        rest = len(names) - MOST_LISTED + 1
        names = [*names[: MOST_LISTED - 1], f"{rest} more columns"]
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def percent(share: float) -> str:
    """A share as people read it: never 0 for something, never 100 for less than all."""
    if share in (0, 1):
        return f"{share:.0%}".replace("%", " %")
    if share < 0.0001:
        return "under 0.01 %"
    if share > 0.9999:
        return "over 99.99 %"
    digits = 2 if share < 0.01 or share > 0.99 else 1
    text = f"{100 * share:.{digits}f}"
    return f"{text.rstrip('0').rstrip('.')} %"


def day(time: dt.datetime) -> str:
    """The day in UTC, in words that no locale changes."""
    utc = time.astimezone(dt.UTC)
    return f"{utc.day} {MONTHS[utc.month - 1]} {utc.year}"


def figure(value: float) -> str:
    """A number with the digits that people compare: 2, 0.1312, 1,204."""
    return f"{value:,.4g}" if value < 1000 else f"{value:,.0f}"
