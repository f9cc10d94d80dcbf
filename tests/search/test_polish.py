"""Polishing ends where no small change helps, and asks for no more than it may."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from genitor_cases import bits, column, scripted, text
from move_cases import best_of, neighbours
from preference_cases import every_scheme, problem_of, random_histogram, ruled_problem

from sqlanon.domain.column import Bits, Family
from sqlanon.domain.space import Batch, Space
from sqlanon.metrics.preference import Preference
from sqlanon.metrics.scores import Scores
from sqlanon.search.fronts import bits_of
from sqlanon.search.local import polish as module
from sqlanon.search.local.polish import FIRST, double_shifts, polish
from sqlanon.search.local.screen import Screen
from sqlanon.search.nsga2 import random_population
from sqlanon.search.problem import Problem
from sqlanon.search.splits import Splits

AIM = Preference(loss=0.3, bias=0.3)
PLENTY = 10**9


def around(problem: Problem, here: Bits) -> Bits:
    """Everything one move or one exchange away."""
    return np.concatenate(
        [neighbours(problem.space, here, exchanges=exchanges) for exchanges in (False, True)]
    )


def op(problem: Problem, strings: Bits) -> list[tuple[float, ...]]:
    """What OP compares, by its definition: feasible first, ach, then f2 and so k, then pref_dev."""
    scores = problem.evaluate(problem.space.batch_of_bits(strings))
    ach, dev = problem.f1(scores).tolist(), problem.pref_dev(scores).tolist()
    below, ks = scores.rows_below.tolist(), scores.k.tolist()
    return [
        (max(0, rows - problem.budget) if f2 > 0 else 0, max(0, f2), a, f2, f2 - problem.k, d)
        for rows, f2, a, d in zip(below, (problem.k - k for k in ks), ach, dev, strict=True)
    ]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("limit", [None, 0.0, 0.1, 1.0])
def test_ends_at_a_local_optimum_no_worse_than_the_start(seed: int, limit: float | None) -> None:
    with ruled_problem(seed, limit) as problem:
        for start in random_population(problem.space, 4, np.random.default_rng(seed)):
            place, _ = polish(problem, best_of(problem, start[None]), PLENTY)
            assert op(problem, place.bits[None]) == [place.rank]
            assert place.rank <= op(problem, start[None])[0]
            assert place.rank <= min(op(problem, around(problem, place.bits)))


def by_hand(problem: Problem, here: Bits) -> tuple[float, ...]:
    """The end of best improvement by moves alone, every neighbour scored."""
    best = op(problem, here[None])[0]
    while True:
        rank = op(problem, here[None])[0]
        best = min(best, rank)
        near = neighbours(problem.space, here, exchanges=False)
        if rank[0] > 0:
            near = near[(near <= here).all(axis=1)]
        ranks = op(problem, near) if len(near) else []
        if not ranks or (rank[0] == 0 and min(ranks) >= rank):
            return best
        here = near[ranks.index(min(ranks))]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("limit", [None, 0.0, 0.1, 1.0])
@pytest.mark.parametrize("aim", [AIM, Preference(0.2, 1.0), Preference(0.5, 0.05)])
def test_screening_drops_nothing_better(
    seed: int, limit: float | None, aim: Preference, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same end as without it, with one memory for all starts, by moves alone."""
    monkeypatch.setattr(module._Descent, "by_an_exchange", lambda walk, here: None)
    with ruled_problem(seed, limit, aim) as problem:
        screen = Screen(problem)
        for start in random_population(problem.space, 6, np.random.default_rng(seed)):
            place, _ = polish(problem, best_of(problem, start[None]), PLENTY, screen=screen)
            assert place.rank == by_hand(problem, start)


class Asked:
    """Counts what is asked for."""

    def __init__(self, problem: Problem) -> None:
        self.number, self._score = 0, problem.evaluate
        self.problem = replace(problem, evaluate=self.evaluate)

    def evaluate(self, batch: Batch) -> Scores:
        self.number += len(batch)
        return self._score(batch)


@pytest.mark.parametrize("budget", [0, 1, 2, 5, 12, 30, 100, PLENTY])
def test_no_more_than_the_budget_is_asked_for(budget: int) -> None:
    with problem_of(random_histogram(3), 4, AIM, 1) as problem:
        start = best_of(problem, np.zeros((1, problem.space.positions), dtype=bool))
        asked = Asked(problem)
        place, said = polish(asked.problem, start, budget)
        free, wanted = polish(problem, start, PLENTY)
        assert asked.number == said == min(budget, wanted)
        assert free.rank <= place.rank <= start.rank
        assert budget or place is start


