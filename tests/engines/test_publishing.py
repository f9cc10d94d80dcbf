"""Databases opened for a publish, and what the catalog says of their tables."""

from __future__ import annotations

import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from sqlglot import exp

from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.protocol import parse_table
from sqlanon.engines.registry import open_for_publishing, open_source
from sqlanon.errors import EngineError


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.sql("CREATE TABLE people AS SELECT 1 AS age")
        yield connection


@pytest.fixture
def engine(connection: duckdb.DuckDBPyConnection) -> DuckDBEngine:
    return DuckDBEngine(connection, owned=False)


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    path = tmp_path / "ware.duckdb"
    with duckdb.connect(path) as connection:
        connection.sql("CREATE TABLE people AS SELECT 1 AS age")
    return path


def listed(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def full(table: exp.Table) -> tuple[str, str, str]:
    return table.catalog, table.db, table.name


# Names


@pytest.mark.parametrize(
    ("name", "to_create", "place"),
    [
        ("people", False, ("memory", "main", "people")),
        ("PEOPLE", False, ("memory", "main", "people")),
        ("memory.people", False, ("memory", "main", "people")),
        ("Main.People", False, ("memory", "main", "people")),
        ("new", True, ("memory", "main", "new")),
        ("work.people", False, ("memory", "work", "people")),
        ("other.people", True, ("other", "main", "people")),
        ("other.work.new", True, ("other", "work", "new")),
        ("OTHER.WORK.NEW", True, ("other", "work", "NEW")),
        ("short", False, ("temp", "main", "short")),
        ("short", True, ("memory", "main", "short")),
        ('"É"', False, ("memory", "main", "É")),
        ('"é"', False, ("memory", "main", "é")),
    ],
)
def test_where_names_lead(
    engine: DuckDBEngine,
    connection: duckdb.DuckDBPyConnection,
    name: str,
    to_create: bool,
    place: tuple[str, str, str],
) -> None:
    connection.sql("CREATE SCHEMA work")
    connection.sql("CREATE TABLE work.people (i INT)")
    connection.sql("ATTACH ':memory:' AS other")
    connection.sql("CREATE SCHEMA other.work")
    connection.sql("CREATE TEMP TABLE short (i INT)")
    connection.sql('CREATE TABLE "É" (i INT)')
    assert full(engine.locate(parse_table(name), to_create=to_create)) == place


def test_names_follow_the_search_path(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    connection.sql('CREATE SCHEMA "odd, name"')
    connection.sql('CREATE TABLE "odd, name".things (i INT)')
    connection.sql("""SET search_path = '"odd, name",main'""")
    assert full(engine.locate(parse_table("things"))) == ("memory", "odd, name", "things")
    assert full(engine.locate(parse_table("people"))) == ("memory", "main", "people")
    assert full(engine.locate(parse_table("new"), to_create=True))[1] == "odd, name"


@pytest.mark.parametrize(
    "database", ["the data", "my-data", "2024", "a,b", "a.b", 'x"y', "select", "it's"]
)
def test_names_follow_the_search_path_into_a_database(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection, database: str
) -> None:
    quoted = '"' + database.replace('"', '""') + '"'
    connection.sql(f"ATTACH ':memory:' AS {quoted}")
    connection.sql(f"USE {quoted}")
    connection.sql("CREATE TABLE things (i INT)")
    assert full(engine.locate(parse_table("things"))) == (database, "main", "things")
    connection.sql("SET search_path = 'memory.main," + _on_path(database) + ".main'")
    assert full(engine.locate(parse_table("things"))) == (database, "main", "things")


def _on_path(name: str) -> str:
    """A name on DuckDB's search path within a literal."""
    return ('"' + name.replace('"', '""') + '"').replace("'", "''")


def test_what_a_relation_reads(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    connection.sql('CREATE SCHEMA "s.1"')
    connection.sql('CREATE TABLE "s.1"."a"".b" AS SELECT 1 AS age')
    connection.sql('CREATE MACRO m() AS TABLE SELECT * FROM "s.1"."a"".b"')
    connection.sql("CREATE VIEW v AS SELECT age FROM people UNION ALL SELECT age FROM m()")
    reads = engine.reads(parse_table("v"))
    assert {full(table) for table in reads.tables} == {
        ("memory", "main", "people"),
        ("memory", "s.1", 'a".b'),
    }
    assert reads.only_tables
    connection.sql(f"COPY people TO '{tmp_path}/p.csv'")
    query = f"SELECT * FROM people JOIN '{tmp_path}/p.csv' AS f USING (age)"
    assert not engine.reads(engine.source(query=query).relation).only_tables


def test_whether_a_transaction_is_open(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    assert not engine.in_transaction()
    connection.sql("BEGIN")
    assert engine.in_transaction()
    connection.sql("CREATE TABLE t (i INT)")
    assert engine.in_transaction()
    connection.sql("COMMIT")
    assert not engine.in_transaction()


# Opening


def test_the_own_database_of_a_source(warehouse: Path) -> None:
    address = f"duckdb:///{warehouse}"
    for target in (None, address, f"duckdb:///{warehouse.parent}/./ware.duckdb"):
        opened = open_for_publishing(address, target=target)
        assert opened.catalog is None
        assert opened.engine.database_files() == (warehouse,)
        opened.engine.run("CREATE OR REPLACE TABLE ware.t (i INT)")
        opened.engine.close()


def test_another_database(warehouse: Path, tmp_path: Path) -> None:
    target = tmp_path / "new.duckdb"
    before = warehouse.read_bytes()
    opened = open_for_publishing(f"duckdb:///{warehouse}", target=f"duckdb:///{target}")
    engine = opened.engine
    assert full(opened.table("t")) == ("new", "main", "t")
    assert full(opened.table("s.t")) == ("new", "s", "t")
    with pytest.raises(EngineError, match="names a database"):
        opened.table("new.s.t")
    for name in ("people", "main.people", "ware.main.people"):
        assert full(engine.locate(parse_table(name))) == ("ware", "main", "people")
        assert engine.source(table=name).columns[0].name == "age"
    assert engine.source(query="SELECT * FROM people").columns[0].name == "age"
    assert engine.database_files() == (target,)
    engine.run("CREATE TABLE new.main.t AS FROM people")
    with pytest.raises(EngineError, match="open for reading only"):
        engine.run("DROP TABLE people")
    engine.close()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert listed(tmp_path) == ["new.duckdb", "ware.duckdb"]
    assert warehouse.read_bytes() == before


def test_a_database_that_came_to_nothing_is_removed(warehouse: Path, tmp_path: Path) -> None:
    target = tmp_path / "new.duckdb"
    opened = open_for_publishing(f"duckdb:///{warehouse}", target=f"duckdb:///{target}")
    assert target.exists()
    opened.engine.close()
    assert listed(tmp_path) == ["ware.duckdb"]


@pytest.mark.parametrize("name", ["memory.duckdb", "temp.duckdb", 'it\'s; -- "x".duckdb', "main"])
def test_databases_with_awkward_names(tmp_path: Path, name: str) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    source, target = tmp_path / "a" / name, tmp_path / "b" / name
    with duckdb.connect(tmp_path / "a" / "plain") as connection:
        connection.sql("CREATE TABLE people AS SELECT 1 AS age")
    (tmp_path / "a" / "plain").rename(source)
    opened = open_for_publishing(f"duckdb:///{source}", target=f"duckdb:///{target}")
    assert opened.engine.source(table="people").columns[0].name == "age"
    made = opened.table("t").sql("duckdb")
    opened.engine.run(f"CREATE TABLE {made} AS FROM people")
    opened.engine.close()
    assert target.exists()


def test_files_and_data_into_a_database(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age\n1\n2\n")
    opened = open_for_publishing(None, target=f"duckdb:///{tmp_path}/new.duckdb")
    for source in (
        opened.engine.source(file=tmp_path / "people.csv"),
        opened.engine.source(data=pa.table({"age": [1, 2]})),
    ):
        table = opened.table("t")
        create = exp.Create(
            this=table,
            kind="TABLE",
            replace=True,
            expression=exp.select("*").from_(source.relation),
        )
        opened.engine.run(create)
    opened.engine.close()
    with duckdb.connect(tmp_path / "new.duckdb") as connection:
        assert connection.sql("SELECT count(*) FROM t").fetchall() == [(2,)]


def test_a_lock_is_explained(warehouse: Path, tmp_path: Path) -> None:
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(warehouse)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        locked = rf"{warehouse} is open in another process \(PID {other.pid}\)"
        address = f"duckdb:///{warehouse}"
        with pytest.raises(EngineError, match=locked):
            open_for_publishing(address)
        with pytest.raises(EngineError, match=locked):
            open_for_publishing(address, target=f"duckdb:///{tmp_path}/new.duckdb")
        with pytest.raises(EngineError, match=locked):
            open_for_publishing(None, target=address)
        other.kill()
    assert listed(tmp_path) == ["ware.duckdb"]


def test_databases_that_are_open_in_this_process(warehouse: Path, tmp_path: Path) -> None:
    address = f"duckdb:///{warehouse}"
    source = open_source(connection=address, table="people")
    with pytest.raises(EngineError, match="already open in this process"):
        open_for_publishing(address)
    with pytest.raises(EngineError, match="already open in this process"):
        open_for_publishing(None, target=address)
    source.engine.close()


def test_places_that_cannot_be_opened(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    with pytest.raises(EngineError, match="needs a place"):
        open_for_publishing(None)
    with pytest.raises(EngineError, match="nobody would see the release"):
        open_for_publishing(None, target="duckdb://")
    with pytest.raises(EngineError, match="there is no folder"):
        open_for_publishing(None, target=f"duckdb:///{tmp_path}/no/new.duckdb")
    with pytest.raises(EngineError, match="Attach the other database there"):
        open_for_publishing(connection, target=f"duckdb:///{tmp_path}/new.duckdb")
    with pytest.raises(EngineError, match=r"gone\.duckdb does not exist"):
        open_for_publishing(
            f"duckdb:///{tmp_path}/gone.duckdb", target=f"duckdb:///{tmp_path}/new.duckdb"
        )
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(EngineError, match="is not a DuckDB database"):
        open_for_publishing(None, target=f"duckdb:///{tmp_path}/x.csv")
    assert listed(tmp_path) == ["x.csv"]
