"""Releases as files, and what they hold when they are read back."""

from __future__ import annotations

import csv
import stat
from pathlib import Path

import duckdb
import pytest
from publish_cases import DISEASE, age, contents, listed, make, named, publish, release, town

from sqlanon.audit.table_hash import table_hash
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.protocol import Source
from sqlanon.engines.registry import open_for_publishing
from sqlanon.errors import PublishError, VerificationError
from sqlanon.release import pipeline
from sqlanon.release.export import Export
from sqlanon.release.order import Verbatim

FORMATS = ["people.csv", "people.parquet"]
NAMES = ["age", "town", "disease"]
ODD = """
    CREATE TABLE odd AS SELECT * FROM people POSITIONAL JOIN (
        SELECT
            [NULL, '', 'NULL', 'a,b', 'say "x"', e'two\\nlines', ' padded ', '-'][i % 8 + 1] AS odd,
            [NULL, 1.5, 'nan', 'inf', -0.0::DOUBLE][i % 5 + 1]::DOUBLE AS number,
            [NULL, TIMESTAMPTZ '2024-03-31 01:30:00+00'][i % 2 + 1] AS instant,
            [NULL, DATE '2024-02-29'][i % 2 + 1] AS day,
            i % 2 = 0 AS flag
        FROM range(200) t (i)
    )
"""


