"""`sqlanon search --method reference-direction`: a walk whose answers come from standard input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from search_table import write_search_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    start = {"nwp": 1.0, "necd": 0.0}
    write_search_folder(tmp_path, {"method": "reference-direction", "points": 3, "start": start})
    return tmp_path


def walk(folder: Path, answers: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sqlanon", "search", "policy.yml", *options],
        cwd=folder,
        input=answers,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def result(folder: Path) -> dict[str, object]:
    document: dict[str, object] = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    return document


def test_taking_a_solution_writes_it_as_the_chosen_one(folder: Path) -> None:
    done = walk(folder, "take 0\n")
    assert done.returncode == 0, done.stderr
    document = result(folder)
    assert document["method"] == "reference-direction"
    assert document["objectives"] == ["nwp", "necd"]
    solutions = document["solutions"]
    assert isinstance(solutions, list)
    assert isinstance(document["chosen"], int)
    chosen = solutions[document["chosen"]]
    assert chosen["k"] >= 4
    # The efficient solutions trade loss against bias.
    points = [(s["nwp"], s["necd"]) for s in solutions]
    assert points == sorted(points)
    assert [necd for _, necd in points] == sorted((necd for _, necd in points), reverse=True)


def test_going_on_starts_from_the_chosen_point(folder: Path) -> None:
    done = walk(folder, "0\ntake 0\n")
    assert done.returncode == 0, done.stderr
    starts = [line for line in done.stdout.splitlines() if line.startswith("From NWP")]
    assert len(starts) == 2
    assert starts[0].startswith("From NWP 1.000, NECD 0.000")
    assert starts[1] != starts[0]


def test_a_wrong_answer_is_explained_and_asked_again(folder: Path) -> None:
    done = walk(folder, "fly away\n99\nsave missing/folder.json\ntake 0\n")
    assert done.returncode == 0, done.stderr
    assert "'fly away' is not an answer" in done.stdout
    assert "there is no solution 99" in done.stdout
    assert "No such file or directory" in done.stdout
    assert "go on from solution N" in done.stdout


def test_a_saved_walk_is_resumed(folder: Path) -> None:
    saved = walk(folder, "0\nsave walk.json\nquit\n")
    assert saved.returncode == 0, saved.stderr
    assert not (folder / "result.json").exists()
    assert "nothing is written" in saved.stderr
    resumed = walk(folder, "take 0\n", "--resume", "walk.json")
    assert resumed.returncode == 0, resumed.stderr
    # The step that was shown last is shown again.
    last = [line for line in saved.stdout.splitlines() if line.startswith("From NWP")][-1]
    assert last in resumed.stdout


def test_json_goes_to_standard_output_alone(folder: Path) -> None:
    done = walk(folder, "take 0\n", "--json", "--quiet")
    assert json.loads(done.stdout)["method"] == "reference-direction"


def test_nothing_feasible_ends_with_3(tmp_path: Path) -> None:
    search = {"method": "reference-direction", "points": 2}
    write_search_folder(tmp_path, search, privacy={"k": 151})
    done = walk(tmp_path, "")
    assert (done.returncode, done.stderr.strip()) == (3, "Nothing that was tried reaches k = 151.")
