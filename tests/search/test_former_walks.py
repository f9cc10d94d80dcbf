"""Walks that version 1 saved: read as they are, gone on from, and saved in version 2.

What their steps found, and what the next one finds, is what the code of version 1 answered.
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
    with sqlanon.load(folder / "policy.yml") as anonymizer:
        walk = anonymizer.walk(saved())
        assert [(v.chosen, v.step.reached, v.step.stopped) for v in walk.history] == [
            (None, (0, 0, 0, 0, 0, 1, 1, 1, 1, 1), "finished"),
            (1, (0, 1), "finished"),
            (None, (0, 0), "finished"),
        ]
        assert (walk.seed, walk.n, len(walk.archive)) == (3, 2, 2)
        walk.choose(0)
        assert (walk.origin.loss, walk.origin.bias) == (0.6, 0.06382978723404255)
        step = walk.step(3)
        assert step.scores.k.tolist() == [4]
        assert step.scores.nwp.tolist() == [0.6]
        assert walk.archive.scores.nwp.tolist() == [0.6, 0.953125]
        document = json.loads(json.dumps(walk.to_json()))
    assert (document["format"], document["version"]) == ("sqlanon walk", 2)
    with sqlanon.load(folder / "policy.yml") as anonymizer:
        again = anonymizer.walk(document)
        assert again.to_json() == document
        assert [v.chosen for v in again.history] == [None, 1, 0, None]
        assert again.archive.scores.nwp.tolist() == [0.6, 0.953125]


def test_a_step_that_was_interrupted_cannot_be_taken_again(folder: Path) -> None:
    with sqlanon.load(folder / "policy.yml") as anonymizer:
        walk = anonymizer.walk(saved("walk_interrupted.json"))
        (visit,) = walk.history
        assert visit.step.scores.k.tolist() == [48, 20, 4]
        assert visit.step.scores.nwp.tolist() == pytest.approx([1, 0.8646, 0.6625], abs=5e-5)
        assert visit.step.reached == (0, 0, 0, 0, 0, 0, 1, 1, 1, 2)
        assert (walk.stopped, len(walk.archive)) == ("interrupted", 4)


def test_the_command_goes_on_and_saves(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.stdin", io.StringIO("save walk.json\ntake 0\n"))
    done = run("search", "policy.yml", "--method", "reference-direction", "--resume", "walk.json")
    assert done.status == 0, done.err
    assert json.loads((folder / "walk.json").read_text())["former"] == saved()


def change(document: Any, path: str, value: object) -> None:
    *way, last = path.split(".")
    for step in way:
        document = document[int(step) if isinstance(document, list) else step]
    document[last] = value


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("schemes", 5, "schemes: input should be a valid list, found 5"),
        ("schemes.0.nwp", "x", "schemes.0.nwp: input should be a valid number, found 'x'"),
        (
            "history.0.references",
            [],
            "history.0.references: list should have at least 1 item",
        ),
        ("history.0.chosen", 0.5, "history.0.chosen: input should be a valid integer, found 0.5"),
        ("history.0.chosen", 99, "history: names a solution that is not there"),
        (
            "history.0.solutions",
            ["a"],
            "history.0.solutions.0: input should be a valid integer, found 'a'",
        ),
        ("history.0.solutions", [99], "history: names a solution that is not there"),
        ("history.0.reached", [7], "history: names a solution that is not there"),
        (
            "history.0.stopped",
            "late",
            "history.0.stopped: input should be 'finished', 'time', 'patience' or",
        ),
    ],
)
def test_a_damaged_walk(folder: Path, path: str, value: object, said: str) -> None:
    document = saved()
    change(document, path, value)
    with sqlanon.load(folder / "policy.yml") as anonymizer, pytest.raises(SearchError) as refused:
        anonymizer.walk(document)
    assert str(refused.value).startswith(f"the walk is damaged: {said}")


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("k", 3, "the walk was saved with k 3, not 4"),
        ("budget", 0, "the walk was saved where 0 rows might be left out, not 4"),
        ("models", [], "the walk was saved with other privacy models"),
        ("schemes.1.nwp", 0.5, "the walk was saved with other data, another policy or another"),
        ("schemes.1.gini", 0.5, "the walk was saved with other data, another policy or another"),
        ("history.0.origin", {"glm": 1, "necd": 0}, "the walk was saved with other measures than"),
    ],
)
def test_another_policy_or_data(folder: Path, path: str, value: object, said: str) -> None:
    document = saved()
    change(document, path, value)
    if path.endswith("gini"):
        del document["schemes"][1]["nwp"]
    with sqlanon.load(folder / "policy.yml") as anonymizer, pytest.raises(SearchError) as refused:
        anonymizer.walk(document)
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("age", {"cuts": [21]}, "schemes.0: column 'age': 21 is not a place to cut"),
        ("age", 5, "schemes.0: column 'age': expected one of cuts, groups, level, runs, found 5"),
        ("city", None, "schemes.0: no partition for 'city'"),
        ("town", {"level": 0}, "schemes.0: 'town' is not a quasi-identifier of the policy"),
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


def test_schemes_that_no_step_can_have_found(folder: Path) -> None:
    """A walk that was edited to say k = 5, and what its schemes measure to then."""
    policy = (folder / "policy.yml").read_text().replace("{k: 4,", "{k: 5,")
    (folder / "policy.yml").write_text(policy.replace("limit: 0.1", "limit: 0.0"))
    document = saved() | {"k": 5, "budget": 0}
    with sqlanon.load(folder / "policy.yml") as anonymizer:
        columns = [{"columns": each["columns"]} for each in document["schemes"]]
        for each, now in zip(document["schemes"], anonymizer.measure_all(columns), strict=True):
            each |= {name: now.scores[name] for name in ("k", "nwp", "necd")}
        with pytest.raises(SearchError, match=r"is damaged: schemes\.\d: does not reach the"):
            anonymizer.walk(document)