@pytest.mark.parametrize("name", FORMATS)
def test_a_file(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    published = publish(engine, release(file=path))
    read = f"SELECT age, town, count(*) FROM '{path}' GROUP BY ALL ORDER BY ALL"
    assert [row[2] for row in contents(connection, read)] == [50] * 4
    assert published.target == str(path)
    assert published.rows == 200
    assert listed(tmp_path) == [name]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert contents(connection, "SELECT table_name FROM duckdb_tables()") == [("people",)]
    # A file that is there keeps its permissions.
    path.chmod(0o640)
    assert publish(engine, release(file=path)).table_hash == published.table_hash
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("name", FORMATS)
def test_every_value_survives(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection, tmp_path: Path, name: str
) -> None:
    connection.sql("SET TimeZone = 'Asia/Kathmandu'")
    connection.sql(ODD)
    further = ["odd", "number", "instant", "day", "flag"]
    items = [Verbatim(column, "") for column in further]
    accepted = dict.fromkeys(further, "a test")
    path = tmp_path / name
    wanted = release(age(), *items, file=path, source=named("odd"), accepted=accepted, audited=())
    published = publish(engine, wanted)
    if name.endswith(".parquet"):
        read = f"read_parquet('{path}')"
        columns = ", ".join(f"{column}::VARCHAR" for column in further)
        order = f"SELECT {columns} FROM {{}} ORDER BY ALL"
        rows = contents(connection, order.format(read))
        assert rows == contents(connection, order.format("odd"))
        return
    with path.open(newline="", encoding="utf-8") as file:
        records = list(csv.DictReader(file))
    assert {row["odd"] for row in records} == {
        "", "NULL", "a,b", 'say "x"', "two\nlines", " padded ", "-",
    }  # fmt: skip
    assert {row["instant"] for row in records} == {"", "2024-03-31 07:15:00+05:45"}
    text = path.read_text(encoding="utf-8")
    assert ',"",' in text  # an empty text; NULL has no quotes
    assert published.table_hash != ""


def test_the_hash_of_a_csv_file_can_be_computed_from_it(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    path = tmp_path / "people.csv"
    published = publish(engine, release(file=path))
    connection.sql(f"CREATE VIEW read AS FROM read_csv('{path}', all_varchar = true)")
    assert table_hash(Source.of(engine, named("read")), NAMES) == published.table_hash


def test_a_file_that_reads_back_differently_is_not_published(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    connection.sql("ALTER TABLE people ADD COLUMN big HUGEINT")
    connection.sql("UPDATE people SET big = 170141183460469231731687303715884105727")
    path = tmp_path / "people.parquet"
    path.write_text("former")
    wanted = release(age(), Verbatim("big", "HUGEINT"), file=path)
    with pytest.raises(PublishError, match=r"no such type: 'big' \(HUGEINT becomes DOUBLE\)"):
        publish(engine, wanted)
    assert path.read_text() == "former"
    assert listed(tmp_path) == ["people.parquet"]


def test_a_header_is_checked(
    engine: DuckDBEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    former = Export.statement

    def twisted(self: Export, path: Path, *rest: object) -> str:
        return (
            former(self, path, *rest)
            .replace('AS "town"', 'AS "twon"')
            .replace(  # type: ignore[arg-type]
                'FORCE_QUOTE ("age", "town"', 'FORCE_QUOTE ("age", "twon"'
            )
        )

    monkeypatch.setattr(Export, "statement", twisted)
    with pytest.raises(PublishError, match="its header names other columns"):
        publish(engine, release(file=tmp_path / "people.csv"))
    assert not listed(tmp_path)


def test_a_release_that_does_not_hold_writes_no_file(engine: DuckDBEngine, tmp_path: Path) -> None:
    with pytest.raises(VerificationError):
        publish(engine, release(file=tmp_path / "people.csv", k=51))
    assert not listed(tmp_path)


def test_places_that_a_file_cannot_go_to(engine: DuckDBEngine, tmp_path: Path) -> None:
    with pytest.raises(PublishError, match="there is no folder"):
        publish(engine, release(file=tmp_path / "nowhere" / "people.csv"))
    path = tmp_path / "it's [people]*.csv"
    engine.run(f"COPY people TO '{str(path).replace(chr(39), chr(39) * 2)}'")
    source = engine.source(file=path).relation
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    for target in (path, link):
        with pytest.raises(PublishError, match="is the source itself"):
            publish(engine, release(file=target, source=source))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM 'part1.csv'",
        'SELECT * FROM "part1.csv"',
        "SELECT * FROM './part?.csv'",
        "SELECT * FROM read_csv('part*.csv')",
        "SELECT * FROM read_csv(['part2.csv', 'part1.csv'])",
        "WITH p AS (FROM read_csv('part*.csv')) SELECT * FROM p",
        "SELECT * FROM outer_view",
        "SELECT * FROM p0 UNION ALL SELECT * FROM 'part1.csv' WHERE false",
        "SELECT * FROM parts()",
    ],
)
def test_a_file_that_the_source_reads_in_other_words(
    engine: DuckDBEngine,
    connection: duckdb.DuckDBPyConnection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    query: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("part1.csv", "part2.csv"):
        connection.sql(f"COPY people TO '{name}'")
    connection.sql("ALTER TABLE people RENAME TO p0")
    connection.sql("CREATE VIEW inner_view AS FROM read_csv('part1.csv')")
    connection.sql("CREATE VIEW outer_view AS FROM inner_view")
    connection.sql("CREATE MACRO parts() AS TABLE FROM read_csv('part*.csv')")
    source = engine.source(query=query).relation
    before = (tmp_path / "part1.csv").read_bytes()
    with pytest.raises(PublishError, match="is the source itself, or part of it"):
        publish(engine, release(file=tmp_path / "part1.csv", source=source))
    assert (tmp_path / "part1.csv").read_bytes() == before


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_csv(getvariable('f'))",
        "SELECT * FROM read_csv('part' || '1.csv')",
        "SELECT * FROM m('x')",
        "SELECT * FROM query('FROM people')",
    ],
)
def test_a_file_is_not_replaced_where_the_source_hides_what_it_reads(
    engine: DuckDBEngine,
    connection: duckdb.DuckDBPyConnection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    query: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    connection.sql("COPY people TO 'part1.csv'")
    connection.sql("SET VARIABLE f = 'part1.csv'")
    connection.sql("CREATE MACRO m(x) AS TABLE FROM read_csv(replace(x, 'x', 'part1') || '.csv')")
    source = engine.source(query=query).relation
    with pytest.raises(PublishError, match="it cannot be told whether the source reads it"):
        publish(engine, release(file=tmp_path / "part1.csv", source=source))
    publish(engine, release(file=tmp_path / "new.csv", source=source))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM v",
        "WITH p AS (SELECT * FROM people), q AS (SELECT * FROM p) SELECT * FROM q",
        "SELECT people.* FROM people, range(1) AS t (i)",
        "SELECT * FROM read_csv('raw*.csv', header = true)",
        "SELECT * FROM 'raw.csv' WHERE town <> 'anon'",
    ],
)
def test_a_scheduled_job_replaces_its_file(
    engine: DuckDBEngine,
    connection: duckdb.DuckDBPyConnection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    query: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    connection.sql("COPY people TO 'raw.csv'")
    connection.sql("CREATE VIEW v AS SELECT p.* FROM people AS p")
    source = engine.source(query=query).relation
    for _ in range(2):
        publish(engine, release(file=tmp_path / "anon.csv", source=source))


def test_data_in_memory_replace_a_file(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    data = connection.sql("FROM people").to_arrow_table()
    opened = open_for_publishing(None, file=tmp_path / "anon.csv")
    source = opened.engine.source(data=data).relation
    for _ in range(2):
        publish(opened.engine, release(file=tmp_path / "anon.csv", source=source))
    opened.engine.close()


def test_from_a_file_to_a_file(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    path, target = tmp_path / "people.csv", tmp_path / "out" / "anon.parquet"
    target.parent.mkdir()
    connection.sql(f"COPY people TO '{path}'")
    opened = open_for_publishing(None, file=target, folders=[tmp_path])
    source = opened.engine.source(file=path).relation
    publish(opened.engine, release(age(), town(), DISEASE, file=target, source=source))
    opened.engine.close()
    assert contents(connection, f"SELECT count(*) FROM '{target}'") == [(200,)]
    assert listed(target.parent) == ["anon.parquet"]
    assert not listed(tmp_path / "elsewhere")


def test_from_a_database_that_is_open_for_reading_only(tmp_path: Path) -> None:
    path = tmp_path / "ware.duckdb"
    with duckdb.connect(path) as connection:
        make(connection)
    before = path.read_bytes()
    opened = open_for_publishing(f"duckdb:///{path}", file=tmp_path / "people.csv")
    publish(opened.engine, release(file=tmp_path / "people.csv"))
    opened.engine.close()
    assert path.read_bytes() == before
    assert listed(tmp_path) == ["people.csv", "ware.duckdb"]


def test_a_damaged_file_in_the_place_of_a_former_release_does_not_end_the_transaction(
    engine: DuckDBEngine, tmp_path: Path
) -> None:
    path = tmp_path / "people.csv"
    former = pipeline.publish(release(file=path), engine, folder=tmp_path)
    (tmp_path / "people.csv.shareable.json").unlink()
    path.write_bytes(path.read_bytes()[:200] + b'"\xff\xfe"broken"\n')
    with pytest.raises(PublishError, match="there is no certificate"):
        pipeline.publish(release(file=path), engine, folder=tmp_path)
    again = pipeline.publish(release(file=path), engine, folder=tmp_path, replace_file=True)
    assert again.table_hash == former.table_hash
