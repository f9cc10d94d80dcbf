"""Releases as tables: new ones, over former ones, and in place of their source."""

from __future__ import annotations

import duckdb
import pytest
from publish_cases import (
    DISEASE,
    age,
    contents,
    named,
    publish,
    release,
    tables,
    town,
)

from sqlanon.audit.table_hash import table_hash
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.protocol import Source
from sqlanon.errors import PublishError, VerificationError

RELEASED = """
    SELECT age, town, count(*) AS n, count(DISTINCT disease) AS diseases
    FROM people_anon GROUP BY ALL ORDER BY ALL
"""
GROUPS = [
    ("[20, 40)", "{Bonn, Lima}", 50, 2),
    ("[20, 40)", "{Oslo, Rome}", 50, 2),
    ("[40, 60]", "{Bonn, Lima}", 50, 2),
    ("[40, 60]", "{Oslo, Rome}", 50, 2),
]


def test_a_new_table(engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection) -> None:
    published = publish(engine, release())
    assert contents(connection, RELEASED) == GROUPS
    assert tables(connection) == ["people", "people_anon"]
    assert published.target == "memory.main.people_anon"
    assert (published.rows, published.left_out) == (200, 0)
    assert published.unseen == {"age": 0, "town": 0}
    assert published.facts.audit is not None
    assert published.facts.audit.k == 50
    assert published.table_hash == table_hash(
        Source.of(engine, named("people_anon")), ["age", "town", "disease"]
    )
    assert [column.name for column in published.columns] == ["age", "town", "disease"]
    assert published.lost == published.remains == published.removed == ()
    assert contents(connection, "SELECT comment FROM duckdb_tables()") == [
        (None,),
        ("released by sqlanon",),
    ]
    assert not engine.in_transaction()


def test_rows_do_not_keep_the_order_of_the_source(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    publish(engine, release())
    rows = contents(connection, "FROM people_anon")
    assert rows == sorted(rows)


def test_a_former_release_is_replaced(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    connection.sql("CREATE TABLE people_anon (town VARCHAR NOT NULL, age INTEGER DEFAULT 3)")
    connection.sql("COMMENT ON TABLE people_anon IS 'released by sqlanon'")
    connection.sql("COMMENT ON COLUMN people_anon.town IS 'where'")
    connection.sql("CREATE INDEX by_town ON people_anon (town)")
    published = publish(engine, release())
    assert contents(connection, RELEASED) == GROUPS
    assert contents(connection, "SELECT comment FROM duckdb_tables() ORDER BY table_name") == [
        (None,),
        ("released by sqlanon",),
    ]
    columns = "SELECT column_name, is_nullable, comment FROM duckdb_columns() WHERE NOT internal"
    assert contents(connection, f"{columns} AND table_name = 'people_anon'") == [
        ("age", True, None),
        ("town", False, "where"),
        ("disease", True, None),
    ]
    assert published.lost == (
        "the index 'by_town' is gone",
        "the default 3 of column 'age' is gone",
    )
    assert published.remains == (
        "rows of the former release are in every backup and copy of the database",
    )


@pytest.mark.parametrize("comment", ["NULL", "'for the analysts'"])
def test_a_table_of_somebody_is_not_replaced(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection, comment: str
) -> None:
    connection.sql("CREATE TABLE people_anon AS SELECT 1 AS mine")
    connection.sql(f"COMMENT ON TABLE people_anon IS {comment}")
    with pytest.raises(PublishError, match=r"people_anon' exists and was not made by sqlanon"):
        publish(engine, release())
    assert contents(connection, "FROM people_anon") == [(1,)]
    connection.sql("DROP TABLE people_anon")
    for _ in range(2):
        publish(engine, release())


def test_a_table_that_the_plan_leaves_out_is_not_replaced(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    connection.sql("ALTER TABLE people RENAME TO p0")
    connection.sql("CREATE TABLE archive AS FROM p0 LIMIT 0")
    connection.sql("COMMENT ON TABLE archive IS 'released by sqlanon'")
    connection.sql("CREATE VIEW whole AS FROM p0 UNION ALL FROM archive WHERE false")
    connection.sql("CREATE VIEW people AS FROM whole")
    with pytest.raises(PublishError, match="or one of the tables that it reads"):
        publish(engine, release(target=named("archive")))
    connection.sql("CREATE OR REPLACE VIEW whole AS WITH archive AS (FROM p0) FROM archive")
    publish(engine, release(target=named("archive")))


def test_people_are_counted_by_subject_and_no_subject_is_released(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    connection.sql("CREATE OR REPLACE TABLE people AS SELECT * FROM people, range(3)")
    published = publish(engine, release(subject="name"))
    audit = published.facts.audit
    assert audit is not None
    assert (audit.k, audit.by_rows.k) == (50, 150)
    assert contents(connection, "DESCRIBE people_anon")[0][0] == "age"
    assert [row[0] for row in contents(connection, "DESCRIBE people_anon")] == [
        "age",
        "town",
        "disease",
    ]


def test_small_classes_are_left_out(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    connection.sql("INSERT INTO people VALUES ('lone', 55, 'Rome', 'flu')")
    connection.sql("DELETE FROM people WHERE age >= 50 AND name <> 'lone'")
    allowed = release(age((0, 1, 2)), town(), DISEASE, suppress=True, limit=0.01)
    published = publish(engine, allowed)
    assert (published.rows, published.left_out) == (150, 1)
    with pytest.raises(VerificationError, match="1 are left out, at most 0 may be"):
        publish(engine, release(age((0, 1, 2)), town(), DISEASE, suppress=True))


# Refusals that leave everything as it was
