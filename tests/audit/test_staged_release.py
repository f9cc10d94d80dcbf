"""The last check before a release: every defect is found, and named without a value."""

from __future__ import annotations

import dataclasses
import datetime as dt
import math
from decimal import Decimal

import duckdb
import pytest
from sqlglot import exp

from sqlanon.audit.staged_release import Expected, Facts, verify_release
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.protocol import Source
from sqlanon.engines.registry import open_source

# Two groups of ages times two sexes, five people in each, two rows a person: 40 rows.
STAGED = """
    CREATE TABLE staged AS
    SELECT
        CASE WHEN i % 2 = 0 THEN '[20, 30)' ELSE '[30, 40]' END AS age,
        CASE WHEN i // 2 % 2 = 0 THEN NULL ELSE 'F' END AS "sé""x",
        CASE WHEN i % 3 = 0 THEN 'flu' END AS ill,
        i % 20 AS person
    FROM range(40) r(i)
"""
EXPECTED = Expected(
    columns=("age", 'sé"x', "ill"),
    k=5,
    quasi={"age": frozenset({"[20, 30)", "[30, 40]"}), 'sé"x': frozenset({"F", None})},
    source_rows=42,
    most_left_out=2,
    subject="person",
    verbatim={"ill": None},
    sensitive=("ill",),
)
Connection = duckdb.DuckDBPyConnection


@pytest.fixture
def staged() -> Connection:
    connection = duckdb.connect()
    connection.execute(STAGED)
    return connection


def verified(connection: Connection, **changes: object) -> Facts:
    engine = DuckDBEngine(connection, owned=False)
    expected = dataclasses.replace(EXPECTED, **changes)
    return verify_release(Source.of(engine, exp.to_table("staged")), expected)


def test_as_it_should_be(staged: Connection) -> None:
    found = verified(staged)
    assert found.problems == ()
    assert found.holds
    assert found.left_out == 2
    assert found.audit is not None
    assert (found.audit.k, found.audit.people, found.audit.rows) == (5, 20, 40)
    assert [each.column for each in found.audit.sensitive] == ["ill"]
    assert found.findings == {}
    assert found.unique_rows == 0


