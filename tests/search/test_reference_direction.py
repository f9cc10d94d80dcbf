"""Reference direction: Examples 4 to 6 of the paper, the cross-check, saving and resuming."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from preference_cases import (
    POINTS,
    employees,
    every_scheme,
    names,
    problem_of,
    random_histogram,
    table_2,
)

from sqlanon.errors import SearchError
from sqlanon.metrics.preference import Preference
from sqlanon.search.fronts import bits_of
from sqlanon.search.nsga2 import Nsga2Settings, nsga2
from sqlanon.search.outcome import Outcome, Progress, Watch
from sqlanon.search.problem import Problem
from sqlanon.search.walk.reference_direction import Walk, directed

SETTINGS = Nsga2Settings(population=40, evaluations=1_000, mutation=0.03)
FAR, NEAR = Preference(loss=0.9, bias=0.1), Preference(loss=0.1, bias=0.9)


def to(problem: Problem, preference: Preference = NEAR) -> Problem:
    """The problem with another preference, to which a walk leads."""
    return replace(problem, preference=preference)


def of_table_2(problem: Problem) -> Outcome:
    """Evaluates just the eight schemes of the paper."""
    return nsga2(
        problem,
        Nsga2Settings(population=8, evaluations=8),
        np.random.default_rng(1),
        Watch(),
        start=bits_of(table_2(problem.space)),
    )


@pytest.mark.parametrize(
    ("point", "wanted"), [(1, "G_1"), (2, "G_2"), (3, "G_2"), (4, "G_1"), (5, "G_2")]
)
def test_examples_4_and_5(point: int, wanted: str) -> None:
    """Plain minimization of ach, ties by pref_dev: q̄_5 has six minima and takes G_2."""
    with problem_of(employees(), 2, POINTS[point]) as problem:
        walk = Walk(
            to(problem, POINTS[point]),
            start=POINTS[point],
            n=1,
            minimizer=of_table_2,
        )
        assert names(walk.step().solutions) == [wanted]


def test_example_6() -> None:
    with problem_of(employees(), 2, Preference(loss=1, bias=1)) as problem:
        walk = Walk(
            to(problem, Preference(bias=0.1, loss=0.1)),
            start=Preference(bias=1.0, loss=0.2),
            n=10,
            minimizer=of_table_2,
        )
        step = walk.step()
        assert [(round(r.bias, 9), round(r.loss, 9)) for r in step.references] == [
            (round(1.0 - m * 0.09, 9), round(0.2 - m * 0.01, 9)) for m in range(1, 11)
        ]
        assert set(names(step.solutions)) == {"G_1", "G_2"}
        assert len(step.reached) == 10
        assert sum(len(step.references_of(i)) for i in range(2)) == 10
        for row in range(2):
            again = Walk(
                to(problem, walk.preference),
                start=walk.start,
                minimizer=of_table_2,
            )
            again.step()
            again.choose(row)
            assert set(names(again.step().solutions)) <= {"G_1", "G_2"}, "nothing new"


def test_directions_end_at_the_preference() -> None:
    points = directed(Preference(loss=0.3, bias=0.7), Preference(loss=0.1, bias=0.0), 7)
    assert points[-1] == Preference(loss=0.1, bias=0.0)
    assert all(p.bias >= 0 for p in points)


@pytest.mark.parametrize("seed", range(4))
def test_no_archived_solution_dominates_a_returned_one(seed: int) -> None:
    """And on a small problem the answers are the true minima."""
    met: list[tuple[float, float]] = []
    with problem_of(random_histogram(seed), 3, FAR) as problem:
        plain = problem.evaluate

        def noted(batch: Any) -> Any:
            scores = plain(batch)
            rows = zip(scores.k, scores.nwp, scores.necd, strict=True)
            met.extend((float(n), float(e)) for k, n, e in rows if k >= 3)
            return scores

        object.__setattr__(problem, "evaluate", noted)
        walk = Walk(to(problem), start=FAR, n=4, settings=SETTINGS, seed=seed)
        for _ in range(2):
            step = walk.step()
            for n, e in zip(step.scores.nwp, step.scores.necd, strict=True):
                assert not any(a <= n and b <= e and (a, b) != (n, e) for a, b in met)
            walk.choose(len(step.solutions) - 1)
        everything = plain(every_scheme(problem.space))
        feasible = everything.k >= 3
        for visit in walk.history:
            for reference, row in zip(visit.step.references, visit.step.reached, strict=True):
                all_ach = reference.ach(everything.nwp, everything.necd)[feasible]
                ach = reference.ach(visit.step.scores.nwp, visit.step.scores.necd)[row]
                assert ach == pytest.approx(all_ach.min(), rel=1e-9)


def test_a_solution_found_for_one_reference_serves_another() -> None:
    """A minimizer that answers badly is corrected by what the archive knows."""
    with problem_of(employees(), 2, FAR) as problem:
        asked: list[Preference] = []

        def lazy(problem: Problem) -> Outcome:
            """Looks around for the first reference, then always answers G_5."""
            asked.append(problem.preference)
            if len(asked) == 1:
                return of_table_2(problem)
            batch = table_2(problem.space).take([4])
            return Outcome("stub", batch, problem.evaluate(batch), 0, ("ach", "k"))

        walk = Walk(
            to(problem, Preference(bias=0.1, loss=0.1)),
            start=Preference(bias=1.0, loss=0.2),
            n=3,
            minimizer=lazy,
        )
        assert set(names(walk.step().solutions)) == {"G_1", "G_2"}


def walked(problem: Problem, resume: bool) -> Walk:
    walk = Walk(to(problem), start=FAR, n=3, settings=SETTINGS, seed=3)
    walk.step()
    walk.choose(0)
    if resume:
        document = json.loads(json.dumps(walk.to_json()))
        walk = Walk(to(problem), start=FAR, settings=SETTINGS).resume(document)
    walk.step(2)
    return walk


def test_saved_and_resumed() -> None:
    with problem_of(random_histogram(8), 3, FAR) as problem:
        straight = walked(problem, resume=False)
        document = straight.to_json()
    with problem_of(random_histogram(8), 3, FAR) as problem:
        resumed = walked(problem, resume=True)
        assert json.dumps(resumed.to_json()) == json.dumps(document)
    assert [v.chosen for v in resumed.history] == [0, None]
    assert [len(v.step.references) for v in resumed.history] == [3, 2]
    assert resumed.origin == resumed.history[0].step.point(0)
    assert resumed.history[1].step.origin == resumed.origin


def test_resuming_with_other_data_is_refused() -> None:
    with problem_of(random_histogram(8), 3, FAR) as problem:
        document = walked(problem, resume=False).to_json()
        document["steps"][1]["found"][0]["nwp"] += 0.01
        with pytest.raises(SearchError, match=r"saved with other data, .*: nwp of step 2"):
            Walk(to(problem), start=FAR).resume(document)
    with (
        problem_of(random_histogram(8), 4, FAR) as other,
        pytest.raises(SearchError, match="saved with k 3, not 4; put the former"),
    ):
        Walk(to(other), start=FAR).resume(document)
    with problem_of(random_histogram(8), 3, FAR) as problem:
        document = walked(problem, resume=False).to_json()
        with pytest.raises(SearchError, match="might be left out: 0, not 7; put"):
            Walk(replace(to(problem), budget=7), start=FAR).resume(document)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("version", 3),
        ("start", {"nwp": 1}),
        ("preference", {"nwp": "x", "necd": 0}),
        ("n", None),
        ("own", [{}]),
        ("own", 5),
        ("steps", [{"found": [{"k": 2}], "chosen": 1}]),
        ("steps", [{"n": 0, "found": [], "chosen": None}]),
    ],
)
def test_a_damaged_document_is_refused(key: str, value: object) -> None:
    with problem_of(employees(), 2, FAR) as problem:
        walk = Walk(to(problem), start=FAR, minimizer=of_table_2)
        walk.step(2)
        document = walk.to_json() | {key: value}
        with pytest.raises(SearchError, match=r"walk"):
            Walk(to(problem), start=FAR).resume(document)


def test_choosing() -> None:
    with problem_of(employees(), 2, FAR) as problem:
        walk = Walk(
            to(problem, Preference(bias=0.1, loss=0.1)),
            start=Preference(bias=1.0, loss=0.2),
            minimizer=of_table_2,
        )
        with pytest.raises(SearchError, match="take a step first"):
            walk.choose(0)
        step = walk.step()
        with pytest.raises(SearchError, match="no solution 2"):
            walk.choose(2)
        assert walk.origin == walk.start
        point = walk.choose(1)
        assert (point.loss, point.bias) == (step.scores.nwp[1], step.scores.necd[1])
        assert walk.origin == point


def test_nothing_feasible() -> None:
    with problem_of(random_histogram(2), 1_000, FAR) as problem:
        walk = Walk(to(problem), start=FAR, n=2, settings=SETTINGS)
        step = walk.step()
        assert not len(step.solutions)
        assert not step.reached
        resumed = Walk(to(problem), start=FAR).resume(walk.to_json())
        assert not len(resumed.archive)
        assert [v.step.references for v in resumed.history] == [step.references]


def test_a_watch_ends_a_step() -> None:
    seen: list[Progress] = []
    with problem_of(random_histogram(1), 3, FAR) as problem:
        walk = Walk(to(problem), start=FAR, n=50, settings=SETTINGS)
        step = walk.step(watch=Watch(on_progress=seen.append, seconds=0.0))
        assert step.stopped == "time"
        assert len(seen) == 1
        assert len(step.reached) == 50, "answered by what is known"
        watch = Watch()
        watch.interrupt()
        assert walk.step(watch=watch).stopped == "interrupted"


@pytest.mark.parametrize(
    "wrong",
    [
        {"start": Preference(loss=-0.1, bias=0.5)},
        {"preference": Preference(loss=0.1, bias=float("nan"))},
    ],
)
def test_wrong_beginnings_are_refused(wrong: dict[str, Any]) -> None:
    with problem_of(employees(), 2, FAR) as problem, pytest.raises(SearchError, match="at least"):
        Walk(to(problem, wrong.get("preference", NEAR)), start=wrong.get("start", FAR))


def test_patience_ends_the_search_for_one_reference_point() -> None:
    """The next one follows, so that all are searched for: 100 generations of 40 each at most."""
    seen: list[Progress] = []
    settings = Nsga2Settings(population=40, evaluations=4_000, mutation=0.03)
    with problem_of(random_histogram(1), 3, FAR) as problem:
        walk = Walk(to(problem), start=FAR, n=5, settings=settings)
        step = walk.step(watch=Watch(on_progress=seen.append, patience=2))
    assert step.stopped == "patience"
    assert {p.limit for p in seen} == {5 * 4_000}
    done = [p.evaluations for p in seen]
    assert done == sorted(done)
    ends = [p for p in seen if p.evaluations % 4_000 == 0 and p.best is None]
    # Polishing reports that the reference point is done, and so does the step.
    reached = list(dict.fromkeys(p.evaluations for p in ends))
    assert reached == [4_000, 8_000, 12_000, 16_000, 20_000]
    bests: list[float] = []
    for progress in seen:
        if progress not in ends:
            bests.append(np.inf if progress.best is None else progress.best)
        if progress not in ends or not bests:
            continue
        # Of one reference point: ended by two generations without a better one, not before.
        better = [a > b or b == np.inf for a, b in pairwise(bests)]
        if len(bests) < 100:
            assert better[-2:] == [False, False]
            assert all(a or b for a, b in pairwise(better[:-1]))
        bests = []


def test_what_comes_closest_is_kept_until_something_is_feasible() -> None:
    """Of 12 employees no 13 are alike; the fully generalized table has all of them in a class."""
    with problem_of(employees(), 13, FAR) as problem:
        walk = Walk(to(problem), start=FAR, n=1, settings=SETTINGS)
        with pytest.raises(SearchError, match="take a step first"):
            walk.outcome()
        walk.step()
        outcome = walk.outcome()
        assert (outcome.chosen, outcome.objectives) == (None, ("ach", "k"))
        assert outcome.scores.k.max() == 12
    with problem_of(employees(), 12, FAR) as problem:
        walk = Walk(to(problem), start=FAR, n=1, settings=SETTINGS)
        walk.step()
        outcome = walk.outcome()
        assert outcome.objectives == ("nwp", "necd")
        assert outcome.scores.k.tolist() == [12]


def test_a_choice_that_is_not_listed_is_refused() -> None:
    with problem_of(employees(), 2, FAR) as problem:
        walk = Walk(to(problem), start=FAR, n=1, settings=SETTINGS)
        step = walk.step()
        key = step.solutions.keys[0]
        assert walk.outcome(key).chosen is not None
        with pytest.raises(SearchError, match=r"no step of the walk found .* Step.solutions"):
            walk.outcome(b"nonsense")
        # As if a later step had found something better.
        better = replace(step.scores, nwp=step.scores.nwp / 2, necd=step.scores.necd / 2)
        other = problem.space.batch_of_bits(~bits_of(step.solutions))
        walk.archive.offer(other, better, np.zeros((1, 2)), np.zeros((1, 1)))
        with pytest.raises(SearchError, match="a later step of the walk found"):
            walk.outcome(key)
