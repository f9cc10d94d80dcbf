"""A release in the place of its source."""

from __future__ import annotations

import duckdb
import pytest
from publish_cases import (
    age,
    contents,
    named,
    publish,
    release,
    tables,
    town,
)

from sqlanon.domain.presentation import Mode
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import PublishError
from sqlanon.release.plan import type_changes


def test_the_source_is_replaced(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    connection.sql("DROP TABLE people")
    connection.sql(
        "CREATE TABLE people (name VARCHAR PRIMARY KEY, age BIGINT NOT NULL CHECK (age > 0), "
        "town VARCHAR DEFAULT 'Rome', disease VARCHAR UNIQUE, "
        "years BIGINT GENERATED ALWAYS AS (age))"
    )
    connection.sql("INSERT INTO people (name, age) SELECT i, 20 + i % 40 FROM range(80) t (i)")
    connection.sql("COMMENT ON TABLE people IS 'everyone'")
    connection.sql("COMMENT ON COLUMN people.age IS 'in years'")
    connection.sql("COMMENT ON COLUMN people.name IS 'gone'")
    connection.sql("CREATE INDEX by_town ON people (town)")
    connection.sql("CREATE VIEW kept AS SELECT town FROM people")
    connection.sql("CREATE VIEW broken AS SELECT name FROM main.people")
    wanted = release(age(), town((1,)), mode=Mode.REPLACE)
    assert type_changes(engine, wanted) == [
        "name: VARCHAR, removed",
        "age: BIGINT becomes VARCHAR",
        "disease: VARCHAR, removed",
        "years: BIGINT, removed",
    ]
    published = publish(engine, wanted)
    assert tables(connection) == ["people"]
    assert contents(
        connection, "SELECT age, town, count(*) FROM people GROUP BY ALL ORDER BY 1"
    ) == [
        ("[20, 40)", "{Oslo, Rome}", 40),
        ("[40, 60]", "{Oslo, Rome}", 40),
    ]
    assert contents(connection, "SELECT comment FROM duckdb_tables()") == [("everyone",)]
    columns = "SELECT column_name, is_nullable, comment FROM duckdb_columns() WHERE NOT internal"
    assert contents(connection, f"{columns} AND table_name = 'people'") == [
        ("age", False, "in years"),
        ("town", True, None),
    ]
    assert published.lost == (
        "the constraint CHECK((age > 0)) is gone",
        'the constraint PRIMARY KEY("name") is gone',
        "the constraint UNIQUE(disease) is gone",
        "the index 'by_town' is gone",
        "the default 'Rome' of column 'town' is gone",
        "the generated column 'years' is gone",
        "the view 'main.broken' reads the table and no longer works",
        "the view 'main.kept' reads the table and shows the release now",
    )
    assert published.remains == ("rows of the source are in every backup and copy of the database",)


def test_what_cannot_be_replaced(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    connection.sql("CREATE VIEW lens AS FROM people")
    with pytest.raises(PublishError, match=r"'memory\.main\.lens' is a view"):
        publish(engine, release(mode=Mode.REPLACE, source=named("lens")))
    connection.sql(
        "CREATE TABLE parent (name VARCHAR PRIMARY KEY, age INT, town TEXT, disease TEXT)"
    )
    connection.sql("CREATE TABLE child (parent VARCHAR REFERENCES parent (name))")
    with pytest.raises(PublishError, match=r"foreign keys of other tables refer to it \('child'\)"):
        publish(engine, release(mode=Mode.REPLACE, source=named("parent")))


def test_rows_that_come_in_meanwhile_are_not_lost(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    other = connection.cursor()
    refused: list[str] = []

    def insert(stage: str) -> None:
        if stage in ("staging", "verifying"):
            try:
                other.sql("INSERT INTO people VALUES ('late', 30, 'Rome', 'flu')")
            except duckdb.Error as error:
                refused.append(str(error))

    published = publish(engine, release(mode=Mode.REPLACE), on_stage=insert)
    assert len(refused) == 2
    assert published.rows == 200


# Pseudonyms
