"""Builds hierarchies: intervals of numbers, masks of texts, steps of the calendar."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Literal, TypeAlias

from sqlanon.domain.hierarchy import Hierarchy, Span
from sqlanon.domain.values import Value, format_value, parse_value, sort_key
from sqlanon.engines import Kind
from sqlanon.errors import DomainError, HierarchyError

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


Number: TypeAlias = int | Decimal | float

_ROOT = "*"


def intervals(
    values: Sequence[Value], kind: Kind, widths: Sequence[Number], origin_value: Number = 0
) -> Hierarchy:
    """Numbers under intervals [lo, hi) of the given widths, one level a width, then one root.

    Level i holds the intervals [o + n·w, o + (n+1)·w) for the origin o = `origin_value` and
    the i-th width w. Every width must be a whole multiple of the one before. Numbers count
    as they are written: the float 0.1 is one tenth exactly. NaN and the infinities keep a
    label of their own below the root. The leaves are sorted by value. An interval holds every
    number between its ends, seen or not.
    """
    origin = f"of intervals {', '.join(map(str, widths))}" if widths else "of intervals"
    if kind not in (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT):
        raise HierarchyError(
            f"Hierarchy {origin}: a column of kind {kind} has no intervals of numbers. "
            "Use dates, masking or a file."
        )
    steps = [_exact(width, f"width {width}", origin) for width in widths]
    for step, width in zip(steps, widths, strict=True):
        if step <= 0:
            raise HierarchyError(f"Hierarchy {origin}: width {width} is not positive.")
    for (fine, coarse), (small, large) in zip(pairwise(steps), pairwise(widths), strict=True):
        if (coarse / fine).denominator != 1:
            raise HierarchyError(
                f"Hierarchy {origin}: levels do not nest, because width {large} is not a whole "
                f"multiple of width {small}. Choose widths such as {small} and "
                f"{expansion(2 * fine)}."
            )
    zero = _exact(origin_value, f"the origin {origin_value}", origin)
    try:
        numbers = sorted((parse_value(value, kind) for value in values), key=sort_key)
    except DomainError as error:
        raise HierarchyError(f"Hierarchy {origin}: {error}. Correct or leave it out.") from None
    columns = [_interval_labels(numbers, step, zero) for step in steps]
    rows = [
        [format_value(number), *labels, _ROOT]
        for number, *labels in zip(numbers, *columns, strict=True)
    ]
    extent = partial(number_span, kind, steps, zero)
    return replace(Hierarchy.from_rows(rows, origin), extent=extent)


def _interval_labels(numbers: Sequence[Value], width: Fraction, zero: Fraction) -> list[str]:
    spelled: dict[int, str] = {}  # by number of the interval: spelling costs more than finding
    labels = []
    for number in numbers:
        if isinstance(number, float) and not math.isfinite(number):
            labels.append("NaN" if math.isnan(number) else format_value(number))
            continue
        place = (Fraction(str(number)) - zero) // width
        if place not in spelled:
            low = zero + place * width
            spelled[place] = f"[{expansion(low)}, {expansion(low + width)})"
        labels.append(spelled[place])
    return labels


def _exact(number: Number, name: str, origin: str) -> Fraction:
    try:
        return Fraction(str(number))
    except ValueError:
        raise HierarchyError(f"Hierarchy {origin}: {name} is not a finite number.") from None


def masked(
    values: Sequence[str], character: str = "*", side: Literal["right", "left"] = "right"
) -> Hierarchy:
    """Texts that lose one character a level from one side, down to one root.

    On level i, i characters are masked; a shorter text is masked whole. The root is the mask
    in the length of the longest text, and its level is that length (at least 1). Texts of
    different length share no label below the root. Texts that contain the mask character
    themselves do no harm: labels of equal text on two levels always lie within each other,
    so no partition shows one label for two groups.
    """
    origin = f"masked with {character!r} from the {side}"
    height = max((len(value) for value in values), default=1) or 1
    step = 1 if side == "right" else -1
    # Equal in length, equal beginnings (or ends) are neighbours: every group is a run.
    ordered = sorted(values, key=lambda value: (len(value), value[::step]))
    rows = [
        [*(_mask(value, count, character, side) for count in range(height)), character * height]
        for value in ordered
    ]
    return replace(Hierarchy.from_rows(rows, origin), root_is_all=True, masked_from=side)


def _mask(value: str, count: int, character: str, side: Literal["right", "left"]) -> str:
    mask = character * min(count, len(value))
    return value[: len(value) - len(mask)] + mask if side == "right" else mask + value[len(mask) :]


_STEPS: dict[str, Callable[[dt.date], str]] = {
    "day": lambda day: f"{day.year:04}-{day.month:02}-{day.day:02}",
    "week": lambda day: "{:04}-W{:02}".format(*day.isocalendar()),
    "month": lambda day: f"{day.year:04}-{day.month:02}",
    "quarter": lambda day: f"{day.year:04}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year:04}",
    "decade": lambda day: f"{day.year // 10 * 10:04}s",
    "century": lambda day: f"{day.year // 100 * 100:04}-{day.year // 100 * 100 + 99:04}",
}


def dates(values: Sequence[dt.date | dt.datetime], steps: Sequence[str]) -> Hierarchy:
    """Dates or timestamps under calendar steps, finest first, then one root.

    Steps are day, week (ISO 8601), month, quarter, year, decade (2020s = 2020 to 2029) and
    century (2000-2099). Level 0 is the value itself; so for dates a first step "day" adds no
    level. A week is part of no month, quarter or year, so it can only be the last step. The
    leaves are sorted by time.
    """
    origin = f"of date steps {', '.join(steps)}" if steps else "of dates"
    _check_steps(steps, origin)
    stamps = [isinstance(value, dt.datetime) for value in values]
    if any(stamps) and not all(stamps):
        raise HierarchyError(
            f"Hierarchy {origin}: the values mix dates and timestamps. Give only one of them."
        )
    try:
        ordered = sorted(values)
    except TypeError:
        raise HierarchyError(
            f"Hierarchy {origin}: some timestamps have a time zone and some have none. "
            "Cast the column to one type."
        ) from None
    named = [step for step in steps if step != "day" or any(stamps)]
    labels = [_STEPS[step] for step in named]
    rows = [[format_value(value), *(label(value) for label in labels), _ROOT] for value in ordered]
    return replace(Hierarchy.from_rows(rows, origin), extent=partial(calendar_span, named))


def _check_steps(steps: Sequence[str], origin: str) -> None:
    allowed = list(_STEPS)
    for step in steps:
        if step not in allowed:
            raise HierarchyError(
                f"Hierarchy {origin}: unknown step {step!r}. Use {', '.join(allowed)}."
            )
    for fine, coarse in pairwise(steps):
        if fine == "week" or allowed.index(fine) >= allowed.index(coarse):
            raise HierarchyError(
                f"Hierarchy {origin}: levels do not nest, because a {fine} is not a part of a "
                f"{coarse}. Put finer steps first, each once, and week only at the end."
            )
