"""Spans of groups are only promised where they part the values just as the groups do."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from itertools import pairwise

import pytest

from sqlanon.domain.atoms import ValueDomain
from sqlanon.domain.column import Column, Partition
from sqlanon.domain.hierarchy import Span
from sqlanon.domain.hierarchy_builders import dates
from sqlanon.domain.presentation import group_spans
from sqlanon.domain.values import Value
from sqlanon.engines.protocol import Kind

DAYS = tuple(dt.date(2020, month, day) for month in (1, 2, 3) for day in (5, 20))
DOMAIN = ValueDomain("day", Kind.DATE, DAYS)
MONTHS = dates(DAYS, ["month"])
STARTS = [dt.date(2020, month, 1) for month in (1, 2, 3, 4)]


def shifted(by: dict[int, tuple[int, int]]) -> Column:
    """The months, with the ends of some moved by days."""

    def extent(level: int, value: Value) -> Span | None:
        assert MONTHS.extent is not None
        assert isinstance(value, dt.date)
        if level == 0:
            return None
        low, high = MONTHS.extent(level, value) or (None, None)
        assert isinstance(low, dt.date)
        assert isinstance(high, dt.date)
        first, last = by.get(value.month, (0, 0))
        return low + dt.timedelta(first), high + dt.timedelta(last)

    return Column(DOMAIN, replace(MONTHS, extent=extent))


def test_months() -> None:
    expected = tuple(pairwise(STARTS))
    column = Column(DOMAIN, MONTHS)
    assert group_spans(column, column.levels[1]) == expected
    # January's days on their own, and the other months.
    assert group_spans(column, Partition(6, (0, 1, 3))) == (None, None, *expected[1:])
    assert group_spans(column, Partition(6, (1, 3, 4))) == (*expected[:2], None, None)


@pytest.mark.parametrize(
    "by",
    [
        {2: (10, 0)},  # a day of its own is not in it
        {1: (0, -20)},
        {1: (0, 8)},  # a day of the next is in it
        {1: (0, 2)},  # only days that nobody has seen are in both
        {3: (-2, 0)},
    ],
)
def test_spans_that_do_not_part_the_values(by: dict[int, tuple[int, int]]) -> None:
    column = shifted(by)
    assert group_spans(column, column.levels[1]) is None


@pytest.mark.parametrize(("by", "cuts"), [({2: (-12, 0)}, (0, 1, 3)), ({2: (0, 5)}, (1, 3, 4))])
def test_spans_over_a_single_value(by: dict[int, tuple[int, int]], cuts: tuple[int, ...]) -> None:
    assert group_spans(shifted(by), Partition(6, cuts)) is None
