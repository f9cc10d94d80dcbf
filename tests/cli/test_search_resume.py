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
        walk = anonymizer.walk(seed=7)
        watch = Watch()
        watch.interrupt()
        walk.step(watch=watch)
        saved = json.dumps(walk.to_json())
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
        walk = anonymizer.walk()
        walk.step()
        # Patience ends minimizations long before their 5,000 evaluations on this small table.
        result = anonymizer.walked(walk)
        assert (result.stopped, result.reproducible) == ("patience", True)
        walk.step(watch=Watch(seconds=0.0))
        result = anonymizer.walked(walk)
        assert (result.stopped, result.reproducible) == ("time", False)
        watch = Watch()
        watch.interrupt()
        walk.step(watch=watch)
        walk.step()
        result = anonymizer.walked(walk)
        assert (result.stopped, result.reproducible) == ("interrupted", False)


def test_the_seconds_of_the_policy_are_for_every_step(folder: Path) -> None:
    write_search_folder(folder, WALK | {"seconds": 1e-9})
    with sqlanon.load(folder / "policy.yml") as anonymizer:
        walk = anonymizer.walk()
        assert [walk.step().stopped for _ in range(2)] == ["time", "time"]


def test_without_a_step_there_is_no_result(folder: Path) -> None:
    with (
        sqlanon.load(folder / "policy.yml") as anonymizer,
        pytest.raises(SearchError, match="take a step first"),
    ):
        anonymizer.walked(anonymizer.walk())


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
        anonymizer.walk(document, seed=8)
    write_search_folder(folder, WALK, preference={"nwp": 0.3, "necd": 0.5})
    assert message(1, run(*RESUME)) == (
        "error: walk.json: the walk was saved with the preference nwp 0.2, necd 1, not "
        "nwp 0.3, necd 0.5; put the former into the policy, or start a new one"
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
        ("n", 2.5, "n: input should be a valid integer, found 2.5"),
        ("n", 0, "n: input should be greater than or equal to 1, found 0"),
        ("n", None, "n: is missing"),
        ("seed", -1, "seed: input should be greater than or equal to 0, found -1"),
        ("seed", "a", "seed: input should be a valid integer, found 'a'"),
        ("seed", True, "seed: input should be a valid integer, found True"),
        ("extra", 1, "extra: is not a key of this format"),
        ("start.nwp", "x", "start.nwp: input should be a valid number, found 'x'"),
        (
            "preference.necd",
            -0.5,
            "preference.necd: input should be greater than or equal to 0, found -0.5",
        ),
        ("steps", 5, "steps: input should be a valid list, found 5"),
        ("steps.0", 5, "steps.0: input should be a valid dictionary or instance of"),
        ("steps.0.n", 0, "steps.0.n: input should be greater than or equal to 1, found 0"),
        (
            "steps.0.found.0.nwp",
            "x",
            "steps.0.found.0.nwp: input should be a valid number, found 'x'",
        ),
        (
            "steps.0.scored.batches",
            -1,
            "steps.0.scored.batches: input should be greater than or equal to 0, found -1",
        ),
        ("steps.0.chosen", 0.5, "steps.0.chosen: input should be a valid integer, found 0.5"),
        ("steps.0.chosen", 99, "steps.0.chosen: there is no solution 99; there are"),
        (
            "steps.0.stopped",
            "late",
            "steps.0.stopped: input should be 'finished', 'time', 'patience' or",
        ),
        ("steps.0.stopped", "finished", "steps.0.scored: does not go with stopped: finished"),
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
    assert told.startswith(f"error: walk.json: the walk is damaged: {said}")


@pytest.mark.parametrize("changed", [{"k": 4}, {"seed": 8}])
def test_a_walk_that_cannot_be_taken_again(folder: Path, changed: dict[str, int]) -> None:
    """A walk of k = 1, edited to say k = 4, or another seed: its steps find something else."""
    k = 4 if "k" in changed else 1
    write_search_folder(folder, WALK, privacy={"k": 1})
    with sqlanon.load(folder / "policy.yml") as anonymizer:
        walk = anonymizer.walk(seed=7)
        walk.step()
        document = walk.to_json()
    assert min(each["k"] for each in document["steps"][0]["found"]) < 4
    if k == 1:
        document["steps"][0]["found"][0]["nwp"] += 0.01
    write_search_folder(folder, WALK, privacy={"k": k})
    with (
        sqlanon.load(folder / "policy.yml") as anonymizer,
        pytest.raises(SearchError, match=r"of step 1 have changed; start a new one"),
    ):
        anonymizer.walk(document | changed)


def test_settings_may_change_between_steps(folder: Path) -> None:
    """A step is taken again as it was taken, and the next one as the policy says now."""
    write_search_folder(folder, WALK | {"evaluations": 300})
    with sqlanon.load(folder / "policy.yml") as anonymizer:
        walk = anonymizer.walk()
        found = walk.step()
        document = walk.to_json()
    write_search_folder(folder, WALK | {"evaluations": 400, "population": 20})
    with sqlanon.load(folder / "policy.yml") as anonymizer:
        walk = anonymizer.walk(document)
        assert walk.history[0].step.points == found.points
        walk.step()
        steps = walk.to_json()["steps"]
    assert [each["settings"]["evaluations"] for each in steps] == [300, 400]
    assert [each["settings"]["population"] for each in steps] == [100, 20]


GIVE = "not a saved walk; give what the answer `save` of a walk wrote, or to_json() returned"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not JSON"),
        ("[]", f"this is {GIVE}"),
        ('{"version": 1, "certificate": {}}', f"this is {GIVE}"),
        ('{"version": 1, "columns": {"sex": {"level": 1}}}', f"this is a scheme, {GIVE}"),
        (
            '{"format": "sqlanon walk", "version": 3}',
            "the walk: format version 3 is not supported; this sqlanon reads versions 1 to 2 of a",
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


def test_an_interrupted_walk_without_solutions_is_remembered(tmp_path: Path) -> None:
    """150 people are never 151, so nothing is listed; that a hand ended the step stays known."""
    write_search_folder(tmp_path, WALK, privacy={"k": 151})
    with sqlanon.load(tmp_path / "policy.yml") as anonymizer:
        walk = anonymizer.walk()
        watch = Watch()
        watch.interrupt()
        walk.step(watch=watch)
        saved = json.loads(json.dumps(walk.to_json()))
        resumed = anonymizer.walk(saved)
        assert resumed.stopped == "interrupted"
        assert resumed.to_json() == saved
        (visit,) = resumed.history
        assert (len(visit.step.solutions), visit.chosen) == (0, None)
        assert str(visit.step).startswith("from nwp 1, necd 0: 0 solutions for 2 reference points")
        resumed.step()
        result = anonymizer.walked(resumed)
    assert (result.stopped, result.reproducible) == ("interrupted", False)


def test_a_saved_walk_that_is_not_there(run: Run, folder: Path) -> None:
    (folder / "walk.json").unlink()
    assert message(1, run(*RESUME)).startswith("error: walk.json: cannot be read (No such file")
