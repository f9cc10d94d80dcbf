"""exhaustive, front and optimal agree with brute force, for every loss and rule."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lattice_cases import Table, column, levels_of, pareto, random_table, scored
from plain_scores import PAPERS
from random_cases import Case, cases

from sqlanon.evaluate.evaluator import Evaluator
from sqlanon.metrics.preference import Preference
from sqlanon.metrics.suppression import Suppression
from sqlanon.search.lattice import exact
from sqlanon.search.lattice.exact import FrontSettings, OptimalSettings, exhaustive, front, optimal
from sqlanon.search.outcome import Outcome, Progress, Watch
from sqlanon.search.problem import Problem

RNG = np.random.default_rng(0)
ALL, ONE = FrontSettings(), OptimalSettings()
RULES = st.sampled_from(["eta", "given", "none"])
LOSSES = st.sampled_from(PAPERS)


def drawn(seed: int, rule: str) -> tuple[Table, int]:
    rng = random.Random(seed)
    table = random_table(rng, rule)
    return table, table.below if table.below is not None else rng.randint(1, 8)


def points(outcome: Outcome, problem: Problem) -> list[tuple[int, int | float]]:
    scores = outcome.scores
    losses = {
        "glm": lambda: scores.glm_units,
        "dcn": lambda: scores.dcn,
        "ce": lambda: np.rint(scores.ce * problem.rows).astype(int),
        "nwp": lambda: np.round(scores.nwp, 10),
    }[problem.loss]()
    return list(zip(scores.k.tolist(), losses.tolist(), strict=True))


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rule=RULES, loss=LOSSES)
def test_exhaustive_and_front_find_the_whole_front(seed: int, rule: str, loss: str) -> None:
    table, k = drawn(seed, rule)
    problem = table.problem(loss, k)
    measured = scored(table, loss)
    truth = pareto(list(measured.values()))
    # Of nodes with equal k and loss the one with the least levels, the first column first.
    least = [min(node for node, its in measured.items() if its == point) for point in truth]
    for search in (exhaustive, front):
        outcome = search(problem, ALL, RNG, Watch())
        found = points(outcome, problem)
        assert found == truth
        assert outcome.solutions.ids.tolist() == table.space.batch_of_levels(least).ids.tolist()
        reached = [i for i, (reached_k, _) in enumerate(found) if reached_k >= k]
        assert outcome.chosen == (max(reached) if reached else None)  # loss descends
        assert outcome.reproducible


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rule=st.sampled_from(["given", "none"]), loss=LOSSES)
def test_a_front_from_some_k_on_is_that_part_of_the_whole(seed: int, rule: str, loss: str) -> None:
    table, k = drawn(seed, rule)
    problem = table.problem(loss, k)
    truth = pareto(list(scored(table, loss).values()))
    table.space.asked.clear()
    found = points(front(problem, ALL, RNG, Watch(), k), problem)
    assert [point for point in found if point[0] >= k] == [
        point for point in truth if point[0] >= k
    ]


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rule=RULES, loss=LOSSES, scouting=st.booleans())
def test_optimal_is_the_best_feasible_node(seed: int, rule: str, loss: str, scouting: bool) -> None:
    table, k = drawn(seed, rule)
    problem = table.problem(loss, k)
    truth = scored(table, loss)
    ranked = sorted((loss_, -k_, node) for node, (k_, loss_) in truth.items() if k_ >= k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "SCOUTING", 8 * scouting)
        patch.setattr(exact, "BISECTION", 2)
        outcome = optimal(problem, ONE, RNG, Watch())
    if not ranked:
        assert outcome.chosen is None
        assert (
            outcome.solutions.ids.tolist()
            == table.space.batch_of_levels(np.array([table.space.heights])).ids.tolist()
        )
        return
    assert outcome.chosen == 0
    assert points(outcome, problem) == [(-ranked[0][1], ranked[0][0])]
    assert levels_of(outcome.solutions, 0) == levels_of(
        table.space.batch_of_levels(np.array([ranked[0][2]])), 0
    )


@settings(max_examples=25, deadline=None)
@given(case=cases(), data=st.data())
def test_they_agree_on_the_real_evaluator(case: Case, data: st.DataObject) -> None:
    histogram = case.histogram()
    k = data.draw(st.integers(1, 4))
    rule = data.draw(
        st.sampled_from(
            [
                Suppression(),
                Suppression.given_k(k, 0.3, histogram.rows),
                Suppression.up_to(0.2, histogram.rows),
            ]
        )
    )
    losses = [loss for loss in PAPERS if loss != "ce" or case.label is not None]
    loss = data.draw(st.sampled_from(losses))
    label = "label" if case.label is not None else None
    with Evaluator(histogram, suppression=rule, label=label, workers=1) as evaluator:
        problem = Problem(
            evaluator.space,
            evaluator.score,
            evaluator.column_loss,
            histogram.rows,
            k,
            Preference(0.2, 1.0),
            loss,
            rule.budget,
        )
        whole = exhaustive(problem, ALL, RNG, Watch())
        quick = front(problem, ALL, RNG, Watch())
        best = optimal(problem, ONE, RNG, Watch())
        assert points(whole, problem) == points(quick, problem)
        assert whole.solutions.ids.tolist() == quick.solutions.ids.tolist()
        assert whole.chosen == quick.chosen
        assert (best.chosen is None) == (whole.chosen is None)
        if whole.chosen is not None:
            assert points(best, problem) == [points(whole, problem)[whole.chosen]]


def big_table(seed: int = 5) -> Table:
    """A lattice of a few hundred nodes."""
    rng = random.Random(seed)
    while len((table := random_table(rng, "eta")).nodes()) < 150 or len(table.cells) < 20:
        pass
    return table


@pytest.mark.parametrize("loss", PAPERS)
def test_front_is_the_same_in_small_waves_and_spares_nodes(loss: str) -> None:
    table = big_table()
    problem = table.problem(loss, 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "WAVE", 4)
        outcome = front(problem, ALL, RNG, Watch())
        again = front(problem, ALL, RNG, Watch())
    assert points(outcome, problem) == pareto(list(scored(table, loss).values()))
    assert outcome.solutions.ids.tolist() == again.solutions.ids.tolist()
    assert outcome.notes == again.notes
    assert len(table.space.asked) < len(table.nodes())


@pytest.mark.parametrize("search", [exhaustive, front, optimal])
def test_an_interrupted_search_has_what_it_found(search) -> None:
    table = big_table()
    seen: list[Progress] = []

    def stop(progress: Progress) -> None:
        seen.append(progress)
        watch.interrupt()

    watch = Watch(on_progress=stop)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sqlanon.search.lattice.lattice.CHUNK", 10)
        outcome = search(table.problem("glm", 2), ALL, RNG, watch)
    assert len(seen) == 1
    assert outcome.stopped == "interrupted"
    assert not outcome.reproducible
    assert outcome.chosen is not None
    assert "ended early: better solutions may exist" in outcome.notes


@pytest.mark.parametrize("search", [exhaustive, front, optimal])
def test_a_stop_after_the_last_node_stops_nothing(search) -> None:
    """All nodes in one wave, so that the clock is looked at when everything is known."""
    table = big_table()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "WAVE", 10**6)
        patch.setattr("sqlanon.search.lattice.exact.BISECTION", 10**6)
        whole = search(table.problem("dcn", 2), ALL, RNG, Watch())
        steps: list[Progress] = []
        search(table.problem("dcn", 2), ALL, RNG, Watch(on_progress=steps.append))

        def stop(progress: Progress) -> None:
            if progress.evaluations == steps[-1].evaluations:
                watch.interrupt()

        watch = Watch(on_progress=stop)
        outcome = search(table.problem("dcn", 2), ALL, RNG, watch)
    assert watch.stopped == "interrupted"
    assert (outcome.stopped, outcome.reproducible) == ("finished", True)
    assert outcome.notes == whole.notes
    assert outcome.solutions.ids.tolist() == whole.solutions.ids.tolist()


@pytest.mark.parametrize("below", [None, 4])
def test_losses_beyond_64_bits(below: int | None) -> None:
    """GLM in units of the least common multiple of ten primes."""
    rng = np.random.default_rng(8)
    sizes = [p + 1 for p in (97, 101, 103, 107, 109, 113, 127, 131, 137, 139)]
    columns = [column([list(range(size))], f"c{j}") for j, size in enumerate(sizes)]
    cells = rng.integers(0, 2, (30, len(sizes)))
    rows = np.arange(30)
    table = Table(columns, cells, rows, rows % 2, below, budget=6)
    problem = table.problem("glm", 4)
    truth = pareto(list(scored(table, "glm").values()))
    assert truth[0][1] > 2**63
    assert points(front(problem, ALL, RNG, Watch()), problem) == truth
    best = min(loss for k, loss in truth if k >= 4)
    assert points(optimal(problem, ONE, RNG, Watch()), problem)[0][1] == best
