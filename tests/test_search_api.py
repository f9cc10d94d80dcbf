"""Searches through the policy: what they answer, what they refuse, what a result holds."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from search_table import POLICY, SETTINGS, policy_with, without_effort, write_search_folder
from small_table import changed, write_folder

import sqlanon
from sqlanon.api.search import METHODS
from sqlanon.errors import PolicyError, SearchError

SCORES = ["k", "k_max", "classes", "suppressed", "nwp", "necd", "ach", "pref_dev", "glm",
          "glm_share", "dcn", "ce"]  # fmt: skip
KEYS = ["version", "policy", "method", "objectives", "seed", "source", "evaluations", "seconds",
        "stopped", "reproducible", "notes", "solutions", "chosen"]  # fmt: skip
BY_ACH = {"age": {"cuts": [25, 35]}, "sex": {"groups": [["F", "M"]]}}
BY_GLM = {"age": {"cuts": []}, "sex": {"groups": [["F"], ["M"]]}}


def search(folder: Path, section: dict[str, Any], **keys: Any) -> sqlanon.SearchResult:
    with sqlanon.load(write_search_folder(folder, section, **keys)) as anonymizer:
        return anonymizer.search()


@pytest.mark.parametrize(
    ("method", "columns", "k", "nwp"),
    [
        # Of the 16 schemes of six people. With NECD any, ach is NWP: the three pairs of
        # neighbouring ages lose a third of an age in two rows, and sex, at 2 to 1.
        *((m, BY_ACH, 2, Fraction(2, 3) * Fraction(1, 9) + Fraction(1, 3)) for m in ("auto", "nsga2")),
        # GLM has no weights: sex kept and age hidden loses 6, the pairs above 6 + 2/3. The
        # lattice has the levels 0 and 1 of either, and no other node has 1 < k < 6.
        *((m, BY_GLM, 3, Fraction(2, 3)) for m in ("genitor", "poka", "front", "exhaustive", "optimal")),
    ],
)  # fmt: skip
def test_six_people_by_hand(
    tmp_path: Path, method: str, columns: dict[str, Any], k: int, nwp: Fraction
) -> None:
    policy = write_folder(tmp_path, changed(preference={"nwp": 0.2, "necd": 1.0}))
    with sqlanon.load(policy) as anonymizer:
        result = anonymizer.search(method=method)
    assert result.solution is not None
    found = result.solution.to_dict()
    assert (found["columns"], found["k"], found["feasible"]) == (columns, k, True)
    assert found["nwp"] == pytest.approx(float(nwp))
    ks = [solution.k for solution in result.solutions]
    expected = {"auto": [1, 2, 3, 6], "nsga2": [1, 2, 3, 6], "genitor": [1, 3, 6], "optimal": [3]}
    assert ks == expected.get(method, [6, 3, 1])


@pytest.mark.parametrize("method", METHODS)
def test_every_method_through_the_policy(tmp_path: Path, method: str) -> None:
    file = write_search_folder(tmp_path, {"method": method, **SETTINGS[method], "seed": 3})
    with sqlanon.load(file) as anonymizer:
        result = anonymizer.search()
        measured = anonymizer.measure_all([s.scheme for s in result.solutions])
    document = json.loads(json.dumps(result.to_dict()))
    assert list(document) == KEYS
    assert (document["version"], document["method"], document["seed"]) == (1, method, 3)
    assert (document["source"]["rows"], document["source"]["people"]) == (150, 150)
    assert document["evaluations"]["asked"] >= document["evaluations"]["distinct"] > 0
    assert document["reproducible"] is True
    assert set(document["objectives"]) <= set(SCORES)
    assert all(list(s) == ["columns", *SCORES, "feasible"] for s in document["solutions"])
    chosen = document["solutions"][document["chosen"]]
    assert chosen["k"] >= 4
    # Nothing is suppressed, so measuring anew is the same under both rules.
    assert [s.to_dict() for s in measured] == document["solutions"]
    for a in document["solutions"]:  # higher k costs more
        for b in document["solutions"]:
            loss = document["objectives"][0 if document["objectives"][1] == "k" else 1]
            assert (a["k"] > b["k"]) == (a[loss] > b[loss])


@pytest.mark.parametrize("method", ["auto", "nsga2", "genitor", "optimal"])
def test_searches_for_a_given_k_leave_out_classes_below_it(tmp_path: Path, method: str) -> None:
    file = write_search_folder(
        tmp_path, {"method": method, **SETTINGS[method]}, suppression={"limit": 0.1}
    )
    with sqlanon.load(file) as anonymizer:
        result = anonymizer.search()
        measured = anonymizer.measure_all([s.scheme for s in result.solutions])
    assert [m.scores for m in measured] == [s.scores for s in result.solutions]
    assert result.solution is not None
    assert result.solution.suppressed <= 15


@pytest.mark.parametrize("method", ["poka", "front", "exhaustive"])
def test_fronts_take_the_limit_for_every_k(tmp_path: Path, method: str) -> None:
    limit = {"limit": 0.1}
    file = write_search_folder(tmp_path, {"method": method, **SETTINGS[method]}, suppression=limit)
    with sqlanon.load(file) as anonymizer:
        result = anonymizer.search()
        measured = anonymizer.measure_all([s.scheme for s in result.solutions])
    # More than k of the policy needs, and feasible by its rule all the same.
    assert any(s.k > 4 and s.suppressed > 0 for s in result.solutions)
    assert [m.feasible for m in measured] == [s.feasible for s in result.solutions]
    for solution, again in zip(result.solutions, measured, strict=True):
        assert again.k <= solution.k
        assert again.suppressed <= solution.suppressed <= 15


PROGRAM = """
import json, sys, sqlanon
workers, settings = int(sys.argv[1]), json.loads(sys.argv[2])
from search_table import policy_with
found = []
for method, section in settings.items():
    policy = policy_with({"method": method, **section}, suppression={"limit": 0.05})
    with sqlanon.load(policy, workers=workers) as anonymizer:
        found.append(anonymizer.search().to_dict())
