"""Every form of source on a real DuckDB, and every message about one that cannot be read."""

from __future__ import annotations

import datetime as dt
import gzip
import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from sqlglot import exp

from sqlanon.engines import Source, open_source, open_table
from sqlanon.engines.duckdb import DuckDBEngine, open_database, open_memory
from sqlanon.errors import EngineError
from sqlanon.model import Kind

WEIRD = 'we"ird; DROP TABLE people; -- é\n'


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """A caller's own connection, with a small table."""
    connection = duckdb.connect()
    connection.sql("CREATE TABLE people (name VARCHAR NOT NULL, age INTEGER)")
    connection.sql("INSERT INTO people VALUES ('Ann', 30), ('Bob', NULL)")
    yield connection
    connection.close()


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "warehouse.duckdb"
    with duckdb.connect(path) as connection:
        connection.sql("CREATE TABLE people (name VARCHAR, age INTEGER)")
        connection.sql("INSERT INTO people VALUES ('Ann', 30)")
    return path


def rows(source: Source) -> list[tuple[object, ...]]:
    table = source.engine.fetch(exp.select("*").from_(source.relation))
    return [tuple(row.values()) for row in table.to_pylist()]


def kinds(source: Source) -> dict[str, Kind | None]:
    return {column.name: column.kind for column in source.columns}


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


# Files


CSV = 'name,zip,born,score\nAnn,01234,1990-02-28,1.5\n"",90210,,2\n'


@pytest.mark.parametrize("name", ["p.csv", "P.CSV", "p.tsv", "p.csv.gz", "it's; --.csv"])
def test_csv_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    text = CSV.replace(",", "\t") if name.endswith("tsv") else CSV
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    source = open_source(file=path)
    # A quoted empty field is NULL like an unquoted one; a leading zero keeps a number text.
    assert rows(source) == [
        ("Ann", "01234", dt.date(1990, 2, 28), 1.5),
        (None, "90210", None, 2.0),
    ]
    assert kinds(source) == {
        "name": Kind.TEXT,
        "zip": Kind.TEXT,
        "born": Kind.DATE,
        "score": Kind.FLOAT,
    }
    assert source.name == str(path)
    source.engine.close()


def test_a_late_value_decides_on_the_type_of_a_csv_column(tmp_path: Path) -> None:
    path = tmp_path / "late.csv"
    path.write_text("a\n" + "1\n" * 30_000 + "x\n")
    source = open_source(file=path)
    assert kinds(source) == {"a": Kind.TEXT}
    assert len(rows(source)) == 30_001
    source.engine.close()


def test_a_file_name_is_no_pattern(tmp_path: Path) -> None:
    for name, value in [("a*.csv", 1), ("ab.csv", 2), ("[ab].csv", 3), ("b.csv", 4)]:
        (tmp_path / name).write_text(f"x\n{value}\n")
    for name, value in [("a*.csv", 1), ("[ab].csv", 3)]:
        source = open_source(file=tmp_path / name)
        assert rows(source) == [(value,)]
        source.engine.close()


@pytest.mark.parametrize("name", ["p.parquet", "year=2026/p.parquet"])
def test_parquet_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    duckdb.sql("SELECT 1 AS a, 'x' AS b").write_parquet(str(path))
    source = open_source(file=str(path))
    assert rows(source) == [(1, "x")]
    assert kinds(source) == {"a": Kind.INTEGER, "b": Kind.TEXT}
    source.engine.close()


