"""Under level limits every search reaches what they allow and nothing else.

What is allowed is tried one by one: all bit strings, all nodes.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from genitor_cases import WORKCLASS, bits, column, is_valid, spaces, text
from hypothesis import given, settings
from hypothesis import strategies as st
from lattice_cases import Node, Table, Twin, levels_of, pareto, random_table, scored
from preference_cases import allowed, every_scheme, problem_of, random_histogram

from sqlanon.domain.column import Family
from sqlanon.domain.histogram import Histogram
from sqlanon.domain.space import Batch, Space
from sqlanon.metrics.preference import Preference
from sqlanon.metrics.scores import Scores
from sqlanon.search.auto import AutoSettings, auto
from sqlanon.search.fronts import bits_of
from sqlanon.search.genitor import GenitorSettings, genitor
from sqlanon.search.lattice.exact import FrontSettings, OptimalSettings, exhaustive, front, optimal
from sqlanon.search.lattice.lattice import Lattice
from sqlanon.search.lattice.poka import PokaSettings, mean_height, poka
from sqlanon.search.nsga2 import Nsga2Settings, mutate, nsga2, random_population
from sqlanon.search.outcome import Outcome, Watch
from sqlanon.search.problem import Problem
from sqlanon.search.walk.reference_direction import Walk

AIM = Preference(loss=0.3, bias=0.3)
SEEDS = st.integers(0, 2**32 - 1)
ALL, ONE = FrontSettings(), OptimalSettings()


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


# Lattices


def limited_table(seed: int, rule: str) -> tuple[Table, int]:
    draw = random.Random(seed)
    table = random_table(draw, rule, limits=True)
    return table, table.below if table.below is not None else draw.randint(1, 8)


def points(outcome: Outcome) -> list[tuple[int, int]]:
    return list(zip(outcome.scores.k.tolist(), outcome.scores.glm_units.tolist(), strict=True))


@settings(max_examples=150, deadline=None)
@given(seed=SEEDS, rule=st.sampled_from(["eta", "given", "none"]))
def test_lattice_searches_agree_with_all_nodes_within_the_limits(seed: int, rule: str) -> None:
    table, k = limited_table(seed, rule)
    truth = scored(table, "glm")
    table.space.asked.clear()
    problem = table.problem("glm", k)
    assert points(exhaustive(problem, ALL, rng(), Watch())) == pareto(list(truth.values()))
    assert table.space.asked == set(truth)
    assert points(front(problem, ALL, rng(), Watch())) == pareto(list(truth.values()))
    best = optimal(problem, ONE, rng(), Watch())
    ranked = sorted((loss, -k_, node) for node, (k_, loss) in truth.items() if k_ >= k)
    top = tuple(high for _, high in table.space.limits)
    wanted = ranked[0][2] if ranked else top
    assert best.chosen == (0 if ranked else None)
    assert levels_of(best.solutions, 0) == levels_of(
        table.space.batch_of_levels(np.array([wanted])), 0
    )
    assert table.space.asked == set(truth), "no search leaves the limits"


@settings(max_examples=150, deadline=None)
@given(seed=SEEDS, depth=st.integers(1, 4))
def test_poka_walks_the_limited_lattice(seed: int, depth: int) -> None:
    """As the paper's recursion does on the lattice whose levels start at min_level."""
    table, _ = limited_table(seed, "eta")
    low, high = zip(*table.space.limits, strict=True)
    truth = scored(table, "glm")

    def raised(node: Node) -> Node:
        return tuple(a + b for a, b in zip(node, low, strict=True))

    table.space.asked.clear()
    outcome = poka(table.problem("glm", 2), PokaSettings(depth), rng(), Watch())
    asked = set(table.space.asked)
    heights = tuple(b - a for a, b in zip(low, high, strict=True))
    twin = Twin(heights, lambda node: truth[raised(node)], depth)
    found = table.space.batch_of_levels(np.array([raised(node) for node in twin.run()]))
    assert outcome.solutions.ids.tolist() == found.ids.tolist()
    assert asked == {raised(node) for node in twin.evaluated}


def test_the_depth_of_poka_is_that_of_the_limited_lattice() -> None:
    columns = [column(WORKCLASS, name=n, levels=levels) for n, levels in
               [("a", (0, None)), ("b", (1, None)), ("c", (2, 2)), ("d", (1, 1))]]  # fmt: skip
    lattice = Lattice(Space(columns))
    assert lattice.extents.tolist() == [3, 2, 1, 1]
    assert mean_height(lattice) == 1  # ⌈(2 + 1 + 0 + 0) / 4⌉, not ⌈8 / 4⌉


# Bit strings


@settings(max_examples=150, deadline=None)
@given(spaces(), st.integers(0, 99))
def test_random_schemes_and_mutants_are_within_the_limits(space: Space, seed: int) -> None:
    draw = rng(seed)
    population = random_population(space, 20, draw)
    assert all(is_valid(space, row) for row in population)
    for rate in (0.1, 1.0):
        assert all(is_valid(space, row) for row in mutate(space, population, rate, draw))


