"""Every search with privacy models beyond k: feasible means that all hold, exact stays exact."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lattice_cases import pareto

from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import count
from sqlanon.domain.column import Family
from sqlanon.domain.hierarchy_builders import intervals
from sqlanon.domain.histogram import Histogram
from sqlanon.engines.protocol import Kind
from sqlanon.engines.registry import open_source
from sqlanon.evaluate.evaluator import Evaluator
from sqlanon.metrics.preference import Preference
from sqlanon.metrics.scores import Scores
from sqlanon.metrics.suppression import Suppression
from sqlanon.privacy.alpha_k import AlphaAnonymity
from sqlanon.privacy.delta_disclosure import DeltaDisclosure
from sqlanon.privacy.l_diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from sqlanon.privacy.model import Model
from sqlanon.privacy.t_closeness import Closeness, Distance
from sqlanon.search.auto import AutoSettings, auto
from sqlanon.search.fronts import take
from sqlanon.search.genitor import GenitorSettings, genitor
from sqlanon.search.lattice.exact import FrontSettings, OptimalSettings, exhaustive, front, optimal
from sqlanon.search.lattice.lattice import Lattice
from sqlanon.search.lattice.poka import PokaSettings, poka
from sqlanon.search.local import anneal
from sqlanon.search.local.polish import place_of
from sqlanon.search.nsga2 import Nsga2Settings, nsga2
from sqlanon.search.outcome import Outcome, Watch
from sqlanon.search.problem import Problem

ALL, ONE = FrontSettings(), OptimalSettings()
RNG = np.random.default_rng(0)
WISH = Preference(loss=0.3, bias=0.5)


def people(seed: int, *, by_subject: bool, family: Family) -> Histogram:
    """Sixty rows whose illness goes with their age, so that models and loss pull apart."""
    rng = np.random.default_rng(seed)
    ages, zips = rng.integers(0, 8, 60), rng.integers(0, 6, 60)
    ill = np.array(["flu", "cold", "gout", "none"])[(ages // 2 + rng.integers(0, 2, 60)) % 4]
    table = pa.table({"age": ages, "zip": zips, "ill": ill, "who": rng.integers(0, 35, 60)})

    def quasi(name: str, widths: list[int]) -> Quasi:
        def build(values: list, kind: Kind) -> object:
            return intervals(values, kind, widths, 0)

        return Quasi(name, hierarchy=build, family=family)

    columns = [quasi("age", [2, 4]), quasi("zip", [3])]
    source = open_source(data=table)
    try:
        return count(source, columns, subject="who" if by_subject else None, facets=["ill"])
    finally:
        source.engine.close()


def some_models(rng: random.Random) -> list[Model]:
    return rng.sample(
        [
            DistinctDiversity("ill", rng.randint(2, 4)),
            EntropyDiversity("ill", rng.choice([1.5, 2.5])),
            RecursiveDiversity("ill", rng.choice([1.5, 3.0]), 2),
            Closeness("ill", rng.choice([0.15, 0.3, 0.5]), Distance.EQUAL),
            AlphaAnonymity("ill", rng.choice([0.5, 0.7])),
            DeltaDisclosure("ill", rng.choice([1.0, 2.0])),
        ],
        rng.randint(1, 2),
    )


@contextmanager
def problem(
    seed: int, *, rule: str, family: Family = Family.FULL_DOMAIN, loss: str = "glm"
) -> Iterator[Problem]:
    rng = random.Random(seed)
    histogram = people(seed, by_subject=rng.random() < 0.5, family=family)
    k = rng.randint(1, 6)
    suppression = {
        "none": Suppression.given_k(k, 0, 60),
        "given": Suppression.given_k(k, rng.choice([0.1, 0.3, 1.0]), 60),
        "eta": Suppression.up_to(rng.choice([0.0, 0.1, 0.3]), 60),
    }[rule]
    with Evaluator(
        histogram, suppression=suppression, models=some_models(rng), workers=1
    ) as evaluator:
        yield Problem.over(evaluator, k, WISH, loss)


def holds(problem: Problem, scores: Scores, row: int) -> bool:
    """Every model, by the numbers that were reached."""
    pairs = zip(problem.models, scores.reached[row].tolist(), strict=True)
    return all(model.holds(reached) for model, reached in pairs)


def nodes(problem: Problem) -> list[tuple[int, int, float, bool]]:
    """Every node's number, k, loss, and whether all models hold."""
    lattice = Lattice(problem.space)
    scores = problem.evaluate(lattice.batch(np.arange(lattice.size)))
    loss = {"glm": scores.glm_units, "dcn": scores.dcn}.get(problem.loss, np.round(scores.nwp, 10))
    return [
        (i, int(scores.k[i]), loss[i].item(), holds(problem, scores, i))
        for i in range(lattice.size)
    ]


