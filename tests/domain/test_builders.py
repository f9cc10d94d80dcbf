"""Hierarchies built from values. Expected labels are calculated by hand."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hierarchy_rows import Rows, check_tree, nodes_of
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.hierarchy_builders import dates, intervals, masked
from sqlanon.domain.values import sort_key
from sqlanon.engines.protocol import Kind
from sqlanon.errors import HierarchyError


def rows_of(hierarchy: Hierarchy) -> Rows:
    return [list(row) for row in zip(*hierarchy.levels, strict=True)]


def test_intervals_are_left_closed() -> None:
    assert rows_of(intervals([-1, 0, 4, 5, 19, 20], Kind.INTEGER, [5, 10], 0)) == [
        ["-1", "[-5, 0)", "[-10, 0)", "*"],
        ["0", "[0, 5)", "[0, 10)", "*"],
        ["4", "[0, 5)", "[0, 10)", "*"],
        ["5", "[5, 10)", "[0, 10)", "*"],
        ["19", "[15, 20)", "[10, 20)", "*"],
        ["20", "[20, 25)", "[20, 30)", "*"],
    ]


def test_intervals_from_another_origin() -> None:
    hierarchy = intervals([17, 21, 22], Kind.INTEGER, [5], origin_value=17)
    assert hierarchy.levels[1] == ("[17, 22)", "[17, 22)", "[22, 27)")


def test_intervals_of_tenths_are_exact() -> None:
    """In binary arithmetic 0.3 // 0.1 is 2; written numbers are meant."""
    hierarchy = intervals([0.1, 0.2, 0.3, 0.7], Kind.FLOAT, [0.1, 0.2], 0)
    assert hierarchy.levels[1] == ("[0.1, 0.2)", "[0.2, 0.3)", "[0.3, 0.4)", "[0.7, 0.8)")
    assert hierarchy.levels[2] == ("[0, 0.2)", "[0.2, 0.4)", "[0.2, 0.4)", "[0.6, 0.8)")


def test_intervals_beyond_the_precision_of_decimals_and_floats() -> None:
    big = 10**40
    hierarchy = intervals([big + 1, big + 3], Kind.INTEGER, [2], 0)
    assert hierarchy.levels[1] == (f"[{big}, {big + 2})", f"[{big + 2}, {big + 4})")
    hierarchy = intervals([Decimal(f"{big}.5")], Kind.DECIMAL, [Decimal("0.25")], 0)
    assert hierarchy.levels[1] == (f"[{big}.5, {big}.75)",)


def test_intervals_without_widths() -> None:
    assert rows_of(intervals([2, 1], Kind.INTEGER, [], 0)) == [["1", "*"], ["2", "*"]]


def test_intervals_keep_special_floats_apart() -> None:
    values = [-math.inf, 1.5, math.inf, math.nan]
    assert rows_of(intervals(values, Kind.FLOAT, [1, 2], 0)) == [
        ["-inf", "-inf", "-inf", "*"],
        ["1.5", "[1, 2)", "[0, 2)", "*"],
        ["inf", "inf", "inf", "*"],
        ["nan", "NaN", "NaN", "*"],
    ]


@pytest.mark.parametrize(
    ("values", "kind", "widths", "origin", "fragment"),
    [
        ([1], Kind.INTEGER, [5, 12], 0, "because width 12 is not a whole multiple of width 5"),
        ([1], Kind.INTEGER, [10, 5], 0, "because width 5 is not a whole multiple of width 10"),
        ([1], Kind.INTEGER, [0], 0, "width 0 is not positive"),
        ([1], Kind.INTEGER, [5, -10], 0, "width -10 is not positive"),
        ([1.0], Kind.FLOAT, [math.inf], 0, "width inf is not a finite number"),
        ([1.0], Kind.FLOAT, [1], math.nan, "the origin nan is not a finite number"),
        (["a"], Kind.TEXT, [1], 0, "a column of kind text has no intervals"),
        (["a"], Kind.INTEGER, [1], 0, "'a' is not a value of kind integer"),
        ([1, 1], Kind.INTEGER, [1], 0, "leaf '1' is there twice"),
        ([], Kind.INTEGER, [1], 0, "has no rows"),
    ],
)
def test_intervals_refused(
    values: list[Any], kind: Kind, widths: list[Any], origin: float, fragment: str
) -> None:
    with pytest.raises(HierarchyError) as caught:
        intervals(values, kind, widths, origin)
    assert fragment in str(caught.value)


