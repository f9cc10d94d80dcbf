"""What cannot be counted, and what the message says about it."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

import pyarrow as pa
import pytest

from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import count
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.engines.registry import open_source
from sqlanon.errors import DomainError, EngineError, SubjectError, UncoveredValueError

ADVICE = "\nwiden the domain, correct the values, or leave the rows out of the source"


def refusal(error: type[Exception], data: pa.Table | str, *quasis: Quasi, **options) -> str:
    given = {"query": data} if isinstance(data, str) else {"data": data}
    source = open_source(**given)
    with pytest.raises(error) as caught:
        count(source, quasis, **options)
    source.engine.close()
    return str(caught.value)


def uncovered(data: pa.Table | str, *quasis: Quasi, **options) -> str:
    """What is said, each line with the values that the error knows of the column."""
    source = open_source(**({"query": data} if isinstance(data, str) else {"data": data}))
    with pytest.raises(UncoveredValueError) as caught:
        count(source, quasis, **options)
    source.engine.close()
    message = str(caught.value)
    assert message.endswith(ADVICE)
    lines = message.removesuffix(ADVICE).splitlines()
    found = [", ".join(map(repr, values)) for values in caught.value.values.values()]
    return "\n".join(f"{line}: {values}" for line, values in zip(lines, found, strict=True))


def test_uncovered_values_have_an_exit_status() -> None:
    assert UncoveredValueError.exit_status == 4


def test_values_that_a_list_lacks() -> None:
    data = pa.table({"c": ["a", "b", "x", "x", "y", None]})
    assert uncovered(data, Quasi("c", values=("a", "b"))) == (
        "column 'c': 3 rows have 2 values outside the declared values: 'x', 'y'"
    )
    assert uncovered(data, Quasi("c", values=("a", "b", "x"))) == (
        "column 'c': 1 row has 1 value outside the declared values: 'y'"
    )


def test_values_that_a_hierarchy_lacks() -> None:
    tree = Hierarchy.from_rows([["1", "*"], ["2", "*"]], "numbers.csv")
    data = pa.table({"n": [1, 2, 3, 3]})
    assert uncovered(data, Quasi("n", hierarchy=tree)) == (
        "column 'n': 2 rows have 1 value outside the hierarchy numbers.csv: '3'"
    )


def test_values_outside_a_range() -> None:
    data = pa.table({"n": [0, 10, 11, 11, -1, None]})
    assert uncovered(data, Quasi("n", range=(0, 10), granularity=5)) == (
        "column 'n': 3 rows have 2 values outside the declared range [0, 10]: '11', '-1'"
    )


def test_only_the_first_values_are_named() -> None:
    data = pa.table({"n": list(range(1000, 3000))})
    listed = ", ".join(repr(str(number)) for number in range(1000, 1100))
    assert uncovered(data, Quasi("n", range=(0, 10), granularity=5)) == (
        f"column 'n': 2,000 rows have 2,000 values outside the declared range [0, 10]: {listed}"
    )


def test_every_column_at_fault_is_named() -> None:
    data = pa.table({"a": [1, 9], "b": ["x", "y"]})
    quasis = [Quasi("a", range=(0, 5), granularity=1), Quasi("b", values=("x",))]
    assert uncovered(data, *quasis, subject="b").splitlines() == [
        "column 'a': 1 row has 1 value outside the declared range [0, 5]: '9'",
        "column 'b': 1 row has 1 value outside the declared values: 'y'",
    ]


def test_nan_and_infinities_are_outside_every_range() -> None:
    data = pa.table({"x": pa.array([1.0, math.nan, math.inf, -math.inf, None])})
    message = uncovered(data, Quasi("x", range=(0, 2), granularity=0.5))
    assert message.startswith(
        "column 'x': 3 rows have 3 values outside the declared range [0, 2]: "
    )
    assert {"'nan'", "'inf'", "'-inf'"} == set(message.split(": ")[2].split(", "))


def test_other_kinds_outside_a_range() -> None:
    days = pa.table({"d": [dt.date(2020, 12, 31), dt.date(2021, 6, 1)]})
    assert uncovered(days, Quasi("d", range=("2021-01-01", "2022-01-01"), granularity="month")) == (
        "column 'd': 1 row has 1 value outside the declared range [2021-01-01, 2022-01-01]: "
        "'2020-12-31'"
    )
    infinite = "SELECT DATE 'infinity' AS d"
    assert uncovered(
        infinite, Quasi("d", range=("2021-01-01", "2022-01-01"), granularity="month")
    ).endswith(": 'infinity'")
    prices = pa.table({"p": [Decimal("2.50")]})
    assert uncovered(prices, Quasi("p", range=(0, 2), granularity=1)).endswith(": '2.50'")


@pytest.mark.parametrize("name", ["value", "n_rows", "q0", 'x"y', "select"])
def test_names_do_not_confuse_the_search_for_outsiders(name: str) -> None:
    data = pa.table({name: [5, 50, 50], "other": [50, 5, 5], "VALUE 2": [1, 2, 3]})
    assert uncovered(data, Quasi(name, range=(0, 10), granularity=5)) == (
        f"column {name!r}: 2 rows have 1 value outside the declared range [0, 10]: '50'"
    )


def test_an_empty_source() -> None:
    data = pa.table({"a": pa.array([], pa.int64()), "who": pa.array([], pa.string())})
    for options in ({}, {"subject": "who"}, {"facets": ["who"]}):
        message = refusal(EngineError, data, Quasi("a"), **options)
        assert message == "Arrow table has no rows; there is nothing to anonymize"


def test_no_quasi_identifier() -> None:
    assert "no quasi-identifier" in refusal(DomainError, pa.table({"a": [1]}))


def test_columns_that_are_not_there() -> None:
    data = pa.table({"age": [1], "who": ["p"]})
    for quasi, options in [
        (Quasi("aeg"), {}),
        (Quasi("age"), {"facets": ["aeg"]}),
        (Quasi("age"), {"subject": "aeg"}),
    ]:
        assert "no column 'aeg'. Did you mean 'age'?" in refusal(
            EngineError, data, quasi, **options
        )


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("SELECT [1] AS a", "INTEGER[]"),
        ("SELECT {'x': 1} AS a", "STRUCT(x INTEGER)"),
        ("SELECT TIME '10:00' AS a", "TIME"),
        ("SELECT 'a'::BLOB AS a", "BLOB"),
    ],
)
def test_types_that_cannot_be_counted(text: str, type_: str) -> None:
    wanted = (
        f"column 'a' has type {type_}, which cannot be counted; "
        "cast it to text or a number in the source query"
    )
    assert refusal(DomainError, text, Quasi("a")) == wanted
    for options in ({"facets": ["a"]}, {"subject": "a"}):
        assert refusal(DomainError, f"{text}, 1 AS b", Quasi("b"), **options) == wanted


@pytest.mark.parametrize(
    "value",
    ["DATE 'infinity'", "DATE '12000-01-01'", "TIMESTAMP '-infinity'", "DATE '0044-03-15 (BC)'"],
)
def test_dates_beyond_the_calendar(value: str) -> None:
    message = refusal(DomainError, f"SELECT {value} AS d", Quasi("d"))
    assert message.startswith("column 'd': a ")
    assert "outside the years 1 to 9999" in message


def test_rows_without_a_subject() -> None:
    data = pa.table({"a": [1, 1, 2], "who": ["p", None, None]})
    message = refusal(SubjectError, data, Quasi("a"), subject="who")
    assert message.startswith("subject column 'who' is NULL in 2 rows, so nobody can tell")
    data = data.slice(0, 2)
    assert "is NULL in 1 row, so" in refusal(SubjectError, data, Quasi("a"), subject="who")


@pytest.mark.parametrize(
    ("quasi", "reason"),
    [
        (Quasi("t", range=(0, 5), granularity=1), "column 't' is text: a range needs numbers"),
        (Quasi("n", range=(5, 0), granularity=1), "column 'n': the range [5, 0] is empty"),
        (Quasi("n", range=(0, 5), granularity=0), "column 'n': granularity 0 is not a positive"),
        (Quasi("n", range=(0, 5), granularity=0.5), "column 'n': granularity 0.5 is not a whole"),
        (Quasi("n", range=(0, 10**9), granularity=1), "column 'n': the range has more than"),
        (Quasi("n", range=("x", 5), granularity=1), "column 'n': 'x' is not a value of kind"),
        (Quasi("n", values=(1, "one")), "column 'n': 'one' is not a value of kind integer"),
        (Quasi("n", values=(1, 1)), "column 'n': the value '1' is listed twice"),
        (Quasi("n", values=()), "column 'n': the domain is empty"),
    ],
)
def test_declarations_that_do_not_fit(quasi: Quasi, reason: str) -> None:
    data = pa.table({"n": [1, 2], "t": ["1", "2"]})
    assert refusal(DomainError, data, quasi).startswith(reason)