@pytest.mark.parametrize("family", list(Family))
@pytest.mark.parametrize("null", [False, True])
@pytest.mark.parametrize("levels", [(0, 1), (1, None), (1, 1), (2, None), (0, 0)])
def test_mutation_reaches_all_that_is_allowed(
    family: Family, null: bool, levels: tuple[int, int | None]
) -> None:
    space, draw = Space([column(WORKCLASS, family, null=null, levels=levels)]), rng()
    population = random_population(space, 300, draw)
    seen = set()
    for _ in range(30):
        population = mutate(space, population, 0.2, draw)
        seen |= {text(row) for row in population}
    assert seen == {text(row) for row in allowed(space.columns[0])}


def test_levels_within_limits_are_equally_likely() -> None:
    levels = (0, 1)
    space = Space([column(WORKCLASS, Family.FULL_DOMAIN, levels=levels)])
    population = random_population(space, 3_000, rng())
    found, counts = np.unique(population, axis=0, return_counts=True)
    assert [text(row) for row in found] == ["0100110", "1111111"]
    assert counts == pytest.approx([1_500] * 2, rel=0.1)


# Whole searches


class Checked:
    """A problem that fails when a scheme beyond the limits is scored."""

    def __init__(self, problem: Problem) -> None:
        self._score = problem.evaluate
        self.problem = replace(problem, evaluate=self.evaluate)
        self.met: set[bytes] = set()

    def evaluate(self, batch: Batch) -> Scores:
        assert all(is_valid(batch.space, row) for row in bits_of(batch))
        self.met |= set(batch.keys)
        return self._score(batch)


def limited_histogram(seed: int) -> Histogram:
    return random_histogram(seed, limits=True)


SMALL = Nsga2Settings(population=20, evaluations=200, mutation=0.1)
SEARCHES: dict[str, Callable[[Problem], Outcome]] = {
    "rounds": lambda p: auto(p, AutoSettings(2_000, exact=0, rounds=1), rng(), Watch()),
    "nsga2": lambda p: nsga2(p, SMALL, rng(), Watch()),
    "new": lambda p: genitor(p, GenitorSettings(20, 300, mutation=0.3), rng(), Watch()),
    "strangers": lambda p: genitor(
        p, GenitorSettings(20, 300, "new_strangers", mutation=0.3), rng(), Watch()
    ),
    "trad": lambda p: genitor(p, GenitorSettings(20, 300, "trad"), rng(), Watch()),
}


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("search", SEARCHES)
def test_searches_score_nothing_beyond_the_limits(search: str, seed: int) -> None:
    with problem_of(limited_histogram(seed), 3, AIM, 1) as problem:
        outcome = SEARCHES[search](Checked(problem).problem)
        assert all(is_valid(problem.space, row) for row in bits_of(outcome.solutions))


@pytest.mark.parametrize("seed", range(12))
def test_auto_tries_exactly_what_is_allowed(seed: int) -> None:
    with problem_of(limited_histogram(seed), 3, AIM, 1) as problem:
        everything, checked = every_scheme(problem.space), Checked(problem)
        found = auto(checked.problem, AutoSettings(), rng(), Watch())
        assert checked.met == set(everything.keys)
        scores = problem.evaluate(everything)
        feasible = problem.feasible(scores)
        assert (found.chosen is None) == (not feasible.any())
        if found.chosen is not None:
            best = problem.f1(scores)[feasible].min()
            assert problem.f1(found.scores)[found.chosen] == best


@pytest.mark.parametrize("seed", range(4))
def test_a_walk_keeps_within_the_limits(seed: int) -> None:
    with problem_of(limited_histogram(seed), 2, AIM, 1) as problem:
        far, near = Preference(loss=0.9, bias=0.1), Preference(loss=0.1, bias=0.9)
        walk = Walk(
            replace(Checked(problem).problem, preference=near), start=far, n=2, settings=SMALL
        )
        step = walk.step()
        assert all(is_valid(problem.space, row) for row in bits_of(step.solutions))
        again = Walk(replace(problem, preference=near), start=near).resume(walk.to_json())
        assert again.archive.solutions.keys == walk.archive.solutions.keys


def test_limits_are_imposed_on_where_a_search_starts() -> None:
    with problem_of(limited_histogram(3), 2, AIM, 1) as problem:
        space = problem.space
        start = np.stack([np.zeros(space.positions, bool), np.ones(space.positions, bool)])
        found = nsga2(Checked(problem).problem, SMALL, rng(), Watch(), start)
        assert all(is_valid(space, row) for row in bits_of(found.solutions))


def test_the_coarsest_allowed_scheme_may_be_too_fine() -> None:
    with problem_of(limited_histogram(5), 1_000, AIM, 1) as given_problem:
        problem = replace(given_problem, loss="glm")
        coarsest = text(problem.space.demanded)
        for search in (exhaustive, front, optimal):
            found = search(problem, ALL, rng(), Watch())
            assert found.chosen is None
            assert text(bits_of(found.solutions)[0]) == coarsest
        found = auto(problem, AutoSettings(), rng(), Watch())
        assert found.chosen is None
        highest = int(found.scores.k.argmax())
        top = problem.evaluate(problem.space.batch_of_bits(bits(coarsest)[None, :]))
        assert found.scores.k[highest] == top.k[0]
