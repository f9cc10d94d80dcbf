"""Releases from ETL scripts: the caller's own connection, DataFrames, mappings, and no noise."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
import town_table
from town_table import FINE, GOOD, POLICY

import sqlanon
from sqlanon.errors import EngineError, PolicyError, VerificationError

OWN: dict[str, Any] = {**POLICY, "source": {"table": "people"}}
IN_PROCESS = {key: value for key, value in POLICY.items() if key not in ("source", "publish")}


@pytest.fixture
def connection() -> Any:
    with duckdb.connect() as opened:
        opened.execute(town_table.SQL)
        yield opened


def count(connection: duckdb.DuckDBPyConnection, table: str) -> int | None:
    try:
        found = connection.execute(f"SELECT count(*) FROM {table}").fetchall()
    except duckdb.CatalogException:
        return None
    return int(found[0][0])


def test_a_connection_without_a_transaction(connection: duckdb.DuckDBPyConnection) -> None:
    with sqlanon.load(OWN, connection=connection) as anonymizer:
        release = anonymizer.publish(GOOD)
    assert (release.rows, release.k, release.files) == (60, 20, ())
    assert count(connection.cursor(), "released") == 60
    assert release.to_pandas().groupby("age").size().to_dict() == {"[20, 40)": 40, "[40, 60]": 20}


def test_the_caller_commits(connection: duckdb.DuckDBPyConnection) -> None:
    other = connection.cursor()
    connection.execute("BEGIN")
    connection.execute("DELETE FROM people WHERE age >= 40")
    with sqlanon.load(OWN, connection=connection) as anonymizer:
        assert anonymizer.publish(GOOD).rows == 40
    assert count(other, "released") is None
    connection.execute("COMMIT")
    assert (count(other, "released"), count(other, "people")) == (40, 40)


def test_the_caller_rolls_back(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("BEGIN")
    with sqlanon.load(OWN, connection=connection) as anonymizer:
        assert anonymizer.publish(GOOD).rows == 60
    assert count(connection, "released") == 60
    connection.execute("ROLLBACK")
    assert (count(connection, "released"), count(connection, "people")) == (None, 60)


def test_a_replaced_table_comes_back_with_a_rollback(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    connection.execute("BEGIN")
    policy = {**OWN, "publish": {"mode": "replace"}}
    with sqlanon.load(policy, connection=connection) as anonymizer:
        anonymizer.publish(GOOD)
    assert connection.execute("SELECT DISTINCT age FROM people ORDER BY 1").fetchall() == [
        ("[20, 40)",), ("[40, 60]",),
    ]  # fmt: skip
    connection.execute("ROLLBACK")
    assert connection.execute("SELECT min(age), count(name) FROM people").fetchall() == [(20, 60)]


def test_a_refused_release_leaves_the_callers_transaction_usable(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    connection.execute("BEGIN")
    connection.execute("CREATE TABLE notes AS SELECT 1 AS n")
    with (
        sqlanon.load(OWN, connection=connection) as anonymizer,
        pytest.raises(VerificationError, match="k is 3"),
    ):
        anonymizer.publish(FINE)
    connection.execute("COMMIT")
    tables = connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()
    assert tables == [("notes",), ("people",)]


def test_a_dataframe_in_and_a_dataframe_out() -> None:
    with duckdb.connect() as connection:
        people = connection.execute(town_table.SQL).sql("FROM people").df()
    before = people.copy(deep=True)
    with sqlanon.load(IN_PROCESS, data=people) as anonymizer:
        release = anonymizer.publish(GOOD)
    frame = release.to_pandas()
    assert list(frame.columns) == ["age", "town", "illness"]
    assert frame.groupby("age").size().to_dict() == {"[20, 40)": 40, "[40, 60]": 20}
    assert set(frame["town"]) == {"*"}
    pd.testing.assert_frame_equal(people, before)
    assert isinstance(release.to_arrow(), pa.Table)
    assert "60 rows" in str(release)
    assert "<br>" in release._repr_html_()


def test_data_can_go_to_a_file_or_database(tmp_path: Path) -> None:
    data = pa.table(
        {"name": ["x"] * 6, "age": [21] * 6, "town": ["Bonn"] * 6, "illness": ["a", "b"] * 3}
    )
    scheme = {"columns": {"age": {"cuts": []}, "town": {"level": 0}}}
    places = [
        {"file": str(tmp_path / "out.parquet")},
        {"connection": f"duckdb:///{tmp_path / 'new.duckdb'}", "to": "released"},
    ]
    for place in places:
        with sqlanon.load({**IN_PROCESS, "publish": place}, data=data) as anonymizer:
            assert anonymizer.publish(scheme).to_pandas()["town"].tolist() == ["Bonn"] * 6


def test_a_mapping_writes_no_certificate_unless_asked(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy").write_text("any file of this name")
    with sqlanon.load(OWN, connection=connection) as anonymizer:
        assert anonymizer.publish(GOOD).files == ()
        assert [path.name for path in tmp_path.iterdir()] == ["policy"]
        files = anonymizer.publish(GOOD, certificates=tmp_path).files
        assert sorted(path.suffix for path in files) == [".html", ".html", ".json", ".json"]
        with pytest.raises(sqlanon.SqlanonError, match="nowhere: the certificate cannot"):
            anonymizer.publish(GOOD, certificates=tmp_path / "nowhere")


def test_one_anonymizer_publishes_and_measures_again(tmp_path: Path) -> None:
    policy = town_table.make(tmp_path)
    with sqlanon.load(policy) as anonymizer:
        result = anonymizer.search()
        assert anonymizer.publish(result).rows == 60
        assert anonymizer.type_changes(GOOD) == [
            "name: VARCHAR, removed",
            "age: INTEGER becomes VARCHAR",
        ]
        assert len(anonymizer.dry_run(GOOD)) > 4
        assert anonymizer.publish(GOOD).k == anonymizer.measure(GOOD).k == 20
    assert town_table.tables(tmp_path) == ["people", "released"]


def test_what_goes_nowhere_is_refused(connection: duckdb.DuckDBPyConnection) -> None:
    policy = {key: value for key, value in OWN.items() if key != "publish"}
    with (
        sqlanon.load(policy, connection=connection) as anonymizer,
        pytest.raises(PolicyError, match="publish: says no place"),
    ):
        anonymizer.publish(GOOD)
    with pytest.raises(EngineError, match="not both"):
        sqlanon.load(policy, connection=connection, data=pa.table({"a": [1]}))


def test_nothing_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    policy = town_table.make(tmp_path)
    with caplog.at_level(logging.DEBUG, "sqlanon"), sqlanon.load(policy) as anonymizer:
        anonymizer.search()
        stages: list[str] = []
        anonymizer.publish(GOOD, on_stage=stages.append)
        anonymizer.dry_run(GOOD)
    assert capsys.readouterr() == ("", "")
    assert stages[0] == "preparing"
    assert stages[-1] == "published"
    messages = [record.getMessage() for record in caplog.records]
    assert any("60 rows verified" in message for message in messages)
    assert {record.name.split(".")[0] for record in caplog.records} == {"sqlanon"}