def test_a_relative_file_and_database(
    tmp_path: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.csv").write_text("a\n1\n")
    source = open_source(connection=f"duckdb:///{database.name}", file="p.csv")
    assert rows(source) == [(1,)]
    assert rows(open_source(connection=f"duckdb:///{database.name}", table="people")) == [
        ("Ann", 30)
    ]
    source.engine.close()


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder.csv").mkdir()
    Path("empty.csv").touch()
    Path("broken.parquet").write_text("this is no Parquet file at all")
    Path("latin.csv").write_bytes("name,age\nMüller,1\n".encode("latin-1"))
    Path("people.xlsx").write_text("x")
    for name, message in [
        ("gone.csv", f"File gone.csv does not exist in {tmp_path}."),
        ("/gone.csv", "File /gone.csv does not exist."),
        ("folder.csv", "folder.csv is a folder, not a file."),
        ("empty.csv", "File empty.csv is empty."),
        ("broken.parquet", "File broken.parquet cannot be read. It is not a Parquet file"),
        ("latin.csv", "File latin.csv cannot be read. It is not a well-formed CSV file: line"),
        (
            "people.xlsx",
            "File people.xlsx has none of the known suffixes: .csv, .csv.gz, .tsv, .parquet.",
        ),
    ]:
        with pytest.raises(EngineError) as caught:
            open_source(file=name)
        assert str(caught.value).startswith(message)
        assert len(str(caught.value).splitlines()) <= 6


# Data of this process


def test_a_data_frame() -> None:
    frame = pd.DataFrame(
        {
            "name": ["Ann", None],
            "score": [1.5, math.nan],
            "group": pd.Categorical(["x", None]),
            "day": pd.to_datetime(["2024-02-29", None]),
            WEIRD: [True, False],
        },
        index=[10, 20],
    )
    source = open_source(data=frame)
    assert rows(source) == [
        ("Ann", 1.5, "x", dt.datetime(2024, 2, 29), True),
        (None, None, None, None, False),
    ]
    assert kinds(source) == {
        "name": Kind.TEXT,
        "score": Kind.FLOAT,
        "group": Kind.TEXT,
        "day": Kind.TIMESTAMP,
        WEIRD: Kind.BOOLEAN,
    }
    assert source.name == "DataFrame"
    source.engine.close()


def test_an_arrow_table_keeps_nan_apart_from_null() -> None:
    source = open_source(data=pa.table({"x": [1.0, math.nan, None]}))
    first, second, third = (value for (value,) in rows(source))
    assert first == 1.0
    assert isinstance(second, float)
    assert math.isnan(second)
    assert third is None
    source.engine.close()


def test_data_beside_a_callers_connection_leave_no_trace(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    connection.sql("BEGIN")
    source = open_source(connection=connection, data=pa.table({"x": [1]}))
    assert rows(source) == [(1,)]
    views = "SELECT count(*) FROM duckdb_views() WHERE NOT internal"
    assert connection.sql(views).fetchall() == [(0,)]
    source.engine.close()
    assert connection.sql("SELECT count(*) FROM people").fetchall() == [(2,)]
    connection.sql("ROLLBACK")


def test_data_cannot_be_hidden_by_a_table_of_the_same_name(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    connection.sql("CREATE TABLE sqlanon_data_1 AS SELECT 99 AS x")
    source = open_source(connection=connection, data=pa.table({"x": [1]}))
    assert rows(source) == [(1,)]
    source.engine.close()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "DataFrame .* tell apart: 'a' and 'a'"),
        (pd.DataFrame([[1, 2]], columns=["a", "A"]), "DataFrame .* tell apart: 'a' and 'A'"),
        (pa.table([[1], [2]], names=["a", "A"]), "Arrow table .* tell apart: 'a' and 'A'"),
        (pd.DataFrame({"mixed": [1, "x"]}), "DataFrame cannot be read as a table.*column mixed"),
        (pd.DataFrame(), "at least one column"),
        ({"a": [1]}, "a pandas DataFrame or a pyarrow Table, not dict"),
    ],
)
def test_data_that_cannot_be_read(data: object, message: str) -> None:
    with pytest.raises(EngineError, match=message):
        open_source(data=data)  # type: ignore[arg-type]


# Connections


def test_a_database_file_by_its_absolute_address(database: Path) -> None:
    source = open_source(connection=f"duckdb:///{database}", table="people")
    assert rows(source) == [("Ann", 30)]
    with pytest.raises(EngineError, match="open for reading only"):
        source.engine.run("CREATE TABLE t (a INTEGER)")
    source.engine.close()
    source.engine.close()
    with pytest.raises(EngineError, match="connection is closed"):
        source.engine.fetch("SELECT 1")


