"""A search that is defined here alone, from its settings to a checked release."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest
from command_line import Run, message
from pydantic.dataclasses import dataclass
from search_table import write_search_folder

import sqlanon
from sqlanon.errors import PolicyError
from sqlanon.keys import Whole, about
from sqlanon.search import METHODS, Outcome, Problem, Watch, register
from sqlanon.search.fronts import Front
from sqlanon.search.method import SETTINGS
from sqlanon.search.splits import Splits


@dataclass(frozen=True, config=SETTINGS)
class Draws:
    """How many schemes are drawn."""

    draws: Annotated[Whole, about("Schemes that are drawn at random.", ge=1, le=1_000)] = 10


@pytest.fixture(autouse=True)
def random_search() -> Iterator[None]:
    @register("random", Draws)
    def random(
        problem: Problem, settings: Draws, rng: np.random.Generator, watch: Watch
    ) -> Outcome:
        """The best of some random schemes and of the coarsest one."""
        drawn = Splits.of_space(problem.space).random(settings.draws, rng)
        coarsest = np.concatenate([column.coarsest.bits for column in problem.space.columns])
        batch = problem.space.batch_of_bits(np.vstack([drawn, coarsest]))
        scores, front = problem.evaluate(batch), Front(problem.space)
        points = np.column_stack([problem.f1(scores), problem.f2(scores)])
        front.offer(batch, scores, points, problem.ties(scores))
        feasible = np.flatnonzero(front.points[:, 1] <= 0)
        return Outcome("random", front.solutions, front.scores, int(feasible[0]), ("ach", "k"))

    yield
    del METHODS["random"]


def test_it_searches_publishes_and_is_checked(tmp_path: Path) -> None:
    section = {"method": "random", "draws": 40}
    policy = write_search_folder(tmp_path, section, publish={"file": str(tmp_path / "out.csv")})
    with sqlanon.load(policy) as anonymizer:
        result = anonymizer.search(seed=3)
        assert (result.method, result.evaluations["asked"]) == ("random", 41)
        assert result.to_dict()["solutions"] == anonymizer.search(seed=3).to_dict()["solutions"]
        release = anonymizer.publish(result)
    quasi = ["age", "job", "zip", "sex"]
    checked = sqlanon.check(str(release.target), quasi, k=4)
    assert checked.k >= 4


def test_the_command_runs_it_with_its_defaults(run: Run, tmp_path: Path) -> None:
    write_search_folder(tmp_path, {"method": "random"})
    done = run("search", "policy.yml")
    assert done.status == 0
    assert "11 evaluations" in done.out


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"method": "random", "drows": 40}, "drows: unknown key; did you mean draws?"),
        ({"method": "random", "draws": 0}, "draws: found 0, expected a whole number from 1 to"),
        ({"method": "random", "depth": 2}, "depth: is not a setting of random; it has: draws"),
        ({"method": "nsga2", "draws": 2}, "draws: is not a setting of nsga2; it has: crossover"),
        ({"method": "randon"}, "method: found 'randon', expected 'auto', "),
    ],
)
def test_mistakes_in_its_settings(tmp_path: Path, section: dict[str, object], said: str) -> None:
    with pytest.raises(PolicyError) as caught:
        sqlanon.load(write_search_folder(tmp_path, section))
    assert f"search.{said}" in str(caught.value)


def test_its_setting_is_no_option(run: Run) -> None:
    told = message(2, run("search", "policy.yml", "--draws", "5"))
    assert "Give search.draws in the policy, a setting of random." in told


def test_afterwards_it_is_unknown(tmp_path: Path) -> None:
    before = METHODS.pop("random")
    try:
        with pytest.raises(PolicyError, match=r"search\.method: found 'random', expected 'auto'"):
            sqlanon.load(write_search_folder(tmp_path, {"method": "random"}))
    finally:
        METHODS["random"] = before
