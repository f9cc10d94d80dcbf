"""What new numbers belong to, under a hierarchy of intervals: an interval holds all its numbers."""

from __future__ import annotations

import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon
from sqlanon.domain.hierarchy_builders import intervals
from sqlanon.engines.protocol import Kind
from sqlanon.errors import SqlanonError

NAN, INF = math.nan, math.inf
D = Decimal
CASES: dict[str, tuple[list[Any], list[Any], list[Any]]] = {
    # by type: what was seen, what is new in [30, 40) or [50, 60), what is in neither
    "INTEGER": ([31, 38, 52, 55], [30, 39, 59], [29, 40, 60]),
    "UTINYINT": ([31, 38, 52, 55], [30, 39, 59], [29, 40, 60]),
    "HUGEINT": ([31, 38, 52], [30, 39], [29, 10**30]),
    "DOUBLE": ([30.5, 31.0, 52.1, NAN, INF], [30.0, 39.999, 59.9], [29.999, 40.0, -INF]),
    "FLOAT": ([30.5, 31.0, 52.5], [30.0, 39.9], [29.9, 60.0, NAN]),
    "DECIMAL(6,2)": ([D("30.5"), D("31.25"), D("52")], [D("30"), D("39.99")], [D("29.99")]),
}


def label(value: Any) -> str:
    """By hand: the ten of a number."""
    if value is None or not math.isfinite(value):
        return "NaN" if value is not None and math.isnan(value) else str(value)
    low = int(value // 10) * 10
    return f"[{low}, {low + 10})"


def policy(**keys: Any) -> dict[str, Any]:
    age = {"role": "quasi", "hierarchy": {"intervals": [10, 100]}, "family": "full-domain", **keys}
    return {
        "source": {"table": "people"},
        "columns": {"age": age},
        "one_row_per_person": True,
        "privacy": {"k": 1},
        "publish": {"to": "released"},
    }


def insert(connection: duckdb.DuckDBPyConnection, values: list[Any]) -> None:
    connection.executemany("INSERT INTO people VALUES (?)", [[value] for value in values])


@pytest.mark.parametrize("form", ["case", "join"])
@pytest.mark.parametrize("type_", CASES)
def test_a_new_number_of_a_known_interval(type_: str, form: str) -> None:
    seen, new, outside = CASES[type_]
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE people (age {type_})")
        insert(connection, seen)
        with sqlanon.load(policy(form=form), connection=connection) as anonymizer:
            scheme = anonymizer.scheme({"columns": {"age": {"level": 1}}})
            for number in seen:
                if math.isfinite(number):
                    assert f" {number}" not in anonymizer.sql(scheme), "no number is listed"
        insert(connection, new)
        with sqlanon.load(policy(form=form), connection=connection) as anonymizer:
            released = anonymizer.publish(scheme)
        assert sorted(released.to_pandas()["age"]) == sorted(map(label, [*seen, *new]))
        smallest = min(sum(label(other) == label(each) for other in [*seen, *new]) for each in seen)
        assert released.k == smallest, "counted on the release"
        insert(connection, outside)
        with (
            sqlanon.load(policy(form=form), connection=connection) as anonymizer,
            pytest.raises(SqlanonError, match=f"'age' in {len(outside)} row"),
        ):
            anonymizer.publish(scheme)


def test_a_result_of_yesterday_is_measured_on_the_numbers_of_today(tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people (age INTEGER)")
        insert(connection, [31, 38, 52, 55])
        with sqlanon.load(policy(), connection=connection) as anonymizer:
            result = anonymizer.search(method="exhaustive")
            result.write(tmp_path / "result.json")
        groups = [len(each.scheme["age"].runs) for each in result.solutions]
        number = groups.index(2)
        insert(connection, [30, 59])
        with sqlanon.load(policy(), connection=connection) as anonymizer:
            solution = anonymizer.measure(f"{tmp_path / 'result.json'}#{number}")
        # [30, 40) has 30, 31 and 38, [50, 60) has 52, 55 and 59.
        assert (solution.k, solution.k_max, solution.classes) == (3, 3, 2)


@pytest.mark.parametrize(
    ("widths", "origin", "value", "level", "span"),
    [
        ([5, 10], 0, 37, 1, (35, 40)),
        ([5, 10], 0, 37, 2, (30, 40)),
        ([5, 10], 0, 37, 3, (None, None)),  # the root is all
        ([5, 10], 0, 37, 0, None),  # a value is itself
        ([10], 5, -7, 1, (-15, 5 - 10)),
        ([2.5], 0, 6, 1, (5, 8)),  # whole numbers from 5 up to below 7.5
        ([10], 0, 2**127 - 1, 1, None),  # no database can compare the end exactly
    ],
)
def test_where_intervals_begin_and_end(
    widths: list[float], origin: int, value: int, level: int, span: object
) -> None:
    extent = intervals([value], Kind.INTEGER, widths, origin).extent
    assert extent is not None
    assert extent(level, value) == span


def test_ends_that_no_float_is() -> None:
    extent = intervals([0.1], Kind.FLOAT, [Decimal("0.10000000000000000001")]).extent
    assert extent is not None
    assert extent(1, 0.1) is None
