"""What a policy may say of a search, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from search_table import POLICY, policy_with, write_search_folder

import sqlanon
from sqlanon.errors import ArgumentError, PolicyError, SearchError


def search(folder: Path, section: dict[str, Any], **keys: Any) -> sqlanon.SearchResult:
    with sqlanon.load(write_search_folder(folder, section, **keys)) as anonymizer:
        return anonymizer.search()


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
        ({"method": "nsga2", "crossover": "new"}, "crossover new is not a number between 0 and 1"),
        ({"method": "genitor", "crossover": 0.5}, "crossover must be new, new_two_point or trad, "
         "not 0.5"),
        ({"method": "genitor", "evaluations": 1}, "evaluations must be at least 2, not 1"),
    ],
)  # fmt: skip
def test_settings_of_the_wrong_kind(tmp_path: Path, section: dict[str, Any], said: str) -> None:
    with pytest.raises(PolicyError) as caught:
        search(tmp_path, section)
    where = f"{tmp_path / 'policy.yml'}: a mistake in the policy\n  search: {section['method']}: "
    assert str(caught.value) == where + said


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"method": "nsga3"}, "method: found 'nsga3', expected 'auto', "),
        ({"seconds": 0}, "seconds: found 0, expected a number above 0"),
        ({"seconds": "5"}, "seconds: found '5', expected a number above 0"),
        (
            {"crossover": 2},
            "crossover: found 2, expected a number from 0 to 1 or 'new', 'new_two_point' or 'trad'",
        ),
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
        with pytest.raises(ArgumentError, match=r"^there is no `method` 'fast'; there are auto, "):
            anonymizer.search(method="fast")
        with pytest.raises(PolicyError, match="reference-direction asks at every step"):
            anonymizer.search(method="reference-direction")


def test_ce_needs_a_label(tmp_path: Path) -> None:
    columns = {name: c for name, c in POLICY["columns"].items() if name != "outcome"}
    section = {"method": "front", "loss": "ce"}
    with pytest.raises(
        PolicyError, match=r"policy\.yml: search\.loss: ce needs a column with the role label$"
    ):
        search(tmp_path, section, columns=columns, others="drop")
    result = search(tmp_path, section)
    assert result.objectives == ("k", "ce")


def test_a_result_that_cannot_be_written(tmp_path: Path) -> None:
    result = search(tmp_path, {"method": "front"})
    with pytest.raises(SearchError, match=r"result\.json: cannot be written \(No such file"):
        result.write(tmp_path / "nowhere" / "result.json")
