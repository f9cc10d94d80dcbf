"""A process killed at any stage leaves source and former release as they were."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from publish_cases import OLD_RELEASE, dump, listed, make, named, opened, publish, release

from sqlanon.domain.presentation import Mode
from sqlanon.release.export import rewrite_database
from sqlanon.release.order import Order
from sqlanon.release.pending import remove_leftovers

# What the child runs: it kills itself when a certain stage is logged.
CHILD = """
import logging, os, signal, sys
from pathlib import Path
sys.path[:0] = {paths!r}
import test_killed

class Killer(logging.Handler):
    def emit(self, record):
        if record.getMessage().split(":")[0] == {stage!r}:
            os.kill(os.getpid(), signal.SIGKILL)

log = logging.getLogger("sqlanon.publish")
log.setLevel("INFO")
log.addHandler(Killer())
test_killed.work({case!r}, Path({folder!r}))
"""
TABLE_STAGES = [
    "preparing",
    "counting",
    "staging",
    "verifying",
    "certifying",
    "swapping",
    "committing",
]
FILE_STAGES = [
    "preparing", "counting", "staging", "verifying", "certifying", "writing", "reading back",
    "swapping",
]  # fmt: skip
REWRITE_STAGES = ["preparing", "copying", "comparing", "swapping"]
STAGES = {
    "table": TABLE_STAGES,
    "elsewhere": TABLE_STAGES,
    "replace": TABLE_STAGES,
    "view": TABLE_STAGES,
    "csv": FILE_STAGES,
    "parquet": FILE_STAGES,
    "rewrite": REWRITE_STAGES,
}


def wanted(case: str, folder: Path) -> Order:
    if case in ("csv", "parquet"):
        return release(file=folder / f"people.{case}")
    if case == "view":
        return release(mode=Mode.VIEW, target=named("people_view"))
    # With a subject there is a private column, and more rows than fit into one block.
    mode = Mode.REPLACE if case == "replace" else Mode.TABLE
    return release(mode=mode, subject="name")


def work(case: str, folder: Path) -> None:
    """What is done again after the process was killed."""
    if case == "rewrite":
        rewrite_database(folder / "ware.duckdb")
        return
    if case == "elsewhere":
        from sqlanon.engines.registry import open_for_publishing

        place = open_for_publishing(
            f"duckdb:///{folder}/ware.duckdb", target=f"duckdb:///{folder}/other.duckdb"
        )
        try:
            publish(place.engine, release(target=place.table("people_anon"), subject="name"))
        finally:
            place.engine.close()
        return
    with opened(folder / "ware.duckdb") as engine:
        publish(engine, wanted(case, folder))


def prepare(folder: Path) -> None:
    with duckdb.connect(folder / "ware.duckdb") as connection:
        make(connection)
        connection.sql("INSERT INTO people SELECT people.* FROM people, range(200)")
        connection.sql(OLD_RELEASE)
        connection.sql("CREATE VIEW people_view AS SELECT 1 AS former")
    with duckdb.connect(folder / "other.duckdb") as connection:
        connection.sql(OLD_RELEASE)
    (folder / "people.csv").write_text("former")
    (folder / "people.parquet").write_text("former")


def state(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = {name: dump(folder / name) for name in ("ware.duckdb", "other.duckdb")}
    for name in ("people.csv", "people.parquet"):
        found[name] = (folder / name).read_bytes()
    return found


def kill_at(stage: str, case: str, folder: Path) -> None:
    here = Path(__file__).parent
    paths = [str(here), str(here.parent / "shared"), str(here.parent.parent)]
    code = CHILD.format(paths=paths, stage=stage, case=case, folder=str(folder))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize(
    ("case", "stage"),
    [
        pytest.param(case, stage, marks=[] if stage == "swapping" else pytest.mark.slow)
        for case, stages in STAGES.items()
        for stage in stages
    ],
)
def test_killed_at_a_stage(case: str, stage: str, tmp_path: Path) -> None:
    prepare(tmp_path)
    before, files = state(tmp_path), listed(tmp_path)
    kill_at(stage, case, tmp_path)
    assert state(tmp_path) == before
    for folder in tmp_path.glob(".sqlanon-*"):  # a young one counts as alive
        os.utime(folder, (0, 0))
    work(case, tmp_path)
    assert listed(tmp_path) == files
    after = state(tmp_path)
    if case == "rewrite":
        assert after == before
    else:
        changed = {name for name in before if before[name] != after[name]}
        assert changed == {
            {"csv": "people.csv", "parquet": "people.parquet", "elsewhere": "other.duckdb"}.get(
                case, "ware.duckdb"
            )
        }


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_killed_after_the_commit(tmp_path: Path) -> None:
    prepare(tmp_path)
    kill_at("published", "table", tmp_path)
    rows = dump(tmp_path / "ware.duckdb")["rows"]["main", "people_anon"]
    assert len(rows) == 40_200


# Leftovers


SPILLING = """
import os, signal, sys, duckdb
connection = duckdb.connect(sys.argv[1])
connection.sql("SET memory_limit = '100MB'")
connection.sql("SET threads = 2")
connection.sql("CREATE TEMP TABLE t AS SELECT md5(i::VARCHAR) AS s FROM range(4000000) t (i)")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_spill_files_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "ware.duckdb"
    with duckdb.connect(path) as connection:
        make(connection)
    subprocess.run([sys.executable, "-c", SPILLING, str(path)], capture_output=True, check=False)
    spill = tmp_path / "ware.duckdb.tmp"
    assert listed(spill)
    (spill / "mine.txt").write_text("not DuckDB's")
    own = f"duckdb_temp_{os.getpid()}_0_owner"
    (spill / own).write_text("")
    with opened(path) as engine:
        removed = remove_leftovers(engine)
    assert removed
    assert listed(spill) == sorted([own, "mine.txt"])


def test_spill_files_stay_where_others_may_read_the_database(tmp_path: Path) -> None:
    path = tmp_path / "ware.duckdb"
    with duckdb.connect(path) as connection:
        make(connection)
    spill = tmp_path / "ware.duckdb.tmp"
    spill.mkdir()
    (spill / "duckdb_temp_1_0_owner").write_text("")
    from sqlanon.engines.registry import open_engine

    engine = open_engine(f"duckdb:///{path}")
    assert remove_leftovers(engine) == []
    engine.close()
    assert listed(spill) == ["duckdb_temp_1_0_owner"]


def test_staged_tables_are_known_by_their_mark(tmp_path: Path) -> None:
    from sqlanon.release.plan import STAGE_COMMENT

    with duckdb.connect() as connection:
        make(connection)
        for name in ("sqlanon_stage_1", "sqlanon_stage_2", "mine"):
            connection.sql(f"CREATE TABLE {name} (i INT)")
        for name in ("sqlanon_stage_1", "mine"):
            connection.sql(f"COMMENT ON TABLE {name} IS '{STAGE_COMMENT}'")
        from sqlanon.engines.duckdb import DuckDBEngine

        engine = DuckDBEngine(connection, owned=False)
        connection.sql("BEGIN")
        assert remove_leftovers(engine) == []
        connection.sql("ROLLBACK")
        assert remove_leftovers(engine) == ["memory.main.sqlanon_stage_1"]
        assert publish(engine, release()).removed == ()
