"""Standard output that is full, closed, or read by nobody; the work is done all the same."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from command_line import Run
from small_table import changed, write_folder

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
PUBLISH = ("publish", "policy.yml", "--scheme", "scheme.json")
PRIVACY = {"k": 2, "l_diversity": {"l": 2}}
CHECK = ("check", "people.csv", "--qi", "age", "--k", "2")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    columns = changed()["columns"] | {"outcome": {"role": "sensitive"}}
    write_folder(tmp_path, changed(columns=columns, privacy=PRIVACY, publish={"file": "out.csv"}))
    return tmp_path


def shell(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """The shell's `$S` is sqlanon."""
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command.replace("$S", f"'{sys.executable}' -m sqlanon")],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("options", ["", "--json"])
def test_a_full_disk_after_a_publish(folder: Path, options: str) -> None:
    done = shell(folder, f"$S {' '.join(PUBLISH)} {options} > /dev/full")
    assert done.returncode == 5
    assert done.stderr == (
        "error: standard output cannot be written (No space left on device); the release is in "
        f"place: {folder / 'out.csv'}\n"
    )
    assert (folder / "out.csv.certificate.json").exists()


def test_a_requirement_that_fails_counts_for_more(folder: Path) -> None:
    done = shell(folder, f"$S {' '.join(CHECK)} > /dev/full")
    assert done.returncode == 3
    assert done.stderr.endswith(
        "\nerror: standard output cannot be written (No space left on device)\n"
    )
    done = shell(folder, f"$S {' '.join(CHECK)} > /dev/full 2> /dev/full")
    assert (done.returncode, done.stderr) == (3, "")


@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        (f"$S {' '.join(PUBLISH)}", 0, ""),
        (f"$S {' '.join(PUBLISH)} --json", 0, ""),
        (f"$S {' '.join(PUBLISH)} --dry-run", 0, ""),
        (f"$S {' '.join(CHECK)}", 3, "k is 1, required 2"),
        ("$S --help", 0, ""),
    ],
)
def test_a_reader_that_goes_away(folder: Path, command: str, status: int, said: str) -> None:
    # The reader is gone for sure before the first line comes.
    done = shell(folder, f"{command} | exec true")
    assert done.returncode == status
    assert done.stderr.startswith(said)
    assert "Traceback" not in done.stderr
    assert bool(done.stderr) == bool(said)


def test_closed_output(folder: Path) -> None:
    done = shell(folder, "$S check people.csv --qi sex --json >&-")
    assert (done.returncode, done.stderr) == (0, "")


def test_no_is_an_answer_in_json(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with duckdb.connect(folder / "ware.duckdb") as connection:
        connection.execute(f"CREATE TABLE people AS FROM '{folder / 'people.csv'}'")
    columns = changed()["columns"] | {"outcome": {"role": "sensitive"}}
    source = {"connection": "duckdb:///ware.duckdb", "table": "people"}
    policy = changed(columns=columns, source=source, privacy=PRIVACY, publish={"mode": "replace"})
    write_folder(folder, policy)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.confirm", lambda *_, **__: False)
    done = run(*PUBLISH, "--json")
    unchanged = "Nothing was changed: people is as it was."
    assert done.status == 1
    assert json.loads(done.out) == {"error": unchanged, "status": 1}
    assert done.err.endswith(f"{unchanged}\n")
    assert run(*PUBLISH).out == ""
