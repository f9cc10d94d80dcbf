"""Files and data of this process as sources, and every message about one that cannot be read."""

from __future__ import annotations

import datetime as dt
import gzip
import math
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from source_cases import WEIRD, kinds, rows

from sqlanon.engines.protocol import Kind
from sqlanon.engines.registry import open_source
from sqlanon.errors import EngineError

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
        ({"a": [1]}, r"with an Arrow stream \(`__arrow_c_stream__`\), not dict"),
        (pa.chunked_array([[1]]), "ChunkedArray cannot be read as a table.* ArrowInvalid"),
    ],
)
def test_data_that_cannot_be_read(data: object, message: str) -> None:
    with pytest.raises(EngineError, match=message):
        open_source(data=data)  # type: ignore[arg-type]
