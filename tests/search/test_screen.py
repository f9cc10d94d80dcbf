"""What is said of neighbours before they are scored must be true of every one."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from preference_cases import every_scheme, ruled_problem

from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import count
from sqlanon.domain.column import Bits
from sqlanon.domain.histogram import Histogram
from sqlanon.engines.registry import open_source
from sqlanon.evaluate.evaluator import Evaluator
from sqlanon.metrics.preference import Preference
from sqlanon.metrics.suppression import Suppression
from sqlanon.search.fronts import bits_of, take
from sqlanon.search.local.polish import exchanges_of, moves
from sqlanon.search.local.screen import ExchangeBias, Screen
from sqlanon.search.nsga2 import random_population
from sqlanon.search.problem import Problem
from sqlanon.search.splits import Changes, Splits

AIMS = [Preference(0.3, 0.3), Preference(0.2, 1.0), Preference(0.5, 0.05), Preference(0.2, 1e9)]
LIMITS = [0.0, 0.1, 1.0]


def changes_of(problem: Problem, made: Bits) -> Changes:
    parts = (moves(problem.space, made), exchanges_of(problem.space, made))
    finer, coarser = ([getattr(p, name) for p in parts] for name in ("finer", "coarser"))
    return Changes(np.concatenate(finer), np.concatenate(coarser))


def starts(problem: Problem, seed: int, number: int = 5) -> Bits:
    return random_population(problem.space, number, np.random.default_rng(seed))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("limit", LIMITS)
def test_ach_is_at_least_its_bound(seed: int, limit: float) -> None:
    for aim in AIMS:
        with ruled_problem(seed, limit, aim) as problem:
            splits, screen = Splits.of_space(problem.space), Screen(problem)
            for start in starts(problem, seed):
                made = splits.made(start)
                changes = changes_of(problem, made)
                bits = splits.bits(changes.applied(splits, made))
                scores = problem.evaluate(problem.space.batch_of_bits(bits))
                bound = screen.least_ach(aim, made, changes)
                assert (bound <= problem.f1(scores)).all()
                if limit == 0.0:
                    close = aim.ach(scores.nwp, np.zeros(len(scores)))
                    assert np.allclose(bound, close, rtol=1e-9, atol=2e-11), "nothing is lost"


def test_bias_is_at_least_what_moves_tell() -> None:
    useful = 0
    for seed, aim in itertools.product(range(8), AIMS):
        with ruled_problem(seed, 0.0, aim) as problem:
            splits = Splits.of_space(problem.space)
            for start in starts(problem, seed):
                made = splits.made(start)
                single, double = moves(problem.space, made), exchanges_of(problem.space, made)
                spread = ExchangeBias(problem, scored(problem, start[None]), len(splits))
                assert spread.unknown(single).all()
                assert (spread.least_ach(double) <= ach(problem, made, double)).all()
                spread.learn(single, scored(problem, applied(problem, made, single)))
                assert not spread.unknown(single).any()
                bound = spread.least_ach(double)
                assert (bound <= ach(problem, made, double)).all()
                useful += int((bound > 0.99 * problem.f1(scored(problem, start[None]))[0]).sum())
    assert useful, "some bounds are as high as the ach of the scheme itself"


def applied(problem: Problem, made: Bits, changes: Changes) -> Bits:
    splits = Splits.of_space(problem.space)
    return splits.bits(changes.applied(splits, made))


def scored(problem: Problem, bits: Bits):  # type: ignore[no-untyped-def]
    return problem.evaluate(problem.space.batch_of_bits(bits))


def ach(problem: Problem, made: Bits, changes: Changes) -> np.ndarray:
    bits = applied(problem, made, changes)
    return problem.f1(scored(problem, bits)) if len(bits) else np.zeros(0)


# The memory of what is infeasible


def refines_one(bits: Bits, known: Bits) -> Bits:
    """Whether a row refines one of the known schemes, by its cuts."""
    return np.array([(known <= row).all(axis=1).any() for row in bits], dtype=bool)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("limit", LIMITS)
def test_known_infeasible_is_what_refines_something_infeasible(seed: int, limit: float) -> None:
    with ruled_problem(seed, limit) as problem:
        check_memory(problem, seed)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("limit", [0.0, 0.2])
def test_the_memory_holds_for_people_with_several_rows(seed: int, limit: float) -> None:
    histogram = people(seed)
    rule = Suppression.given_k(3, limit, histogram.rows)
    with Evaluator(histogram, suppression=rule, workers=1) as evaluator:
        check_memory(
            Problem(
                histogram.space, evaluator.score, evaluator.column_loss, histogram.rows, 3,
                AIMS[0], budget=rule.budget,
            ),
            seed,
        )  # fmt: skip


def people(seed: int) -> Histogram:
    rng = np.random.default_rng(seed)
    data = pa.table(
        {
            "who": rng.integers(0, 25, 60),
            "a": np.minimum(rng.geometric(0.4, 60), 5),
            "b": np.minimum(rng.geometric(0.3, 60), 6),
        }
    )
    return count(open_source(data=data), [Quasi("a"), Quasi("b")], subject="who")


def check_memory(problem: Problem, seed: int) -> None:
    splits, screen = Splits.of_space(problem.space), Screen(problem)
    everything = bits_of(every_scheme(problem.space))
    rng = np.random.default_rng(seed)
    learned = everything[rng.permutation(len(everything))[: len(everything) // 4 + 1]]
    scores = scored(problem, learned)
    screen.learn(learned[:5], take(scores, np.arange(min(5, len(learned)))))
    screen.learn(learned[5:], take(scores, np.arange(min(5, len(learned)), len(learned))))
    # Too many rows below k, or nobody left: finer schemes have no fewer, and leave nobody.
    beyond = learned[(scores.rows_below > problem.budget) | (scores.k == 0)]
    feasible = everything[problem.feasible(scored(problem, everything))]
    for here in feasible[rng.permutation(len(feasible))[:10]]:
        made = splits.made(here)
        changes = changes_of(problem, made)
        if not len(changes):
            continue
        bits = applied(problem, made, changes)
        known = screen.infeasible(made, changes)
        assert known.tolist() == refines_one(bits, beyond).tolist()
        assert not problem.feasible(scored(problem, bits))[known].any()


def test_a_table_with_room_for_all_knows_nothing() -> None:
    with ruled_problem(1, 1.0) as problem:
        screen, bits = Screen(problem), starts(problem, 1, 50)
        screen.learn(bits, scored(problem, bits))
        made = Splits.of_space(problem.space).made(bits[0])
        assert not screen.infeasible(made, changes_of(problem, made)).any()
