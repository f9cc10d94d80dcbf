"""The sorted population of GENITOR, and selection by rank."""

from __future__ import annotations

import numpy as np
import pytest
from genitor_cases import bits, text

from sqlanon.search.genitor import RankedPopulation, biased_rank


def ranked(population: RankedPopulation) -> list[tuple[str, int | float]]:
    return [(text(population[r]), population.fitness[r][-1]) for r in range(len(population))]


def test_an_offspring_enters_only_if_better_than_the_worst() -> None:
    population = RankedPopulation(3, 2)
    assert population.offer(bits("00"), (0, 0, 5))
    assert population.offer(bits("01"), (0, 0, 3))
    assert population.offer(bits("10"), (0, 0, 5))
    assert ranked(population) == [("01", 3), ("00", 5), ("10", 5)]  # the older first
    assert not population.offer(bits("11"), (0, 0, 5))  # not better
    assert not population.offer(bits("11"), (0, 0, 6))
    assert not population.offer(bits("11"), (1, 0, 1))  # below k
    assert population.offer(bits("11"), (0, 0, 4))
    assert ranked(population) == [("01", 3), ("11", 4), ("00", 5)]
    assert population.offer(bits("10"), (0, 0, 1))  # gone, so no duplicate
    assert ranked(population) == [("10", 1), ("01", 3), ("11", 4)]
    assert [text(b) for b in population.bits] == ["10", "01", "11"]


@pytest.mark.parametrize(("allowed", "ranks"), [(False, [1, 5, 9]), (True, [1, 1, 1, 5])])
def test_duplicates_are_turned_away_unless_allowed(allowed: bool, ranks: list[int]) -> None:
    population = RankedPopulation(4, 2, duplicates=allowed)
    for string, loss in [("00", 9), ("01", 5), ("11", 1), ("11", 1), ("11", 1)]:
        population.offer(bits(string), (0, 0, loss))
    assert [fitness[-1] for fitness in population.fitness] == ranks


def test_the_worst_infeasible_is_the_furthest_from_k() -> None:
    population = RankedPopulation(4, 2)
    population.offer(bits("00"), (2, 7, 1))
    population.offer(bits("01"), (0, 0, 8))
    population.offer(bits("10"), (1, 9, 3))
    population.offer(bits("11"), (1, 4, 6))
    assert [text(b) for b in population.bits] == ["01", "11", "10", "00"]


@pytest.mark.parametrize("bias", [1.0, 1.25, 1.5, 2.0])
def test_rank_selection_follows_whitleys_line(bias: float) -> None:
    """Probabilities fall on a line from bias / n for the best to (2 − bias) / n for the worst."""
    rng = np.random.default_rng(3)
    drawn = np.bincount([biased_rank(10, bias, rng) for _ in range(40_000)], minlength=10)
    line = bias - (2 * bias - 2) * (np.arange(10) + 0.5) / 10
    assert len(drawn) == 10
    assert np.abs(drawn / 4000 - line).max() < 0.06
