"""Searches by measures of loss and bias beyond the papers', and with models beyond k."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from small_table import changed, write_folder

import sqlanon
from sqlanon.errors import PolicyError

EPSILON = 1e-6
LOSSES = ["glm", "dcn", "ce", "class_size", "precision", "entropy", "ambiguity"]
BIASES = ["gini", "variation", "minimum"]


def every_solution(anonymizer: sqlanon.Anonymizer) -> list[sqlanon.Solution]:
    """All 16 schemes of the six people, measured one by one."""
    schemes = [
        {"columns": {"age": {"cuts": list(cuts)}, "sex": {"groups": groups}}}
        for number in range(4)
        for cuts in itertools.combinations([25, 30, 35], number)
        for groups in ([["F", "M"]], [["F"], ["M"]])
    ]
    return anonymizer.measure_all(schemes)


def scaled(solution: sqlanon.Solution, name: str) -> float:
    """Between 0 and 1: GLM as a share, DCN of 6 rows by 36."""
    if name == "glm":
        return float(solution.scores["glm_share"] or 0)
    return float(solution.scores[name] or 0) / (36 if name == "dcn" else 1)


def ach(solution: sqlanon.Solution, loss: str, bias: str, at: tuple[float, float]) -> float:
    """The achievement function, written out."""
    w = (1 / (at[0] + EPSILON)) / (1 / (at[0] + EPSILON) + 1 / (at[1] + EPSILON))
    return max(w * (scaled(solution, loss) + EPSILON), (1 - w) * (scaled(solution, bias) + EPSILON))


@pytest.mark.parametrize(
    ("loss", "bias"), [*((loss, "necd") for loss in LOSSES), *(("nwp", bias) for bias in BIASES)]
)
@pytest.mark.parametrize("method", ["auto", "nsga2"])
def test_the_least_ach_in_other_measures(tmp_path: Path, loss: str, bias: str, method: str) -> None:
    wish = {"loss": loss, "bias": bias, "loss_at": 0.3, "bias_at": 0.4}
    policy = write_folder(tmp_path, changed(preference=wish))
    with sqlanon.load(policy) as anonymizer:
        chosen = anonymizer.search(method=method).solution
        everything = every_solution(anonymizer)
    assert chosen is not None
    least = min(ach(s, loss, bias, (0.3, 0.4)) for s in everything if (s.scores["k"] or 0) >= 2)
    assert chosen.scores["ach"] == pytest.approx(least)
    assert chosen.scores["ach"] == pytest.approx(ach(chosen, loss, bias, (0.3, 0.4)))


@pytest.mark.parametrize("loss", ["class_size", "precision", "entropy", "ambiguity"])
@pytest.mark.parametrize("method", ["genitor", "front", "exhaustive", "optimal", "poka"])
def test_the_least_loss_in_other_measures(tmp_path: Path, method: str, loss: str) -> None:
    section: dict[str, Any] = {"method": method, "loss": loss}
    if method == "genitor":
        section |= {"population": 8, "evaluations": 400}
    policy = write_folder(tmp_path, changed(search=section))
    with sqlanon.load(policy) as anonymizer:
        chosen = anonymizer.search().solution
        everything = [s for s in every_solution(anonymizer) if (s.scores["k"] or 0) >= 2]
    assert chosen is not None
    if method != "genitor":  # on the lattice a column has its atoms, or is hidden
        everything = [
            s for s in everything if all(len(p) in (1, p.size) for p in s.scheme.partitions)
        ]
    assert scaled(chosen, loss) == pytest.approx(min(scaled(s, loss) for s in everything))


def test_the_short_form_and_the_long_form_say_the_same(tmp_path: Path) -> None:
    long = {"loss": "nwp", "bias": "necd", "loss_at": 0.5, "bias_at": 0.5}
    found = []
    for number, wish in enumerate(({"nwp": 0.5, "necd": 0.5}, long)):
        folder = tmp_path / str(number)
        folder.mkdir()
        with sqlanon.load(write_folder(folder, changed(preference=wish))) as anonymizer:
            found.append([s.to_dict() for s in anonymizer.search().solutions])
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"nwp": 0.2}, "preference.necd: is missing"),
        ({"loss": "gini", "loss_at": 0.2, "necd": 1.0}, "preference.loss: found 'gini'"),
        ({"loss": "ce", "nwp": 0.2, "necd": 1.0}, "preference.nwp: is for loss: nwp"),
        ({"nwp": 0.2, "loss_at": 0.2, "necd": 1.0}, "preference.loss_at: says the same as nwp"),
        ({"loss": "ce", "necd": 1.0}, "preference.loss_at: is missing"),
    ],
)
def test_a_preference_that_cannot_be(tmp_path: Path, wish: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError) as refused:
        sqlanon.load(write_folder(tmp_path, changed(preference=wish)))
    assert message in str(refused.value)


def test_ce_needs_a_label(tmp_path: Path) -> None:
    wish = {"loss": "ce", "bias": "necd", "loss_at": 0.2, "bias_at": 1.0}
    policy = changed(preference=wish)
    policy["columns"]["outcome"] = {"role": "insensitive"}
    with (
        sqlanon.load(write_folder(tmp_path, policy)) as anonymizer,
        pytest.raises(PolicyError, match="ce needs a column with the role label"),
    ):
        anonymizer.search()


def test_a_search_that_no_scheme_satisfies_says_how_close_it_came(tmp_path: Path) -> None:
    policy = changed(privacy={"k": 2, "l_diversity": {"l": 3}})
    policy["columns"]["outcome"] = {"role": "sensitive"}
    with sqlanon.load(write_folder(tmp_path, policy)) as anonymizer:
        result = anonymizer.search()
    assert result.chosen is None
    assert "requires k = 2, distinct l = 3 on 'outcome'" in result.shortfall()
    assert "distinct l = 3 on 'outcome' does not hold: reached 2." in result.shortfall()


def test_models_are_in_the_result(tmp_path: Path) -> None:
    policy = changed(privacy={"k": 2, "l_diversity": {"l": 2}, "t_closeness": {"t": 0.5}})
    policy["columns"]["outcome"] = {"role": "sensitive"}
    with sqlanon.load(write_folder(tmp_path, policy)) as anonymizer:
        solution = anonymizer.search().solution
        assert solution is not None
        everything = every_solution(anonymizer)
    assert solution.feasible
    found = solution.to_dict()["models"]
    assert [(each["model"], each["column"], each["holds"]) for each in found] == [
        ("l_diversity", "outcome", True),
        ("t_closeness", "outcome", True),
    ]
    # 21 and 23 are F, yes and no; 27, 34, 38 are M, yes, no, no; 39 is F, yes.
    finest = next(s for s in everything if s.scores["k"] == 1 and s.scores["nwp"] == 0)
    assert [each.number for each in finest.models] == [1, 0.5]
