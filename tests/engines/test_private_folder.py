"""Private folders: for their owner, gone with their process, never in the way."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sqlanon.engines.duckdb import DuckDBEngine, open_database
from sqlanon.engines.registry import open_for_publishing
from sqlanon.errors import EngineError
from sqlanon.files import PrivateFolder, finish_file, remove_dead_folders


def listed(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_private_folder_is_for_its_owner_and_goes_away(tmp_path: Path) -> None:
    with PrivateFolder(tmp_path) as private:
        assert stat.S_IMODE(private.path.stat().st_mode) == 0o700
        assert private.path.parent == tmp_path
        assert remove_dead_folders(tmp_path) == []  # it is in use
    assert not listed(tmp_path)


def test_folders_of_dead_processes_are_removed(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from sqlanon.files import PrivateFolder; "
        "folder = PrivateFolder(Path(sys.argv[1])); (folder.path / 'x').write_text('x'); "
        "print(flush=True); input(); os._exit(0)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        assert remove_dead_folders(tmp_path) == []
        other.kill()
        other.wait()
    (tmp_path / ".sqlanon-notes.tmp").write_text("a file of somebody")
    (tmp_path / ".sqlanon-young.tmp").mkdir()
    assert remove_dead_folders(tmp_path) == []  # all of them are young, locked or not
    for folder in set(tmp_path.glob("*.tmp")) - {tmp_path / ".sqlanon-young.tmp"}:
        os.utime(folder, (0, 0))
    removed = remove_dead_folders(tmp_path)
    assert len(removed) == 1
    assert listed(tmp_path) == [".sqlanon-notes.tmp", ".sqlanon-young.tmp"]


def test_a_folder_that_cannot_be_locked_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", fail)
    with pytest.raises(EngineError, match="cannot be locked: No locks available"):
        PrivateFolder(tmp_path)
    assert not listed(tmp_path)


def test_a_database_that_another_process_just_made_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "new.duckdb"

    def overtaken(new: Path, **keys: Any) -> DuckDBEngine:
        with duckdb.connect(path) as other:
            other.sql("CREATE TABLE theirs AS SELECT 1 AS i")
        return open_database(new, **keys)

    monkeypatch.setattr("sqlanon.engines.duckdb.open_database", overtaken)
    opened = open_for_publishing(None, target=f"duckdb:///{path}")
    assert opened.engine.fetch("FROM new.theirs").num_rows == 1
    opened.engine.close()
    assert listed(tmp_path) == ["new.duckdb"]


def test_folders_and_files_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"Folder .*gone cannot be written to: No such file"):
        PrivateFolder(tmp_path / "gone")
    (tmp_path / "new").write_text("x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(EngineError, match="cannot be written: Is a directory"):
        finish_file(tmp_path / "new", tmp_path / "folder")
