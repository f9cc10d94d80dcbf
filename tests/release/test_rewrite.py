"""A database file written anew: nothing is lost but what was dropped."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from publish_cases import dump, listed, make, opened, publish, release

from sqlanon.domain.presentation import Mode
from sqlanon.engines import duckdb as duckdb_engine
from sqlanon.errors import EngineError, PublishError
from sqlanon.release import export
from sqlanon.release.export import rewrite_database

OBJECTS = [
    "CREATE TYPE mood AS ENUM ('sad', 'ok')",
    "CREATE SEQUENCE numbers START 5",
    "SELECT nextval('numbers')",
    "CREATE TABLE parent (id INT PRIMARY KEY, u INT UNIQUE CHECK (u > 0), m mood, "
    "t VARCHAR NOT NULL DEFAULT 'x')",
    "CREATE TABLE child (id INT DEFAULT nextval('numbers'), p INT REFERENCES parent (id), "
    "twice INT GENERATED ALWAYS AS (p * 2))",
    "INSERT INTO parent VALUES (1, 2, 'ok', 'a'), (2, NULL, NULL, 'b')",
    "INSERT INTO child (p) VALUES (1), (2)",
    "CREATE INDEX by_text ON parent (t)",
    'CREATE SCHEMA "odd;""name"',
    'CREATE TABLE "odd;""name"."ta""ble--" AS SELECT 1 AS "co;""l"',
    "CREATE VIEW v AS SELECT * FROM parent",
    "CREATE VIEW a_before_v AS SELECT id FROM v",
    "CREATE MACRO add_one(x) AS x + 1",
    "CREATE MACRO rows_of() AS TABLE SELECT * FROM parent",
    "COMMENT ON TABLE parent IS 'a table'",
    "COMMENT ON COLUMN parent.t IS 'a column'",
    "COMMENT ON VIEW v IS 'a view'",
    "COMMENT ON SEQUENCE numbers IS 'a sequence'",
    "COMMENT ON INDEX by_text IS 'an index'",
    "COMMENT ON MACRO add_one IS 'a macro'",
    "COMMENT ON TYPE mood IS 'a type'",
]
NEEDLE = b"NEEDLE-IN-THE-FILE"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "it's a ware.duckdb"
    with duckdb.connect(path) as connection:
        for statement in OBJECTS:
            connection.sql(statement)
        connection.sql("PRAGMA force_compression = 'uncompressed'")
        connection.sql(
            f"CREATE TABLE secret AS SELECT '{NEEDLE.decode()}' || hash(i) AS s "
            "FROM range(100000) t (i)"
        )
        connection.sql("CHECKPOINT")
        connection.sql("DROP TABLE secret")
        connection.sql("CHECKPOINT")
    return path


def test_dropped_rows_are_gone_and_all_else_is_there(database: Path, tmp_path: Path) -> None:
    assert NEEDLE in database.read_bytes()
    database.chmod(0o640)
    before = dump(database)
    size = database.stat().st_size
    rewrite_database(database)
    assert database.stat().st_size < size
    assert NEEDLE not in database.read_bytes()
    assert stat.S_IMODE(database.stat().st_mode) == 0o640
    assert listed(tmp_path) == [database.name]
    assert dump(database) == before
    with duckdb.connect(database) as connection:
        assert connection.sql("SELECT nextval('numbers'), add_one(1)").fetchall() == [(8, 2)]
        assert connection.sql("SELECT count(*) FROM rows_of()").fetchall() == [(2,)]
        assert connection.sql("SELECT count(*) FROM a_before_v").fetchall() == [(2,)]
        comments = connection.sql(
            "SELECT comment FROM duckdb_indexes() UNION ALL SELECT comment FROM duckdb_sequences() "
            "UNION ALL SELECT comment FROM duckdb_types() WHERE NOT internal "
            "UNION ALL SELECT comment FROM duckdb_columns() WHERE comment IS NOT NULL ORDER BY 1"
        ).fetchall()
        assert [text for (text,) in comments] == ["a column", "a sequence", "a type", "an index"]
        with pytest.raises(duckdb.ConstraintException):
            connection.sql("INSERT INTO child (p) VALUES (99)")


def test_after_a_replacement_the_source_is_gone_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "ware.duckdb"
    with duckdb.connect(path) as connection:
        connection.sql("PRAGMA force_compression = 'uncompressed'")
        make(connection)
        connection.sql(f"UPDATE people SET name = '{NEEDLE.decode()}' || name")
        connection.sql("INSERT INTO people SELECT people.* FROM people, range(1000)")
    with opened(path) as engine:
        published = publish(engine, release(mode=Mode.REPLACE))
    assert published.remains == (
        f"rows of the source can be read from the unused space of {path} until it is rewritten",
        f"rows of the source may be in {path}.wal until the next checkpoint",
        "rows of the source are in every backup and copy of the database",
    )
    rewrite_database(path)
    assert NEEDLE not in path.read_bytes()
    assert listed(tmp_path) == ["ware.duckdb"]


def test_a_database_that_is_open_elsewhere_is_refused(database: Path, tmp_path: Path) -> None:
    before = database.read_bytes()
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1], read_only=True); print(); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(database)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(EngineError, match=rf"open in another process \(PID {other.pid}\)"):
            rewrite_database(database)
        other.kill()
    with duckdb.connect(database), pytest.raises(EngineError, match="already open in this process"):
        rewrite_database(database)
    assert database.read_bytes() == before
    assert listed(tmp_path) == [database.name]


def test_a_difference_is_refused(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = dump(database)
    hashes = iter("abcdef")
    monkeypatch.setattr(export, "table_hash", lambda *_, **__: next(hashes))
    with pytest.raises(PublishError, match=r"differs from .* in the rows of table 'child'"):
        rewrite_database(database)
    former = duckdb_engine.render
    monkeypatch.setattr(
        duckdb_engine,
        "render",
        lambda name, **keys: former(name, **keys).replace("sql, comment", "random(), comment"),
    )
    with pytest.raises(PublishError, match="in: index by_text, sequence numbers, table child"):
        rewrite_database(database)
    assert dump(database) == before


def test_what_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="does not exist"):
        rewrite_database(tmp_path / "nothing.duckdb")
    (tmp_path / "people.csv").write_text("a,b\n1,2\n" * 10)
    with pytest.raises(EngineError, match="is not a DuckDB database"):
        rewrite_database(tmp_path / "people.csv")
    assert listed(tmp_path) == ["people.csv"]
