"""A run that is killed between two files of a certificate, and certificates nobody can read."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import town_table
from command_line import Run, message

from sqlanon.files import PrivateFolder
from sqlanon.release.certificate import Certificate

NAME = "released.certificate.json"
FORMS = [
    f"released.{form}.{end}" for form in ("certificate", "shareable") for end in ("json", "html")
]
CHILD = """
import os, signal, sys
from pathlib import Path
import sqlanon

moved, move = [], Path.replace

def replace(self, target):
    done = move(self, target)
    if ".sqlanon-kept-" in str(self.parent) and self.name.startswith("released."):
        moved.append(target)
        if len(moved) == int(sys.argv[1]):
            os.kill(os.getpid(), signal.SIGKILL)
    return done

Path.replace = replace
with sqlanon.load("policy.yml") as anonymizer:
    anonymizer.publish(sys.argv[2])
"""
WRITE = """
import os, signal, sys
import sqlanon
from sqlanon.release.certificate import Certificate

written = []

def dying(write):
    def replacement(*arguments, **options):
        if len(written) == int(sys.argv[1]):
            os.kill(os.getpid(), signal.SIGKILL)
        written.append(write(*arguments, **options))
    return replacement

Certificate.write, Certificate.write_page = dying(Certificate.write), dying(Certificate.write_page)
with sqlanon.load("policy.yml") as anonymizer:
    anonymizer.publish(sys.argv[2])
"""


def kill(folder: Path, number: int, scheme: str, child: str = CHILD) -> None:
    command = [sys.executable, "-c", child, str(number), scheme]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


def left(folder: Path) -> list[Path]:
    return list(folder.glob(".sqlanon-*"))


def ids(folder: Path) -> set[str]:
    """Of which releases the files in their place are."""
    return {Certificate.read(folder / name).document.release.id for name in FORMS if "json" in name}


@pytest.fixture
def first(tmp_path: Path, run: Run) -> str:
    """A release whose certificate is finished; its own name."""
    town_table.make(tmp_path, publish={"to": "released"})
    assert run("publish", "policy.yml", "--scheme", "good.json").status == 0
    (found,) = ids(tmp_path)
    return found


@pytest.mark.parametrize("scheme", ["apart.json", "good.json"])  # good: the same table again
@pytest.mark.parametrize("number", [1, 2, 3])
def test_cleaning_finishes_what_was_partly_moved(
    first: str, number: int, scheme: str, tmp_path: Path, run: Run
) -> None:
    kill(tmp_path, number, scheme)
    (private,) = left(tmp_path)
    second = Certificate.read(private / NAME).document.release.id
    assert second != first
    said = message(1, run("check", "people.duckdb", "--certificate", "gone.certificate.json"))
    assert "gone" in said
    assert private.is_dir()
    found = json.loads(run("clean", "people.duckdb", "--json").out)
    assert [Path(path).name for path in found["finished"]] == FORMS
    assert (ids(tmp_path), left(tmp_path)) == ({second}, [])
    pages = [(tmp_path / name).read_text() for name in FORMS if "html" in name]
    assert all(second in page for page in pages)
    for name in FORMS[::2]:
        done = run("check", "people.duckdb", "--table", "released", "--certificate", name)
        assert done.status == 0, done.err


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_next_publish_finishes_it_though_the_table_is_gone(
    first: str, number: int, tmp_path: Path, run: Run
) -> None:
    kill(tmp_path, number, "apart.json")
    second = Certificate.read(left(tmp_path)[0] / NAME).document.release.id
    town_table.change(tmp_path, "DROP TABLE released")
    assert run("publish", "policy.yml", "--scheme", "good.json").status == 0
    prior = Certificate.read(tmp_path / NAME).document.lineage.earlier
    assert {each.id for each in prior} == {first, second}
    assert not left(tmp_path)


def test_all_files_but_the_folder_are_moved(first: str, tmp_path: Path, run: Run) -> None:
    kill(tmp_path, 4, "apart.json")
    (private,) = left(tmp_path)
    os.utime(private, (0, 0))
    assert json.loads(run("clean", "--json").out) == {
        "removed": [private.name],
        "finished": [],
        "kept": [],
    }
    assert first not in ids(tmp_path)
    assert len(ids(tmp_path)) == 1


@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_one_that_was_not_all_written_is_removed(
    first: str, number: int, tmp_path: Path, run: Run
) -> None:
    kill(tmp_path, number, "apart.json", WRITE)
    (private,) = tmp_path.glob(".sqlanon-kept-*")
    os.utime(private, (0, 0))  # without a file in it, it may be about to be locked
    assert private.name in json.loads(run("clean", "people.duckdb", "--json").out)["removed"]
    assert ids(tmp_path) == {first}
    assert not left(tmp_path)


@pytest.fixture
def unread(first: str, tmp_path: Path) -> Path:
    """A complete certificate of a killed run, in a format of the future."""
    kill(tmp_path, 1, "apart.json")
    (private,) = left(tmp_path)
    path = private / NAME
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": 99}))
    return path


def test_one_that_cannot_be_read_is_kept_and_named(unread: Path, tmp_path: Path, run: Run) -> None:
    for place in (".", "people.duckdb"):
        (kept,) = json.loads(run("clean", place, "--json").out)["kept"]
        assert unread.parent.name in kept
        assert "delete that folder" in kept
    done = run("publish", "policy.yml", "--scheme", "good.json")
    assert done.status == 0, done.err
    assert unread.parent.name in "".join(done.out.split())
    (tmp_path / NAME).unlink()
    said = message(1, run("check", "people.duckdb", "--table", "released", "--certificate", NAME))
    assert unread.parent.name in said
    assert "killed run" in said
    assert unread.exists()


def test_one_in_place_that_cannot_be_read_stays(first: str, tmp_path: Path, run: Run) -> None:
    kill(tmp_path, 1, "apart.json")
    (tmp_path / NAME).write_text("{}")
    assert len(json.loads(run("clean", "people.duckdb", "--json").out)["kept"]) == 1
    assert (tmp_path / NAME).read_text() == "{}"
    assert len(left(tmp_path)) == 1


def test_a_check_removes_nothing(tmp_path: Path, run: Run) -> None:
    private = tmp_path / ".sqlanon-kept-a.tmp"
    private.mkdir()
    (private / "released.certificate.html").write_text("x")
    (tmp_path / "t.csv").write_text("a\n1\n")
    message(1, run("check", "t.csv", "--certificate", "t.csv.certificate.json"))
    assert private.is_dir()
    assert json.loads(run("clean", "--json").out)["removed"] == [private.name]


@pytest.mark.parametrize("error", [PermissionError, FileNotFoundError])
def test_a_folder_that_cannot_be_entered_is_passed_by(
    error: type[OSError], tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    town_table.make(tmp_path, publish={"to": "released"})
    listed = Path.iterdir

    def iterdir(self: Path) -> Iterator[Path]:
        if self.name.startswith(".sqlanon-kept-"):
            raise error(13, "of somebody else", str(self))
        return listed(self)

    with PrivateFolder(tmp_path, kept=True) as private:
        os.utime(private.path, (0, 0))
        with monkeypatch.context() as patched:
            patched.setattr(Path, "iterdir", iterdir)
            done = run("clean")
            assert (done.status, done.out) == (0, "nothing to remove\n")
            message(1, run("check", "people.duckdb", "--certificate", "x.certificate.json"))
            done = run("publish", "policy.yml", "--scheme", "good.json")
            assert done.status == 0, done.err
        assert private.path.is_dir()
