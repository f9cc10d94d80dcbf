"""`--resume`: what a saved walk goes on with, and what does not go with it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Run, message
from search_table import write_search_folder

import sqlanon
from sqlanon.errors import SearchError
from sqlanon.search.outcome import Watch

WALK = {"method": "reference-direction", "points": 2, "seconds": 60, "patience": 3}
RESUME = ("search", "policy.yml", "--resume", "walk.json")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With walk.json: one step, which an impatient user ended."""
    write_search_folder(tmp_path, WALK)
    with sqlanon.load(tmp_path / "policy.yml") as anonymizer:
        exploration = anonymizer.explore(seed=7)
        watch = Watch()
        watch.interrupt()
        exploration.step(watch=watch)
        saved = json.dumps(exploration.to_json())
    (tmp_path / "walk.json").write_text(saved, encoding="utf-8")
    return tmp_path


def answering(monkeypatch: pytest.MonkeyPatch, *answers: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{each}\n" for each in answers)))


@pytest.mark.parametrize("answers", [["take 0"], ["0", "take 0"]])
def test_a_step_that_was_interrupted_is_remembered(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, answers: list[str]
) -> None:
    """Whatever follows, what it begins with cannot be repeated."""
    answering(monkeypatch, *answers)
    done = run(*RESUME, "-q", "--json")
    assert done.status == 0, done.err
    document = json.loads(done.out)
    assert (document["stopped"], document["reproducible"]) == ("interrupted", False)
    assert document["seed"] == 7


def test_a_result_says_that_a_step_was_interrupted(folder: Path) -> None:
    with sqlanon.load(folder / "policy.yml") as anonymizer:
        exploration = anonymizer.explore()
        exploration.step()
        # Patience ends minimizations long before their 5,000 evaluations on this small table.
        result = anonymizer.explored(exploration)
        assert (result.stopped, result.reproducible) == ("patience", True)
        exploration.step(watch=Watch(seconds=0.0))
        result = anonymizer.explored(exploration)
        assert (result.stopped, result.reproducible) == ("time", False)
        watch = Watch()
        watch.interrupt()
        exploration.step(watch=watch)
        exploration.step()
        result = anonymizer.explored(exploration)
        assert (result.stopped, result.reproducible) == ("interrupted", False)


def test_the_seconds_of_the_policy_are_for_every_step(folder: Path) -> None:
    write_search_folder(folder, WALK | {"seconds": 1e-9})
    with sqlanon.load(folder / "policy.yml") as anonymizer:
        exploration = anonymizer.explore()
        assert [exploration.step().stopped for _ in range(2)] == ["time", "time"]


def test_without_a_step_there_is_no_result(folder: Path) -> None:
    with (
        sqlanon.load(folder / "policy.yml") as anonymizer,
        pytest.raises(SearchError, match="take a step first"),
    ):
        anonymizer.explored(anonymizer.explore())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--method", "auto"), "--resume goes with --method reference-direction, not with auto"),
        (
            ("--seed", "8"),
            "--seed 8 does not go with --resume walk.json, which was saved with the seed 7; leave "
            "one of the two out",
        ),
    ],
)
def test_what_does_not_go_with_resume(
    run: Run, folder: Path, options: tuple[str, ...], said: str
) -> None:
    assert said in " ".join(message(2, run(*RESUME, *options)).split())


def test_the_seed_of_the_saved_walk_may_be_said(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, "take 0")
    assert run(*RESUME, "--seed", "7", "-q").status == 0


def test_another_seed_or_preference_is_refused(run: Run, folder: Path) -> None:
    document = json.loads((folder / "walk.json").read_text(encoding="utf-8"))
    with (
        sqlanon.load(folder / "policy.yml") as anonymizer,
        pytest.raises(SearchError, match="saved with the seed 7, not 8"),
    ):
        anonymizer.explore(document, seed=8)
    write_search_folder(folder, WALK, preference={"nwp": 0.3, "necd": 0.5})
    assert message(1, run(*RESUME)) == (
        "error: walk.json: the exploration was saved with the preference nwp 0.2, necd 1, and the "
        "policy says nwp 0.3, necd 0.5; put the former into the policy, or start a new one"
    )


