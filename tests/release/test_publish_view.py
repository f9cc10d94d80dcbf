"""Releases as views, which stay safe when their source changes."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest
from publish_cases import DISEASE, age, contents, named, publish, release, tables, town
from sqlglot import exp

from sqlanon.audit.table_hash import table_hash
from sqlanon.domain.presentation import Mode, Unseen
from sqlanon.engines.duckdb import DuckDBEngine, open_memory
from sqlanon.engines.protocol import Source
from sqlanon.errors import PublishError, UncoveredValueError, VerificationError
from sqlanon.release.order import Order


def view(**keys: object) -> Order:
    return release(age((0, 1, 2)), town(), DISEASE, mode=Mode.VIEW, **keys)  # type: ignore[arg-type]


CLASSES = "SELECT age, town, count(*) FROM people_anon GROUP BY ALL ORDER BY ALL"


def test_a_view(engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection) -> None:
    published = publish(engine, view())
    assert published.rows == 200
    assert tables(connection) == ["people"]
    assert contents(connection, "SELECT view_name FROM duckdb_views() WHERE NOT internal") == [
        ("people_anon",)
    ]
    names = ["age", "town", "disease"]
    assert published.table_hash == table_hash(Source.of(engine, named("people_anon")), names)
    assert published.remains == ()
    # Again: a former view is replaced, and keeps its comment.
    connection.sql("COMMENT ON VIEW people_anon IS 'shared'")
    publish(engine, view())
    comments = "SELECT comment FROM duckdb_views() WHERE view_name = 'people_anon'"
    assert contents(connection, comments) == [("shared",)]


def test_a_unique_person_who_comes_later_does_not_show(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    connection.sql("DELETE FROM people WHERE age >= 50")
    publish(engine, view())
    before = contents(connection, CLASSES)
    connection.sql("INSERT INTO people VALUES ('lone', 55, 'Rome', 'flu')")
    connection.sql("INSERT INTO people VALUES ('far', 20, 'Atlantis', 'flu')")
    connection.sql("INSERT INTO people VALUES ('none', NULL, 'Rome', 'flu')")
    assert contents(connection, CLASSES) == before
    connection.sql("INSERT INTO people SELECT 'x', 55, 'Rome', 'flu' FROM range(4)")
    assert [*before, ("[50, 60]", "{Oslo, Rome}", 5)] == contents(connection, CLASSES)


def test_people_of_a_view_are_counted_by_subject(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    publish(engine, view(subject="name"))
    connection.sql("DELETE FROM people WHERE age >= 50")
    connection.sql("INSERT INTO people SELECT 'lone', 55, 'Rome', 'flu' FROM range(100)")
    assert not any(row[0] == "[50, 60]" for row in contents(connection, CLASSES))


def test_a_view_is_verified(engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection) -> None:
    connection.sql("INSERT INTO people VALUES ('far', 20, 'Atlantis', 'flu')")
    with pytest.raises(UncoveredValueError, match="'town' in 1 row"):
        publish(engine, view())
    publish(engine, view(unseen=Unseen.LEAVE_OUT))
    connection.sql("DROP VIEW people_anon")
    connection.sql("DELETE FROM people WHERE age >= 50 AND name <> 'name 39'")
    with pytest.raises(VerificationError, match="are left out, at most"):
        publish(engine, view(unseen=Unseen.LEAVE_OUT, accepted={}, audited=()))
    assert contents(connection, "SELECT count(*) FROM duckdb_views() WHERE NOT internal") == [(0,)]


def test_a_view_of_a_query_keeps_its_meaning(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    connection.sql("CREATE SCHEMA work")
    connection.sql("CREATE TABLE work.people AS FROM people LIMIT 0")
    query = engine.source(query="WITH p AS (SELECT * FROM people) SELECT * FROM p").relation
    publish(engine, view(source=query, target=named("v", "work")))
    connection.sql("SET schema = 'work'")
    assert contents(connection, "SELECT count(*) FROM work.v") == [(200,)]


def test_a_view_reads_its_own_database(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    connection.sql("ATTACH ':memory:' AS other")
    with pytest.raises(PublishError, match=r"its source reads 'memory\.main\.people'"):
        publish(engine, view(target=named("v", "main", "other")))
    connection.sql("CREATE TEMP TABLE short AS FROM people")
    with pytest.raises(PublishError, match=r"its source reads 'temp\.main\.short'"):
        publish(engine, view(source=named("short")))
    for body in ("FROM people", "FROM people UNION ALL FROM short WHERE false"):
        connection.sql(f"CREATE OR REPLACE TEMP VIEW brief AS {body}")
        with pytest.raises(PublishError, match=r"its source reads 'temp\.main\."):
            publish(engine, view(source=named("brief")))
    own = open_memory()
    data: pa.Table = connection.sql("FROM people").to_arrow_table()
    source = own.source(data=data)
    assert isinstance(source.relation, exp.Table)
    with pytest.raises(PublishError, match="a view reads what is in its own database"):
        publish(own, view(source=source.relation))
    own.close()