def test_it_can_be_stopped_after_any_batch() -> None:
    with problem_of(random_histogram(3), 4, AIM, 1) as problem:
        start = best_of(problem, np.zeros((1, problem.space.positions), dtype=bool))
        asked = Asked(problem)
        place, said = polish(asked.problem, start, PLENTY, lambda: True)
        first = neighbours(problem.space, start.bits, exchanges=False)
        assert asked.number == said == min(len(first), FIRST)
        assert place.rank >= min(op(problem, first))


# Landscapes by hand: one column of numbers, k and NWP by string


def landscape(positions: int, judge: Callable[[str], tuple[int, float]]) -> Problem:
    problem = scripted(
        Space([column(positions + 1, Family.CONTIGUOUS)]), lambda b: (judge(text(b))[0], 0)
    )
    plain = problem.evaluate

    def evaluate(batch: Batch) -> Scores:
        nwp = np.array([judge(text(row))[1] for row in bits_of(batch)])
        return replace(plain(batch), nwp=nwp)

    return replace(problem, evaluate=evaluate)


def polished(problem: Problem, start: str) -> tuple[str, int]:
    place, asked = polish(problem, best_of(problem, bits(start)[None]), PLENTY)
    return text(place.bits), asked


def test_an_exchange_leads_out_of_where_moves_end() -> None:
    losses = {"100": 0.5, "010": 0.2, "011": 0.1}
    problem = landscape(3, lambda b: (2, losses.get(b, 0.9)))
    # 3 moves and 2 exchanges from 100, then 3 from 010, then 3 and 2 from 011.
    assert polished(problem, "100") == ("011", 13)


def test_two_shifts_lead_out_of_where_exchanges_end() -> None:
    losses = {"1001": 0.5, "0110": 0.2}
    problem = landscape(4, lambda b: (2, losses.get(b, 0.9)))
    start = best_of(problem, bits("1001")[None])
    assert polished(problem, "1001") == ("1001", 8)
    place, asked = polish(problem, start, PLENTY, shifts=True)
    # 4 moves and 4 exchanges from either, and one pair of shifts, from 0110 that back.
    assert (text(place.bits), asked) == ("0110", 18)


PAIRS = (("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("d", "y", "*"))


@pytest.mark.parametrize("levels", [(0, None), (0, 1), (1, None)])
def test_two_shifts_are_all_schemes_with_two_cuts_one_place_further(
    levels: tuple[int, int | None],
) -> None:
    """A cut passes over what limits decide; NULL's stays where others of its column need it."""
    space = Space(
        [
            column(5, Family.CONTIGUOUS),
            column(4, Family.CONTIGUOUS, null=True, name="n"),
            column(PAIRS, Family.CONTIGUOUS, name="l", levels=levels),
            column(PAIRS, Family.TAXONOMIC, name="t"),
        ]
    )
    every, splits = bits_of(every_scheme(space)), Splits.of_space(space)
    places = [
        (j, i)
        for j, each in enumerate(space.columns)
        for i in np.flatnonzero(each.finest.bits & ~each.coarsest.bits).tolist()
    ]
    flat = [space.segment(j).start + i for j, i in places]

    def near(a: int, b: int) -> bool:
        in_one = places[a][0] == places[b][0]
        return in_one and abs(a - b) == 1 and space.columns[places[a][0]].name != "t"

    numbers = []
    for here in every[np.random.default_rng(1).integers(len(every), size=20)]:
        wanted = []
        changed = (every != here)[:, flat]
        for other in every[changed.sum(axis=1) == 4]:
            old = np.flatnonzero((here & ~other)[flat]).tolist()
            new = np.flatnonzero((other & ~here)[flat]).tolist()
            if len(old) == 2 and any(
                near(old[0], new[i]) and near(old[1], new[1 - i]) for i in (0, 1)
            ):
                wanted.append(text(other))
        found = splits.bits(double_shifts(space, splits.made(here)))
        assert sorted(map(text, found)) == sorted(wanted)
        numbers.append(len(wanted))
    assert max(numbers) > 4


def test_the_shortfall_comes_first_then_ach_then_k() -> None:
    table = {
        "111": (1, 0.1), "110": (2, 0.5), "101": (2, 0.4), "011": (3, 0.4),
        "001": (3, 0.4), "010": (4, 0.4), "000": (4, 0.3),
    }  # fmt: skip
    assert polished(landscape(3, lambda b: table.get(b, (1, 0.1))), "111")[0] == "000"
    table["000"] = (4, 0.5)  # no less ach than 010
    assert polished(landscape(3, lambda b: table.get(b, (1, 0.1))), "111")[0] == "010"


def test_nothing_to_change() -> None:
    assert polished(landscape(0, lambda b: (1, 0.0)), "") == ("", 0)