def points(problem: Problem, outcome: Outcome) -> list[tuple[int, float]]:
    scores = outcome.scores
    loss = {"glm": scores.glm_units, "dcn": scores.dcn}.get(problem.loss, np.round(scores.nwp, 10))
    return list(zip(scores.k.tolist(), loss.tolist(), strict=True))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    rule=st.sampled_from(["none", "given", "eta"]),
    loss=st.sampled_from(["glm", "dcn", "nwp"]),
)
def test_lattice_fronts_hold_what_satisfies_every_model(seed: int, rule: str, loss: str) -> None:
    with problem(seed, rule=rule, loss=loss) as asked:
        truth = pareto([(k, lost) for _, k, lost, fits in nodes(asked) if fits])
        for search in (exhaustive, front):
            outcome = search(asked, ALL, RNG, Watch())
            if not truth:
                assert outcome.chosen is None
                continue
            assert points(asked, outcome) == truth
            reached = [i for i, (k, _) in enumerate(truth) if k >= asked.k]
            assert outcome.chosen == (max(reached) if reached else None)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    rule=st.sampled_from(["none", "given"]),
    loss=st.sampled_from(["glm", "dcn", "nwp"]),
)
def test_optimal_is_the_best_node_that_satisfies_every_model(
    seed: int, rule: str, loss: str
) -> None:
    with problem(seed, rule=rule, loss=loss) as asked:
        ranked = sorted(
            (lost, -k, node) for node, k, lost, fits in nodes(asked) if fits and k >= asked.k
        )
        outcome = optimal(asked, ONE, RNG, Watch())
        if not ranked:
            assert outcome.chosen is None
        else:
            assert outcome.chosen == 0
            assert points(asked, outcome) == [(-ranked[0][1], ranked[0][0])]


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), rule=st.sampled_from(["none", "given"]))
def test_auto_tries_all_and_takes_the_best(seed: int, rule: str) -> None:
    with problem(seed, rule=rule, family=Family.CONTIGUOUS) as asked:
        outcome = auto(asked, AutoSettings(), RNG, Watch())
        assert outcome.notes == ("exact: every scheme was tried",)
        size = asked.space.positions
        strings = (np.arange(2**size)[:, None] >> np.arange(size)) & 1 == 1
        scores = asked.evaluate(asked.space.batch_of_bits(strings))
        feasible = [
            i for i in range(len(strings)) if scores.k[i] >= asked.k and holds(asked, scores, i)
        ]
        assert (outcome.chosen is None) == (not feasible)
        if outcome.chosen is not None:
            ach = WISH.ach(scores.nwp, scores.necd)[feasible].min()
            found = WISH.ach(outcome.scores.nwp, outcome.scores.necd)[outcome.chosen]
            assert found == pytest.approx(ach)


