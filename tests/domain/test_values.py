"""Values: what parses to what, how it is spelled, and how it is ordered.

Expected values are written by hand.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Decimal
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.domain.values import Value, format_value, json_value, parse_value, sort_key
from sqlanon.engines.protocol import Kind
from sqlanon.errors import DomainError

NOON = dt.datetime(2024, 2, 29, 12, 0)
MIDNIGHT = dt.datetime(2024, 2, 29)
LEAP_DAY = dt.date(2024, 2, 29)


@pytest.mark.parametrize(
    ("raw", "kind", "expected"),
    [
        (7, Kind.INTEGER, 7),
        ("7", Kind.INTEGER, 7),
        (" -7 ", Kind.INTEGER, -7),
        ("1.0", Kind.INTEGER, 1),
        (1.0, Kind.INTEGER, 1),
        ("1e3", Kind.INTEGER, 1000),
        (Decimal("2.00"), Kind.INTEGER, 2),
        ("1" * 39, Kind.INTEGER, 111_111_111_111_111_111_111_111_111_111_111_111_111),
        (0.1, Kind.DECIMAL, Decimal("0.1")),
        ("2.50", Kind.DECIMAL, Decimal("2.5")),
        (3, Kind.DECIMAL, Decimal(3)),
        (f"0.{'7' * 38}", Kind.DECIMAL, Decimal("0.77777777777777777777777777777777777777")),
        ("0.5", Kind.FLOAT, 0.5),
        (2, Kind.FLOAT, 2.0),
        (Decimal("0.1"), Kind.FLOAT, 0.1),
        ("-inf", Kind.FLOAT, -math.inf),
        (math.inf, Kind.FLOAT, math.inf),
        ("2024-02-29", Kind.DATE, LEAP_DAY),
        (LEAP_DAY, Kind.DATE, LEAP_DAY),
        (MIDNIGHT, Kind.DATE, LEAP_DAY),
        ("2024-02-29 12:00:00", Kind.TIMESTAMP, NOON),
        ("2024-02-29T12:00", Kind.TIMESTAMP, NOON),
        ("2024-02-29", Kind.TIMESTAMP, MIDNIGHT),
        (LEAP_DAY, Kind.TIMESTAMP, MIDNIGHT),
        (NOON, Kind.TIMESTAMP, NOON),
        (True, Kind.BOOLEAN, True),
        ("FALSE", Kind.BOOLEAN, False),
        ("true", Kind.BOOLEAN, True),
        ("", Kind.TEXT, ""),
        (" x ", Kind.TEXT, " x "),
        (94110, Kind.TEXT, "94110"),
        (LEAP_DAY, Kind.TEXT, "2024-02-29"),
    ],
)  # fmt: skip
def test_parse(raw: object, kind: Kind, expected: Value) -> None:
    found = parse_value(raw, kind)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (True, Kind.INTEGER),
        (False, Kind.DECIMAL),
        (True, Kind.FLOAT),
        (True, Kind.DATE),
        (True, Kind.TIMESTAMP),
        (True, Kind.TEXT),
        (1, Kind.BOOLEAN),
        ("yes", Kind.BOOLEAN),
        ("1.5", Kind.INTEGER),
        ("seven", Kind.INTEGER),
        ("nan", Kind.INTEGER),
        ("sNaN", Kind.INTEGER),
        (math.inf, Kind.INTEGER),
        ("1e999999999", Kind.INTEGER),
        ("1e999999999", Kind.DECIMAL),
        ("nan", Kind.DECIMAL),
        (math.inf, Kind.DECIMAL),
        ("1,5", Kind.FLOAT),
        (10**400, Kind.FLOAT),
        (LEAP_DAY, Kind.FLOAT),
        ("2023-02-29", Kind.DATE),
        (NOON, Kind.DATE),
        ("2024-02-29 12:00", Kind.DATE),
        ("12:00", Kind.TIMESTAMP),
        (["x"], Kind.TEXT),
        *((None, kind) for kind in Kind),
        *(([], kind) for kind in Kind),
    ],
)
def test_refused(raw: object, kind: Kind) -> None:
    with pytest.raises(DomainError) as caught:
        parse_value(raw, kind)
    assert str(caught.value) == f"{raw!r} is not a value of kind {kind.value}"


def test_zeros_and_nans_are_one_value() -> None:
    for raw in (-0.0, "-0.0", 0):
        assert math.copysign(1, parse_value(raw, Kind.FLOAT)) == 1  # type: ignore[arg-type]
    assert format_value(parse_value("-0.00", Kind.DECIMAL)) == "0"
    nans = parse_value("nan", Kind.FLOAT), parse_value(float("nan"), Kind.FLOAT)
    assert math.isnan(nans[0])  # type: ignore[arg-type]
    assert (nans[0],) == (nans[1],), "tuples with NaN compare equal"
    assert sort_key(nans[0]) == sort_key(nans[1])


@pytest.mark.parametrize(
    ("value", "spelling", "in_json"),
    [
        (7, "7", 7),
        (-10**20, "-100000000000000000000", -10**20),
        (True, "true", True),
        (False, "false", False),
        (Decimal("2.50"), "2.5", "2.5"),
        (Decimal("100"), "100", "100"),
        (Decimal("1E+3"), "1000", "1000"),
        (Decimal("1E-7"), "0.0000001", "0.0000001"),
        (Decimal("0.00"), "0", "0"),
        (2.0, "2", 2.0),
        (-0.0, "0", -0.0),
        (0.1, "0.1", 0.1),
        (1e15, "1000000000000000.0", 1e15),
        (1e-9, "1e-09", 1e-9),
        (math.inf, "inf", "inf"),
        (-math.inf, "-inf", "-inf"),
        (math.nan, "nan", "nan"),
        (LEAP_DAY, "2024-02-29", "2024-02-29"),
        (MIDNIGHT, "2024-02-29 00:00:00", "2024-02-29 00:00:00"),
        (NOON.replace(microsecond=5), "2024-02-29 12:00:00.000005", "2024-02-29 12:00:00.000005"),
        ("", "", ""),
        ("Zoë", "Zoë", "Zoë"),
    ],
)  # fmt: skip
def test_spelling(value: Value, spelling: str, in_json: Any) -> None:
    assert format_value(value) == spelling
    assert json_value(value) == in_json
    assert type(json_value(value)) is type(in_json)


VALUES: dict[Kind, st.SearchStrategy[Any]] = {
    Kind.INTEGER: st.integers(),
    Kind.DECIMAL: st.decimals(allow_nan=False, allow_infinity=False, places=4),
    Kind.FLOAT: st.floats(),
    Kind.DATE: st.dates(),
    Kind.TIMESTAMP: st.datetimes(),
    Kind.BOOLEAN: st.booleans(),
    Kind.TEXT: st.text(),
}


@pytest.mark.parametrize("kind", Kind)
@given(data=st.data())
def test_both_spellings_read_back(kind: Kind, data: st.DataObject) -> None:
    value = data.draw(VALUES[kind])
    through_json = json.loads(json.dumps(json_value(value), allow_nan=False))
    for spelling in (format_value(value), through_json):
        found = parse_value(spelling, kind)
        assert found == value or (found != found and value != value)


@pytest.mark.parametrize(
    "ordered",
    [
        [-math.inf, -1.5, 0.0, 2.0, math.inf, math.nan],
        [-3, 0, 20, 100],
        [Decimal("-0.2"), Decimal("0.1"), Decimal("0.11")],
        [False, True],
        ["", " ", "10", "9", "A", "a", "é", "中", "😀"],
        [dt.date(1999, 12, 31), LEAP_DAY],
        [MIDNIGHT, NOON],
    ],
)
def test_order(ordered: list[Value]) -> None:
    assert all(sort_key(a) < sort_key(b) for a, b in combinations(ordered, 2))


def test_ordered_kinds() -> None:
    assert {kind for kind in Kind if not kind.is_ordered} == {Kind.BOOLEAN, Kind.TEXT}
