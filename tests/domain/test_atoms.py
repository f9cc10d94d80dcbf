"""Domains of values: observed and declared, their order, size and fingerprints.

Expected values are written by hand.
"""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.domain.atoms import Domain, IntervalDomain, ValueDomain
from sqlanon.domain.values import Value
from sqlanon.engines.protocol import Kind
from sqlanon.errors import DomainError


@pytest.mark.parametrize(
    ("kind", "ordered"),
    [
        (Kind.INTEGER, (-5, 0, 9, 10, 100)),
        (Kind.DECIMAL, (Decimal("-1.5"), Decimal("0.1"), Decimal("0.25"))),
        (Kind.FLOAT, (-math.inf, -2.0, 0.0, 1e300, math.inf, math.nan)),
        (Kind.DATE, (dt.date(1969, 7, 20), dt.date(2024, 2, 29))),
        (Kind.TIMESTAMP, (dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, 0, 0, 1))),
        (Kind.BOOLEAN, (False, True)),
        (Kind.TEXT, ("", " ", "10", "9", "Z", "a", "É", "é", "😀")),
    ],
)
def test_observed_in_natural_order(kind: Kind, ordered: tuple[Value, ...]) -> None:
    domain = ValueDomain.observed("c", kind, ordered[::-1])
    assert domain.values == domain.left_ends == ordered
    assert domain.width == domain.size == len(ordered)
    assert not domain.has_null
    assert domain.is_sorted == (kind not in (Kind.BOOLEAN, Kind.TEXT))


def test_null_is_last_and_counts() -> None:
    domain = ValueDomain.observed("c", Kind.TEXT, ["b", None, "a"])
    assert domain.values == ("a", "b")
    assert (domain.width, domain.size, domain.has_null) == (2, 3, True)
    assert domain.codes[None] == 2
    assert None not in ValueDomain.observed("c", Kind.TEXT, ["a"]).codes


def test_only_null() -> None:
    domain = ValueDomain.observed("c", Kind.INTEGER, [None])
    assert (domain.width, domain.size) == (0, 1)
    assert domain.codes == {None: 0}


@given(st.permutations([3.5, -math.inf, math.nan, None, 0.0, math.inf]))
def test_order_does_not_depend_on_arrival(values: list[float | None]) -> None:
    domain = ValueDomain.observed("c", Kind.FLOAT, values)
    assert domain.values[:4] == (-math.inf, 0.0, 3.5, math.inf)
    assert math.isnan(domain.values[4])  # type: ignore[arg-type]
    assert domain.size == 6


def test_declared_order_is_kept() -> None:
    domain = ValueDomain("grade", Kind.INTEGER, (3, 1, 2))
    assert [domain.atom_label(i) for i in range(3)] == ["3", "1", "2"]
    assert not domain.is_sorted
    assert ValueDomain("grade", Kind.INTEGER, (1, 2, 3)).is_sorted
    assert not ValueDomain("race", Kind.TEXT, ("a", "b")).is_sorted, "text reads as sets"


def test_labels_of_runs() -> None:
    domain = ValueDomain("age", Kind.INTEGER, (17, 25, 40, 90))
    assert domain.interval_label(0, 2) == "[17, 40)"
    assert domain.interval_label(1, 4) == "[25, 90]"


@pytest.mark.parametrize(
    ("kind", "values", "name"),
    [
        (Kind.TEXT, ("Black", "White", "Black"), "Black"),
        (Kind.TEXT, ("", "x", ""), ""),
        (Kind.INTEGER, (1, 2, 2), "2"),
        (Kind.DECIMAL, (Decimal("1.0"), Decimal("1.00")), "1"),
        (Kind.FLOAT, (float("nan"), 1.0, float("nan")), "nan"),
        (Kind.FLOAT, (0.0, -0.0), "0"),
        (Kind.DATE, (dt.date(2024, 1, 1), dt.date(2024, 1, 1)), "2024-01-01"),
    ],
)
def test_duplicates_are_refused_by_name(kind: Kind, values: tuple[Value, ...], name: str) -> None:
    with pytest.raises(DomainError) as caught:
        ValueDomain("race", kind, values)
    assert str(caught.value) == (
        f"column 'race': the value {name!r} is listed twice; list every value of the domain once"
    )


def test_empty_is_refused() -> None:
    with pytest.raises(DomainError) as caught:
        ValueDomain("race", Kind.TEXT, ())
    assert str(caught.value) == "column 'race': the domain is empty; it needs a value"


def test_mixed_time_zones_are_refused() -> None:
    naive = dt.datetime(2024, 1, 1)
    mixed = (naive, naive.replace(tzinfo=dt.UTC))
    message = (
        "column 'seen': some timestamps have a time zone and some have none, so they have no "
        "common order; write all of them the same way"
    )
    with pytest.raises(DomainError) as caught:
        ValueDomain("seen", Kind.TIMESTAMP, mixed)
    assert str(caught.value) == message
    with pytest.raises(DomainError) as caught:
        ValueDomain.observed("seen", Kind.TIMESTAMP, mixed)
    assert str(caught.value) == message
    with pytest.raises(DomainError) as caught:
        IntervalDomain.of_range("seen", Kind.TIMESTAMP, *mixed, "day")
    assert str(caught.value) == message


def test_fingerprints_tell_domains_apart() -> None:
    domains: list[Domain] = [
        ValueDomain("c", Kind.INTEGER, (1, 2)),
        ValueDomain("c", Kind.INTEGER, (2, 1)),
        ValueDomain("c", Kind.INTEGER, (1, 2), has_null=True),
        ValueDomain("c", Kind.INTEGER, (1, 3)),
        ValueDomain("c", Kind.INTEGER, (1,)),
        ValueDomain("c", Kind.FLOAT, (1.0, 2.0)),
        ValueDomain("c", Kind.FLOAT, (1.0, math.inf)),
        ValueDomain("c", Kind.FLOAT, (1.0, math.nan)),
        ValueDomain("c", Kind.DECIMAL, (Decimal(1), Decimal(2))),
        ValueDomain("c", Kind.TEXT, ("1", "2")),
        ValueDomain("c", Kind.TEXT, ("1, 2",)),
        ValueDomain("c", Kind.TEXT, ('1", "2',)),
        ValueDomain("c", Kind.TEXT, ("",)),
        ValueDomain("c", Kind.TEXT, (), has_null=True),
        IntervalDomain("c", Kind.INTEGER, (1, 2)),
        IntervalDomain("c", Kind.INTEGER, (1, 2), has_null=True),
        IntervalDomain("c", Kind.INTEGER, (1, 2, 3)),
        IntervalDomain("c", Kind.FLOAT, (1.0, 2.0)),
    ]
    assert len({domain.fingerprint for domain in domains}) == len(domains)


def test_equal_domains_have_equal_fingerprints() -> None:
    one = ValueDomain("c", Kind.DECIMAL, (Decimal("1.50"), Decimal("2")))
    other = ValueDomain("other name", Kind.DECIMAL, (Decimal("1.5"), Decimal("2.0")))
    assert one.fingerprint == other.fingerprint