DEFECTS: dict[str, tuple[str, str]] = {
    "a person less in a class": (
        "UPDATE staged SET person = 4 WHERE person = 0",
        "k is 4, required 5: 1 of 4 classes have fewer than 5 people; 10 of 40 rows are in them",
    ),
    "rows twice": (
        "INSERT INTO staged FROM staged",
        "the staged table has 80 rows, 38 more than the source has",
    ),
    "a class left out": (
        'DELETE FROM staged WHERE age = \'[20, 30)\' AND "sé""x" IS NULL',
        "the staged table has 30 of 42 rows: 12 are left out, at most 2 may be",
    ),
    "raw values": (
        "UPDATE staged SET age = '23' WHERE person % 4 = 0",
        "column 'age' holds 1 value in 10 rows that no group of the scheme has",
    ),
    "NULL where there is none": (
        "UPDATE staged SET age = NULL WHERE person % 4 = 0",
        "column 'age' holds 1 value in 10 rows that no group of the scheme has",
    ),
    "an empty text for NULL": (
        'UPDATE staged SET "sé""x" = \'\' WHERE "sé""x" IS NULL',
        "column 'sé\"x' holds 1 value in 20 rows that no group of the scheme has",
    ),
    "a column too many": (
        "ALTER TABLE staged ADD COLUMN name VARCHAR",
        "the staged table has 'name', not to be released",
    ),
    "another spelling": (
        "ALTER TABLE staged RENAME COLUMN ill TO Ill",
        "the staged table lacks 'ill'",
    ),
    "a row of nobody": (
        "UPDATE staged SET person = NULL WHERE person = 19",
        "k cannot be counted: subject column 'person' is NULL in 2 rows, so nobody can tell how "
        "many people there are; fill it in or leave such rows out",
    ),
    "nothing": ("DELETE FROM staged", "the staged table is empty; there is nothing to release"),
    "addresses": (
        "UPDATE staged SET ill = 'ann@example.org' WHERE ill IS NOT NULL",
        "column 'ill' holds what looks like e-mail addresses: 14 of 14 pairs of person and value "
        '(100.0%); add `accept: "reason"` to columns.ill, or drop or generalize it',
    ),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_planted_defects(staged: Connection, name: str) -> None:
    statement, problem = DEFECTS[name]
    staged.execute(statement)
    found = verified(staged)
    assert not found.holds
    assert problem in found.problems
    assert not any("ann@" in text or "23" in text for text in found.problems)


def test_all_problems_are_reported(staged: Connection) -> None:
    staged.execute("ALTER TABLE staged RENAME COLUMN ill TO disease")
    staged.execute("UPDATE staged SET age = '23', person = 1 WHERE person = 0")
    staged.execute("DELETE FROM staged WHERE person = 19")
    found = verified(staged)
    assert [problem.split(":")[0] for problem in found.problems] == [
        "the staged table lacks 'ill'",
        "the staged table has 'disease', not to be released",
        "the staged table has 38 of 42 rows",
        "k is 1, required 5",
        "column 'age' holds 1 value in 2 rows that no group of the scheme has",
    ]


def test_a_missing_quasi_identifier(staged: Connection) -> None:
    staged.execute("ALTER TABLE staged DROP COLUMN age")
    found = verified(staged)
    assert found.audit is None
    assert found.problems == (
        "the staged table lacks 'age'",
        "k cannot be counted: columns that it needs are missing",
    )


def test_a_missing_subject(staged: Connection) -> None:
    staged.execute("ALTER TABLE staged DROP COLUMN person")
    assert verified(staged).problems == (
        "the staged table lacks its private column 'person'",
        "k cannot be counted: columns that it needs are missing",
    )


def test_the_order_of_columns(staged: Connection) -> None:
    assert verified(staged, columns=("age", "ill", 'sé"x')).problems == (
        "the staged table has its columns in another order: 'age', 'sé\"x', 'ill' instead of "
        "'age', 'ill', 'sé\"x'",
    )


def test_the_subject_is_not_released(staged: Connection) -> None:
    found = verified(staged, columns=(*EXPECTED.columns, "person"))
    assert "column 'person' names the subject and would be released" in found.problems


def test_a_quasi_identifier_that_is_not_released(staged: Connection) -> None:
    found = verified(staged, quasi={**EXPECTED.quasi, "zip": None})
    assert "quasi-identifiers are not among the columns: 'zip'" in found.problems
    assert found.audit is None


def test_rows_are_people_without_a_subject(staged: Connection) -> None:
    staged.execute("ALTER TABLE staged DROP COLUMN person")
    assert verified(staged, subject=None, k=10).holds
    assert not verified(staged, subject=None, k=11).holds


def test_findings_are_accepted_with_a_reason(staged: Connection) -> None:
    staged.execute("UPDATE staged SET ill = 'x' || person")
    for reason in (None, "", "  "):
        found = verified(staged, verbatim={"ill": reason})
        assert [each.split(";")[0].split(":")[0] for each in found.problems] == [
            "column 'ill' is nearly unique"
        ]
    found = verified(staged, verbatim={"ill": "drawn at random"})
    assert found.holds
    assert found.warnings[0].endswith("; accepted: drawn at random")
    assert list(found.findings) == ["ill"]


def test_a_column_that_nobody_speaks_of_is_verbatim(staged: Connection) -> None:
    staged.execute("UPDATE staged SET ill = 'x' || person")
    assert not verified(staged, verbatim={}).holds


def test_unique_rows_are_a_warning(staged: Connection) -> None:
    staged.execute("UPDATE staged SET ill = 'gout' WHERE person = 7")
    found = verified(staged)
    assert found.holds
    assert found.unique_rows == 2
    assert found.warnings == (
        "2 of 40 rows (5.0%) have a combination of all released columns that no other person has",
    )


VALUES = [
    ("1", "INTEGER", 1, True),
    ("1", "INTEGER", Decimal(1), True),
    ("1", "INTEGER", "1", False),
    ("1", "INTEGER", True, False),
    ("'1'", "VARCHAR", 1, False),
    ("true", "BOOLEAN", True, True),
    ("true", "BOOLEAN", 1, False),
    ("1.50", "DECIMAL(5, 2)", Decimal("1.5"), True),
    ("'nan'", "DOUBLE", math.nan, True),
    ("'nan'", "DOUBLE", None, False),
    ("NULL", "DOUBLE", None, True),
    ("NULL", "DOUBLE", math.nan, False),
    ("'-0'", "DOUBLE", 0.0, True),
    ("0.1", "DOUBLE", 0.1, True),
    ("'2020-01-01'", "DATE", dt.date(2020, 1, 1), True),
    ("'2020-01-01'", "DATE", dt.datetime(2020, 1, 1), False),
    ("'2020-01-01'", "TIMESTAMP", dt.datetime(2020, 1, 1), True),
    ("'2020-01-01'", "TIMESTAMP_NS", dt.datetime(2020, 1, 1), True),
    ("'2020-01-01'", "TIMESTAMP", dt.date(2020, 1, 1), False),
    ("'a'", "VARCHAR", "A", False),
    ("'a '", "VARCHAR", "a", False),
    ("'NULL'", "VARCHAR", None, False),
    ("'x'", "ENUM('x')", "x", True),
]


@pytest.mark.parametrize(("literal", "type_", "allowed", "holds"), VALUES)
def test_allowed_values(literal: str, type_: str, allowed: object, holds: bool) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t (a {type_})")
        connection.execute(f"INSERT INTO t VALUES ({literal})")
        source = open_source(connection=connection, table="t")
        expected = Expected(("a",), 1, {"a": frozenset([allowed])}, 1, 0)  # type: ignore[list-item]
        assert verify_release(source, expected).holds is holds
