"""What the fronts for every k choose under a suppression limit, and without any privacy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from search_table import write_search_folder

import sqlanon
from sqlanon.errors import PolicyError

ROWS = [
    *("bpw", "aqu", "bpv", "bpw", "cqv", "arv", "cpw", "bqu"),
    *("cqu", "aqv", "brv", "bpv", "bqu", "aqu", "cqv", "aqu"),
]
"""16 people: the letters are x, y and z."""


def write(folder: Path, search: dict[str, Any], **keys: Any) -> Path:
    (folder / "xyz.csv").write_text("x,y,z\n" + "".join(f"{','.join(r)}\n" for r in ROWS))
    columns = {name: {"role": "quasi"} for name in "xyz"}
    table: dict[str, Any] = {"source": {"file": "xyz.csv"}, "columns": columns}
    limit = {"privacy": {"k": 2}, "suppression": {"limit": 0.25}, "preference": None}
    return write_search_folder(folder, search, **(table | limit | keys))


@pytest.mark.parametrize("method", ["front", "exhaustive", "poka"])
def test_chosen_is_what_loses_least_as_a_release(tmp_path: Path, method: str) -> None:
    """Every solution is measured as a release, which leaves out only classes below k."""
    with sqlanon.load(write(tmp_path, {"method": method})) as anonymizer:
        found = anonymizer.search()
        released = [anonymizer.measure(each.scheme).scores for each in found.solutions]
    fit = [i for i, scores in enumerate(released) if scores["k"] >= 2]
    least = min(released[i]["glm"] for i in fit)
    assert found.chosen is not None
    assert released[found.chosen]["glm"] == least


def test_the_rows_left_out_are_those_for_the_required_k(tmp_path: Path) -> None:
    """By hand: with x hidden the classes pw 3, pv 2, qu 6, qv 3 and rv 2 hold; 16 cells are lost.

    POkA's rule would leave out the two classes of two people as well.
    """
    with sqlanon.load(write(tmp_path, {"method": "front"})) as anonymizer:
        chosen = anonymizer.search().solution
    assert chosen is not None
    assert (chosen.scores["glm"], chosen.scores["suppressed"]) == (16, 0)
    assert chosen.scheme.required_k is None


@pytest.mark.parametrize("method", ["front", "exhaustive"])
def test_given_k_leaves_out_what_a_release_leaves_out(tmp_path: Path, method: str) -> None:
    policy = write(tmp_path, {"method": method, "given_k": True})
    with sqlanon.load(policy) as anonymizer:
        found, best = anonymizer.search(), anonymizer.search(method="optimal")
        for each in found.solutions:
            assert each.scores.items() <= anonymizer.measure(each.scheme).scores.items()
        assert found.solution is not None
        assert best.solution is not None
        assert found.solution.scores["glm"] == best.solution.scores["glm"]


def test_a_policy_without_privacy_is_told_so(tmp_path: Path) -> None:
    with sqlanon.load(write(tmp_path, {"method": "front"}, privacy=None, suppression=None)) as each:
        found = each.search()
    assert [s.feasible for s in found.solutions] == [None] * len(found.solutions)
    assert any(note.startswith("the policy requires no privacy") for note in found.notes)


def test_what_limits_rule_out_is_not_searched_for(tmp_path: Path) -> None:
    """With all values of x apart and y and z hidden, a has five people, b seven, c four."""
    columns = {"x": {"role": "quasi", "max_level": 0}, "y": {"role": "quasi"}} | {
        "z": {"role": "quasi"}
    }
    keys = {"columns": columns, "privacy": {"k": 5}, "suppression": None}
    preference = {"nwp": 0.2, "necd": 1.0}
    for method in ("auto", "nsga2", "genitor", "optimal"):
        policy = write(tmp_path, {"method": method}, preference=preference, **keys)
        with sqlanon.load(policy) as anonymizer:
            found = anonymizer.search()
        assert found.chosen is None
        assert found.evaluations["asked"] == 1
        assert found.solutions[0].scores["k"] == 4
        assert any("nothing was searched" in note for note in found.notes)


def test_a_walk_does_not_search_for_what_is_out_of_reach(tmp_path: Path) -> None:
    section = {"method": "reference-direction"}
    policy = write(tmp_path, section, privacy={"k": 17}, preference={"nwp": 0.2, "necd": 1.0})
    with sqlanon.load(policy) as anonymizer:
        walk = anonymizer.walk()
        assert not len(walk.step().solutions)
        result = anonymizer.walked(walk)
    assert result.evaluations["distinct"] == 1
    assert "fewer rows than k = 17" in result.shortfall()


def test_a_result_is_short_where_python_shows_it(tmp_path: Path) -> None:
    with sqlanon.load(write(tmp_path, {"method": "front"})) as anonymizer:
        found = anonymizer.search()
    number = len(found.solutions)
    assert repr(found) == (
        f"<SearchResult of front: {number} solutions, number {found.chosen} chosen, finished>"
    )
    lines = str(found).splitlines()[2:]
    assert [line.split()[1 if line.startswith("*") else 0] for line in lines] == [
        str(i) for i in range(number)
    ]


@pytest.mark.parametrize(
    "search",
    [
        {"method": "nsga2", "population": 10**21},
        {"exact": 0, "rounds": 10**21},
        {"method": "genitor", "population": 10**30},
        {"method": "reference-direction", "points": 10**30},
    ],
)
def test_numbers_beyond_all_measure_are_refused(tmp_path: Path, search: dict[str, Any]) -> None:
    with pytest.raises(PolicyError, match=r"expected a whole number from \d to [\d,]+$"):
        sqlanon.load(write(tmp_path, search, preference={"nwp": 0.2, "necd": 1.0}))
