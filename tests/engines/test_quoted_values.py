"""What DuckDB quotes of the data stays out of messages: values, lines of files, keys."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pandas as pd
import pytest
from command_line import Run, message
from sqlglot import exp

from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.registry import open_source
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


STEERING = [
    f"{CANARY} in read-only mode",
    f'Cannot execute statement of type "CREATE" on database "{CANARY}" which is attached in '
    "read-only mode!",
    f"Current transaction is aborted {CANARY}",
    f"Table with name {CANARY} does not exist",
    f'Catalog Error: Table with name "{CANARY}" does not exist',
    f'Python Object "{CANARY}" of type',
    f"{CANARY} closed",
    f"CSV Error on Line: 7\nOriginal Line: {CANARY}",
    f"CSV Error on Line: {CANARY}",
    f"Error when sniffing file {CANARY}",
    f"No magic bytes {CANARY}",
    f"Could not set lock {CANARY} (PID 4711)",
    f"{CANARY} Error: {CANARY}",
    f"{CANARY} when casting to DECIMAL(4711,4711)",
    f"a\n\nLINE 1: {CANARY}",
    f"{CANARY} constraint {CANARY}",
    f"TransactionContext Error: Catalog write-write conflict {CANARY}",
    f"Failed to commit: {CANARY}",
]
"""Cells with the words that DuckDB's own messages have, and that messages are known by."""
FAILING = [
    "name::INT", "name::DATE", "name::TIMESTAMP", "name::TIME", "name::BOOLEAN", "name::UUID",
    "name::DECIMAL(3, 1)", "name::ENUM ('a', 'b')", "name::INTERVAL", "name::INT[]", "name::JSON",
    "name::STRUCT(a INT)", "name::BIT", "error(name)", "strptime(name, '%Y')", "json(name)",
    "json_extract(name, '$.a')", "from_base64(name)", "unhex(name)", "date_part(name, now())",
    "date_trunc(name, now())", "regexp_extract('a', name || '(')", "nextval(name)",
    "strftime(now(), name || '%')", "make_date(len(name) * 1000000, 1, 1)", "printf(name || '%')",
    "format(name || '{', 1)", "repeat(name, 100000000000)", "array_resize([name], name)",
    "(len(name) + 2147483600)::INT * 1000000::INT", "ln(-len(name))", "encode(name)::VARCHAR::INT",
    "('x' || name)::BLOB::VARCHAR::INT", "getenv(name)", "current_setting(name)",
    "list_value(name)::INT[]", "map([name, name], [1, 2])", "('\\xFF' || name)::BLOB::VARCHAR",
    "decode('\\xFF'::BLOB) || name",
    "json_deserialize_sql(name)", "json_serialize_sql(name)::INT", "(SELECT name FROM t)::INT",
]  # fmt: skip


@pytest.mark.parametrize("cell", STEERING)
def test_no_cell_steers_what_is_said(cell: str) -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT * FROM (VALUES (?), ('b')) AS v (name)", [cell])
    connection.execute("CREATE TABLE u (name VARCHAR PRIMARY KEY, CHECK (len(name) < 5))")
    engine = DuckDBEngine(connection, owned=True)
    statements = [f"SELECT {each} AS x FROM t" for each in FAILING]
    statements += ["INSERT INTO u FROM t", "INSERT INTO u SELECT left(name, 4) FROM t, t AS v"]
    said = {each: text for each in statements if (text := _refusal(engine, each))}
    assert len(said) > len(FAILING) / 2
    assert not [each for each, text in said.items() if CANARY in text or "4711" in text]
    del said["SELECT error(name) AS x FROM t"]  # whose message is the cell, and nothing else
    for words in ("transaction that has failed", "cannot be read", "reading only", "no table"):
        assert not [each for each, text in said.items() if words in text]
    engine.close()


def _refusal(engine: DuckDBEngine, statement: str) -> str | None:
    try:
        engine.fetch(statement)
    except EngineError as error:
        return str(error)
    return None


def test_a_key_that_another_transaction_has_taken(tmp_path: Path) -> None:
    first = duckdb.connect(tmp_path / "keys.duckdb")
    first.execute("CREATE TABLE u (name VARCHAR PRIMARY KEY)")
    engine = DuckDBEngine(first.cursor(), owned=True)
    first.begin()
    engine.run("BEGIN")
    for run in (first.execute, engine.run):
        run(f"INSERT INTO u VALUES ('{CANARY} Catalog write-write conflict')")
    first.commit()
    with pytest.raises(EngineError, match="transaction error") as caught:
        engine.run("COMMIT")
    assert CANARY not in str(caught.value)
    engine.close()
    first.close()


def test_a_line_of_a_file_that_holds_the_words_of_an_error(tmp_path: Path) -> None:
    """The quoted field has the lines that DuckDB writes after the line it quotes."""
    path = tmp_path / "ragged.csv"
    fake = "Expected Number of Columns: 77 Found: 88\nPossible fixes:\n* none"
    field = f"{CANARY}\n{fake}\n\n  file = {CANARY}\nMaximum line size\n\nPossible fixes:\n* none"
    path.write_text("a,b\n" + "1,2\n" * 30 + f'"{field}",2,3\n')
    columns = "columns = {'a': 'VARCHAR', 'b': 'VARCHAR'}"
    reader = f"read_csv('{path}', auto_detect = false, header = true, {columns})"
    source = open_source(connection=duckdb.connect(), query=f"SELECT * FROM {reader}")
    with pytest.raises(EngineError) as caught:
        source.engine.fetch(exp.select("*").from_(source.relation))
    assert "line 32: expected 2 columns, found 3." in str(caught.value)
    assert CANARY not in str(caught.value)


def test_a_line_of_sql_that_holds_a_value(connection: duckdb.DuckDBPyConnection) -> None:
    """DuckDB quotes the statement below some messages about names."""
    engine = DuckDBEngine(connection, owned=False)
    with pytest.raises(EngineError, match="nosuch") as caught:
        engine.run(f"CREATE TABLE v AS SELECT '{CANARY}' AS x, nosuch(name) FROM t")
    assert CANARY not in str(caught.value)


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
