"""Where the steps of the calendar begin and end."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from sqlanon.hierarchy.tree import Span
from sqlanon.model import Value

_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}


def calendar_span(steps: Sequence[str], level: int, value: Value) -> Span | None:
    """The span of the day, month, decade, … that holds a date or timestamp.

    `steps` are those of the levels above the values. The root has no ends. None for the value
    itself, and for a step that Python's calendar does not hold to its end. None too for a value
    with a time zone: it carries an offset, and not the rule by which that changes in between.
    """
    if level == 0 or not isinstance(value, dt.date):
        return None
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        return None
    if level > len(steps):
        return None, None
    day = value.date() if isinstance(value, dt.datetime) else value
    try:
        first, last = _ends(steps[level - 1], day)
    except (ValueError, OverflowError):
        return None
    if not isinstance(value, dt.datetime):
        return first, last
    return dt.datetime.combine(first, dt.time()), dt.datetime.combine(last, dt.time())


def _ends(step: str, day: dt.date) -> tuple[dt.date, dt.date]:
    """The first day of a step, and the first one after it."""
    if step in ("day", "week"):
        first = day - dt.timedelta(day.weekday() if step == "week" else 0)
        return first, first + dt.timedelta(7 if step == "week" else 1)
    months = _MONTHS[step]
    start = (12 * day.year + day.month - 1) // months * months
    return _month(start), _month(start + months)


def _month(number: int) -> dt.date:
    return dt.date(number // 12, number % 12 + 1, 1)
