"""Domains of ranges: where the intervals lie, and which one holds a value.

Expected values are written by hand, or found by scanning all intervals.
"""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.domain.atoms import MAX_INTERVALS, IntervalDomain
from sqlanon.domain.values import Value
from sqlanon.engines.protocol import Kind
from sqlanon.errors import DomainError

D = dt.date


def edges(kind: Kind, low: Value, high: Value, granularity: object) -> list[Value]:
    return list(IntervalDomain.of_range("c", kind, low, high, granularity).edges)


def refusal(kind: Kind, low: Value, high: Value, granularity: object) -> str:
    with pytest.raises(DomainError) as caught:
        IntervalDomain.of_range("c", kind, low, high, granularity)
    return str(caught.value)


def test_age_by_five() -> None:
    domain = IntervalDomain.of_range("age", Kind.INTEGER, 0, 100, 5)
    assert (domain.width, domain.size, domain.is_sorted) == (20, 20, True)
    assert domain.edges == tuple(range(0, 101, 5))
    assert domain.left_ends == tuple(range(0, 100, 5))
    assert domain.atom_label(0) == "[0, 5)"
    assert domain.atom_label(19) == "[95, 100]"
    assert domain.interval_label(5, 8) == "[25, 40)"


def test_null_counts() -> None:
    domain = IntervalDomain.of_range("age", Kind.INTEGER, 0, 10, 5).with_null()
    assert (domain.width, domain.size) == (2, 3)
    assert domain.atom_label(1) == "[5, 10]"


def test_last_interval_may_be_shorter() -> None:
    assert edges(Kind.INTEGER, 17, 90, 10) == [17, 27, 37, 47, 57, 67, 77, 87, 90]
    assert edges(Kind.INTEGER, 0, 3, 50) == [0, 3]
    assert edges(Kind.DATE, D(2024, 1, 1), D(2024, 1, 31), "week") == [
        D(2024, 1, 1), D(2024, 1, 8), D(2024, 1, 15), D(2024, 1, 22), D(2024, 1, 29),
        D(2024, 1, 31),
    ]  # fmt: skip


def test_tenths_are_exact() -> None:
    tenths = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert edges(Kind.FLOAT, 0.0, 1.0, 0.1) == tenths
    exact = edges(Kind.DECIMAL, Decimal("0"), Decimal("0.35"), 0.1)
    assert exact == [Decimal("0"), Decimal("0.1"), Decimal("0.2"), Decimal("0.3"), Decimal("0.35")]


def test_many_digits_are_exact() -> None:
    low = 10**37 + 1
    assert edges(Kind.INTEGER, low, low + 6, 3) == [low, low + 3, low + 6]
    small, step = Decimal("0." + "0" * 36 + "1"), Decimal(10) ** 20
    assert [str(e) for e in edges(Kind.DECIMAL, small, 2 * step, step)][1] == (
        "100000000000000000000." + "0" * 36 + "1"
    )


@given(
    st.integers(-1000, 1000),
    st.integers(1, 500),
    st.integers(1, 60),
    st.sampled_from([1, 10, 100]),
)
def test_decimal_edges_by_fractions(low: int, length: int, step: int, scale: int) -> None:
    start, size, by = (Fraction(n, scale) for n in (low, length, step))
    expected: list[Fraction] = []
    while start + len(expected) * by < start + size:
        expected.append(start + len(expected) * by)
    expected.append(start + size)
    ends = [Decimal(n) / scale for n in (low, low + length)]
    for granularity in (Decimal(step) / scale, step / scale):
        found = edges(Kind.DECIMAL, ends[0], ends[1], granularity)
        assert [Fraction(e) for e in found] == expected  # type: ignore[arg-type]
        floats = edges(Kind.FLOAT, float(ends[0]), float(ends[1]), granularity)
        assert floats == [float(e) for e in expected]


@pytest.mark.parametrize(
    ("granularity", "expected"),
    [
        (10, [D(2024, 1, 31), D(2024, 2, 10), D(2024, 2, 20), D(2024, 2, 28)]),
        ("day", [D(2024, 1, 31) + dt.timedelta(days=i) for i in range(29)]),
        ("month", [D(2024, 1, 31), D(2024, 2, 28)]),
    ],
)
def test_dates_by_days(granularity: object, expected: list[dt.date]) -> None:
    assert edges(Kind.DATE, D(2024, 1, 31), D(2024, 2, 28), granularity) == expected


def test_a_start_on_the_31st_keeps_to_the_end_of_the_month() -> None:
    assert edges(Kind.DATE, D(2023, 12, 31), D(2024, 7, 1), "month") == [
        D(2023, 12, 31), D(2024, 1, 31), D(2024, 2, 29), D(2024, 3, 31),
        D(2024, 4, 30), D(2024, 5, 31), D(2024, 6, 30), D(2024, 7, 1),
    ]  # fmt: skip
    assert edges(Kind.DATE, D(2023, 8, 31), D(2024, 5, 31), "quarter") == [
        D(2023, 8, 31), D(2023, 11, 30), D(2024, 2, 29), D(2024, 5, 31),
    ]  # fmt: skip
    assert edges(Kind.DATE, D(2024, 2, 29), D(2028, 3, 1), "year") == [
        D(2024, 2, 29), D(2025, 2, 28), D(2026, 2, 28), D(2027, 2, 28), D(2028, 2, 29),
        D(2028, 3, 1),
    ]  # fmt: skip


