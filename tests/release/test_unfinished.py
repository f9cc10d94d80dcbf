"""A run that is killed between a release and its certificate, and files of somebody else."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import town_table
from command_line import Run, message
from town_table import APART, GOOD

import sqlanon
from sqlanon.errors import PublishError
from sqlanon.files import PrivateFolder
from sqlanon.release.certificate import Certificate

PLACES: dict[str, dict[str, str]] = {
    "released": {"to": "released"},
    "people": {"mode": "replace"},
    "out.csv": {"file": "out.csv"},
    "out.parquet": {"file": "out.parquet"},
}
CHILD = """
import os, signal, sys
import sqlanon
from sqlanon.release import export, pending

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

if sys.argv[1] == "after":
    pending.Files.finish = die
else:
    export.finish_file = die
with sqlanon.load("policy.yml") as anonymizer:
    at = "swapping" if sys.argv[1] == "before" else None
    anonymizer.publish("good.json", on_stage=lambda stage: stage == at and die())
"""


def kill(folder: Path, when: str = "after") -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, when], cwd=folder, capture_output=True, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


def left(folder: Path) -> list[Path]:
    return list(folder.glob(".sqlanon-*"))


@pytest.fixture
def killed(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The release is out, its certificate is not; answers with the name of the release."""
    name: str = request.param
    town_table.make(tmp_path, publish=PLACES[name])
    kill(tmp_path)
    assert not (tmp_path / f"{name}.certificate.json").exists()
    assert len(left(tmp_path)) == 1
    return name


@pytest.mark.parametrize("killed", ["released", "out.csv", "out.parquet"], indirect=True)
def test_the_next_publish_finishes_the_certificate(killed: str, tmp_path: Path, run: Run) -> None:
    (private,) = left(tmp_path)
    prepared = Certificate.read(private / f"{killed}.certificate.json").document.release.id
    done = run("publish", "policy.yml", "--scheme", "apart.json")
    assert done.status == 0, done.err
    words = " ".join(done.out.split())
    assert f"the certificate of release {prepared}, which a killed run had left" in words
    document = Certificate.read(tmp_path / f"{killed}.certificate.json").document
    assert [each.id for each in document.lineage.earlier] == [prepared]
    assert not left(tmp_path)


def test_the_next_publish_of_a_view_removes_what_it_cannot_settle(tmp_path: Path, run: Run) -> None:
    """The former view does not say whether a certificate that is prepared came to be its own."""
    town_table.make(tmp_path, publish={"mode": "view", "to": "shown"})
    assert run("publish", "policy.yml", "--scheme", "apart.json").status == 0
    kill(tmp_path, "before")
    assert len(left(tmp_path)) == 1
    assert run("publish", "policy.yml", "--scheme", "good.json").status == 0
    assert not left(tmp_path)


@pytest.mark.parametrize("killed", ["released", "people"], indirect=True)
def test_cleaning_the_database_finishes_it(killed: str, tmp_path: Path, run: Run) -> None:
    (private,) = left(tmp_path)
    done = run("clean", str(tmp_path))
    assert done.out.startswith(f"kept {private / killed}.certificate.json: the certificate of")
    assert "clean the database of the release" in done.out
    found = json.loads(run("clean", "people.duckdb", "--json").out)
    assert [Path(path).name for path in found["finished"]] == [
        f"{killed}.{form}.{suffix}"
        for form in ("certificate", "shareable")
        for suffix in ("json", "html")
    ]
    assert (found["kept"], left(tmp_path)) == ([], [])
    certificate = str(tmp_path / f"{killed}.certificate.json")
    checked = run("check", "people.duckdb", "--table", killed, "--certificate", certificate)
    assert checked.status == 0, checked.err


@pytest.mark.parametrize("killed", ["out.csv"], indirect=True)
def test_cleaning_the_folder_finishes_that_of_a_file(killed: str, tmp_path: Path, run: Run) -> None:
    assert run("clean").out.count("finished ") == 4
    done = run("check", killed, "--certificate", f"{killed}.certificate.json")
    assert done.status == 0, done.err


@pytest.mark.parametrize("killed", ["released"], indirect=True)
def test_one_of_a_release_that_is_gone_is_removed(killed: str, tmp_path: Path, run: Run) -> None:
    town_table.change(tmp_path, "DROP TABLE released")
    assert len(json.loads(run("clean", "people.duckdb", "--json").out)["kept"]) == 1
    assert run("publish", "policy.yml", "--scheme", "apart.json").status == 0
    assert not left(tmp_path)
    document = Certificate.read(tmp_path / f"{killed}.certificate.json").document
    assert not document.lineage.earlier


def test_one_of_a_release_that_never_came_out_is_removed(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path, publish={"file": "out.csv"})
    kill(tmp_path, "before")
    assert not (tmp_path / "out.csv").exists()
    assert len(list(tmp_path.glob(".sqlanon-kept-*"))) == 1
    assert run("publish", "policy.yml", "--scheme", "good.json").status == 0
    assert not list(tmp_path.glob(".sqlanon-kept-*"))
    assert not Certificate.read(tmp_path / "out.csv.certificate.json").document.lineage.earlier


@pytest.mark.parametrize("killed", ["released"], indirect=True)
def test_checking_says_where_it_is(killed: str, tmp_path: Path, run: Run) -> None:
    (private,) = left(tmp_path)
    name = f"{killed}.certificate.json"
    said = message(1, run("check", "people.duckdb", "--table", killed, "--certificate", name))
    assert f"{private.name}/{name}" in said
    assert "killed run" in said


def test_a_living_process_keeps_its_own(tmp_path: Path, run: Run) -> None:
    with PrivateFolder(tmp_path, kept=True) as private:
        (private.path / "x.certificate.json").write_text("{}")
        assert run("clean").out == "nothing to remove\n"
        assert private.path.is_dir()


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_a_file_of_somebody_else_stays(name: str, tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path, publish={"file": name})
    command = ("publish", "policy.yml", "--scheme", "good.json")
    (tmp_path / name).write_text("my thesis\n")
    said = message(1, run(*command))
    assert f"file {name} exists, and there is no certificate that tells" in said
    assert "--yes" in said
    assert (tmp_path / name).read_text() == "my thesis\n"
    assert not left(tmp_path)
    assert run(*command, "--yes").status == 0
    for _ in range(2):  # a job that runs every night
        done = run(*command)
        assert done.status == 0, done.err


def test_a_released_file_that_was_changed_stays(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path, publish={"file": "out.csv"})
    command = ("publish", "policy.yml", "--scheme", "good.json")
    assert run(*command).status == 0
    text = (tmp_path / "out.csv").read_text().replace("flu", "FLU", 1)
    (tmp_path / "out.csv").write_text(text)
    assert "as it is; move it away" in message(1, run(*command))
    assert (tmp_path / "out.csv").read_text() == text


def test_a_policy_without_certificates(tmp_path: Path) -> None:
    file = tmp_path / "people.duckdb"
    town_table.make(tmp_path)
    policy: dict[str, Any] = {
        **town_table.POLICY,
        "source": {"connection": f"duckdb:///{file}", "table": "people"},
    }
    for name in ("out.parquet", "out.csv"):
        place = {"publish": {"file": str(tmp_path / name)}}
        with sqlanon.load({**policy, **place}) as anonymizer:
            anonymizer.publish(GOOD)
            if name == "out.csv":
                with pytest.raises(PublishError, match="replace_file=True"):
                    anonymizer.publish(APART)
            assert anonymizer.publish(APART, replace_file=name == "out.csv").rows == 60
