"""`memory` of a policy limits the DuckDB databases that sqlanon opens, and no other."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest
from small_table import CSV, POLICY, SCHEME, changed, write_folder

import sqlanon
from sqlanon.counting import Origin
from sqlanon.engines import Engine, open_engine
from sqlanon.engines.duckdb import counting_memory
from sqlanon.errors import EngineError, PolicyError
from sqlanon.policy import parse_policy
from sqlanon.release.pipeline import open_to_publish

LIMIT = "SELECT current_setting('memory_limit') AS it"
GIVEN, SHOWN = "256MiB", "256.0 MiB"


def limit_of(engine: Engine) -> str:
    (row,) = engine.fetch(LIMIT).to_pylist()
    return str(row["it"])


@pytest.fixture
def ware(tmp_path: Path) -> Path:
    write_folder(tmp_path)
    path = tmp_path / "ware.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE people (age INTEGER, sex TEXT, outcome TEXT)")
        rows = [line.split(",") for line in CSV.splitlines()[1:]]
        connection.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
    return path


TABLE = {"connection": "duckdb:///ware.duckdb", "table": "people"}
PLACES = [
    {"source": {"file": "people.csv"}, "publish": {"file": "people_anon.csv"}},
    {"source": {"file": "people.csv"},
     "publish": {"connection": "duckdb:///new.duckdb", "to": "people_anon"}},
    {"source": TABLE, "publish": {"to": "people_anon"}},
    {"source": TABLE, "publish": {"connection": "duckdb:///new.duckdb", "to": "people_anon"}},
    {"source": TABLE, "publish": {"mode": "replace"}},
]  # fmt: skip


@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("read_only", [True, False])
def test_every_database_of_a_policy_has_it(
    ware: Path, places: dict[str, Any], read_only: bool
) -> None:
    policy = parse_policy(changed(memory=GIVEN, **places), folder=ware.parent)
    with closing(open_to_publish(policy, Origin(), read_only=read_only).engine) as engine:
        assert limit_of(engine) == SHOWN
    with sqlanon.load(write_folder(ware.parent, changed(memory=GIVEN, **places))) as anonymizer:
        assert limit_of(anonymizer.source.engine) == SHOWN
        assert anonymizer.measure(SCHEME).k == 2


def test_data_of_this_process_have_it() -> None:
    with duckdb.connect() as connection:
        rows = connection.sql("SELECT 21 AS age, 'F' AS sex, 'yes' AS outcome")
        with sqlanon.load(changed(source=None, memory=GIVEN), data=rows) as anonymizer:
            assert limit_of(anonymizer.source.engine) == SHOWN


def test_a_callers_connection_keeps_its_own(ware: Path) -> None:
    policy = changed(source={"table": "people"}, memory=GIVEN, publish={"to": "people_anon"})
    with duckdb.connect(ware, config={"memory_limit": "1GiB"}) as connection:
        with sqlanon.load(policy, connection=connection) as anonymizer:
            anonymizer.publish(SCHEME)
        assert connection.sql(LIMIT).fetchall() == [("1.0 GiB",)]


def test_what_needs_more_is_explained(tmp_path: Path) -> None:
    # 10 million hashes of 8 bytes each.
    with closing(open_engine(None, memory="32MB", spill=tmp_path)) as engine:
        engine.run("SET max_temp_directory_size = '1MB'")
        with pytest.raises(EngineError, match=r"ran out of memory: .*`memory` in the policy"):
            engine.run("CREATE TABLE wide AS SELECT hash(range) AS h FROM range(10000000)")


@pytest.mark.parametrize("given", ["500MB", "2GB", "1.5GiB", "1TB", "750MiB"])
def test_sizes(given: str) -> None:
    assert parse_policy(changed(memory=given)).section.memory == given
    with closing(open_engine(None, memory=given)) as engine:
        assert limit_of(engine).endswith("iB")


@pytest.mark.parametrize("given", ["", "2", "2 elephants", "-1GB", "0GB", "80%", "2GB; SELECT 1"])
def test_what_is_no_size(given: str) -> None:
    expected = r"memory: found .*, expected a size such as 500MB or 2GB"
    with pytest.raises(PolicyError, match=expected):
        parse_policy(changed(memory=given))


def test_it_does_not_make_another_policy() -> None:
    with_memory = parse_policy(changed(memory=GIVEN))
    assert with_memory.fingerprint == parse_policy(POLICY).fingerprint
    assert with_memory.parts == parse_policy(POLICY).parts


def test_counts_of_people_are_not_written_to_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB's own default is a folder .tmp where the process was started."""
    monkeypatch.chdir(tmp_path)
    with closing(counting_memory(threads=1)) as connection:
        connection.execute("SET memory_limit = '20MB'")
        with pytest.raises(duckdb.OutOfMemoryException):
            connection.execute("CREATE TABLE wide AS SELECT md5(range::TEXT) FROM range(2000000)")
    assert not list(tmp_path.iterdir())
