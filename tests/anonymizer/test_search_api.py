"""Searches through the policy: what they answer, what they refuse, what a result holds."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from search_table import SETTINGS, without_time, write_search_folder
from small_table import changed, without_further, write_folder

import sqlanon
from sqlanon.errors import ArgumentError, SearchError

SCORES = ["k", "k_max", "classes", "suppressed", "nwp", "necd", "ach", "pref_dev", "glm",
          "glm_share", "dcn", "ce"]  # fmt: skip
KEYS = ["format", "version", "recoding", "policy", "policy_parts", "method", "objectives", "seed",
        "source", "required", "unreachable", "evaluations", "seconds", "stopped",
        "reproducible", "notes", "domains", "solutions", "chosen", "choices"]  # fmt: skip
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
        ("auto", BY_ACH, 2, Fraction(2, 3) * Fraction(1, 9) + Fraction(1, 3)),
        ("nsga2", BY_ACH, 2, Fraction(2, 3) * Fraction(1, 9) + Fraction(1, 3)),
        # GLM has no weights: sex kept and age hidden loses 6, the pairs above 6 + 2/3. The
        # lattice has the levels 0 and 1 of either, and no other node has 1 < k < 6.
        ("genitor", BY_GLM, 3, Fraction(2, 3)),
        ("poka", BY_GLM, 3, Fraction(2, 3)),
        ("front", BY_GLM, 3, Fraction(2, 3)),
        ("exhaustive", BY_GLM, 3, Fraction(2, 3)),
        ("optimal", BY_GLM, 3, Fraction(2, 3)),
    ],
)
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


@pytest.mark.parametrize("method", SETTINGS)
def test_every_method_through_the_policy(tmp_path: Path, method: str) -> None:
    file = write_search_folder(tmp_path, {"method": method, **SETTINGS[method], "seed": 3})
    with sqlanon.load(file) as anonymizer:
        result = anonymizer.search()
        measured = anonymizer.measure_all([s.scheme for s in result.solutions])
    document = json.loads(json.dumps(result.to_dict()))
    assert list(document) == KEYS
    assert (document["version"], document["method"], document["seed"]) == (3, method, 3)
    assert (document["source"]["rows"], document["source"]["people"]) == (150, 150)
    assert document["evaluations"]["asked"] >= document["evaluations"]["distinct"] > 0
    assert document["reproducible"] is True
    assert set(document["objectives"]) <= set(SCORES)
    assert all(list(s) == ["columns", *SCORES, "kept", "feasible"] for s in document["solutions"])
    chosen = document["solutions"][document["chosen"]]
    assert chosen["k"] >= 4
    # Nothing is suppressed, so measuring anew is the same under both rules.
    assert [without_further(s.to_dict()) for s in measured] == document["solutions"]
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
    found = [without_further(m.scores) for m in measured]
    assert found == [s.scores for s in result.solutions]
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
    settings = {**SETTINGS, "nsga2": {"population": 2_000, "evaluations": 6_000}}
    runs = []
    shared = str(Path(__file__).parents[1] / "shared")
    for workers in (1, 2):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(workers), json.dumps(settings)],
            cwd=tmp_path,
            env={
                "PYTHONPATH": shared,
                "PYTHONHASHSEED": str(workers),
            },
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stderr
        runs.append([without_time(result) for result in json.loads(done.stdout)])
    assert runs[0] == runs[1]


@pytest.mark.parametrize("method", ["nsga2", "genitor"])
def test_another_seed_searches_otherwise(tmp_path: Path, method: str) -> None:
    section = {"method": method, "population": 10, "evaluations": 40}
    with sqlanon.load(write_search_folder(tmp_path, section)) as anonymizer:
        one, two, again = (anonymizer.search(seed=seed) for seed in (1, 2, 1))
    assert without_time(one.to_dict()) == without_time(again.to_dict())
    assert one.to_dict()["solutions"] != two.to_dict()["solutions"]


@pytest.mark.parametrize("method", SETTINGS)
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


@pytest.mark.parametrize("method", SETTINGS)
def test_time_and_patience(tmp_path: Path, method: str) -> None:
    at_once = {"method": method, "seconds": 1e-9}
    result = search(tmp_path, at_once)
    ended = [("time", False)]
    if method == "exhaustive":  # the whole lattice is one step, often done before a look at a clock
        ended.append(("finished", True))
    assert (result.stopped, result.reproducible) in ended
    assert result.solutions
    result = search(tmp_path, {"method": method, "patience": 1})
    assert result.stopped in ("patience", "finished")
    assert result.reproducible is True


def test_the_effort_of_a_search(tmp_path: Path) -> None:
    """The policy names it, an argument replaces it, and no other method has one."""
    one_round = {"exact": 0, "rounds": 1}
    file = write_search_folder(tmp_path, one_round | {"effort": "thorough"})
    with sqlanon.load(file) as anonymizer:
        assert "found nothing better" in anonymizer.search().notes[0]
        assert "ended after 1 round" in anonymizer.search(effort="default").notes[0]
        with pytest.raises(ArgumentError, match="`effort` is a setting of auto; front has none"):
            anonymizer.search(method="front", effort="thorough")
        with pytest.raises(SearchError, match="effort must be 'default' or 'thorough', not 'much'"):
            anonymizer.search(effort="much")


def test_a_workspace_keeps_what_a_search_measured(tmp_path: Path) -> None:
    file = write_search_folder(tmp_path, {"method": "front"})
    workspace = tmp_path / "work.duckdb"
    documents = []
    for _ in range(2):
        with sqlanon.load(file, workspace=workspace) as anonymizer:
            documents.append(anonymizer.search().to_dict())
    assert documents[0]["evaluations"]["distinct"] > documents[0]["evaluations"]["recalled"] == 0
    assert documents[1]["evaluations"]["recalled"] == documents[0]["evaluations"]["distinct"]
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


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"seconds": -1}, "`seconds` is -1; give a number of at least 0"),
        ({"seconds": "5"}, "`seconds` is '5'; give a number of at least 0"),
        ({"patience": 0}, "`patience` is 0; give a whole number of at least 1"),
        ({"on_progress": 3}, "`on_progress` is 3; give a function"),
    ],
)
def test_a_watch_is_checked(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        sqlanon.Watch(**wrong)
    assert str(refused.value) == said


def test_what_is_no_watch_is_refused(tmp_path: Path) -> None:
    with (
        sqlanon.load(write_search_folder(tmp_path, {})) as anonymizer,
        pytest.raises(ArgumentError, match=r"`watch` is 3; give a sqlanon.Watch"),
    ):
        anonymizer.search(watch=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["front", "poka", "exhaustive", "optimal", "auto"])
def test_only_a_search_of_all_nodes_knows_how_many_there_will_be(
    tmp_path: Path, method: str
) -> None:
    seen: list[sqlanon.Progress] = []
    with sqlanon.load(write_search_folder(tmp_path, {})) as anonymizer:
        anonymizer.search(method=method, watch=sqlanon.Watch(on_progress=seen.append))
    if method in ("front", "poka", "optimal"):
        assert {p.limit for p in seen} == {None}
    else:
        limit = seen[-1].limit
        assert limit is not None
        assert limit >= seen[-1].evaluations
