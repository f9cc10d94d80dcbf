"""Every operator keeps every family valid, and does what it says."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from preference_cases import allowed, random_column
from scheme_columns import allows

from sqlanon.domain.atoms import ValueDomain
from sqlanon.domain.column import Bits, Column, Family, Partition
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.space import Space
from sqlanon.engines.protocol import Kind
from sqlanon.search.nsga2 import mutate, one_point_crossover, random_population

SEEDS = st.integers(0, 2**32 - 1)


def random_space(seed: int) -> Space:
    rng = random.Random(seed)
    return Space([random_column(rng, f"c{i}") for i in range(rng.randint(1, 4))])


def column(family: Family, leaves: int = 6, has_null: bool = False) -> Column:
    """Leaves in pairs, the pairs under one root."""
    rows = [[str(i), f"pair {i // 2}", "all"] for i in range(leaves)]
    domain = ValueDomain(family.value, Kind.INTEGER, tuple(range(leaves)), has_null)
    return Column(domain, Hierarchy.from_rows(rows, "of the test"), family)


def check_valid(space: Space, population: Bits) -> None:
    for j, each in enumerate(space.columns):
        for bits in population[:, space.segment(j)]:
            assert allows(each, Partition.from_bits(bits)), (each, bits)


@settings(max_examples=150, deadline=None)
@given(seed=SEEDS, rate=st.sampled_from([0.0, 0.02, 0.5, 1.0]))
def test_operators_keep_families_valid(seed: int, rate: float) -> None:
    space, rng = random_space(seed), np.random.default_rng(seed)
    population = random_population(space, 30, rng)
    check_valid(space, population)
    before = population.copy()
    children = one_point_crossover(space, population[:15], population[15:], 0.9, rng)
    assert children.shape == population.shape
    check_valid(space, children)
    check_valid(space, mutate(space, children, rate, rng))
    assert (population == before).all(), "the parents were changed"


def test_first_population_spans_coarse_and_fine() -> None:
    space = Space([column(family, leaves=10) for family in Family])
    population = random_population(space, 40, np.random.default_rng(1))
    for j in range(3):
        cuts = population[:, space.segment(j)].sum(axis=1)
        assert cuts.min() == 0
        assert cuts.max() == 9
        assert len(set(cuts.tolist())) > 2
    totals = population.sum(axis=1)
    assert (totals <= 2).any(), "even a small population has a coarse member"
    assert (totals >= 24).any()


def test_levels_are_equally_likely() -> None:
    space = Space([column(Family.FULL_DOMAIN)])
    population = random_population(space, 3_000, np.random.default_rng(1))
    _, counts = np.unique(population, axis=0, return_counts=True)
    assert len(counts) == 3
    assert counts == pytest.approx([1_000] * 3, rel=0.1)


@pytest.mark.parametrize("family", list(Family))
@pytest.mark.parametrize("has_null", [False, True])
def test_mutation_reaches_every_partition(family: Family, has_null: bool) -> None:
    space, rng = Space([column(family, has_null=has_null)]), np.random.default_rng(1)
    population = np.zeros((400, space.positions), dtype=bool)
    seen = set()
    for _ in range(40):
        population = mutate(space, population, 0.2, rng)
        seen |= {tuple(row) for row in population.tolist()}
    assert seen == {tuple(row) for row in allowed(space.columns[0]).tolist()}


def test_taxonomic_mutation_splits_or_merges_one_node() -> None:
    space, rng = Space([column(Family.TAXONOMIC, has_null=True)]), np.random.default_rng(2)
    nodes = [{1, 3}, {0}, {2}, {4}, {5}]  # the positions of each node; 5 sets NULL apart
    population = random_population(space, 500, rng)
    mutated = mutate(space, population, 1.0, rng)
    changes = [set(np.flatnonzero(row).tolist()) for row in population ^ mutated]
    assert all(change in nodes for change in changes if change)
    moved = sum(map(bool, changes))
    assert 200 < moved < 300, "half of the children keep the column"


def test_mutation_rate() -> None:
    """As many changes as bits times rate, whatever the family."""
    rng = np.random.default_rng(3)
    for family in Family:
        space = Space([column(family, leaves=10)])
        population = random_population(space, 20_000, rng)
        changed = (population != mutate(space, population, 0.01, rng)).any(axis=1)
        assert changed.mean() == pytest.approx(1 - 0.99**9, rel=0.1), family


def test_crossover_of_free_bits_by_hand() -> None:
    space = Space([column(Family.CONTIGUOUS), column(Family.CONTIGUOUS)])
    zeros, ones = np.zeros((200, 10), dtype=bool), np.ones((200, 10), dtype=bool)
    children = one_point_crossover(space, zeros, ones, 0.8, np.random.default_rng(1))
    points = (~children[:200]).sum(axis=1)
    for child, twin, point in zip(children[:200], children[200:], points, strict=True):
        assert child.tolist() == [False] * point + [True] * (10 - point)
        assert (twin == ~child).all()
    assert set(points.tolist()) == set(range(1, 11))
    assert (points == 10).mean() == pytest.approx(0.2, abs=0.07), "copies"


@pytest.mark.parametrize("family", [Family.TAXONOMIC, Family.FULL_DOMAIN])
def test_an_invalid_column_is_taken_whole_from_a_parent(family: Family) -> None:
    space = Space([column(Family.CONTIGUOUS), column(family), column(Family.CONTIGUOUS)])
    rng = np.random.default_rng(4)
    a, b = random_population(space, 300, rng), random_population(space, 300, rng)
    children = one_point_crossover(space, a, b, 1.0, rng)
    guarded = space.segment(1)
    firsts, seconds = np.concatenate([a, b]), np.concatenate([b, a])
    for child, first, second in zip(children, firsts, seconds, strict=True):
        points = [p for p in range(16) if (child == np.concatenate([first[:p], second[p:]])).all()]
        assert points, "the child is one parent up to some point and the other from there on"
        assert all(allows(space.columns[1], Partition.from_bits(child[guarded])) for _ in points)


def test_the_same_seed_gives_the_same_children() -> None:
    space = random_space(7)

    def once() -> Bits:
        rng = np.random.default_rng(5)
        population = random_population(space, 20, rng)
        children = one_point_crossover(space, population[:10], population[10:], 0.8, rng)
        return mutate(space, children, 0.1, rng)

    assert (once() == once()).all()


def test_spaces_without_positions() -> None:
    space = Space([column(Family.TAXONOMIC, leaves=1), column(Family.CONTIGUOUS, leaves=1)])
    rng = np.random.default_rng(1)
    population = random_population(space, 4, rng)
    assert population.shape == (4, 0)
    assert one_point_crossover(space, population[:2], population[2:], 1.0, rng).shape == (4, 0)
    assert mutate(space, population, 1.0, rng).shape == (4, 0)
    assert random_population(space, 0, rng).shape == (0, 0)