def damaged(document: dict[str, Any], path: str, value: object) -> None:
    """Sets, or without a value removes, what stands at a path."""
    *way, last = path.split(".")
    for step in way:
        document = document[int(step) if isinstance(document, list) else step]
    if value is None:
        del document[last]
    else:
        document[int(last) if isinstance(document, list) else last] = value


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("n", 2.5, "n: found 2.5, expected a whole number"),
        ("n", 0, "n: found 0, expected a number of at least 1"),
        ("n", None, "n: is missing"),
        ("seed", -1, "seed: found -1, expected a number of at least 0"),
        ("seed", "a", "seed: found 'a', expected a whole number"),
        ("seed", True, "seed: found True, expected a whole number"),
        ("extra", 1, "extra: is not a key of an exploration"),
        ("start.nwp", "x", "start.nwp: found 'x', expected a number"),
        ("preference.necd", -0.5, "preference.necd: found -0.5, expected a number of at least 0"),
        ("schemes", 5, "schemes: found 5, expected a list"),
        ("schemes.0", 5, "schemes.0: found 5, expected an object with keys"),
        ("schemes.0.nwp", None, "schemes.0: has necd, and the preference has necd, nwp"),
        ("schemes.0.nwp", "x", "schemes.0.nwp: found 'x', expected a number"),
        ("history.0.references", [], "history.0.references: found [], expected a list of at least"),
        ("history.0.references.1.gini", 0.5, "history.0.references.1: has gini, necd, nwp, and"),
        ("history.0.chosen", 0.5, "history.0.chosen: found 0.5, expected a whole number"),
        ("history.0.chosen", 99, "history.0.chosen: there is no solution 99; there are"),
        ("history.0.solutions", ["a"], "history.0.solutions.0: found 'a', expected a whole number"),
        ("history.0.solutions", [99], "history.0.solutions: there is no scheme 99; there are"),
        ("history.0.reached", [0], "history.0.reached: found 1 number, expected 2, because there"),
        ("history.0.stopped", "late", "history.0.stopped: found 'late', expected 'finished', 'ti"),
    ],
)
def test_a_damaged_walk_is_named_with_its_key(
    run: Run, folder: Path, path: str, value: object, said: str
) -> None:
    file = folder / "walk.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    damaged(document, path, value)
    file.write_text(json.dumps(document), encoding="utf-8")
    told = message(1, run(*RESUME))
    assert told.startswith(f"error: walk.json: the exploration is damaged: {said}")


def test_a_scheme_that_no_step_can_have_found(folder: Path) -> None:
    """A walk of k = 1, edited to say k = 4: its schemes are as they were, but not feasible."""
    write_search_folder(folder, WALK, privacy={"k": 1})
    with sqlanon.load(folder / "policy.yml") as anonymizer:
        exploration = anonymizer.explore()
        exploration.step()
        document = exploration.to_json()
    assert min(each["k"] for each in document["schemes"]) < 4
    write_search_folder(folder, WALK)
    with (
        sqlanon.load(folder / "policy.yml") as anonymizer,
        pytest.raises(SearchError, match=r"schemes\.\d+: does not reach the required privacy"),
    ):
        anonymizer.explore(document | {"k": 4})


GIVE = "not a saved walk; give what the answer `save` of a walk wrote, or to_json() returned"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not JSON"),
        ("[]", f"this is {GIVE}"),
        ('{"version": 1, "certificate": {}}', f"this is {GIVE}"),
        ('{"version": 1, "columns": {"sex": {"level": 1}}}', f"this is a scheme, {GIVE}"),
        (
            '{"version": 2, "schemes": [], "history": []}',
            "this is not an exploration of format version 1, which this sqlanon reads; start a new",
        ),
    ],
)
def test_what_is_no_saved_walk(run: Run, folder: Path, text: str, said: str) -> None:
    (folder / "walk.json").write_text(text, encoding="utf-8")
    assert message(1, run(*RESUME)).startswith(f"error: walk.json: {said}")


def test_a_result_is_no_saved_walk(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are JSON that the same command writes."""
    answering(monkeypatch, "take 0")
    assert run("search", "policy.yml", "-q", "-o", "taken.json").status == 0
    done = run("search", "policy.yml", "--resume", "taken.json")
    assert message(1, done) == f"error: taken.json: this is the result of a search, {GIVE}"


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("age", {"cuts": [21]}, "schemes.0: column 'age': 21 is not a place to cut"),
        ("age", 5, "schemes.0: column 'age': expected one of cuts, groups, level, found 5"),
        ("sex", None, "schemes.0: no partition for 'sex'"),
        ("town", {"level": 0}, "schemes.0: 'town' is not a quasi-identifier of the policy"),
    ],
)
def test_a_damaged_scheme_is_named_with_its_file(
    run: Run, folder: Path, path: str, value: object, said: str
) -> None:
    file = folder / "walk.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    damaged(document, f"schemes.0.columns.{path}", value)
    file.write_text(json.dumps(document), encoding="utf-8")
    told = message(1, run(*RESUME))
    assert told.startswith(
        f"error: walk.json: the exploration is damaged, or was saved with another policy: {said}"
    )
    assert told.endswith("; start a new one, or take a copy that nobody edited")


def test_an_interrupted_walk_without_solutions_is_remembered(tmp_path: Path) -> None:
    """150 people are never 151, so nothing is listed; that a hand ended the step stays known."""
    write_search_folder(tmp_path, WALK, privacy={"k": 151})
    with sqlanon.load(tmp_path / "policy.yml") as anonymizer:
        exploration = anonymizer.explore()
        watch = Watch()
        watch.interrupt()
        exploration.step(watch=watch)
        saved = json.loads(json.dumps(exploration.to_json()))
        resumed = anonymizer.explore(saved)
        assert resumed.stopped == "interrupted"
        assert resumed.to_json() == saved
        (visit,) = resumed.history
        assert (len(visit.step.solutions), visit.chosen) == (0, None)
        assert str(visit.step).startswith("from nwp 1, necd 0: 0 solutions for 2 reference points")
        resumed.step()
        result = anonymizer.explored(resumed)
    assert (result.stopped, result.reproducible) == ("interrupted", False)


def test_a_saved_walk_that_is_not_there(run: Run, folder: Path) -> None:
    (folder / "walk.json").unlink()
    assert message(1, run(*RESUME)).startswith("error: walk.json: cannot be read (No such file")
