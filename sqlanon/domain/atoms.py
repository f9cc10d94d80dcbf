"""The ordered atoms of a column: what one cell can be before anything is generalized.

A `ValueDomain` has one atom per value (observed in the data, declared in the policy, or the
leaves of a hierarchy); an `IntervalDomain` has one atom an interval of a declared range.
NULL, where the column has it, is one more atom after all others. Atoms without rows count:
the size of a domain, |Σ| in the papers, is what losses are measured against.
"""

from __future__ import annotations

import calendar
import datetime as dt
import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from functools import cached_property
from itertools import pairwise

from sqlanon.domain.values import Value, format_value, sort_key
from sqlanon.engines import Kind
from sqlanon.errors import DomainError

MAX_INTERVALS = 10_000
"""Above this an interval domain is refused: no person can review that many atoms."""

CALENDAR_STEPS = {
    "day": (0, 1),
    "week": (0, 7),
    "month": (1, 0),
    "quarter": (3, 0),
    "year": (12, 0),
    "decade": (120, 0),
}
"""The named steps of a range of dates, as (months, days)."""

_EXACT = Context(prec=1000)
"""Enough digits for any sum of parsed numbers; the default 28 would round wide ones."""


class _Atoms(ABC):
    """What both kinds of domain have: their size, and how they spell and name their values."""

    column: str
    kind: Kind
    has_null: bool

    @property
    def width(self) -> int:
        """Number of atoms other than NULL."""
        return len(self.left_ends)

    @property
    def size(self) -> int:
        """Number of atoms, NULL included: |Σ|."""
        return self.width + self.has_null

    @property
    @abstractmethod
    def left_ends(self) -> tuple[Value, ...]:
        """What a cut before each atom is called in a scheme file."""

    @property
    def _named(self) -> tuple[Value, ...]:
        """The values that tell the domain from others of its kind."""
        return self.left_ends

    def spelled(self, value: Value) -> str:
        """A value as labels write it."""
        if self._are_days and isinstance(value, dt.datetime):
            return format_value(value.date())
        return format_value(value)

    @cached_property
    def _are_days(self) -> bool:
        """Whether all are timestamps at midnight, so that their dates say everything.

        Midnight of another time zone is another moment, so values with one are written out.
        """
        # By their texts: a timestamp in nanoseconds may have a few that its time() does not show.
        return bool(self._named) and all(
            isinstance(value, dt.datetime) and format_value(value) == f"{value.date()} 00:00:00"
            for value in self._named
        )

    @cached_property
    def fingerprint(self) -> str:
        return self._hashed(self.has_null)

    @cached_property
    def fingerprint_of_values(self) -> str:
        """The same whether the column has NULLs or not."""
        return self._hashed(False)

    def _hashed(self, has_null: bool) -> str:
        form = "values" if isinstance(self, ValueDomain) else "intervals"
        named = [format_value(value) for value in self._named]
        text = json.dumps([form, str(self.kind), named, has_null])
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class ValueDomain(_Atoms):
    """One atom per value, in the given order.

    `is_observed`: the values were taken from the data; neither policy nor hierarchy declares them.
    """

    column: str
    kind: Kind
    values: tuple[Value, ...]
    has_null: bool = False
    is_observed: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        seen: set[object] = set()
        for value in self.values:
            key = sort_key(value)
            if key in seen:
                raise DomainError(
                    f"column {self.column!r}: the value {format_value(value)!r} is listed twice; "
                    "list every value of the domain once"
                )
            seen.add(key)
        if not self.values and not self.has_null:
            raise DomainError(f"column {self.column!r}: the domain is empty; it needs a value")
        _check_zones(self.column, self.values)

    @classmethod
    def observed(cls, column: str, kind: Kind, values: Sequence[Value | None]) -> ValueDomain:
        """The domain of the values that occur, in their natural order."""
        present = [v for v in values if v is not None]
        _check_zones(column, present)
        present.sort(key=sort_key)
        has_null = len(present) < len(values)
        return cls(column, kind, tuple(present), has_null, is_observed=True)

    @property
    def left_ends(self) -> tuple[Value, ...]:
        """What a cut before each atom is called in a scheme file."""
        return self.values

    @cached_property
    def is_sorted(self) -> bool:
        """Whether groups of neighbours are intervals of the natural order."""
        keys = [sort_key(v) for v in self.values]
        return self.kind.is_ordered and all(a < b for a, b in pairwise(keys))

    @cached_property
    def codes(self) -> dict[object, int]:
        """Atom number by `sort_key` of the value; None stands for NULL."""
        table: dict[object, int] = {sort_key(v): i for i, v in enumerate(self.values)}
        if self.has_null:
            table[None] = self.width
        return table

    def atom_label(self, atom: int) -> str:
        return self.spelled(self.values[atom])

    def interval_label(self, start: int, stop: int) -> str:
        """Atoms start..stop-1 of a sorted domain as a left-closed interval."""
        low = self.spelled(self.values[start])
        if stop < self.width:
            return f"[{low}, {self.spelled(self.values[stop])})"
        return f"[{low}, {self.spelled(self.values[-1])}]"


