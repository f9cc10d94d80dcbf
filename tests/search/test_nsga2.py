"""NSGA-II: the modified tournament, the paper's example, known optima, and ways to stop."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from preference_cases import (
    POINTS,
    employees,
    every_scheme,
    names,
    problem_of,
    random_histogram,
    table_2,
)

from sqlanon.errors import SearchError
from sqlanon.metrics.preference import Preference
from sqlanon.search.fronts import bits_of
from sqlanon.search.method import METHODS
from sqlanon.search.nsga2 import Nsga2Settings, _parents, _People, nsga2, tournament_places
from sqlanon.search.outcome import Outcome, Progress, Watch
from sqlanon.search.problem import Problem

SMALL = Nsga2Settings(population=40, evaluations=2_000, mutation=0.03)
AIM = Preference(loss=0.3, bias=0.3)


def run(problem: Problem, seed: int = 1, watch: Watch | None = None) -> Outcome:
    return nsga2(problem, SMALL, np.random.default_rng(seed), watch or Watch())


# x and y as (f1, f2, rank, crowding distance), and who wins: the paper's steps 1 to 4.
FEASIBLE_GOOD = (0.5, -1, 0, 1.0)
TOURNAMENTS = {
    "1: both feasible, lower rank": (FEASIBLE_GOOD, (0.1, -9, 1, 9.0), "x"),
    "1: both feasible, equal rank, less crowded": (FEASIBLE_GOOD, (0.9, -5, 0, 0.5), "x"),
    "1: an end of the front": ((0.5, 0, 2, np.inf), (0.5, 0, 2, 7.0), "x"),
    "1: k_pref reached just so is feasible": ((0.9, 0, 3, 0.0), (0.1, 1, 0, 9.0), "x"),
    "2: one feasible, whatever the rest": ((0.9, -1, 7, 0.0), (0.1, 4, 0, np.inf), "x"),
    "3a: both infeasible, least f2 against rank": ((0.9, 1, 5, 0.0), (0.1, 2, 0, 9.0), "x"),
    "3b: equal f2, least f1 against rank": ((0.1, 2, 5, 0.0), (0.2, 2, 0, 9.0), "x"),
    "3c: equal f1 too, less crowded": ((0.1, 2, 1, 3.0), (0.1, 2, 1, 2.0), "x"),
    "3c: not by rank": ((0.1, 2, 9, 3.0), (0.1, 2, 0, 2.0), "x"),
    "4: feasible, nothing decides": (FEASIBLE_GOOD, (0.7, -3, 0, 1.0), "either"),
    "4: infeasible, nothing decides": ((0.1, 2, 1, 3.0), (0.1, 2, 4, 3.0), "either"),
}


@pytest.mark.parametrize("case", TOURNAMENTS)
def test_tournament(case: str) -> None:
    *pair, winner = TOURNAMENTS[case]
    # Others in the population, in between and beyond, change nothing.
    others = [(0.3, 3, 1, 0.2), (0.6, -2, 1, 0.7), (0.15, 2, 2, 2.5), (0.5, 0, 0, 0.6)]
    table = np.array([*pair, *others])
    x, y = tournament_places(table[:, :2], table[:, 2].astype(np.int64), table[:, 3])[:2]
    assert {"x": x < y, "either": x == y}[winner]


def test_the_winners_of_tournaments_are_the_parents() -> None:
    """Draws x against draws y; where nothing decides the first stays."""

    class Script:
        def integers(self, *_: object) -> np.ndarray:
            return np.array([[0, 1, 2, 3], [1, 2, 0, 2]])

    bits = np.eye(4, dtype=bool)
    people = _People(bits, np.zeros((4, 2)), np.array([1, 0, 2, 2]))
    first, second = _parents(people, 2, Script())  # type: ignore[arg-type]
    assert first.argmax(axis=1).tolist() == [1, 1]
    assert second.argmax(axis=1).tolist() == [0, 3]


def test_example_7_of_the_paper() -> None:
    """Of the eight schemes of Table 2, the multi-objective rule takes G_8 for q̄_5."""
    with problem_of(employees(), 2, POINTS[5]) as problem:
        found = nsga2(
            problem,
            Nsga2Settings(population=8, evaluations=8),
            np.random.default_rng(1),
            Watch(),
            start=bits_of(table_2(problem.space)),
        )
    assert found.chosen is not None
    assert names(found.solutions)[found.chosen] == "G_8"
    assert names(found.solutions) == ["G_8"], "it has the highest k and the least ach"
    assert found.scores.k.tolist() == [5]


@pytest.mark.parametrize("point", [1, 2, 3, 4])
def test_example_4_of_the_paper(point: int) -> None:
    with problem_of(employees(), 2, POINTS[point]) as problem:
        found = nsga2(
            problem,
            Nsga2Settings(population=8, evaluations=8),
            np.random.default_rng(1),
            Watch(),
            start=bits_of(table_2(problem.space)),
        )
    assert found.chosen is not None
    wanted = {1: "G_1", 2: "G_2", 3: "G_2", 4: "G_1"}[point]
    assert names(found.solutions)[found.chosen] == wanted
    assert (np.diff(found.scores.k) > 0).all()


def optimum(problem: Problem) -> tuple[float, int, float]:
    """Least ach among the feasible, then highest k, then least pref_dev, by trying all."""
    scores = problem.evaluate(every_scheme(problem.space))
    rows = np.flatnonzero(problem.feasible(scores))
    candidates = zip(
        problem.f1(scores)[rows].round(12).tolist(),
        (-scores.k[rows]).tolist(),
        problem.pref_dev(scores)[rows].round(12).tolist(),
        strict=True,
    )
    return min(candidates)


@pytest.mark.parametrize("seed", range(10))
def test_known_optimum(seed: int) -> None:
    with problem_of(random_histogram(seed), 4, AIM) as problem:
        found = run(problem, seed)
        assert found.chosen is not None
        row = found.chosen
        answer = (
            float(problem.f1(found.scores)[row].round(12)),
            -int(found.scores.k[row]),
            float(problem.pref_dev(found.scores)[row].round(12)),
        )
        assert answer == optimum(problem)


def test_solutions_are_those_that_nothing_met_dominates() -> None:
    with problem_of(random_histogram(3), 4, AIM) as problem:
        found = run(problem)
        f1, f2 = problem.f1(found.scores), problem.f2(found.scores)
        assert len(set(found.solutions.keys)) == len(found.solutions)
        assert (np.diff(found.scores.k) > 0).all()
        assert (np.diff(f1) > 0).all(), "more k costs more ach"
        assert found.chosen == np.flatnonzero(f2 <= 0)[0]
        assert found.objectives == ("ach", "k")
        assert found.stopped == "evaluations"
        assert found.reproducible


def same(a: Outcome, b: Outcome) -> bool:
    schemes = [[o.solutions.fingerprint(i) for i in range(len(o.solutions))] for o in (a, b)]
    scores = all(
        np.array_equal(getattr(a.scores, f.name), getattr(b.scores, f.name), equal_nan=True)
        for f in fields(a.scores)
    )
    return schemes[0] == schemes[1] and scores and a.chosen == b.chosen


def test_same_seed_same_outcome_whatever_the_workers() -> None:
    outcomes = []
    for workers in (1, 1, 3):
        with problem_of(random_histogram(5), 4, AIM, workers) as problem:
            outcomes.append(run(problem, seed=9))
    assert same(outcomes[0], outcomes[1])
    assert same(outcomes[0], outcomes[2])


def test_scores_are_those_of_a_fresh_measurement() -> None:
    with problem_of(random_histogram(6), 4, AIM) as problem:
        found = run(problem)
    schemes = [found.solutions.scheme(i) for i in range(len(found.solutions))]
    with problem_of(random_histogram(6), 4, AIM) as again:
        for i, scheme in enumerate(schemes):
            fresh = again.evaluate(again.space.batch([scheme])).row(0)
            known = found.scores.row(i)
            assert known.pop("ce") is fresh.pop("ce") is None, "there is no label"
            assert known == pytest.approx(fresh, rel=1e-12)


def test_infeasible_problem_answers_nothing_but_shows_how_close_it_came() -> None:
    with problem_of(random_histogram(2), 1_000, AIM) as problem:
        found = run(problem)
    assert found.chosen is None
    assert found.scores.k.max() == problem.rows, "everything in one class"


def test_patience_counts_generations_without_a_better_answer() -> None:
    steps: list[Progress] = []
    watch = Watch(on_progress=steps.append, patience=5)
    with problem_of(random_histogram(1), 4, AIM) as problem:
        found = run(problem, watch=watch)
    assert found.stopped == "patience"
    assert found.reproducible
    best = [s.best for s in steps]
    assert len(set(best[-6:])) == 1
    assert best[-7] != best[-6]
    assert steps[-1].evaluations == 40 * len(steps) < 2_000
    assert found.chosen is not None
    assert steps[-1].best_k == found.scores.k[found.chosen]


def test_time_and_interrupts_end_the_search_with_the_best_so_far() -> None:
    with problem_of(random_histogram(1), 4, AIM) as problem:
        timed = run(problem, watch=Watch(seconds=0.0))
        assert (timed.stopped, timed.reproducible) == ("time", False)
        assert len(timed.solutions)

        def third(progress: Progress) -> None:
            if progress.evaluations == 120:
                watch.interrupt()

        watch = Watch(on_progress=third)
        interrupted = run(problem, watch=watch)
        assert (interrupted.stopped, interrupted.reproducible) == ("interrupted", False)
        assert len(interrupted.solutions)


@pytest.mark.parametrize(("population", "evaluations"), [(7, 100), (10, 3), (10, 25), (2, 9)])
def test_exactly_as_many_evaluations_as_asked(population: int, evaluations: int) -> None:
    steps: list[Progress] = []
    settings = Nsga2Settings(population, evaluations)
    with problem_of(random_histogram(1), 4, AIM) as problem:
        nsga2(problem, settings, np.random.default_rng(1), Watch(on_progress=steps.append))
    assert steps[-1].evaluations == evaluations


def test_start_is_part_of_the_first_population() -> None:
    with problem_of(random_histogram(4), 4, AIM) as problem:
        everything = every_scheme(problem.space)
        settings = Nsga2Settings(population=10, evaluations=len(everything))
        found = nsga2(
            problem, settings, np.random.default_rng(1), Watch(), start=bits_of(everything)
        )
        best = found.scores.row(found.chosen or 0)
        assert round(float(problem.f1(found.scores)[found.chosen or 0]), 12) == optimum(problem)[0]
        assert best["k"] >= 4


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"population": 1}, "population must be greater than or equal to 2, not 1"),
        ({"evaluations": 0}, "evaluations must be greater than or equal to 1, not 0"),
        ({"crossover": 1.1}, "crossover must be less than or equal to 1, not 1.1"),
        ({"mutation": -0.1}, "mutation must be greater than or equal to 0, not -0.1"),
    ],
)
def test_settings_are_checked(wrong: dict[str, float], message: str) -> None:
    with pytest.raises(SearchError, match=message):
        METHODS["nsga2"].configured(wrong)
