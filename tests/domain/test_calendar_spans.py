"""Where months, decades and other steps of the calendar begin and end."""

from __future__ import annotations

import datetime as dt

import pytest

from sqlanon.domain.hierarchy_builders import dates

STEPS = ["day", "month", "quarter", "year", "decade", "century"]
DAY = dt.date(1984, 5, 6)


@pytest.mark.parametrize(
    ("step", "low", "high"),
    [
        ("week", "1984-04-30", "1984-05-07"),
        ("month", "1984-05-01", "1984-06-01"),
        ("quarter", "1984-04-01", "1984-07-01"),
        ("year", "1984-01-01", "1985-01-01"),
        ("decade", "1980-01-01", "1990-01-01"),
        ("century", "1900-01-01", "2000-01-01"),
    ],
)
def test_ends(step: str, low: str, high: str) -> None:
    extent = dates([DAY], [step]).extent
    assert extent is not None
    assert extent(1, DAY) == (dt.date.fromisoformat(low), dt.date.fromisoformat(high))
    assert extent(0, DAY) is None, "a value is itself"
    assert extent(2, DAY) == (None, None), "the root is all"


def test_every_span_holds_what_its_name_holds() -> None:
    """The days around the ends of a span are in it just if they have its name."""
    days = [dt.date(1899, 12, 31) + dt.timedelta(97 * i) for i in range(500)]
    around = sorted({day + dt.timedelta(shift) for day in days for shift in (-1, 0, 1)})
    tree = dates(around, STEPS)
    assert tree.extent is not None
    for level in range(1, tree.height):
        names = tree.levels[level]
        for at, day in enumerate(around):
            low, high = tree.extent(level, day) or (None, None)
            assert isinstance(low, dt.date)
            assert isinstance(high, dt.date)
            for other in range(max(at - 3, 0), min(at + 4, len(around))):
                assert (low <= around[other] < high) == (names[other] == names[at])


def test_days_of_timestamps() -> None:
    moment = dt.datetime(2020, 2, 29, 23, 59, 59, 999999)
    extent = dates([moment], ["day", "month"]).extent
    assert extent is not None
    assert extent(1, moment) == (dt.datetime(2020, 2, 29), dt.datetime(2020, 3, 1))


@pytest.mark.parametrize("zone", [dt.UTC, dt.timezone(dt.timedelta(hours=2))])
def test_values_with_a_time_zone_promise_nothing(zone: dt.tzinfo) -> None:
    """Their offset is that of the moment, and the step may end under another one."""
    moment = dt.datetime(2020, 7, 15, 12, tzinfo=zone)
    extent = dates([moment], ["day", "month"]).extent
    assert extent is not None
    assert [extent(level, moment) for level in range(4)] == [None] * 4


def test_steps_beyond_the_calendar_promise_nothing() -> None:
    first, last = dt.date(1, 1, 1), dt.date(9999, 12, 31)
    extent = dates([first, last], ["month", "decade"]).extent
    assert extent is not None
    assert (extent(2, first), extent(1, last), extent(2, last)) == (None, None, None)
