"""`sqlanon clean`: what may be left on the disk goes, and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest
from command_line import Run
from small_table import write_folder

import sqlanon
from sqlanon.files import PrivateFolder

OLD = time.time() - 3_600


def test_folders_of_dead_processes_are_removed(run: Run, tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path; "
        "from sqlanon.files import PrivateFolder; "
        "folder = PrivateFolder(Path(sys.argv[1])); (folder.path / 'secret').write_text('x'); "
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    (left,) = tmp_path.iterdir()
    os.utime(left, (OLD, OLD))
    with PrivateFolder(tmp_path) as alive:
        done = run("clean", str(tmp_path), "--json")
        assert json.loads(done.out) == {"removed": [str(left)], "finished": [], "kept": []}
        assert alive.path.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_half_written_files_are_removed(run: Run, tmp_path: Path) -> None:
    old, young = tmp_path / ".sqlanon-a.tmp", tmp_path / ".sqlanon-b.tmp"
    for file in (old, young, tmp_path / "sqlanon.tmp"):
        file.write_text("x", encoding="utf-8")
    os.utime(old, (OLD, OLD))
    kept = f"{young}: younger than a minute, so a process may be about to use it; clean again later"
    assert run("clean", str(tmp_path)).out == f"removed {old}\nkept {kept}\n"
    assert {file.name for file in tmp_path.iterdir()} == {young.name, "sqlanon.tmp"}
    os.utime(young, (OLD, OLD))
    assert run("clean", str(tmp_path)).out == f"removed {young}\n"
    assert run("clean", str(tmp_path)).out == "nothing to remove\n"


def test_a_young_folder_is_spoken_of(run: Run, tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "mine.duckdb") as connection:
        connection.execute("CREATE TABLE t (a INT)")
    (tmp_path / ".sqlanon-a.tmp").mkdir()
    for path in (tmp_path, tmp_path / "mine.duckdb"):
        with PrivateFolder(tmp_path):  # of a living process, and no leftover
            (kept,) = json.loads(run("clean", str(path), "--json").out)["kept"]
        assert kept.startswith(f"{tmp_path / '.sqlanon-a.tmp'}: younger than a minute")


def test_a_workspace_is_removed(run: Run, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace.duckdb"
    with sqlanon.load(write_folder(tmp_path), workspace=workspace) as anonymizer:
        anonymizer.search()
    assert workspace.exists()
    assert run("clean", str(workspace), "--quiet").out == ""
    assert not workspace.exists()


@pytest.mark.parametrize(
    "table", ["people (name TEXT)", "evaluation (histogram TEXT, mine INT)"], ids=str
)
def test_no_other_database_is_removed(run: Run, tmp_path: Path, table: str) -> None:
    file = tmp_path / "mine.duckdb"
    with duckdb.connect(file) as connection:
        connection.execute(f"CREATE TABLE {table}")
    assert run("clean", str(file)).out == "nothing to remove\n"
    with duckdb.connect(file) as connection:
        assert len(connection.execute("SHOW TABLES").fetchall()) == 1


def test_what_does_not_exist(run: Run, tmp_path: Path) -> None:
    done = run("clean", str(tmp_path / "nothing"))
    assert done.status == 1
    assert "is neither a folder nor a file" in done.err