def test_decades_up_to_the_last_day_of_the_calendar() -> None:
    assert edges(Kind.DATE, D(9975, 5, 5), D(9999, 12, 31), "decade") == [
        D(9975, 5, 5), D(9985, 5, 5), D(9995, 5, 5), D(9999, 12, 31),
    ]  # fmt: skip
    for granularity in ("month", "week"):
        found = edges(Kind.DATE, D(9999, 12, 30), D(9999, 12, 31), granularity)
        assert found == [D(9999, 12, 30), D(9999, 12, 31)]


def test_timestamps() -> None:
    low, high = dt.datetime(2024, 1, 30, 6), dt.datetime(2024, 3, 30)
    domain = IntervalDomain.of_range("seen", Kind.TIMESTAMP, low, high, "month")
    assert domain.edges == (low, dt.datetime(2024, 2, 29, 6), high)
    assert domain.atom_label(0) == "[2024-01-30 06:00:00, 2024-02-29 06:00:00)"
    assert domain.atom_of(dt.datetime(2024, 2, 29, 5, 59, 59, 999999)) == 0
    assert domain.atom_of(dt.datetime(2024, 2, 29, 6)) == 1


def test_number_of_intervals_is_bounded() -> None:
    domain = IntervalDomain.of_range("c", Kind.INTEGER, 0, MAX_INTERVALS, 1)
    assert domain.width == MAX_INTERVALS == 10_000
    assert refusal(Kind.INTEGER, 0, 10_001, 1) == (
        "column 'c': the range has more than 10,000 intervals; choose a coarser granularity"
    )


@pytest.mark.parametrize(("low", "high"), [(5, 5), (6, 5)])
def test_empty_ranges(low: int, high: int) -> None:
    assert refusal(Kind.INTEGER, low, high, 1) == (
        f"column 'c': the range [{low}, {high}] is empty; give the lower end first"
    )


@pytest.mark.parametrize(
    ("kind", "low", "high"), [(Kind.TEXT, "b", "a"), (Kind.BOOLEAN, False, True)]
)
def test_ranges_need_an_order(kind: Kind, low: Value, high: Value) -> None:
    assert refusal(kind, low, high, 1) == (
        f"column 'c' is {kind.value}: a range needs numbers, dates or timestamps; "
        "use `values` or a hierarchy"
    )


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (-math.inf, 1.0, "[-inf, 1]"),
        (0.0, math.inf, "[0, inf]"),
        (0.0, math.nan, "[0, nan]"),
    ],
)
def test_ranges_are_bounded(low: float, high: float, shown: str) -> None:
    assert refusal(Kind.FLOAT, low, high, 0.5) == (
        f"column 'c': the range {shown} is not bounded; give two finite numbers"
    )


@pytest.mark.parametrize("granularity", [0, -5, True, None, "5", "month", math.nan, math.inf])
def test_granularity_is_a_positive_number(granularity: object) -> None:
    assert refusal(Kind.INTEGER, 0, 10, granularity) == (
        f"column 'c': granularity {granularity!r} is not a positive number"
    )


def test_granularity_of_integers_is_whole() -> None:
    assert edges(Kind.INTEGER, 0, 10, 5.0) == [0, 5, 10]
    assert refusal(Kind.INTEGER, 0, 10, 2.5) == (
        "column 'c': granularity 2.5 is not a whole number, but the column is integer"
    )


def test_granularity_below_the_grain_of_floats() -> None:
    assert refusal(Kind.FLOAT, 1e16, 1e16 + 4, 0.5) == (
        "column 'c': the granularity is finer than floats of the size of 1e+16 can tell apart; "
        "choose a coarser one"
    )


@pytest.mark.parametrize("granularity", [0, -1, 1.5, True, None, "fortnight"])
def test_granularity_of_dates(granularity: object) -> None:
    assert refusal(Kind.DATE, D(2024, 1, 1), D(2025, 1, 1), granularity) == (
        f"column 'c': granularity {granularity!r} of a date is not a number of days or one of "
        "day, week, month, quarter, year, decade"
    )


@given(
    st.lists(st.integers(-30, 30), min_size=2, max_size=9, unique=True).map(sorted),
    st.integers(-35, 35),
)
def test_atom_of_by_scanning(ends: list[int], value: int) -> None:
    found = [i for i, (low, high) in enumerate(pairwise(ends)) if low <= value < high]
    if value == ends[-1]:
        found = [len(ends) - 2]
    domain = IntervalDomain("c", Kind.INTEGER, tuple(ends))
    assert domain.atom_of(value) == (found[0] if found else None)
