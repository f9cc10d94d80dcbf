"""Certificates of version 1, as sqlanon 0.1 wrote them, are read, shown and checked."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from command_line import Run

from sqlanon.release.certificate import Certificate

V1 = Path(__file__).parents[1] / "fixtures" / "v1"
FORMS = pytest.mark.parametrize("form", ["certificate", "shareable"])


@FORMS
def test_it_says_what_it_said(form: str) -> None:
    path = V1 / f"released.csv.{form}.json"
    stated = json.loads(path.read_text(encoding="utf-8"))
    certificate = Certificate.read(path)
    found = certificate.to_dict(shareable=form == "shareable")
    assert certificate.is_intact is None
    stated["release"]["hash_version"] = 1
    for key in ("release", "columns", "privacy", "scores", "suppression", "words", "source"):
        assert found[key] == stated[key], key
    earlier = [each | {"hash_version": 1} for each in stated["prior"]]
    assert found["lineage"] == {"earlier": earlier}
    assert (found["version"], found["digest"]) == (3, None)
    assert certificate.chain()[0].id == stated["release"]["id"]
    assert stated["release"]["id"] in certificate.to_html(shareable=form == "shareable")


@FORMS
def test_the_release_is_checked_with_it(run: Run, form: str) -> None:
    release, certificate = V1 / "released.csv", V1 / f"released.csv.{form}.json"
    done = run("check", str(release), "--certificate", str(certificate))
    assert (done.status, done.err) == (0, "")
    assert "has no digest, as version 1 of the format" in done.out


@FORMS
def test_another_table_is_not_the_release(run: Run, tmp_path: Path, form: str) -> None:
    release = shutil.copy(V1 / "released.csv", tmp_path / "released.csv")
    lines = Path(release).read_text(encoding="utf-8").splitlines(keepends=True)
    Path(release).write_text("".join(lines[:-1]), encoding="utf-8")
    certificate = V1 / f"released.csv.{form}.json"
    done = run("check", str(release), "--certificate", str(certificate))
    assert done.status == 3
    assert "1 fewer than the 48 certified" in done.err
