"""What a dry run prints, as text in tests/golden/publish.

SQLANON_UPDATE_GOLDEN=1 writes the files anew; read the difference before you commit it.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from publish_cases import (
    DISEASE,
    SECRET,
    age,
    make,
    named,
    pseudonym,
    publish,
    release,
    statements,
    town,
)

from sqlanon.domain.presentation import Mode
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.release.order import Order

GOLDEN = Path(__file__).parents[1] / "golden" / "publish"
CASES = {
    "table": release(),
    "table_over_former": release(
        age(),
        town(),
        DISEASE,
        pseudonym(),
        subject="name",
        suppress=True,
        keys={"key_1": SECRET},
        target=named("former"),
        accepted={"name": "links years"},
        audited=(),
    ),
    "replace": release(mode=Mode.REPLACE, subject="name"),
    "view": release(mode=Mode.VIEW),
    "csv": release(file=Path("people.csv")),
    "parquet": release(file=Path("people.parquet")),
}


@pytest.fixture
def engine() -> Iterator[DuckDBEngine]:
    with duckdb.connect() as connection:
        make(connection)
        connection.sql("ALTER TABLE people ALTER age SET NOT NULL")
        connection.sql("COMMENT ON TABLE people IS 'everyone'")
        connection.sql("COMMENT ON COLUMN people.town IS 'where they live'")
        connection.sql("CREATE TABLE former (town VARCHAR NOT NULL)")
        connection.sql("COMMENT ON TABLE former IS 'released by sqlanon'")
        yield DuckDBEngine(connection, owned=False)


@pytest.mark.parametrize("case", CASES)
def test_statements(engine: DuckDBEngine, case: str) -> None:
    listed = statements(engine, CASES[case])
    text = "".join(f"{statement};\n\n" for statement in listed).rstrip("\n") + "\n"
    path = GOLDEN / f"{case}.sql"
    if os.environ.get("SQLANON_UPDATE_GOLDEN") == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
    assert SECRET not in text
    connection_tables = engine.fetch("SELECT table_name FROM duckdb_tables() ORDER BY 1")
    assert connection_tables.column(0).to_pylist() == ["former", "people"]


def test_every_golden_file_is_used() -> None:
    assert {path.stem for path in GOLDEN.glob("*.sql")} == set(CASES)


@pytest.mark.parametrize("case", CASES)
def test_what_is_printed_is_what_is_run(
    engine: DuckDBEngine, case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = statements(engine, CASES[case])
    with engine.tracer.watch() as seen:
        published = publish(engine, CASES[case])
    told = [_plain(text) for text in published.statements]
    assert told == [_plain(text) for text in printed[1:-1]]
    run = iter([_plain(statement.sql) for statement in seen])
    assert all(text in run for text in told)  # each after the one before it


def _plain(text: str) -> str:
    text = re.sub(r"sqlanon_stage_[0-9a-f]{32}", "sqlanon_stage", text)
    return re.sub(r"'[^']*people\.(csv|parquet)'|'[^']*/release\.(csv|parquet)'", "FILE", text)


def test_the_log_tells_stages_and_counts(
    engine: DuckDBEngine, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[str] = []
    with caplog.at_level(logging.INFO, "sqlanon.publish"):
        published = publish(engine, CASES["table"], on_stage=heard.append)
    assert [r.getMessage() for r in caplog.records if r.name == "sqlanon.publish"] == [
        "preparing",
        "counting",
        "staging: 200 rows",
        "verifying",
        "certifying: 200 rows verified",
        "swapping: 200 rows",
        "committing",
        "published: 200 rows",
    ]
    stages = ["preparing", "counting", "staging", "verifying", "certifying", "swapping"]
    assert heard == [*stages, "committing", "published"]
    assert list(published.seconds) == heard


def test_a_release_can_be_planned_without_its_keys_being_told(engine: DuckDBEngine) -> None:
    wanted: Order = CASES["table_over_former"]
    assert SECRET not in repr(wanted)
