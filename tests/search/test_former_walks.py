"""Walks that version 1 saved: read as they are, gone on from, and saved in version 2.

What their schemes measure to, and what the next step finds, is what the code of version 1
answered.
"""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from command_line import Run, message

import sqlanon
from sqlanon.errors import SearchError

V1 = Path(__file__).parent.parent / "fixtures" / "v1"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return shutil.copytree(V1, tmp_path / "v1")


def saved(name: str = "walk.json") -> dict[str, Any]:
    document: dict[str, Any] = json.loads((V1 / name).read_text(encoding="utf-8"))
    assert document["version"] == 1
    return document


def test_a_walk_goes_on(folder: Path) -> None:
    """From the solution chosen last, with everything that version 1 had found."""
    with sqlanon.load(folder / "policy.yml") as anonymizer:
        walk = anonymizer.walk(saved())
        assert (walk.seed, walk.n, walk.history) == (3, 2, [])
        assert (walk.origin.loss, walk.origin.bias) == (0.6, 0.06382978723404255)
        assert walk.archive.scores.nwp.tolist() == [0.6, 0.953125]
        step = walk.step(3)
        assert step.scores.k.tolist() == [4]
        assert step.scores.nwp.tolist() == [0.6]
        document = json.loads(json.dumps(walk.to_json()))
    assert (document["format"], document["version"]) == ("sqlanon walk", 2)
    with sqlanon.load(folder / "policy.yml") as anonymizer:
        again = anonymizer.walk(document)
        assert again.to_json() == document
        assert again.archive.scores.nwp.tolist() == [0.6, 0.953125]


def test_a_walk_without_a_choice_begins_anew(folder: Path) -> None:
    with sqlanon.load(folder / "policy.yml") as anonymizer:
        walk = anonymizer.walk(saved("walk_interrupted.json"))
        assert (walk.origin.loss, walk.origin.bias) == (1, 0)
        assert len(walk.archive) == 4


def test_the_command_goes_on_and_saves(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.stdin", io.StringIO("save walk.json\ntake 0\n"))
    done = run("search", "policy.yml", "--method", "reference-direction", "--resume", "walk.json")
    assert done.status == 0, done.err
    found = json.loads((folder / "walk.json").read_text())["steps"][0]["own"]
    assert found == [each["columns"] for each in saved()["schemes"]]


def change(document: Any, path: str, value: object) -> None:
    *way, last = path.split(".")
    for step in way:
        document = document[int(step) if isinstance(document, list) else step]
    document[last] = value


LACKS = "history or schemes lack what a walk of version 1 has"


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("schemes", 5, LACKS),
        ("schemes.0.nwp", "x", "start.nwp: input should be a valid number, found 'x'"),
        ("schemes.0.columns", 5, "own.0: input should be a valid dictionary, found 5"),
        ("history", 5, LACKS),
        ("history.0.chosen", 99, LACKS),
        ("history.0.solutions", ["a"], LACKS),
        ("k", "x", "k: input should be a valid integer, found 'x'"),
    ],
)
def test_a_damaged_walk(folder: Path, path: str, value: object, said: str) -> None:
    document = saved()
    change(document, "history.0.chosen", 0)
    change(document, path, value)
    with sqlanon.load(folder / "policy.yml") as anonymizer, pytest.raises(SearchError) as refused:
        anonymizer.walk(document)
    assert str(refused.value).startswith(f"the walk is damaged: {said}")


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("k", 3, "the walk was saved with k 3, not 4"),
        ("budget", 0, "the walk was saved with rows that might be left out: 0, not 4"),
        ("models", [], "the walk was saved with other privacy models"),
        ("start", {"glm": 1.0, "necd": 0.0}, "the walk was saved with other measures than"),
    ],
)
def test_another_policy_or_data(folder: Path, path: str, value: object, said: str) -> None:
    document = saved()
    change(document, path, value)
    if path == "start":
        document["history"] = []
    with sqlanon.load(folder / "policy.yml") as anonymizer, pytest.raises(SearchError) as refused:
        anonymizer.walk(document)
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("age", {"cuts": [21]}, "own.0: column 'age': 21 is not a place to cut"),
        ("age", 5, "own.0: column 'age': expected one of cuts, groups, level, runs, found 5"),
        ("city", None, "own.0: no partition for 'city'"),
        ("town", {"level": 0}, "own.0: 'town' is not a quasi-identifier of the policy"),
    ],
)
def test_a_damaged_scheme_is_named_with_its_file(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: object, said: str
) -> None:
    document = saved()
    columns = document["schemes"][0]["columns"]
    columns |= {name: value}
    if value is None:
        del columns[name]
    (folder / "walk.json").write_text(json.dumps(document), encoding="utf-8")
    monkeypatch.chdir(folder)
    told = message(
        1, run("search", "policy.yml", "--method", "reference-direction", "--resume", "walk.json")
    )
    assert told.startswith(
        f"error: walk.json: the walk is damaged, or was saved with another policy: {said}"
    )
    assert told.endswith("; start a new one, or take a copy that was not edited")
