"""Results that version 1 wrote: one answer, answers for several k, and the front of POkA.

The expected scores are those in the files; every release is recounted from its rows.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from command_line import Run

import sqlanon

V1 = Path(__file__).parent.parent / "fixtures" / "v1"
QUASI = ["age", "city", "education", "zip", "born"]
RESULTS = ("result.json", "several_k.json", "poka.json")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    copied = shutil.copytree(V1, tmp_path / "v1")
    for release in copied.glob("released.csv*"):
        release.unlink()
    return copied


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_they_are_of_version_1() -> None:
    assert [read(V1 / name)["version"] for name in RESULTS] == [1, 1, 1]
    assert not any("format" in read(V1 / name) for name in RESULTS)


@pytest.mark.parametrize("name", RESULTS)
def test_choose(name: str, folder: Path, run: Run) -> None:
    run("choose", str(folder / name), "-o", str(folder / "chosen.json"))
    written, result = read(folder / "chosen.json"), read(folder / name)
    chosen = result["solutions"][result["chosen"]]
    assert (written["format"], written["version"]) == ("sqlanon scheme", 3)
    assert written["columns"] == chosen["columns"]
    assert written.get("required_k") == chosen.get("required_k")


@pytest.mark.parametrize("name", RESULTS)
def test_publish_and_sql(name: str, folder: Path) -> None:
    result = read(folder / name)
    chosen = result["solutions"][result["chosen"]]
    with sqlanon.load(folder / "policy.yml") as anonymizer:
        assert anonymizer.sql(folder / name).count("SELECT") > 0
        rows = anonymizer.publish(folder / name).to_pandas()
    sizes = Counter(map(tuple, rows[QUASI].astype(str).to_numpy()))
    assert min(sizes.values()) == chosen["k"]
    assert len(sizes) == chosen["classes"]
    assert len(rows) == result["source"]["rows"] - chosen["suppressed"]


def test_every_answer_for_several_k(folder: Path) -> None:
    choices = read(folder / "several_k.json")["choices"]
    assert [each["k"] for each in choices] == [4, 8, 16]
    with sqlanon.load(folder / "policy.yml") as anonymizer:
        for each in choices:
            solution = anonymizer.measure(f"{folder / 'several_k.json'}#{each['solution']}")
            assert solution.scores["k"] >= each["k"]
            assert solution.feasible
