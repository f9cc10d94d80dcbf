"""Equal values have equal keys, whatever table, type or database they come from."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest

from sqlanon.audit.auditor import audit, reference_of
from sqlanon.audit.cells import ascending
from sqlanon.engines.protocol import Kind
from sqlanon.engines.registry import open_source
from sqlanon.errors import CheckError
from sqlanon.privacy.t_closeness import Closeness, Distance

SAME = [
    ("1", "INTEGER", "1.0", "DOUBLE"),
    ("1", "UBIGINT", "1.00", "DECIMAL(5, 2)"),
    ("0.1", "DOUBLE", "0.10", "DECIMAL(5, 2)"),
    ("'-0'", "DOUBLE", "0", "INTEGER"),
    ("'1e300'", "DOUBLE", "'1e300'", "DOUBLE"),
    ("'nan'", "DOUBLE", "'-nan'", "FLOAT"),
    ("'-inf'", "DOUBLE", "'-inf'", "FLOAT"),
    ("12345678901234567890123456789012345678", "HUGEINT",
     "12345678901234567890123456789012345678", "DECIMAL(38, 0)"),
    ("'x'", "ENUM('x')", "'x'", "VARCHAR"),
    ("''", "VARCHAR", "''", "VARCHAR"),
    ("'2020-01-02'", "DATE", "'2020-01-02'", "DATE"),
    ("'2020-01-02 03:04:05.5'", "TIMESTAMP", "'2020-01-02 03:04:05.5'", "TIMESTAMP_NS"),
    ("'2020-01-02 03:04:05+02'", "TIMESTAMPTZ", "'2020-01-02 01:04:05+00'", "TIMESTAMPTZ"),
    ("true", "BOOLEAN", "'true'", "VARCHAR"),
    ("NULL", "INTEGER", "NULL", "VARCHAR"),
]  # fmt: skip
OTHER = [
    ("'007'", "VARCHAR", "7", "INTEGER"),
    ("''", "VARCHAR", "NULL", "VARCHAR"),
    ("'a'", "VARCHAR", "'A'", "VARCHAR"),
    ("'nan'", "DOUBLE", "NULL", "DOUBLE"),
    ("12345678901234567890123456789012345678", "HUGEINT",
     "12345678901234567890123456789012345679", "HUGEINT"),
]  # fmt: skip


def keys(literal: str, type_: str, zone: str) -> set:
    with duckdb.connect() as connection:
        connection.execute(f"SET TimeZone = '{zone}'")
        connection.execute(f"CREATE TABLE t (a {type_})")
        connection.execute(f"INSERT INTO t VALUES ({literal})")
        counted = reference_of(open_source(connection=connection, table="t"), "a")
        assert set(counted.counts.values()) == {1}
        return set(counted.counts)


@pytest.mark.parametrize(("one", "type_1", "other", "type_2"), SAME)
def test_the_same_value(one: str, type_1: str, other: str, type_2: str) -> None:
    assert keys(one, type_1, "UTC") == keys(other, type_2, "Asia/Tokyo")


@pytest.mark.parametrize(("one", "type_1", "other", "type_2"), OTHER)
def test_another_value(one: str, type_1: str, other: str, type_2: str) -> None:
    assert keys(one, type_1, "UTC") != keys(other, type_2, "UTC")


def test_the_order_of_values() -> None:
    assert ascending({"10", "9", None, "-7"}, Kind.INTEGER) == ["-7", "9", "10", None]
    numbers = {"NaN", "Infinity", "0.5", "-2", "10", "-Infinity"}
    assert ascending(numbers, Kind.FLOAT) == ["-Infinity", "-2", "0.5", "10", "Infinity", "NaN"]
    assert ascending({"b", "B", "", "é"}, Kind.TEXT) == ["", "B", "b", "é"]
    days = {"2020-01-02", "0044-03-15 (BC)", "10000-01-01", "0043-01-01 (BC)", "infinity"}
    assert ascending(days, Kind.DATE) == [
        "0044-03-15 (BC)", "0043-01-01 (BC)", "2020-01-02", "10000-01-01", "infinity",
    ]  # fmt: skip


def test_dates_as_the_database_orders_them() -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT DATE '2020-01-01' + ((i * i - 900) * 4001)::INTEGER AS d "
            "FROM range(60) r(i)"
        )
        rows = connection.execute("SELECT d::TEXT FROM t ORDER BY d").fetchall()
        counted = reference_of(open_source(connection=connection, table="t"), "d")
    assert ascending(set(counted.counts), Kind.DATE) == [text for (text,) in rows]


def test_numbers_beside_texts() -> None:
    """A text has no place among numbers: there is no order, but the values match."""
    whole = open_source(data=pa.table({"v": ["1", "2"]}))
    source = open_source(data=pa.table({"a": [1, 1], "v": [1, 2]}))
    reference = {"v": reference_of(whole, "v")}
    (found,) = audit(source, ["a"], sensitive=["v"], reference=reference).sensitive
    assert (found.t_equal, found.t_ordered) == (0.0, None)
    model = Closeness("v", 0.5, Distance.ORDERED)
    assert audit(source, ["a"], models=[model], reference=reference).models[0].value == 0.0


def test_an_empty_reference() -> None:
    whole = open_source(data=pa.table({"v": pa.array([], pa.int64())}))
    source = open_source(data=pa.table({"a": [1], "v": [1]}))
    with pytest.raises(CheckError, match="the reference has no rows, so nothing of 'v' can be"):
        audit(source, ["a"], sensitive=["v"], reference={"v": reference_of(whole, "v")})


@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT"])
def test_a_collation_joins_no_classes_and_no_values(collation: str) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"SET default_collation = '{collation}'")
        connection.execute(f"CREATE TABLE t (a VARCHAR COLLATE {collation}, v VARCHAR)")
        connection.execute(
            "INSERT INTO t VALUES ('e', 'x'), ('E', 'X'), ('é', 'x'), ('É', 'ẍ'), ('e', 'X')"
        )
        (found,) = audit(
            open_source(connection=connection, table="t"), ["a"], sensitive=["v"]
        ).sensitive
    # Classes e (x, X), E, é, É; in the whole x has 2 of 5, X 2 and ẍ 1.
    assert found.fewest_values == 1
    assert (found.t_equal, found.beta) == (pytest.approx(4 / 5), pytest.approx(4.0))