def test_a_database_file_opened_for_writing(database: Path) -> None:
    source = open_source(connection=f"duckdb:///{database}", table="people", read_only=False)
    source.engine.run("CREATE TABLE copied AS FROM people")
    source.engine.close()
    with duckdb.connect(database) as connection:
        assert connection.sql("FROM copied").fetchall() == [("Ann", 30)]


@pytest.mark.parametrize("address", ["duckdb://", "duckdb:///:memory:"])
def test_a_database_in_memory(address: str) -> None:
    source = open_source(connection=address, query="SELECT 1 AS x")
    assert rows(source) == [(1,)]
    source.engine.close()


def test_a_failed_opening_leaves_no_lock(database: Path) -> None:
    with pytest.raises(EngineError):
        open_source(connection=f"duckdb:///{database}", table="nowhere")
    # Within one process DuckDB refuses two ways of opening one file: it must be closed again.
    duckdb.connect(database, read_only=False).close()


def test_databases_that_cannot_be_opened(tmp_path: Path) -> None:
    text = tmp_path / "text.duckdb"
    text.write_text("these,are,words\n" * 1000)
    for path, message in [
        (tmp_path / "gone.duckdb", f"Database {tmp_path}/gone.duckdb does not exist."),
        (tmp_path, f"Database {tmp_path} is a folder, not a file."),
        (text, f"File {text} is not a DuckDB database."),
    ]:
        with pytest.raises(EngineError) as caught:
            open_database(path)
        assert str(caught.value) == message


def test_a_new_database_only_when_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "new.duckdb"
    with pytest.raises(EngineError, match="does not exist"):
        open_database(path, read_only=False)
    assert not path.exists()
    open_database(path, read_only=False, create=True).close()
    assert path.exists()