print(json.dumps(found))
"""


def test_a_seed_gives_the_same_in_every_process_and_with_any_number_of_workers(
    tmp_path: Path,
) -> None:
    write_search_folder(tmp_path, {})
    # Batches that are large enough for every worker to get a part.
    settings = {**SETTINGS, "nsga2": {"population": 600, "evaluations": 3_000}}
    runs = []
    for workers in (1, 2, 3):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(workers), json.dumps(settings)],
            cwd=tmp_path,
            env={"PYTHONPATH": str(Path(__file__).parent), "PYTHONHASHSEED": str(workers)},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stderr
        runs.append([without_effort(result) for result in json.loads(done.stdout)])
    assert runs[0] == runs[1] == runs[2]


@pytest.mark.parametrize("method", ["nsga2", "genitor"])
def test_another_seed_searches_otherwise(tmp_path: Path, method: str) -> None:
    section = {"method": method, "population": 10, "evaluations": 40}
    with sqlanon.load(write_search_folder(tmp_path, section)) as anonymizer:
        one, two, again = (anonymizer.search(seed=seed) for seed in (1, 2, 1))
    assert without_effort(one.to_dict()) == without_effort(again.to_dict())
    assert one.to_dict()["solutions"] != two.to_dict()["solutions"]


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"method": "front", "depth": 3}, "depth: is not a setting of front; it has: none"),
        (
            {"method": "poka", "population": 9},
            "population: is not a setting of poka; it has: depth, past_plateaus",
        ),
        ({"rounds": 1, "bias": 2}, "bias: is not a setting of auto; it has: evaluations, exact, "
         "rounds"),
        (
            {"method": "reference-direction", "exact": 9},
            "exact: is not a setting of reference-direction; it has: points, start",
        ),
        (
            {"loss": "dcn"},
            "loss: auto minimizes ach, which weighs nwp against necd, not dcn; leave loss out, or "
            "choose a method that minimizes a loss",
        ),
    ],
)  # fmt: skip
def test_settings_of_another_method(tmp_path: Path, section: dict[str, Any], said: str) -> None:
    with pytest.raises(PolicyError) as caught:
        search(tmp_path, section)
    assert str(caught.value) == f"search.{said}"


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"method": "nsga3"}, "method: found 'nsga3', expected 'auto', "),
        ({"seconds": 0}, "seconds: found 0, expected a number above 0"),
        ({"seconds": "5"}, "seconds: found '5', expected a number above 0"),
        ({"crossover": 2}, "crossover: found 2, expected a number from 0 to 1 or 'new' or 'trad'"),
        ({"seed": -1}, "seed: found -1, expected a whole number of at least 0"),
        ({"populaton": 9}, "populaton: unknown key; did you mean population?"),
    ],
)
def test_mistakes_in_the_section(section: dict[str, Any], said: str) -> None:
    with pytest.raises(PolicyError) as caught:
        sqlanon.load(policy_with(section))
    assert f"\n  search.{said}" in str(caught.value)


def test_a_key_without_a_value_is_the_default(tmp_path: Path) -> None:
    assert search(tmp_path, {"method": "front", "population": None, "loss": None}).chosen


def test_another_method_than_the_policys_has_its_defaults(tmp_path: Path) -> None:
    section = {"method": "genitor", "loss": "dcn", "crossover": "trad", "brood": 9}
    with sqlanon.load(write_search_folder(tmp_path, section)) as anonymizer:
        assert anonymizer.search(method="front").objectives == ("k", "dcn")
        watch = sqlanon.Watch(patience=1)
        assert anonymizer.search(method="nsga2", watch=watch).objectives == ("ach", "k")


def test_what_is_refused_when_it_is_called(tmp_path: Path) -> None:
    with sqlanon.load(write_search_folder(tmp_path, {})) as anonymizer:
        with pytest.raises(PolicyError, match=r"^there is no method 'fast'; there are auto, "):
            anonymizer.search(method="fast")
        with pytest.raises(PolicyError, match="reference-direction asks at every step"):
            anonymizer.search(method="reference-direction")
        with pytest.raises(PolicyError, match="the seed is -1; give a whole number of at least 0"):
            anonymizer.search(seed=-1)


def test_ce_needs_a_label(tmp_path: Path) -> None:
    columns = {name: c for name, c in POLICY["columns"].items() if name != "outcome"}
    section = {"method": "front", "loss": "ce"}
    with pytest.raises(PolicyError, match=r"^search\.loss: ce needs a column with the role label$"):
        search(tmp_path, section, columns=columns, others="drop")
    result = search(tmp_path, section)
    assert result.objectives == ("k", "ce")


@pytest.mark.parametrize("method", METHODS)
def test_nothing_feasible(tmp_path: Path, method: str) -> None:
    result = search(tmp_path, {"method": method, **SETTINGS[method]}, privacy={"k": 151})
    assert (result.chosen, result.solution) == (None, None)
    assert not any(solution.feasible for solution in result.solutions)
    assert "The closest has k = 150 with NWP 1.0000, in a source of 150 rows" in result.shortfall()
    assert "the policy requires k = 151." in result.shortfall()


def test_without_a_preference_the_result_says_which_one_it_took(tmp_path: Path) -> None:
    section = {"method": "nsga2", **SETTINGS["nsga2"]}
    named = search(tmp_path, section)
    result = search(tmp_path, section, preference=None)
    assert result.notes == ("the policy names no preference: ach is for nwp 0.2 and necd 1.0",)
    assert result.to_dict()["solutions"] == named.to_dict()["solutions"]


def test_without_privacy_nothing_is_called_feasible(tmp_path: Path) -> None:
    result = search(tmp_path, {"method": "front"}, privacy=None)
    assert {solution.feasible for solution in result.solutions} == {None}
    assert result.solution is not None
    assert result.solution.glm == 0


def test_watching_and_interrupting(tmp_path: Path) -> None:
    seen: list[sqlanon.Progress] = []

    def third_step(progress: sqlanon.Progress) -> None:
        seen.append(progress)
        if len(seen) == 3:
            watch.interrupt()

    watch = sqlanon.Watch(on_progress=third_step)
    with sqlanon.load(write_search_folder(tmp_path, {})) as anonymizer:
        result = anonymizer.search(method="nsga2", watch=watch)
    assert (result.stopped, result.reproducible) == ("interrupted", False)
    assert [p.evaluations for p in seen] == [100, 200, 300]
    assert seen[-1].limit == 50_000
    assert result.solution is not None
    assert (seen[-1].best, seen[-1].best_k) == (result.solution.ach, result.solution.k)


@pytest.mark.parametrize("method", METHODS)
def test_time_and_patience(tmp_path: Path, method: str) -> None:
    at_once = {"method": method, "seconds": 1e-9}
    result = search(tmp_path, at_once)
    assert (result.stopped, result.reproducible) == ("time", False)
    assert result.solutions
    result = search(tmp_path, {"method": method, "patience": 1})
    assert result.stopped in ("patience", "finished")
    assert result.reproducible is True


def test_a_workspace_keeps_what_a_search_measured(tmp_path: Path) -> None:
    file = write_search_folder(tmp_path, {"method": "front"})
    workspace = tmp_path / "work.duckdb"
    documents = []
    for _ in range(2):
        with sqlanon.load(file, workspace=workspace) as anonymizer:
            before = anonymizer.measure_all([])
            documents.append(anonymizer.search().to_dict())
            assert before == []
    assert documents[0]["evaluations"]["distinct"] > 0
    assert documents[1]["evaluations"]["distinct"] == documents[1]["evaluations"]["queries"] == 0
    assert documents[0]["solutions"] == documents[1]["solutions"]


def test_a_result_prints_and_becomes_a_table(tmp_path: Path) -> None:
    result = search(tmp_path, {"method": "front"})
    assert result.chosen is not None
    lines = str(result).splitlines()
    assert lines[0] == f"front: {len(result.solutions)} solutions"
    assert [line.startswith("*") for line in lines[2:]].index(True) == result.chosen
    frame = result.to_pandas()
    assert frame["chosen"].tolist().index(True) == result.chosen
    assert frame["k"].tolist() == [solution.k for solution in result.solutions]
    assert "<table" in result._repr_html_()


def test_a_result_that_cannot_be_written(tmp_path: Path) -> None:
    result = search(tmp_path, {"method": "front"})
    with pytest.raises(SearchError, match=r"result\.json: cannot be written \(No such file"):
        result.write(tmp_path / "nowhere" / "result.json")
