"""Scheme and result files of version 2. What they mean is written out by hand."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import sqlanon

FIXTURES = Path(__file__).parent.parent / "fixtures"
# Atoms: age 20, 25, 30, 35 and NULL; city Bonn, Oslo, Rome and NULL; education 10th, 11th,
# Bachelors, Masters; zip 10115, 10117, 20095; born 1931, 1944, 1948.
CUTS = {"age": (0, 2, 3), "city": (0, 2), "education": (1, 2), "zip": (1,), "born": (0,)}
# The chosen solution, which hides age, city and education.
CHOSEN = {"age": (), "city": (), "education": (), "zip": (0, 1), "born": (0, 1)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The people and the policy of version 1, and the files that version 2 wrote about them."""
    folder = shutil.copytree(FIXTURES / "v1", tmp_path / "files")
    return shutil.copytree(FIXTURES / "v2", folder, dirs_exist_ok=True)


def test_a_scheme(folder: Path) -> None:
    assert json.loads((folder / "scheme.json").read_text())["version"] == 2
    scheme = sqlanon.load(folder / "policy.yml").measure(folder / "scheme.json").scheme
    assert {name: scheme[name].cuts for name in CUTS} == CUTS
    assert scheme.required_k == 2


def test_a_result(folder: Path) -> None:
    anonymizer = sqlanon.load(folder / "policy.yml")
    document = json.loads((folder / "result.json").read_text())
    assert document["version"] == 2
    chosen = anonymizer.measure(folder / "result.json")
    assert {name: chosen.scheme[name].cuts for name in CHOSEN} == CHOSEN
    for number, before in enumerate(document["solutions"]):
        now = anonymizer.measure(f"{folder / 'result.json'}#{number}")
        assert now.scores["k"] == before["k"]
        assert now.scores["nwp"] == pytest.approx(before["nwp"])
