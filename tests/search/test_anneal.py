"""Annealing walks within the families, keeps the best, asks for no more than it may."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from move_cases import best_of
from preference_cases import every_scheme, problem_of, random_histogram, ruled_problem

from sqlanon.domain.column import Bits
from sqlanon.domain.space import Batch
from sqlanon.metrics.preference import Preference
from sqlanon.metrics.scores import Scores
from sqlanon.search.fronts import bits_of
from sqlanon.search.local import anneal as module
from sqlanon.search.local.anneal import Draw, anneal
from sqlanon.search.local.polish import RankedScheme
from sqlanon.search.local.screen import is_near
from sqlanon.search.problem import Problem
from sqlanon.search.splits import Splits

AIM = Preference(loss=0.3, bias=0.3)


def hidden(problem: Problem) -> RankedScheme:
    return best_of(problem, np.zeros((1, problem.space.positions), dtype=bool))


@pytest.mark.parametrize("seed", range(6))
def test_a_walk_ends_with_a_feasible_scheme_that_is_no_worse(seed: int) -> None:
    with problem_of(random_histogram(seed), 3, AIM, 1) as problem:
        start = hidden(problem)
        found = anneal(problem, [start], 1_000, np.random.default_rng(seed))
        every = every_scheme(problem.space)
        assert found.feasible
        assert found.rank <= start.rank
        scores = problem.evaluate(every)
        assert found.ach >= problem.f1(scores)[problem.feasible(scores)].min()
        assert best_of(problem, found.bits[None]).rank == found.rank


def test_the_same_numbers_give_the_same_walk() -> None:
    with problem_of(random_histogram(1), 3, AIM, 1) as problem:
        a, b = (anneal(problem, [hidden(problem)], 500, np.random.default_rng(3)) for _ in range(2))
    assert a.rank == b.rank
    assert (a.bits == b.bits).all()


@pytest.mark.parametrize("seed", range(6))
def test_nothing_that_was_scored_is_better_than_the_answer(seed: int) -> None:
    """A walk takes the first change it may, so that better ones scored with it pass by."""
    with problem_of(random_histogram(seed), 3, AIM, 1) as problem:
        start, scored = hidden(problem), []
        score = problem.evaluate

        def noting(batch: Batch) -> Scores:
            scored.append(bits_of(batch))
            return score(batch)

        noted = replace(problem, evaluate=noting)
        found = anneal(noted, [start], 200, np.random.default_rng(seed))
        assert found.rank == best_of(problem, np.concatenate([start.bits[None], *scored])).rank


def test_an_infeasible_scheme_stays() -> None:
    with problem_of(random_histogram(2), 1_000, AIM, 1) as problem:
        start = hidden(problem)
        assert anneal(problem, [start], 100, np.random.default_rng(1)) is start


@pytest.mark.parametrize("budget", [0, 1, 7, 8, 9, 50])
def test_never_more_than_the_budget_and_stopped_at_once(
    budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STEPS", 100)
    with problem_of(random_histogram(3), 2, AIM, 1) as problem:
        start, asked, stops = hidden(problem), [0], [0]
        score = problem.evaluate

        def counted(batch: Batch) -> Scores:
            asked[0] += len(batch)
            assert len(batch) <= module.ASKED * module.WALKS
            return score(batch)

        def stop() -> bool:
            stops[0] += 1
            return stops[0] == 3

        counting = replace(problem, evaluate=counted)
        anneal(counting, [start], budget, np.random.default_rng(1))
        assert asked[0] <= budget
        anneal(counting, [start], 1_000, np.random.default_rng(1), stop)
        assert stops[0] == 3


def test_an_infeasible_start_beside_a_feasible_one_is_left_alone() -> None:
    with problem_of(random_histogram(4), 4, AIM, 1) as problem:
        finest = best_of(problem, np.ones((1, problem.space.positions), dtype=bool))
        assert not finest.feasible
        found = anneal(problem, [finest, hidden(problem)], 500, np.random.default_rng(1))
    assert found.feasible


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("limit", [0.0, 0.1, 1.0])
def test_walks_find_the_optimum_of_small_tables(seed: int, limit: float) -> None:
    """Every second table has level limits; the optimum is that of all schemes."""
    with ruled_problem(seed, limit, AIM) as problem:
        scores = problem.evaluate(every_scheme(problem.space))
        wanted = problem.f1(scores)[problem.feasible(scores)].min(initial=np.inf)
        found = anneal(problem, [worst_of(problem)], 5_000, np.random.default_rng(seed))
        assert (found.ach if found.feasible else np.inf) == wanted


def worst_of(problem: Problem) -> RankedScheme:
    """The worst feasible scheme."""
    every = every_scheme(problem.space)
    scores = problem.evaluate(every)
    worst = np.where(problem.feasible(scores), problem.f1(scores), -1).argmax()
    return best_of(problem, bits_of(every)[[worst]])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("limit", [0.0, 0.1, 1.0])
def test_no_feasible_change_has_less_loss_than_its_bound(seed: int, limit: float) -> None:
    with ruled_problem(seed, limit, AIM) as problem:
        every = bits_of(every_scheme(problem.space))
        feasible = every[problem.feasible(problem.evaluate(problem.space.batch_of_bits(every)))]
        if not len(feasible):
            return
        rng = np.random.default_rng(seed)
        starts = [best_of(problem, feasible[[i]]) for i in rng.integers(len(feasible), size=24)]
        walks = module._Chains(problem, starts)
        splits = Splits.of_space(problem.space)
        made = splits.made(np.stack([place.bits for place in starts]))
        drawn = Draw(problem.space).some(made, 50, rng)
        rows = drawn.changes.applied_to(splits, made[drawn.scheme])
        if not len(rows):
            return
        scores = problem.evaluate(problem.space.batch_of_bits(splits.bits(rows)))
        reached = problem.feasible(scores)
        bound = walks._least_nwp(drawn)
        assert (bound[reached] <= scores.nwp[reached] + 1e-12).all()


def test_a_walk_remembers_only_what_a_change_can_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    """And finds what it finds with all that is known."""

    class All(module._Chains):
        def _learn(self, infeasible: Bits) -> None:
            super()._learn(infeasible)
            self._near = [self._infeasible._packed for _ in self._near]

    def far(walks: module._Chains) -> int:
        pairs = zip(walks._near, walks._made, strict=True)
        return sum(int((~is_near(near, made)).sum()) for near, made in pairs)

    with problem_of(random_histogram(1), 3, AIM, 1) as problem:
        walks, rng = module._Chains(problem, [hidden(problem)]), np.random.default_rng(1)
        every = Splits.of_space(problem.space).made(bits_of(every_scheme(problem.space)))
        walks._learn(every[rng.integers(len(every), size=200)])
        assert any(near.size for near in walks._near)
        assert far(walks) == 0
        found = anneal(problem, [hidden(problem)], 500, np.random.default_rng(3))
        monkeypatch.setattr(module, "_Chains", All)
        other = anneal(problem, [hidden(problem)], 500, np.random.default_rng(3))
    assert found.rank == other.rank
    assert (found.bits == other.bits).all()