SEARCHES: dict[str, Callable[[Problem, np.random.Generator], Outcome]] = {
    "nsga2": lambda p, rng: nsga2(p, Nsga2Settings(evaluations=2_000), rng, Watch()),
    "genitor": lambda p, rng: genitor(
        p, GenitorSettings(population=40, evaluations=2_000, brood=20), rng, Watch()
    ),
    "auto": lambda p, rng: auto(p, AutoSettings(exact=0, rounds=1), rng, Watch()),
}


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("rule", ["none", "given"])
@pytest.mark.parametrize("seed", range(4))
def test_the_others_find_what_is_feasible(name: str, rule: str, seed: int) -> None:
    with problem(seed, rule=rule, family=Family.CONTIGUOUS) as asked:
        outcome = SEARCHES[name](asked, np.random.default_rng(seed))
        coarsest = asked.space.batch_of_bits(np.zeros((1, asked.space.positions), dtype=bool))
        scores = asked.evaluate(coarsest)
        if scores.k[0] >= asked.k and holds(asked, scores, 0):
            assert outcome.chosen is not None
        if outcome.chosen is not None:
            assert outcome.scores.k[outcome.chosen] >= asked.k
            assert holds(asked, outcome.scores, outcome.chosen)


@pytest.mark.parametrize("seed", range(10))
def test_poka_finds_nodes_that_satisfy_every_model(seed: int) -> None:
    with problem(seed, rule="eta") as asked:
        fits = {(k, lost) for _, k, lost, fits in nodes(asked) if fits}
        outcome = poka(asked, PokaSettings(), RNG, Watch())
        assert set(points(asked, outcome)) <= fits or outcome.chosen is None


def test_without_suppression_a_violation_rules_out_what_refines_it() -> None:
    """With it, it does not: a class that violates may be split off and suppressed."""
    for rule in ("none", "given"):
        for seed in range(12):
            with problem(seed, rule=rule, family=Family.CONTIGUOUS) as asked:
                bits = np.random.default_rng(seed).random((60, asked.space.positions)) < 0.4
                scores = asked.evaluate(asked.space.batch_of_bits(bits))
                hopeless, feasible = asked.hopeless(scores), asked.feasible(scores)
                refines = (bits[:, None] & bits[None]) == bits[:, None]
                for coarse in np.flatnonzero(hopeless):
                    finer = refines[coarse].all(axis=1)
                    assert not feasible[finer].any()
                if rule == "none" and asked.monotone:
                    assert (hopeless == ~feasible).all()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), rule=st.sampled_from(["none", "given"]))
def test_walks_are_never_kept_from_a_feasible_change(seed: int, rule: str) -> None:
    """The bound of NWP that annealing has for a change is no more than its NWP.

    A change that only splits may suppress fewer rows, where a model and not k decides.
    """
    with problem(seed, rule=rule, family=Family.CONTIGUOUS) as asked:
        rng = np.random.default_rng(seed)
        bits = rng.random((40, asked.space.positions)) < rng.random((40, 1))
        scores = asked.evaluate(asked.space.batch_of_bits(bits))
        feasible = np.flatnonzero(asked.feasible(scores))
        if not len(feasible):
            return
        starts = [place_of(asked, bits[[i]], take(scores, np.array([i]))) for i in feasible]
        walks = anneal._Chains(asked, starts)
        drawn = walks._draw.some(walks._made, 16, rng)
        changed = drawn.changes.applied_to(walks._splits, walks._made[drawn.scheme])
        after = asked.evaluate(asked.space.batch_of_bits(walks._splits.bits(changed)))
        reached = asked.feasible(after)
        bound = walks._least_nwp(drawn)
        assert (bound[reached] <= after.nwp[reached] + 1e-9).all()


def test_poka_says_why_it_finds_nothing() -> None:
    """Where the whole table violates a model, and a part of it would not."""
    table = pa.table(
        {"a": [1, 1, 2, 2, 2, 2], "ill": ["flu", "flu", "flu", "cold", "gout", "none"]}
    )
    source = open_source(data=table)
    quasi = Quasi("a", family=Family.FULL_DOMAIN)
    histogram = count(source, [quasi], facets=["ill"])
    source.engine.close()
    rule = Suppression.up_to(0.4, 6)
    with Evaluator(
        histogram, suppression=rule, models=[AlphaAnonymity("ill", 0.3)], workers=1
    ) as evaluator:
        asked = Problem.over(evaluator, 2, WISH, "glm")
        none = poka(asked, PokaSettings(), RNG, Watch())
        assert none.chosen is None
        assert any("violates a model" in note for note in none.notes)
        assert front(asked, ALL, RNG, Watch()).chosen is not None
