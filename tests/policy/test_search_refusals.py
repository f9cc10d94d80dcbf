"""What a policy may say of a search, and what is refused."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from policy_mistakes import of
from search_table import POLICY, policy_with, write_search_folder

import sqlanon
from sqlanon.errors import ArgumentError, PolicyError, SearchError

SHARE = "expected a number from 0 to 1"
OPERATORS = "expected 'new', 'new_strangers' or 'trad'"
NOT_OF_AUTO = "is not a setting of auto; it has: cuts, effort, evaluations, exact, rounds"


def search(folder: Path, section: dict[str, Any], **keys: Any) -> sqlanon.SearchResult:
    with sqlanon.load(write_search_folder(folder, section, **keys)) as anonymizer:
        return anonymizer.search()


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"method": "front", "depth": 3}, "depth: is not a setting of front; it has: given_k"),
        (
            {"method": "poka", "population": 9},
            "population: is not a setting of poka; it has: depth, past_plateaus",
        ),
        (
            {"rounds": 1, "bias": 2},
            "bias: is not a setting of auto; it has: cuts, effort, evaluations, exact, rounds",
        ),
        (
            {"method": "reference-direction", "exact": 9},
            "exact: is not a setting of reference-direction; it has: crossover, cuts, evaluations, "
            "mutation, points, population, start",
        ),
        (
            {"loss": "dcn"},
            "loss: auto minimizes ach, which weighs the loss of the preference against its bias, "
            "not dcn; name it as preference.loss, or choose a method that minimizes a loss",
        ),
    ],
)  # fmt: skip
def test_settings_of_another_method(tmp_path: Path, section: dict[str, Any], said: str) -> None:
    with pytest.raises(PolicyError) as caught:
        search(tmp_path, section)
    policy = tmp_path / "policy.yml"
    assert str(caught.value) == f"{policy}: a mistake in the policy\n  search.{said}"


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"method": "nsga2", "crossover": "new"}, ["crossover: found 'new', " + SHARE]),
        ({"method": "nsga2", "crossover": 2}, ["crossover: found 2, " + SHARE]),
        ({"method": "genitor", "crossover": 0.5}, ["crossover: found 0.5, " + OPERATORS]),
        (
            {"method": "genitor", "crossover": "nwe"},
            [f"crossover: found 'nwe', {OPERATORS}; did you mean new?"],
        ),
        (
            {"method": "genitor", "evaluations": 1},
            ["evaluations: found 1, expected a whole number from 2 to 1,000,000,000,000"],
        ),
        (
            {"method": "nsga2", "population": 1, "mutation": 2, "crossover": "new"},
            [
                "population: found 1, expected a whole number from 2 to 100,000",
                "mutation: found 2, " + SHARE,
                "crossover: found 'new', " + SHARE,
            ],
        ),
        (
            {"method": "genitor", "crossover": 0.5, "bias": 3, "brood": 0, "evaluations": 1},
            [
                "crossover: found 0.5, " + OPERATORS,
                "bias: found 3, expected a number from 1 to 2",
                "brood: found 0, expected a whole number from 1 to 100,000",
                "evaluations: found 1, expected a whole number from 2 to 1,000,000,000,000",
            ],
        ),
        # What the method does not have is not judged by its range.
        (
            {"method": "auto", "bias": 7, "start": {"nwp": 2}, "rounds": 0},
            [
                "bias: " + NOT_OF_AUTO,
                "start: " + NOT_OF_AUTO,
                "rounds: found 0, expected a whole number from 1 to 1,000",
            ],
        ),
        ({"crossover": 2}, ["crossover: " + NOT_OF_AUTO]),
        (
            {"method": "nsga2", "crossover": "new", "depth": 3},
            [
                "crossover: found 'new', " + SHARE,
                "depth: is not a setting of nsga2; it has: crossover, cuts, evaluations, mutation, "
                "population",
            ],
        ),
        # Of which method a setting would be is not known.
        (
            {"metod": "nsga2", "crossover": 0.5, "loss": "glm"},
            ["metod: unknown key; did you mean method?"],
        ),
        (
            {"method": "poka", "loss": "ce", "depth": 0},
            [
                "depth: found 0, expected a whole number from 1 to 1,000",
                "loss: ce needs a column with the role label",
            ],
        ),
        (
            {"method": "reference-direction", "points": 0, "start": {"loss": "glm", "loss_at": 1,
             "necd": 0}},
            [
                "points: found 0, expected a whole number from 1 to 100,000",
                "start.loss: is glm, but the preference is in nwp; a walk has one measure",
            ],
        ),
    ],
)  # fmt: skip
def test_all_mistakes_of_the_section_at_once(section: dict[str, Any], said: list[str]) -> None:
    lines = [f"search.{line}" for line in said]
    assert of(search=section) == lines
    others = "others: found 'keep', expected 'refuse', 'drop' or 'insensitive'"
    assert of(search=section, others="keep") == [others, *lines]


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"method": "nsga3"}, "method: found 'nsga3', expected 'auto', "),
        ({"seconds": 0}, "seconds: found 0, expected a number above 0"),
        ({"seconds": "5"}, "seconds: found '5', expected a number above 0"),
        (
            {"method": "genetic", "crossover": 2},
            "crossover: found 2, expected 'new', 'new_strangers' or 'trad' or a number from 0 to 1",
        ),
        ({"seed": -1}, "seed: found -1, expected a whole number of at least 0"),
        ({"seed": True}, "seed: found true, expected a whole number of at least 0"),
        ({"seed": [False, None]}, "seed: found [false, null], expected a whole number"),
        ({"seed": dt.date(2024, 5, 1)}, "seed: found 2024-05-01, expected a whole number"),
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
        with pytest.raises(ArgumentError, match=r"^there is no `method` 'fast'; there are auto, "):
            anonymizer.search(method="fast")
        with pytest.raises(PolicyError, match="reference-direction asks at every step"):
            anonymizer.search(method="reference-direction")


def test_ce_needs_a_label(tmp_path: Path) -> None:
    columns = {name: c for name, c in POLICY["columns"].items() if name != "outcome"}
    section = {"method": "front", "loss": "ce"}
    with pytest.raises(
        PolicyError,
        match=r"policy\.yml: a mistake.*\n  search\.loss: ce needs a column with the role label$",
    ):
        search(tmp_path, section, columns=columns, others="drop")
    result = search(tmp_path, section)
    assert result.objectives == ("k", "ce")


def test_a_result_that_cannot_be_written(tmp_path: Path) -> None:
    result = search(tmp_path, {"method": "front"})
    with pytest.raises(SearchError, match=r"result\.json: cannot be written \(No such file"):
        result.write(tmp_path / "nowhere" / "result.json")
