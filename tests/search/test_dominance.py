"""Efficiency as the paper defines it, and crowding against a plain reading of its definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from preference_cases import NODES, employees, problem_of, table_2

from sqlanon.metrics.preference import Preference
from sqlanon.search.fronts import frontier, pareto_rank
from sqlanon.search.nsga2 import crowding

Points = list[tuple[float, float]]
POINTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=20)


def matrix(points: Points) -> np.ndarray:
    return np.array(points, dtype=float).reshape(-1, 2)


def test_efficiency_in_table_2() -> None:
    with problem_of(employees(), 2, Preference(loss=1, bias=1)) as problem:
        scores = problem.evaluate(table_2(problem.space))
    points = np.column_stack([scores.necd, scores.nwp])
    efficient = [list(NODES)[row] for row in sorted(frontier(*points.T).tolist())]
    assert efficient == ["G_1", "G_2"]


@given(POINTS)
def test_efficiency_by_definition(points: Points) -> None:
    strong = [not any(a <= x and b <= y and (a, b) != (x, y) for a, b in points) for x, y in points]
    first = [
        s and points.index(p) == i for i, (p, s) in enumerate(zip(points, strong, strict=True))
    ]
    assert sorted(frontier(*matrix(points).T).tolist()) == np.flatnonzero(first).tolist()


def peeled(points: Points) -> list[int]:
    """Rank by rank: what nobody left dominates, until nobody is left."""
    ranks, left = [0] * len(points), set(range(len(points)))
    for rank in range(len(points)):
        best = {
            i
            for i in left
            if not any(
                points[j] != points[i] and all(np.array(points[j]) <= points[i]) for j in left
            )
        }
        for i in best:
            ranks[i] = rank
        left -= best
    return ranks


@given(POINTS)
def test_ranks_by_definition(points: Points) -> None:
    assert pareto_rank(matrix(points)).tolist() == peeled(points)


@given(POINTS)
def test_crowding_by_definition(points: Points) -> None:
    ranks = np.array(peeled(points))
    wanted = np.zeros(len(points))
    for rank in set(ranks.tolist()):
        members = [i for i in range(len(points)) if ranks[i] == rank]
        for axis in (0, 1):
            ordered = sorted(members, key=lambda i: points[i][axis])
            extent = points[ordered[-1]][axis] - points[ordered[0]][axis]
            wanted[ordered[0]] = wanted[ordered[-1]] = math.inf
            for before, i, after in zip(ordered, ordered[1:], ordered[2:], strict=False):
                if extent:
                    wanted[i] += (points[after][axis] - points[before][axis]) / extent
    assert crowding(matrix(points), ranks) == pytest.approx(wanted)


def test_no_points() -> None:
    nothing = np.zeros((0, 2))
    assert not len(crowding(nothing, np.zeros(0, dtype=np.int64)))
