"""A long answer of a server is read in parts and coded in a file that only its owner can read."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from postgres_server import Database

from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import count
from sqlanon.engines import fetch_streamed, open_engine, open_source, streamed
from sqlanon.errors import EngineError

ROWS = 300_000
# Of each row a text, a number without a limit, a double, an instant, a truth value and an
# integer, with NULLs; 1.0 and 1.00 are one number, and so are 0 and -0. `who` repeats.
COLUMNS = {
    "name": "CASE WHEN n % 1000 > 0 THEN 'Ünï ' || n % 150000 END",
    "amount": "CASE WHEN n % 2 = 0 THEN n % 7 + 0.50 ELSE n % 7 + 0.5 END",
    "share": "CASE n % 5 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN '0' ELSE '2.5' END",
    "seen": "TIMESTAMPTZ '2026-01-01 00:00:00+00' + (n % 11) * INTERVAL '1 hour'",
    "sick": "n % 3 = 0",
    "age": "n % 90",
    "who": "'p' || (n - n % 2)",
}
TYPES = {
    "name": "TEXT", "amount": ("NUMERIC", "DECIMAL(9, 2)"), "share": ("FLOAT8", "DOUBLE"),
    "seen": "TIMESTAMPTZ", "sick": "BOOLEAN", "age": "INTEGER", "who": "TEXT",
}  # fmt: skip
QUASIS = [
    Quasi("name"),
    Quasi("amount"),
    Quasi("share"),
    Quasi("seen"),
    Quasi("sick"),
    Quasi("age", range=(0, 90), granularity=10),
]


def table_of(dialect: int) -> str:
    types = {n: t if isinstance(t, str) else t[dialect] for n, t in TYPES.items()}
    cells = ", ".join(f"CAST({cell} AS {types[name]}) AS {name}" for name, cell in COLUMNS.items())
    return f"CREATE TABLE people AS SELECT {cells} FROM generate_series(1, {ROWS}) AS s (n)"


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders go."""
    found = tmp_path / "temporary"
    found.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(found))
    return found


@pytest.fixture
def people(postgres: Database) -> Database:
    postgres.run(table_of(0), "ANALYZE people")
    return postgres


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int, set[str]]]:
    """Rows of each part that is stored, the mode of its folder, and the files there."""
    parts: list[tuple[int, int, set[str]]] = []
    stored = streamed._stored

    def watched(store: Any, batches: Iterator[pa.Table]) -> pa.Schema:
        def each() -> Iterator[pa.Table]:
            for batch in batches:
                yield batch
                (folder,) = Path(tempfile.gettempdir()).glob(".sqlanon-*.tmp")
                files = {path.name for path in folder.iterdir()}
                parts.append((len(batch), folder.stat().st_mode & 0o777, files))

        return stored(store, each())

    monkeypatch.setattr(streamed, "_stored", watched)
    return parts


@pytest.mark.parametrize("subject", [None, "who"])
def test_it_is_the_histogram_of_duckdb(
    people: Database,
    folders: Path,
    seen: list[tuple[int, int, set[str]]],
    subject: str | None,
) -> None:
    with duckdb.connect() as connection:
        connection.execute(table_of(1))
        own = open_source(connection=connection, table="people")
        expected = count(own, QUASIS, subject=subject, facets=["sick"])
    source = open_source(connection=people.address, table="people")
    with closing(source.engine):
        found = count(source, QUASIS, subject=subject, facets=["sick"], memory="48MB")
    assert found.space.columns == expected.space.columns
    assert (found.rows, found.people) == (expected.rows, expected.people)
    assert len(found.tally) > 200_000
    assert found.fingerprint == expected.fingerprint
    # Parts of 1 MB; the file is in a folder for its owner alone, which is gone.
    assert len([rows for rows, _, _ in seen if rows]) > 5
    assert sum(rows for rows, _, _ in seen) >= len(found.tally)
    assert {mode for _, mode, _ in seen} == {0o700}
    assert all("answer.duckdb" in files for _, _, files in seen)
    assert not list(folders.iterdir())


def test_the_folder_is_gone_after_an_error(postgres: Database, folders: Path) -> None:
    with closing(open_engine(postgres.address)) as engine:
        query = (
            "SELECT n AS q0, 'a' || n AS q1, 1 / (250000 - n) AS q2 "
            "FROM pg_catalog.generate_series(1, 300000) AS s (n)"
        )
        with pytest.raises(EngineError, match="22012"):
            fetch_streamed(engine, query)
        assert not list(folders.iterdir())
        # The connection can be used again.
        assert fetch_streamed(engine, "SELECT 1 AS one").to_pylist() == [{"one": 1}]


def test_it_is_removed_after_an_interrupt_too(
    people: Database, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(store: Any, batches: Iterator[pa.Table]) -> pa.Schema:
        for _ in batches:
            assert list(folders.iterdir())
            raise KeyboardInterrupt
        raise AssertionError

    monkeypatch.setattr(streamed, "_stored", interrupted)
    source = open_source(connection=people.address, table="people")
    with closing(source.engine):
        with pytest.raises(KeyboardInterrupt):
            count(source, QUASIS)
        assert not list(folders.iterdir())
        assert source.engine.fetch("SELECT 1 AS one")["one"].to_pylist() == [1]


def test_what_a_killed_run_has_left_is_removed(people: Database, folders: Path) -> None:
    left = folders / ".sqlanon-killed.tmp"
    left.mkdir()
    (left / "answer.duckdb").write_bytes(b"values of people")
    os.utime(left, (0, 0))
    source = open_source(connection=people.address, table="people")
    with closing(source.engine):
        count(source, QUASIS)
    assert not list(folders.iterdir())


def test_a_short_answer_is_not_written(postgres: Database, folders: Path) -> None:
    folders.rmdir()
    with closing(open_engine(postgres.address)) as engine:
        found = fetch_streamed(engine, "SELECT 1.50 AS a, 'x' AS b UNION ALL SELECT 2, NULL")
        assert found.equals(engine.fetch("SELECT 1.50 AS a, 'x' AS b UNION ALL SELECT 2, NULL"))
        assert not len(fetch_streamed(engine, "SELECT 1 AS a WHERE FALSE"))