cents = st.decimals(-1000, 1000, places=2)


@given(
    st.sets(cents, min_size=1, max_size=12),
    st.decimals("0.01", 10, places=2),
    st.lists(st.integers(1, 4), max_size=3),
    cents,
)
def test_intervals_nest_and_contain_their_values(
    values: set[Decimal], first: Decimal, factors: list[int], zero: Decimal
) -> None:
    widths = [first]
    for factor in factors:
        widths.append(widths[-1] * factor)
    hierarchy = intervals(sorted(values), Kind.DECIMAL, widths, zero)
    check_tree(hierarchy)
    assert hierarchy.parsed(Kind.DECIMAL) == tuple(sorted(values))
    for width, labels in zip(widths, hierarchy.levels[1:], strict=False):
        for value, label in zip(sorted(values), labels, strict=True):
            low, high = (Fraction(end) for end in label[1:-1].split(", "))
            assert low <= value < high
            assert high - low == Fraction(width)
            assert ((low - Fraction(zero)) / Fraction(width)).denominator == 1


@given(st.sets(st.floats(), min_size=1, max_size=12))
def test_intervals_of_any_floats(values: set[float]) -> None:
    distinct = {sort_key(value + 0.0): value for value in values}
    hierarchy = intervals(list(distinct.values()), Kind.FLOAT, [0.5, 3], 0.25)
    check_tree(hierarchy)
    keys = [sort_key(value) for value in hierarchy.parsed(Kind.FLOAT)]
    assert keys == sorted(keys)


def test_masked_from_the_right() -> None:
    assert rows_of(masked(["102", "110", "101"])) == [
        ["101", "10*", "1**", "***"],
        ["102", "10*", "1**", "***"],
        ["110", "11*", "1**", "***"],
    ]


def test_masked_from_the_left() -> None:
    assert rows_of(masked(["12", "31", "22"], character="#", side="left")) == [
        ["31", "#1", "##"],
        ["12", "#2", "##"],
        ["22", "#2", "##"],
    ]


def test_masked_texts_of_different_length() -> None:
    """A shorter text is masked whole and joins the longer ones in the root."""
    assert rows_of(masked(["123", "7", "12", ""])) == [
        ["", "", "", "***"],
        ["7", "*", "*", "***"],
        ["12", "1*", "**", "***"],
        ["123", "12*", "1**", "***"],
    ]


def test_masked_nothing_but_an_empty_text() -> None:
    assert rows_of(masked([""])) == [["", "*"]]


def test_masked_texts_that_contain_the_mask() -> None:
    """The leaf 1* lies within the group 1* of level 1, so the two never stand side by side."""
    hierarchy = masked(["12", "1*", "2*", "**"])
    assert rows_of(hierarchy) == [
        ["**", "**", "**"],
        ["1*", "1*", "**"],
        ["12", "1*", "**"],
        ["2*", "2*", "**"],
    ]
    check_tree(hierarchy)


def test_masked_refused() -> None:
    with pytest.raises(HierarchyError, match="leaf 'a' is there twice"):
        masked(["a", "a"])
    with pytest.raises(HierarchyError, match="has no rows"):
        masked([])


@given(st.sets(st.text("01*", max_size=4), min_size=1), st.sampled_from(["right", "left"]))
def test_masked_groups_share_what_is_left(values: set[str], side: Any) -> None:
    hierarchy = masked(sorted(values), "*", side)
    check_tree(hierarchy)
    longest = max(1, *(len(value) for value in values))
    assert hierarchy.height == longest
    assert set(hierarchy.levels[-1]) == {"*" * longest}
    for level, labels in enumerate(hierarchy.levels[:-1]):
        for leaf, label in zip(hierarchy.leaves, labels, strict=True):
            hidden = min(level, len(leaf))
            shown = leaf[: len(leaf) - hidden] if side == "right" else leaf[hidden:]
            assert label == (shown + "*" * hidden if side == "right" else "*" * hidden + shown)


@given(st.sets(st.text("01*", max_size=3), min_size=1), st.sampled_from(["right", "left"]))
def test_masked_labels_of_equal_text_lie_within_each_other(values: set[str], side: Any) -> None:
    nodes = nodes_of(masked(sorted(values), "*", side))
    for one in nodes:
        for other in nodes:
            if one.label == other.label:
                apart = one.stop <= other.start or other.stop <= one.start
                assert not apart