@dataclass(frozen=True)
class IntervalDomain(_Atoms):
    """One atom an interval [edges[i], edges[i+1]); the last one is closed on the right."""

    column: str
    kind: Kind
    edges: tuple[Value, ...]
    has_null: bool = False

    @classmethod
    def of_range(
        cls, column: str, kind: Kind, low: Value, high: Value, granularity: object
    ) -> IntervalDomain:
        """Cuts [low, high] every `granularity`: a number, a number of days, or a calendar step.

        The last interval is shorter where the range is not a whole number of steps.
        """
        if not kind.is_ordered:
            raise DomainError(
                f"column {column!r} is {kind}: a range needs numbers, dates or timestamps; "
                "use `values` or a hierarchy"
            )
        _check_zones(column, (low, high))
        written = f"column {column!r}: the range [{format_value(low)}, {format_value(high)}]"
        if any(isinstance(end, float) and not math.isfinite(end) for end in (low, high)):
            raise DomainError(f"{written} is not bounded; give two finite numbers")
        if sort_key(low) >= sort_key(high):
            raise DomainError(f"{written} is empty; give the lower end first")
        return cls(column, kind, tuple(_edges(column, kind, low, high, granularity)))

    def with_null(self) -> IntervalDomain:
        return IntervalDomain(self.column, self.kind, self.edges, has_null=True)

    @cached_property
    def left_ends(self) -> tuple[Value, ...]:
        """What a cut before each atom is called in a scheme file."""
        return self.edges[:-1]

    @property
    def _named(self) -> tuple[Value, ...]:
        return self.edges

    is_sorted = True

    def atom_label(self, atom: int) -> str:
        return self.interval_label(atom, atom + 1)

    def interval_label(self, start: int, stop: int) -> str:
        close = "]" if stop == self.width else ")"
        return f"[{self.spelled(self.edges[start])}, {self.spelled(self.edges[stop])}{close}"


Domain = ValueDomain | IntervalDomain


def _check_zones(column: str, values: Iterable[Value]) -> None:
    zoned = {v.tzinfo is not None for v in values if isinstance(v, dt.datetime)}
    if len(zoned) > 1:
        raise DomainError(
            f"column {column!r}: some timestamps have a time zone and some have none, so they "
            "have no common order; write all of them the same way"
        )


def _edges(column: str, kind: Kind, low: Value, high: Value, granularity: object) -> list[Value]:
    if isinstance(low, dt.date):
        start, step = low, _calendar_step(column, granularity)
        return _collect(column, low, high, lambda i: _add_calendar(start, i, step))
    number = _positive_number(column, granularity)
    if kind is Kind.INTEGER and number != number.to_integral_value():
        raise DomainError(
            f"column {column!r}: granularity {granularity} is not a whole number, "
            "but the column is integer"
        )
    first = Decimal(str(low))

    def edge(i: int) -> Value:
        exact = _EXACT.fma(number, i, first)
        if kind is Kind.INTEGER:
            return int(exact)
        return float(exact) if kind is Kind.FLOAT else exact

    return _collect(column, low, high, edge)


def _collect(
    column: str, low: Value, high: Value, edge: Callable[[int], Value | None]
) -> list[Value]:
    """low, edge(1), edge(2), … and high; an edge of None lies beyond every value."""
    edges = [low]
    for i in range(1, MAX_INTERVALS + 1):
        following = edge(i)
        if following is None or sort_key(following) >= sort_key(high):
            return [*edges, high]
        if sort_key(following) <= sort_key(edges[-1]):
            raise DomainError(
                f"column {column!r}: the granularity is finer than floats of the size of "
                f"{format_value(following)} can tell apart; choose a coarser one"
            )
        edges.append(following)
    raise DomainError(
        f"column {column!r}: the range has more than {MAX_INTERVALS:,} intervals; "
        "choose a coarser granularity"
    )


def _positive_number(column: str, granularity: object) -> Decimal:
    if isinstance(granularity, int | float | Decimal) and not isinstance(granularity, bool):
        number = Decimal(str(granularity))
        if number.is_finite() and number > 0:
            return number
    raise DomainError(f"column {column!r}: granularity {granularity!r} is not a positive number")


def _calendar_step(column: str, granularity: object) -> tuple[int, int]:
    """A step as (months, days)."""
    if isinstance(granularity, str) and granularity in CALENDAR_STEPS:
        return CALENDAR_STEPS[granularity]
    if isinstance(granularity, int) and not isinstance(granularity, bool) and granularity > 0:
        return (0, granularity)
    raise DomainError(
        f"column {column!r}: granularity {granularity!r} of a date is not a number of days "
        f"or one of {', '.join(CALENDAR_STEPS)}"
    )


def _add_calendar(start: dt.date, times: int, step: tuple[int, int]) -> dt.date | None:
    """`times` steps after `start`, or None beyond the year 9999.

    A start on the 31st steps to the last day of shorter months.
    """
    months, days = step
    if not months:
        try:
            return start + dt.timedelta(days=days * times)
        except OverflowError:
            return None
    years, month = divmod(start.month - 1 + months * times, 12)
    year = start.year + years
    if year > dt.MAXYEAR:
        return None
    last_day = calendar.monthrange(year, month + 1)[1]
    return start.replace(year=year, month=month + 1, day=min(start.day, last_day))
