"""Numbers, neighbours and spreading of lattice nodes, against their definitions."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lattice_cases import Table, column, random_table, scored
from plain_scores import PAPERS

from sqlanon.domain.space import Space
from sqlanon.errors import SearchError
from sqlanon.search.lattice.lattice import NONE, Lattice, NodeScores
from sqlanon.search.lattice.node_bounds import LowerLoss, UpperK
from sqlanon.search.outcome import Watch


def space_of(heights: list[int]) -> Space:
    chains = [[[max(0, i - at) for i in range(h + 1)] for at in range(max(h, 1))] for h in heights]
    return Space([column(levels, f"c{j}") for j, levels in enumerate(chains)])


@st.composite
def lattices(draw: st.DrawFn) -> Lattice:
    columns = []
    for each in space_of(draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))).columns:
        low = draw(st.integers(0, each.height))
        high = draw(st.sampled_from([None, *range(low, each.height + 1)]))
        columns.append(replace(each, min_level=low, max_level=high))
    return Lattice(Space(columns))


@given(lattice=lattices())
def test_numbers_are_lexicographic_levels(lattice: Lattice) -> None:
    bounds = zip(lattice.low.tolist(), lattice.high.tolist(), strict=True)
    nodes = list(itertools.product(*(range(low, high + 1) for low, high in bounds)))
    assert lattice.size == len(nodes)
    assert lattice.decode(np.arange(len(nodes))).tolist() == [list(n) for n in nodes]


@given(lattice=lattices(), data=st.data())
def test_neighbours_differ_by_one_level(lattice: Lattice, data: st.DataObject) -> None:
    node = data.draw(st.integers(0, lattice.size - 1))
    levels = lattice.decode(node)
    for step, found in ((1, lattice.above), (-1, lattice.below)):
        for j, other in enumerate(found(np.array([node]))[0]):
            moved = levels.copy()
            moved[j] += step
            if lattice.low[j] <= moved[j] <= lattice.high[j]:
                assert lattice.decode(other).tolist() == moved.tolist()
            else:
                assert other == NONE


@given(lattice=lattices(), seed=st.integers(0, 1000))
def test_spreading_reaches_generalizations_and_specializations(lattice: Lattice, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 50, lattice.size)
    levels = lattice.decode(np.arange(lattice.size))
    up, down = lattice.spread_up(np.maximum, values), lattice.spread_down(np.add, values)
    for node in range(lattice.size):
        assert up[node] == values[(levels <= levels[node]).all(axis=1)].max()
        assert down[node] == values[(levels >= levels[node]).all(axis=1)].sum()


def test_a_lattice_too_large_is_refused() -> None:
    with pytest.raises(SearchError, match="9,765,625 nodes"):
        Lattice(space_of([4] * 10))


def test_nodes_are_evaluated_once() -> None:
    table = random_table(random.Random(3), "eta")
    nodes = NodeScores(table.problem("glm", 2), Lattice(table.space), Watch())
    everything = np.arange(nodes.lattice.size)
    first = nodes.evaluate(np.append(everything[:3], NONE))
    assert first[0][0].tolist() == [2, 1, 0]
    second = nodes.evaluate(everything)
    assert second[0][0].tolist() == everything[:2:-1].tolist()
    assert nodes.evaluated == nodes.lattice.size
    assert nodes.evaluate(everything) == []


def check_bounds(table: Table, loss: str, k: int, rng: random.Random) -> None:
    """Bounds after each of some random waves hold for every node, seen or not."""
    problem, lattice = table.problem(loss, k), Lattice(table.space)
    truth = np.array(list(scored(table, loss).values()))
    nodes = NodeScores(problem, lattice, Watch())
    upper, lower = UpperK(problem, lattice), LowerLoss(problem, lattice)
    must = LowerLoss(problem, lattice)
    feasible = truth[:, 0] >= k
    for _ in range(4):
        wave = np.array([rng.randrange(lattice.size) for _ in range(3)])
        for part, scores in nodes.evaluate(wave):
            upper.learn(part, scores)
            lower.learn(part, scores)
            must.learn(part, scores)
            must.learn_suppressed(part, scores)
        assert (upper.upper >= truth[:, 0]).all()
        assert (lower.lower <= truth[:, 1] + 1e-9).all()
        # Specializations of infeasible nodes are infeasible; of the others the bound holds.
        assert (must.lower[feasible] <= truth[feasible, 1] + 1e-9).all()


@settings(max_examples=300, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    rule=st.sampled_from(["eta", "given", "none"]),
    loss=st.sampled_from(PAPERS),
)
def test_bounds_hold(seed: int, rule: str, loss: str) -> None:
    rng = random.Random(seed)
    table = random_table(rng, rule)
    k = table.below if table.below is not None else rng.randint(1, 8)
    check_bounds(table, loss, k, rng)
