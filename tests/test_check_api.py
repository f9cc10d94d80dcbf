"""`sqlanon.check`: where it finds its table, and what it leaves as it was."""

from __future__ import annotations

import io
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from small_table import CSV

import sqlanon
from sqlanon.errors import ArgumentError, CheckError, EngineError


@pytest.fixture
def people() -> pd.DataFrame:
    return pd.read_csv(io.StringIO(CSV))


def test_sources(tmp_path: Path, people: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(CSV, encoding="utf-8")
    people.to_parquet("people.parquet")
    with duckdb.connect("ware.duckdb") as connection:
        connection.execute("CREATE TABLE people AS FROM people")
    lent = duckdb.connect()
    lent.execute("CREATE TABLE people AS FROM people")
    for source, options in [
        ("people.csv", {}),
        (tmp_path / "people.csv", {}),
        (Path("people.parquet"), {}),
        ("ware.duckdb", {"table": "people"}),
        (tmp_path / "ware.duckdb", {"query": "SELECT sex FROM people"}),
        (f"duckdb:///{tmp_path / 'ware.duckdb'}", {"table": "people"}),
        (people, {}),
        (pa.Table.from_pandas(people), {}),
        (pa.Table.from_pandas(people).to_reader(), {}),
        (lent.table("people"), {}),
        (lent, {"table": "people"}),
        (lent, {"query": "FROM people"}),
        (None, {"connection": lent, "table": "people"}),
        (None, {"connection": "duckdb:///ware.duckdb", "table": "people"}),
    ]:
        result = sqlanon.check(source, quasi=["sex"], k=3, **options)  # type: ignore[arg-type]
        assert (result.k, result.rows, result.people, result.classes) == (3, 6, 6, 2)
        assert result.holds
        assert result.violations == ()
    lent.execute("SELECT 1").fetchall()  # it is still open


def test_a_lent_connection_stays_as_it_is() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a")
        connection.execute("BEGIN")
        connection.execute("INSERT INTO t VALUES (1)")
        assert sqlanon.check(connection, "a", table="t").k == 2  # it sees the transaction
        with pytest.raises(EngineError):
            sqlanon.check(connection, "b", table="t")
        connection.execute("ROLLBACK")
        assert sqlanon.check(connection, "a", table="t").k == 1
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("t",)]


def test_one_name_is_not_its_letters(people: pd.DataFrame) -> None:
    result = sqlanon.check(people, "sex", sensitive="outcome")
    assert result.audit.quasi == ("sex",)
    assert [each.column for each in result.audit.sensitive] == ["outcome"]
    assert result.holds


def test_it_prints_well(people: pd.DataFrame) -> None:
    people["<b>"] = range(6)
    result = sqlanon.check(people, ["sex"], k=4, subject="<b>")
    assert str(result).endswith(
        "fails: k is 3, required 4: 2 of 2 classes have fewer than 4 people; 6 of 6 rows are in "
        "them"
    )
    page = result._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
    assert str(sqlanon.check(people, ["sex"], k=2)).endswith("k = 2 holds")


def test_nan_in_a_frame_is_missing(people: pd.DataFrame) -> None:
    people["score"] = [1.0, None, float("nan"), 1.0, None, None]
    assert [s.size for s in sqlanon.check(people, "score").audit.sizes] == [2, 4]


def test_mistakes(people: pd.DataFrame) -> None:
    with pytest.raises(ArgumentError, match="there is nothing to check"):
        sqlanon.check(quasi="a")
    with pytest.raises(ArgumentError, match="give `source` or `connection`, not both"):
        sqlanon.check(people, "sex", connection=duckdb.connect())
    with pytest.raises(ArgumentError, match="data in this process are checked as a whole"):
        sqlanon.check(people, "sex", table="people")
    with pytest.raises(ArgumentError, match="the connection is taken for a database: give `table`"):
        sqlanon.check(duckdb.connect(), "sex")
    with pytest.raises(ArgumentError, match="`k` is 0; give a whole number of at least 1"):
        sqlanon.check(people, "sex", k=0)
    with pytest.raises(CheckError, match="at least one quasi-identifier"):
        sqlanon.check(people)
    with pytest.raises(EngineError, match="not a known engine"):
        sqlanon.check("oracle://x", "a", table="t")
