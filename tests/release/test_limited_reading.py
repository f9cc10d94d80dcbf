"""Databases that sqlanon opens read the folders that they are given, and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest
import town_table
from town_table import GOOD, change

import sqlanon
from sqlanon.engines.duckdb import folders_in, open_memory
from sqlanon.engines.registry import open_engine, open_source
from sqlanon.errors import EngineError

DATABASE = {"connection": "duckdb:///people.duckdb"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder of the policy; beside it one with a file that is none of its business."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.csv").write_text("name,age,town,illness\nAnn,1,Bonn,flu\n")
    (tmp_path / "home").mkdir()
    town_table.make(tmp_path / "home")
    return tmp_path / "home"


@pytest.mark.parametrize(
    "text",
    [
        "FROM read_csv('{outside}/secret.csv')",
        "FROM '{outside}/secret.csv'",
        "FROM '{home}/../outside/secret.csv'",
        "FROM '{home}/link.csv'",
        "SELECT content AS name FROM read_text('/etc/passwd')",
        "SELECT file AS name FROM glob('/etc/*')",
    ],
)
def test_a_view_reads_no_other_folder(home: Path, text: str) -> None:
    outside = home.parent / "outside"
    (home / "link.csv").symlink_to(outside / "secret.csv")
    query = text.format(outside=outside, home=home)
    change(home, f"CREATE VIEW seen AS {query}")
    with pytest.raises(EngineError) as caught:
        open_source(connection=f"duckdb:///{home}/people.duckdb", table="seen")
    for part in ("'seen'", "reads", str(home), "into a table"):
        assert part in str(caught.value)
    assert "Ann" not in str(caught.value)
    town_table.make(home, source={**DATABASE, "table": "seen"})
    with pytest.raises(EngineError, match="reads only the folders"):
        sqlanon.load(home / "policy.yml")


def test_nothing_comes_from_the_network_and_no_extension_is_installed() -> None:
    engine = open_memory()
    for statement in ("FROM 'https://example.org/a.parquet'", "INSTALL httpfs", "LOAD httpfs"):
        with pytest.raises(EngineError, match="nothing from the network"):
            engine.run(statement)
    settings = "SELECT name, value FROM duckdb_settings() WHERE name LIKE 'auto%_known_extensions'"
    assert {row["value"] for row in engine.fetch(settings).to_pylist()} == {"false"}
    for setting in ("enable_external_access = true", "allowed_directories = ['/']"):
        with pytest.raises(EngineError):
            engine.run(f"SET {setting}")
    engine.close()


def test_files_beside_the_database_and_those_that_a_query_names(home: Path) -> None:
    shutil.copy(home.parent / "outside" / "secret.csv", home / "more.csv")
    change(home, f"CREATE VIEW near AS FROM '{home}/more.csv'")
    address = f"duckdb:///{home}/people.duckdb"
    named = f"FROM read_csv('{home.parent}/outside/*.csv')"
    for place in ({"table": "near"}, {"query": named}):
        source = open_source(connection=address, **place)  # type: ignore[arg-type]
        assert source.engine.fetch("SELECT 1 AS n").num_rows == 1
        assert source.columns[0].name == "name"
        source.engine.close()


def test_folders_of_a_query() -> None:
    def named(query: str) -> list[str]:
        return [str(folder) for folder in folders_in(query)]

    assert named('FROM \'/data/a/x.csv\', people, "work"."people"') == ["/data/a"]
    assert named("FROM read_parquet(['/a/*/y=1/*.parquet', '/b/c?/x.parquet'])") == ["/a", "/b"]
    assert named("FROM 's3://bucket/x.parquet', range(5)") == []
    assert named("SELECT '/etc/passwd' AS text FROM people") == []
    assert named("not a query at all (") == []


def test_population_files_and_targets_in_other_folders(home: Path) -> None:
    """Every place that a policy names: population, release file, other database."""
    for name in ("crowd", "out", "shared"):
        (home.parent / name).mkdir()
    with duckdb.connect(home / "people.duckdb") as connection:
        connection.execute(f"COPY people TO '{home.parent}/crowd/everyone.csv'")
    changes = {
        "population": {"file": "../crowd/everyone.csv"},
        "privacy": {"k_map": 5},
    }
    for publish in (
        {"file": "../out/released.parquet"},
        {"file": "../out/released.csv"},
        {"connection": "duckdb:///../shared/new.duckdb", "to": "there"},
        {"to": "here"},
    ):
        policy = town_table.make(home, publish=publish, **changes)
        with sqlanon.load(policy) as anonymizer:
            assert anonymizer.publish(GOOD).rows == 60
    everyone = home.parent / "crowd" / "everyone.csv"
    for source in ({"file": "../crowd/everyone.csv"}, {"query": f"FROM '{everyone}'"}):
        policy = town_table.make(home, source=source, publish={"file": "../out/again.csv"})
        with sqlanon.load(policy) as anonymizer:
            assert anonymizer.publish(GOOD).rows == 60


def test_a_callers_connection_is_not_limited(home: Path) -> None:
    with duckdb.connect(home / "people.duckdb") as connection:
        outside = home.parent / "outside" / "secret.csv"
        connection.execute(f"CREATE VIEW seen AS FROM '{outside}'")
        settings = "SELECT name, value FROM duckdb_settings() ORDER BY ALL"
        before = connection.sql(settings).fetchall()
        source = open_source(connection=connection, table="seen")
        assert source.columns[0].name == "name"
        assert connection.sql(settings).fetchall() == before


@pytest.mark.parametrize("name", ["memory", "system", "temp", "main", 'it\'s, "x"; -- y'])
def test_a_database_keeps_the_name_that_duckdb_gives_it(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE people AS SELECT 1 AS age")
        ((own,),) = connection.sql("SELECT current_database()").fetchall()
    engine = open_engine(f"duckdb:///{path}")
    assert engine.home == own
    quoted = own.replace('"', '""')
    assert engine.fetch(f'FROM "{quoted}".main.people').to_pylist() == [{"age": 1}]
    assert engine.fetch("FROM people").to_pylist() == [{"age": 1}]
    engine.close()
    assert sorted(each.name for each in tmp_path.iterdir()) == [path.name]


def test_a_link_to_a_database(tmp_path: Path) -> None:
    """The same names, and the same place for what does not fit into memory, as in DuckDB."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link.duckdb").symlink_to(tmp_path / "real" / "ware.duckdb")
    names = "SELECT current_setting('temp_directory') AS folder"
    with duckdb.connect(tmp_path / "real" / "ware.duckdb") as connection:
        connection.execute("CREATE TABLE people AS SELECT 1 AS age")
    with duckdb.connect(tmp_path / "link.duckdb") as connection:
        ((own,),) = connection.sql("SELECT current_database()").fetchall()
        ((folder,),) = connection.sql(names).fetchall()
    engine = open_engine(f"duckdb:///{tmp_path}/link.duckdb", read_only=False)
    assert engine.home == own
    assert engine.fetch(names).to_pylist() == [{"folder": folder}]
    engine.close()
