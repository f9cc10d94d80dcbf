"""Databases by address, a caller's connection that stays as it was, and statements."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from source_cases import rows
from sqlglot import exp

from sqlanon.engines.duckdb import DuckDBEngine, open_database, open_memory
from sqlanon.engines.registry import open_source, open_table
from sqlanon.errors import EngineError

# Connections


def test_a_database_file_by_its_absolute_address(database: Path) -> None:
    source = open_source(connection=f"duckdb:///{database}", table="people")
    assert rows(source) == [("Ann", 30)]
    with pytest.raises(EngineError, match="open for reading only"):
        source.engine.run("CREATE TABLE warehouse.t (a INTEGER)")
    source.engine.close()
    source.engine.close()
    with pytest.raises(EngineError, match="connection is closed"):
        source.engine.fetch("SELECT 1")


def test_a_database_file_opened_for_writing(database: Path) -> None:
    source = open_source(connection=f"duckdb:///{database}", table="people", read_only=False)
    source.engine.run("CREATE TABLE warehouse.copied AS FROM people")
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
            "'mysql' is not a known engine. Use duckdb:///relative.duckdb",
        ),
        ({"table": "t", "connection": "a.duckdb"}, "'a.duckdb' is not the address of a database"),
        (
            {"table": "t", "connection": "duckdb://a.duckdb"},
            "'duckdb://a.duckdb' lacks a slash: three before a relative path",
        ),
        (
            {"table": "t", "connection": 5},
            "an open connection of a known database, not int",
        ),
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