def test_every_date_step() -> None:
    steps = ["day", "month", "quarter", "year", "decade", "century"]
    days = [dt.date(2024, 3, 5), dt.date(1999, 12, 31), dt.date(2024, 4, 1)]
    assert rows_of(dates(days, steps)) == [
        ["1999-12-31", "1999-12", "1999-Q4", "1999", "1990s", "1900-1999", "*"],
        ["2024-03-05", "2024-03", "2024-Q1", "2024", "2020s", "2000-2099", "*"],
        ["2024-04-01", "2024-04", "2024-Q2", "2024", "2020s", "2000-2099", "*"],
    ]


def test_weeks_follow_iso_8601() -> None:
    """29 December 2025 is a Monday of the week that holds the first Thursday of 2026."""
    days = [dt.date(2024, 3, 5), dt.date(2025, 12, 28), dt.date(2025, 12, 29), dt.date(2026, 1, 1)]
    hierarchy = dates(days, ["week"])
    assert hierarchy.levels[1] == ("2024-W10", "2025-W52", "2026-W01", "2026-W01")
    assert dates(days, ["day", "week"]) == hierarchy


def test_a_step_may_be_left_out() -> None:
    assert rows_of(dates([dt.date(987, 6, 5)], ["year"])) == [["0987-06-05", "0987", "*"]]
    assert rows_of(dates([dt.date(2000, 1, 1)], [])) == [["2000-01-01", "*"]]


def test_timestamps_keep_a_level_below_the_day() -> None:
    stamps = [dt.datetime(2024, 3, 5, 18, 30), dt.datetime(2024, 3, 5, 7)]
    assert rows_of(dates(stamps, ["day", "year"])) == [
        ["2024-03-05 07:00:00", "2024-03-05", "2024", "*"],
        ["2024-03-05 18:30:00", "2024-03-05", "2024", "*"],
    ]
    assert rows_of(dates(stamps[1:], ["month"])) == [["2024-03-05 07:00:00", "2024-03", "*"]]


@pytest.mark.parametrize(
    ("steps", "fragment"),
    [
        (["week", "month"], "a week is not a part of a month"),
        (["day", "week", "year"], "a week is not a part of a year"),
        (["month", "week"], "a month is not a part of a week"),
        (["year", "month"], "a year is not a part of a month"),
        (["year", "year"], "a year is not a part of a year"),
        (
            ["day", "fortnight"],
            "unknown step 'fortnight'. Use day, week, month, quarter, year, decade, century.",
        ),
    ],
)
def test_date_steps_refused(steps: list[str], fragment: str) -> None:
    with pytest.raises(HierarchyError) as caught:
        dates([dt.date(2024, 1, 1)], steps)
    assert fragment in str(caught.value)


def test_dates_refused() -> None:
    naive = dt.datetime(2024, 1, 1)
    with pytest.raises(HierarchyError, match="mix dates and timestamps"):
        dates([dt.date(2024, 1, 1), naive], ["year"])
    with pytest.raises(HierarchyError, match="some timestamps have a time zone"):
        dates([naive, naive.replace(tzinfo=dt.UTC)], ["year"])
    with pytest.raises(HierarchyError, match="leaf '2024-01-01' is there twice"):
        dates([dt.date(2024, 1, 1)] * 2, ["year"])


NESTING = ["day", "month", "quarter", "year", "decade", "century"]
some_steps = st.sets(st.sampled_from(NESTING)).map(lambda found: sorted(found, key=NESTING.index))


@given(
    st.one_of(
        st.sets(st.dates(), min_size=1, max_size=12),
        st.sets(st.datetimes(), min_size=1, max_size=12),
        st.sets(st.dates(dt.date(2019, 12, 20), dt.date(2021, 1, 10)), min_size=1, max_size=12),
    ),
    st.one_of(some_steps, st.sampled_from([["week"], ["day", "week"]])),
)
def test_dates_nest_in_order_of_time(
    values: set[dt.date] | set[dt.datetime], steps: Sequence[str]
) -> None:
    hierarchy = dates(list(values), steps)
    check_tree(hierarchy)
    stamps = isinstance(next(iter(values)), dt.datetime)
    kind = Kind.TIMESTAMP if stamps else Kind.DATE
    assert hierarchy.parsed(kind) == tuple(sorted(values))
    assert hierarchy.height == len(steps) + (1 if stamps or "day" not in steps else 0)
