"""What DuckDB quotes of the data stays out of messages: values, lines of files, keys."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pandas as pd
import pytest
from command_line import Run, message
from sqlglot import exp

from sqlanon.engines import open_source
from sqlanon.errors import EngineError

CANARY = "zq7canary"
POLICY = """
source: {connection: "duckdb:///people.duckdb", query: "SELECT name::INT AS x FROM t"}
columns: {x: {role: quasi}}
one_row_per_person: true
privacy: {k: 2}
"""


@pytest.fixture
def connection() -> duckdb.DuckDBPyConnection:
    opened = duckdb.connect()
    opened.execute(
        "CREATE TABLE t AS SELECT * FROM (VALUES (?), ('to INT32')) AS v (name)", [CANARY]
    )
    return opened


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("name::INT", "cannot be converted to INT32 (conversion error). Take TRY_CAST"),
        ("name::DATE", "cannot be converted to DATE (conversion error)"),
        ("name::DECIMAL(3, 1)", "cannot be converted to DECIMAL(3,1) (conversion error)"),
        ("name::ENUM ('a', 'b')", "cannot be converted to another type (conversion error)"),
        ("name::JSON", "cannot be converted to another type (conversion error)"),
        ("error(name)", "(invalid input error)"),
        ("strptime(name, '%Y')", "(invalid input error)"),
        ("regexp_extract('a', name || '(')", "(invalid input error)"),
    ],
)
def test_a_failing_query(connection: duckdb.DuckDBPyConnection, expression: str, said: str) -> None:
    source = open_source(connection=connection, query=f"SELECT {expression} AS x FROM t")
    with pytest.raises(EngineError) as caught:
        source.engine.fetch(exp.select("*").from_(source.relation))
    text = str(caught.value)
    assert said in text
    assert "the source's query (source.query of a policy)" in text
    assert CANARY not in text
    assert CANARY in str(caught.value.__cause__)  # for programs that want to know


def test_mistakes_in_names_are_told_as_they_are(connection: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(EngineError, match='Referenced column "nam" not found'):
        open_source(connection=connection, query="SELECT nam FROM t")


def test_a_key_that_is_there_twice(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("CREATE TABLE u (name VARCHAR PRIMARY KEY)")
    source = open_source(connection=connection, table="t")
    with pytest.raises(EngineError) as caught:
        source.engine.run(f"INSERT INTO u VALUES ('{CANARY}'), ('{CANARY}')")
    assert "table 't' (constraint error)" in str(caught.value)
    assert CANARY not in str(caught.value)


def test_malformed_csv_files(tmp_path: Path) -> None:
    wrong = tmp_path / "latin.csv"
    wrong.write_bytes(b"name,age\n" + b"Ann,2\n" * 30 + CANARY.encode() + b"\xff,2\nAnn,3\n")
    ragged = tmp_path / "ragged.csv"
    ragged.write_text("name,age\n" + "Ann,2\n" * 3000 + f"{CANARY},2,3\nAnn,2\n")
    for path, said in [
        (wrong, "It is not a well-formed CSV file: line 32: it is not UTF-8 text."),
        (ragged, "It is not a CSV file that can be understood"),
    ]:
        with pytest.raises(EngineError) as caught:
            open_source(file=path)
        assert str(caught.value).startswith(f"File {path} cannot be read. {said}")
        for word in (CANARY, "Ann", "ignore_errors", "strict_mode"):
            assert word not in str(caught.value)


def test_a_row_of_a_csv_file_that_is_too_long(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    path = tmp_path / "ragged.csv"
    path.write_text("a,b\n" + "1,2\n" * 30 + f"{CANARY},2,3\n")
    columns = "columns = {'a': 'VARCHAR', 'b': 'VARCHAR'}"
    reader = f"read_csv('{path}', auto_detect = false, header = true, {columns})"
    source = open_source(connection=connection, query=f"SELECT * FROM {reader}")
    with pytest.raises(EngineError) as caught:
        source.engine.fetch(exp.select("*").from_(source.relation))
    assert "line 32: expected 2 columns, found 3." in str(caught.value)
    assert CANARY not in str(caught.value)


def test_a_data_frame_of_mixed_values() -> None:
    with pytest.raises(EngineError) as caught:
        open_source(data=pd.DataFrame({"mixed": [1, CANARY]}))
    assert "column mixed" in str(caught.value)
    assert CANARY not in str(caught.value)


def test_the_command_tells_no_values(
    run: Run, tmp_path: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    connection.execute(f"ATTACH '{tmp_path / 'people.duckdb'}' AS ware")
    connection.execute("CREATE TABLE ware.t AS SELECT * FROM t")
    connection.close()
    (tmp_path / "policy.yml").write_text(POLICY)
    for command in (("search", "policy.yml"), ("-v", "search", "policy.yml")):
        said = message(1, run(*command))
        assert "a value of the source's query" in said
        assert CANARY not in said


@pytest.mark.parametrize("name", ["people.csv", "people.txt", "people"])
def test_data_in_place_of_a_policy(run: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(f"name,age\n{CANARY},34\n")
    said = message(1, run("search", name))
    assert said.startswith(f"error: {name}: is ")
    assert "policy" in said
    for word in (CANARY, "age", "34"):
        assert word not in said


def test_lines_that_end_in_different_ways_are_mentioned(tmp_path: Path) -> None:
    file = tmp_path / "mixed.csv"
    rows = "".join(f"Ann {i},{i}\r\n" for i in range(400))
    file.write_bytes(f"name,age\r\n{rows}Secret,30\n".encode())
    with pytest.raises(EngineError, match="or they end in different ways") as refused:
        open_source(file=file)
    assert "Secret" not in str(refused.value)
