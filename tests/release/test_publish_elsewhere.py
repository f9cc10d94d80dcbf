"""Releases that go into another database than their source's."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from publish_cases import (
    DISEASE,
    OLD_RELEASE,
    age,
    contents,
    listed,
    make,
    named,
    publish,
    release,
    statements,
    town,
)

from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.registry import open_for_publishing
from sqlanon.errors import VerificationError

NEEDLE = b"NEEDLE-IN-THE-FILE"


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    path = tmp_path / "ware.duckdb"
    with duckdb.connect(path) as connection:
        make(connection)
        connection.sql(f"UPDATE people SET name = '{NEEDLE.decode()}' || name")
        connection.sql("INSERT INTO people SELECT people.* FROM people, range(1000)")
    return path


def test_another_database(warehouse: Path, tmp_path: Path) -> None:
    target = tmp_path / "share.duckdb"
    for _ in range(2):  # a new one, and over the former release
        opened = open_for_publishing(f"duckdb:///{warehouse}", target=f"duckdb:///{target}")
        source = opened.engine.source(table="people").relation
        wanted = release(source=source, target=opened.table("people"), subject="name")
        published = publish(opened.engine, wanted)
        opened.engine.close()
    assert published.target == "share.main.people"
    assert published.rows == 200_200
    assert published.remains == (
        f"rows of the former release can be read from the unused space of {target} until it is "
        "rewritten",
        f"rows of the former release may be in {target}.wal until the next checkpoint",
        "rows of the former release are in every backup and copy of the database",
    )
    assert listed(tmp_path) == ["share.duckdb", "ware.duckdb"]
    with duckdb.connect(target) as connection:
        rows = contents(connection, "SELECT age, town, count(*) FROM people GROUP BY ALL")
        assert [n for *_, n in rows] == [50_050] * 4
        assert contents(connection, "SELECT table_name FROM duckdb_tables()") == [("people",)]


@pytest.mark.parametrize("holds", [True, False])
def test_nothing_that_is_not_released_gets_into_the_other_file(
    warehouse: Path, tmp_path: Path, holds: bool
) -> None:
    """Not even into space that is free again: the file may be handed to others."""
    target = tmp_path / "share.duckdb"
    with duckdb.connect(target) as connection:
        connection.sql("CREATE TABLE other AS SELECT 1")
    opened = open_for_publishing(f"duckdb:///{warehouse}", target=f"duckdb:///{target}")
    opened.engine.run("PRAGMA force_compression = 'uncompressed'")
    grown: list[int] = []
    wanted = release(target=opened.table("anon"), subject="name", k=5 if holds else 51)
    with opened.engine.tracer.watch() as seen:
        try:
            publish(opened.engine, wanted, on_stage=lambda _: grown.append(target.stat().st_size))
        except VerificationError:
            assert not holds
    staged = [s.sql for s in seen if s.sql.startswith("CREATE")]
    assert staged[0].startswith("CREATE TEMPORARY TABLE")
    assert len(set(grown[:-2])) == 1
    opened.engine.close()
    assert NEEDLE not in target.read_bytes()


def test_data_and_files_into_a_database(tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        make(connection)
        data = connection.sql("FROM people").to_arrow_table()
        connection.sql(f"COPY people TO '{tmp_path}/people.csv'")
    for given in ({"data": data}, {"file": tmp_path / "people.csv"}):
        opened = open_for_publishing(None, target=f"duckdb:///{tmp_path}/share.duckdb")
        source = opened.engine.source(**given).relation  # type: ignore[arg-type]
        wanted = release(age(), town(), DISEASE, source=source, target=opened.table("anon"))
        assert publish(opened.engine, wanted).rows == 200
        opened.engine.close()


def test_an_attached_database_of_the_caller(tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        make(connection)
        connection.sql(f"ATTACH '{tmp_path}/share.duckdb' AS share")
        connection.sql(OLD_RELEASE.replace("people_anon", "share.people_anon"))
        connection.sql("CREATE TEMP TABLE mine AS SELECT 1")
        engine = DuckDBEngine(connection, owned=False)
        publish(engine, release(target=named("people_anon", "main", "share")))
        assert contents(connection, "SELECT count(*) FROM share.people_anon") == [(200,)]
        tables = "SELECT table_name FROM duckdb_tables() WHERE temporary"
        assert contents(connection, tables) == [("mine",)]


def test_statements_of_a_release_that_goes_elsewhere(warehouse: Path, tmp_path: Path) -> None:
    opened = open_for_publishing(
        f"duckdb:///{warehouse}", target=f"duckdb:///{tmp_path}/share.duckdb"
    )
    listed = statements(opened.engine, release(target=opened.table("anon"), subject="name"))
    opened.engine.close()
    assert listed[-4:] == [
        'CREATE TABLE "share"."main"."anon" AS\nSELECT\n  "age",\n  "town",\n  "disease"\n'
        'FROM "temp"."main"."sqlanon_stage"',
        'DROP TABLE "temp"."main"."sqlanon_stage"',
        'COMMENT ON TABLE "share"."main"."anon" IS \'released by sqlanon\'',
        "COMMIT",
    ]
