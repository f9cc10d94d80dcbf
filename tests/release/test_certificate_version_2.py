"""Certificates of version 2 are read, shown and checked; their hash is that of version 1."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
from command_line import Run

from sqlanon.engines.registry import open_engine
from sqlanon.release.certificate import Certificate
from sqlanon.release.pending import file_holds

FIXTURES = Path(__file__).parents[1] / "fixtures"
V2 = FIXTURES / "v2"
RELEASE = V2 / "released.parquet"
FORMS = pytest.mark.parametrize("form", ["certificate", "shareable"])


def certificate_of(form: str) -> Path:
    return V2 / f"released.parquet.{form}.json"


@FORMS
def test_it_says_what_it_said(form: str) -> None:
    path = certificate_of(form)
    stated = json.loads(path.read_text(encoding="utf-8"))
    certificate = Certificate.read(path)
    found = certificate.to_dict(shareable=form == "shareable")
    assert certificate.is_intact
    stated["release"]["hash_version"] = 1
    stated["lineage"]["earlier"][0]["hash_version"] = 1
    assert found == stated | {"version": 3, "digest": found["digest"]}
    assert [each.hash_version for each in certificate.chain()] == [1, 1]


@FORMS
def test_what_is_written_again_is_of_the_newest_version(tmp_path: Path, form: str) -> None:
    certificate = Certificate.read(certificate_of(form))
    path = tmp_path / "again.json"
    certificate.write(path, shareable=form == "shareable")
    assert json.loads(path.read_text(encoding="utf-8"))["version"] == 3
    again = Certificate.read(path)
    assert again.is_intact
    assert again.document == certificate.document


@FORMS
def test_the_release_is_checked_with_it(run: Run, form: str) -> None:
    done = run("check", str(RELEASE), "--certificate", str(certificate_of(form)))
    assert (done.status, done.err) == (0, "")
    assert "24 rows" in done.out


@FORMS
@pytest.mark.parametrize(
    "change",
    ["(amount + 1)::DECIMAL(5, 2) AS amount", "measure + 1e-15 AS measure", "NOT member AS member"],
)
def test_one_changed_column_is_found(run: Run, tmp_path: Path, form: str, change: str) -> None:
    """Which changes no figure but the hash."""
    changed = tmp_path / "released.parquet"
    duckdb.sql(f"COPY (SELECT * REPLACE ({change}) FROM '{RELEASE}') TO '{changed}'")
    done = run("check", str(changed), "--certificate", str(certificate_of(form)))
    assert done.status == 3
    assert "The contents are not those that were certified" in done.err


def test_a_damaged_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "damaged.json"
    text = certificate_of("certificate").read_text(encoding="utf-8")
    path.write_text(text.replace('"required_k": 4', '"required_k": 3'), encoding="utf-8")
    assert Certificate.read(path).is_intact is False


@pytest.mark.parametrize("name", ["v1/released.csv", "v2/released.parquet"])
def test_a_release_is_known_by_its_former_hash(name: str) -> None:
    """So that the next publish may replace it, and settles what a killed run has left."""
    file = FIXTURES / name
    certificate = Certificate.read(file.with_name(f"{file.name}.certificate.json"))
    engine = open_engine(None, folders=[file.parent])
    try:
        assert file_holds(engine, file, certificate) == certificate.document.release.hash
    finally:
        engine.close()
