"""Scheme and result files of version 1. What they mean is written out by hand."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from command_line import Run

import sqlanon
from sqlanon.domain.scheme_json import read_document

V1 = Path(__file__).parent.parent / "fixtures" / "v1"
COLUMNS = ("age", "city", "education", "zip", "born")
# Atoms: age 20, 25, 30, 35 and NULL; city Bonn, Oslo, Rome and NULL; education 10th, 11th,
# Bachelors, Masters; zip 10115, 10117, 20095; born 1931, 1944, 1948.
CUTS = {"age": (0, 2, 3), "city": (0, 2), "education": (1, 2), "zip": (1,), "born": (0,)}
# The chosen solution, which hides age, city and education.
CHOSEN = {"age": (), "city": (), "education": (), "zip": (0, 1), "born": (0, 1)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return shutil.copytree(V1, tmp_path / "v1")


def test_a_scheme(folder: Path) -> None:
    scheme = sqlanon.load(folder / "policy.yml").measure(folder / "scheme.json").scheme
    assert {name: scheme[name].cuts for name in COLUMNS} == CUTS
    assert scheme.required_k == 2


def test_a_result(folder: Path) -> None:
    anonymizer = sqlanon.load(folder / "policy.yml")
    result = folder / "result.json"
    listed = json.loads(result.read_text())["solutions"]
    chosen = anonymizer.measure(result)
    assert {name: chosen.scheme[name].cuts for name in COLUMNS} == CHOSEN
    measured = anonymizer.measure_all([f"{result}#{i}" for i in range(len(listed))])
    for before, now in zip(listed, measured, strict=True):
        assert now.scheme.required_k == before.get("required_k")
        for score in ("k", "k_max", "classes", "suppressed", "nwp", "necd"):
            assert now.scores[score] == pytest.approx(before[score])


def test_its_own_values_are_kept(folder: Path) -> None:
    """Other data have other values; the file lists those that its groups were named for."""
    rows = (folder / "people.csv").read_text().replace("1931-05-01", "1933-01-01")
    (folder / "people.csv").write_text(rows)
    scheme = sqlanon.load(folder / "policy.yml").measure(folder / "scheme.json").scheme
    assert scheme.given is not None
    assert scheme.given.columns[4].domain.left_ends[0].isoformat() == "1931-05-01"


def test_what_is_chosen_from_it_is_of_the_newest_version(folder: Path, run: Run) -> None:
    run("choose", str(folder / "result.json"), "-o", str(folder / "new.json"))
    written = json.loads((folder / "new.json").read_text())
    assert (written["format"], written["version"]) == ("sqlanon scheme", 3)
    assert written["domains"]["city"] == {"values": ["Bonn", "Oslo", "Rome"], "null": True}
    assert written["domains"]["zip"] == {"values": [10115, 10117, 20095], "null": False}
    assert read_document(folder / "new.json") == read_document(folder / "result.json")


def test_a_scheme_file_of_version_1_may_be_written_over(folder: Path, run: Run) -> None:
    run("choose", str(folder / "result.json"), "-o", str(folder / "scheme.json"))
    assert json.loads((folder / "scheme.json").read_text())["version"] == 3
