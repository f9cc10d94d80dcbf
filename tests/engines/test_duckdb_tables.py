"""Tables of a real DuckDB, the kinds of their columns, and queries."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from source_cases import WEIRD, kinds, rows
from sqlglot import exp

from sqlanon.engines.duckdb import open_memory
from sqlanon.engines.protocol import Kind
from sqlanon.engines.registry import open_source
from sqlanon.errors import EngineError

# Tables


def test_a_table_of_a_callers_connection(connection: duckdb.DuckDBPyConnection) -> None:
    source = open_source(connection=connection, table="people")
    assert source.name == "people"
    assert rows(source) == [("Ann", 30), ("Bob", None)]
    assert kinds(source) == {"name": Kind.TEXT, "age": Kind.INTEGER}
    assert [column.type for column in source.columns] == ["VARCHAR", "INTEGER"]
    assert [column.nullable for column in source.columns] == [False, True]


@pytest.mark.parametrize(
    "name",
    [
        "sales.people",
        "SALES.People",
        'sales."people"',
        "memory.sales.people",
        '"memory"."sales"."people"',
        "other.main.people",
        "other.people",
        '"a.b"."c""d"',
        "two words",
        "people-2024",
        "order",
    ],
)
def test_names_of_tables(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    connection.sql("""
        CREATE SCHEMA sales; CREATE TABLE sales.people AS SELECT 7 AS x;
        ATTACH ':memory:' AS other; CREATE TABLE other.people AS SELECT 7 AS x;
        CREATE SCHEMA "a.b"; CREATE TABLE "a.b"."c""d" AS SELECT 7 AS x;
        CREATE TABLE "two words" AS SELECT 7 AS x;
        CREATE TABLE "people-2024" AS SELECT 7 AS x;
        CREATE TABLE "order" AS SELECT 7 AS x;
    """)
    assert rows(open_source(connection=connection, table=name)) == [(7,)]


def test_hostile_names_of_tables_and_columns(connection: duckdb.DuckDBPyConnection) -> None:
    quoted = '"' + WEIRD.replace('"', '""') + '"'
    connection.sql(f'CREATE TABLE {quoted} AS SELECT 7 AS {quoted}, 8 AS "select"')
    source = open_source(connection=connection, table=quoted)
    assert kinds(source) == {WEIRD: Kind.INTEGER, "select": Kind.INTEGER}
    assert rows(source) == [(7, 8)]
    column = exp.column(source.column(WEIRD).name)
    assert source.engine.fetch(exp.select(column).from_(source.relation)).to_pylist() == [
        {WEIRD: 7}
    ]
    assert connection.sql("SELECT count(*) FROM people").fetchall() == [(2,)]


def test_views_and_temporary_tables_of_the_caller(connection: duckdb.DuckDBPyConnection) -> None:
    connection.sql("CREATE VIEW adults AS SELECT name FROM people WHERE age >= 18")
    connection.sql("CREATE TEMP TABLE scratch AS SELECT 1 AS x")
    assert rows(open_source(connection=connection, table="adults")) == [("Ann",)]
    assert rows(open_source(connection=connection, table="scratch")) == [(1,)]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("poeple", r"There is no table 'poeple' in the database\. Did you mean 'people'\?"),
        ("main.peopl", r"There is no table 'peopl' in the database\. Did you mean 'people'\?"),
        ("nowhere.people", r"There is no table 'nowhere\.people' .* Did you mean 'people'\?"),
        ("xyz", r"There is no table 'xyz' in the database\. The tables there are: 'people'\."),
        ("duckdb", r"There is no table 'duckdb' in the database\."),
        ("text", r"There is no table 'text' in the database\."),
        ("range(5)", r"'range\(5\)' is not the name of a table\. Write table, schema\.table"),
        ("a.b.c.d", r"'a\.b\.c\.d' is not the name of a table"),
        ("", r"'' is not the name of a table"),
        ('""', r"'\"\"' is not the name of a table"),
    ],
)
def test_tables_that_are_not_there(
    connection: duckdb.DuckDBPyConnection, table: str, message: str
) -> None:
    with pytest.raises(EngineError, match=message):
        open_source(connection=connection, table=table)


def test_suggestions_are_spelled_the_way_they_can_be_used(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    connection.sql('CREATE SCHEMA sales; CREATE TABLE sales."my customers" AS SELECT 7 AS x')
    with pytest.raises(EngineError) as caught:
        open_source(connection=connection, table="sales.my_customers")
    assert "Did you mean 'sales.\"my customers\"'?" in str(caught.value)
    assert rows(open_source(connection=connection, table='sales."my customers"')) == [(7,)]


def test_a_variable_is_never_taken_for_a_table(connection: duckdb.DuckDBPyConnection) -> None:
    frame = pd.DataFrame({"a": [1]})
    assert len(frame) == 1
    with pytest.raises(EngineError, match="There is no table 'frame'"):
        open_source(connection=connection, table="frame")


def test_a_missing_column_is_named_with_its_neighbours(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    source = open_source(connection=connection, table="people")
    assert source.column("age").kind is Kind.INTEGER
    with pytest.raises(EngineError) as caught:
        source.column("Agee")
    assert str(caught.value) == "Source 'people' has no column 'Agee'. Did you mean 'age'?"
    with pytest.raises(EngineError) as caught:
        source.column("zip")
    assert str(caught.value) == "Source 'people' has no column 'zip'. Its columns: 'name', 'age'."


# Types


def test_every_type_has_its_kind(connection: duckdb.DuckDBPyConnection) -> None:
    expected = {
        "TINYINT": Kind.INTEGER,
        "SMALLINT": Kind.INTEGER,
        "INTEGER": Kind.INTEGER,
        "BIGINT": Kind.INTEGER,
        "HUGEINT": Kind.INTEGER,
        "UTINYINT": Kind.INTEGER,
        "USMALLINT": Kind.INTEGER,
        "UINTEGER": Kind.INTEGER,
        "UBIGINT": Kind.INTEGER,
        "UHUGEINT": None,
        "DECIMAL(10,2)": Kind.DECIMAL,
        "FLOAT": Kind.FLOAT,
        "DOUBLE": Kind.FLOAT,
        "DATE": Kind.DATE,
        "TIMESTAMP": Kind.TIMESTAMP,
        "TIMESTAMP_S": Kind.TIMESTAMP,
        "TIMESTAMP_MS": Kind.TIMESTAMP,
        "TIMESTAMP_NS": Kind.TIMESTAMP,
        "TIMESTAMP WITH TIME ZONE": Kind.TIMESTAMP,
        "BOOLEAN": Kind.BOOLEAN,
        "VARCHAR": Kind.TEXT,
        "UUID": Kind.TEXT,
        "ENUM('a', 'b)[]')": Kind.TEXT,
        "ENUM('a', 'b')[]": None,
        "DECIMAL(3,1)[]": None,
        "INTEGER[]": None,
        "INTEGER[3]": None,
        "STRUCT(a INTEGER)": None,
        "MAP(INTEGER, INTEGER)": None,
        "BLOB": None,
        "BIT": None,
        "INTERVAL": None,
        "TIME": None,
        "TIME WITH TIME ZONE": None,
        "JSON": None,
    }
    columns = ", ".join(f"c{number} {type_}" for number, type_ in enumerate(expected))
    connection.sql(f"CREATE TABLE typed ({columns})")
    source = open_source(connection=connection, table="typed")
    assert {column.type: column.kind for column in source.columns} == expected


def test_types_with_a_name_of_their_own(connection: duckdb.DuckDBPyConnection) -> None:
    connection.sql("CREATE TYPE mood AS ENUM ('sad', 'glad'); CREATE TYPE zip AS VARCHAR")
    connection.sql("CREATE TABLE typed (a mood, b zip)")
    source = open_source(connection=connection, table="typed")
    assert kinds(source) == {"a": Kind.TEXT, "b": Kind.TEXT}


def test_values_arrive_as_arrow() -> None:
    engine = open_memory()
    table = engine.fetch("""
        SELECT sum(x) AS total, 1.50 AS money, DATE '2024-02-29' AS day, 'nan'::DOUBLE AS nan,
            TIMESTAMPTZ '2024-01-01 12:00:00+02:00' AS instant
        FROM range(5) AS r (x)
    """)
    (row,) = table.to_pylist()
    assert row["total"] == 10
    assert table.schema.field("total").type == pa.decimal128(38, 0)
    assert row["money"] == Decimal("1.50")
    assert row["day"] == dt.date(2024, 2, 29)
    assert math.isnan(row["nan"])
    assert row["instant"] == dt.datetime(2024, 1, 1, 10, tzinfo=dt.UTC)
    engine.close()


# Queries


@pytest.mark.parametrize(
    "query",
    [
        "SELECT name, age FROM people WHERE age >= 18",
        "SELECT name, age FROM people WHERE age >= 18;",
        "SELECT name, age FROM people WHERE age >= 18 -- adults\n",
        "FROM people WHERE age >= 18",
        "WITH adults AS (SELECT * FROM people WHERE age >= 18) SELECT * FROM adults",
        "SELECT * FROM people EXCEPT SELECT 'Bob', NULL",
        "(SELECT * FROM people LIMIT 1)",
    ],
)
def test_queries(connection: duckdb.DuckDBPyConnection, query: str) -> None:
    source = open_source(connection=connection, query=query)
    assert rows(source) == [("Ann", 30)]
    assert kinds(source) == {"name": Kind.TEXT, "age": Kind.INTEGER}
    assert source.name == "query"


def test_a_query_without_a_connection_runs_in_memory() -> None:
    source = open_source(query="SELECT 1 AS x, 'a;b' AS y")
    assert rows(source) == [(1, "a;b")]
    source.engine.close()


@pytest.mark.parametrize(
    "query",
    [
        "",
        "-- nothing",
        "DROP TABLE people",
        "SELECT 1; SELECT 2",
        "SELECT 1; DROP TABLE people",
        "INSERT INTO people VALUES ('Eve', 1) RETURNING *",
        "WITH new AS (INSERT INTO people VALUES ('Eve', 1) RETURNING *) SELECT * FROM new",
        "WITH gone AS (DELETE FROM people RETURNING *) SELECT * FROM gone",
        "COPY people TO 'people.csv'",
        "DESCRIBE people",
        "PIVOT people ON age",
    ],
)
def test_queries_that_are_not_one_select(connection: duckdb.DuckDBPyConnection, query: str) -> None:
    with pytest.raises(EngineError, match="must be one SELECT that changes nothing"):
        open_source(connection=connection, query=query)
    assert connection.sql("SELECT count(*) FROM people").fetchall() == [(2,)]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELEKT 1", r'Parser Error: syntax error at or near "SELEKT"\nLINE 1: SELEKT 1'),
        ("SELECT size FROM people", r'Referenced column "size" not found'),
        ("SELECT * FROM peeple", r"no table 'peeple' in the database\. Did you mean 'people'\?"),
        ("SELECT age AS a, age AS A FROM people", r"cannot tell apart: 'a' and 'A'\."),
    ],
)
def test_queries_with_mistakes(
    connection: duckdb.DuckDBPyConnection, query: str, message: str
) -> None:
    with pytest.raises(EngineError, match=message):
        open_source(connection=connection, query=query)