def test_a_database_open_in_another_process(database: Path) -> None:
    script = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open'); input()"
    with subprocess.Popen(
        [sys.executable, "-c", script, str(database)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        with pytest.raises(EngineError) as caught:
            open_database(database)
        other.communicate("\n")
    assert str(caught.value).startswith(
        f"Database {database} is open in another process (PID {other.pid})."
    )


def test_a_database_open_in_this_process_with_other_settings(database: Path) -> None:
    with (
        duckdb.connect(database),
        pytest.raises(EngineError, match="already open in this process with other settings"),
    ):
        open_database(database, read_only=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "exactly one of table, query, file or data; given: none."),
        ({"table": "t", "query": "q"}, "exactly one of .*; given: table, query."),
        ({"file": "f", "data": pa.table({"a": [1]})}, "exactly one of .*; given: file, data."),
        ({"table": "t"}, "Table 't' needs a connection: duckdb:///relative.duckdb"),
        (
            {"table": "t", "connection": "mysql://host/db"},
            "'mysql' in 'mysql://host/db' is not a known engine. Use duckdb:///relative.duckdb",
        ),
        ({"table": "t", "connection": "a.duckdb"}, "'a.duckdb' is not the address of a database"),
        (
            {"table": "t", "connection": "duckdb://a.duckdb"},
            "'duckdb://a.duckdb' lacks a slash: three before a relative path",
        ),
        ({"table": "t", "connection": 5}, "an address or an open DuckDB connection, not int"),
    ],
)
def test_wrong_calls(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(EngineError, match=message):
        open_source(**arguments)  # type: ignore[arg-type]


# A caller's connection stays as it was


def test_settings_and_the_connection_survive(connection: duckdb.DuckDBPyConnection) -> None:
    settings = "SELECT name, value FROM duckdb_settings() ORDER BY name"
    connection.sql("SET threads = 1; SET TimeZone = 'Asia/Tokyo'")
    before = connection.sql(settings).fetchall()
    source = open_source(connection=connection, table="people")
    rows(source)
    source.engine.close()
    assert connection.sql(settings).fetchall() == before
    assert connection.execute("SELECT count(*) FROM people").fetchall() == [(2,)]


@pytest.mark.parametrize(
    "mistake",
    [
        {"table": "poeple"},
        {"table": "no.such.table"},
        {"query": "SELEKT 1"},
        {"query": "SELECT nothing FROM people"},
        {"query": "DROP TABLE people"},
        {"file": "gone.csv"},
        {"data": pd.DataFrame({"mixed": [1, "x"]})},
    ],
    ids=str,
)
def test_an_open_transaction_stays_open_and_is_seen(
    connection: duckdb.DuckDBPyConnection, mistake: dict[str, object]
) -> None:
    connection.sql("BEGIN")
    connection.sql("INSERT INTO people VALUES ('Cy', 50)")
    number = connection.sql("SELECT txid_current()").fetchall()
    source = open_source(connection=connection, table="people")
    assert len(rows(source)) == 3
    with pytest.raises(EngineError):
        open_source(connection=connection, **mistake)  # type: ignore[arg-type]
    source.engine.close()
    assert connection.sql("SELECT txid_current()").fetchall() == number
    connection.sql("ROLLBACK")
    assert connection.sql("SELECT count(*) FROM people").fetchall() == [(2,)]


def test_an_unfetched_result_is_not_lost(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("SELECT * FROM range(100000)")
    assert connection.fetchone() == (0,)
    with pytest.raises(EngineError, match="unfinished result"):
        open_source(connection=connection, table="people")
    assert connection.fetchone() == (1,)


def test_a_failed_transaction_is_explained(connection: duckdb.DuckDBPyConnection) -> None:
    connection.sql("BEGIN")
    with pytest.raises(duckdb.Error):
        connection.execute("SELECT 'x'::INTEGER").fetchall()
    with pytest.raises(EngineError, match=r"transaction that has failed\. Roll it back"):
        open_source(connection=connection, table="people")
    connection.sql("ROLLBACK")


def test_data_are_not_registered_on_a_callers_connection(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    with pytest.raises(ValueError, match="connection of our own"):
        DuckDBEngine(connection, owned=False).register(pa.table({"a": [1]}))


# Statements


def test_expressions_are_rendered_with_quotes() -> None:
    engine = open_memory()
    engine.run(exp.Create(this=exp.to_table("order"), kind="TABLE", expression=exp.select("1")))
    with engine.tracer.watch() as seen:
        engine.fetch(exp.select("*").from_("order"))
    assert [each.sql for each in seen] == ['SELECT * FROM "order"']
    engine.close()


def test_an_empty_statement_is_refused() -> None:
    engine = open_memory()
    with pytest.raises(EngineError, match="empty"):
        engine.fetch("-- nothing")
    engine.close()


def test_a_result_without_rows_is_a_result() -> None:
    engine = open_memory()
    assert engine.fetch("SELECT 1 AS x WHERE false").num_rows == 0
    engine.close()


def test_interrupting_a_statement_leaves_the_engine_usable() -> None:
    engine = open_memory()
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    # Shells start background jobs with the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            engine.fetch("SELECT count(*) FROM range(100000000) AS a, range(100000) AS b")
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert engine.fetch("SELECT 1 AS x").to_pylist() == [{"x": 1}]
    engine.close()


def test_an_engine_works_on_another_thread() -> None:
    engine = open_memory()
    seen: list[object] = []
    thread = threading.Thread(target=lambda: seen.extend(engine.fetch("SELECT 7").to_pylist()))
    thread.start()
    thread.join()
    assert seen == [{"7": 7}]
    engine.close()


def test_a_second_table_on_an_open_engine(connection: duckdb.DuckDBPyConnection) -> None:
    source = open_source(connection=connection, query="SELECT 1 AS x")
    assert rows(open_table(source.engine, "people")) == [("Ann", 30), ("Bob", None)]
