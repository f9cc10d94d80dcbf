"""Every score of random generalizations of random tables equals the brute-force oracle."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_cases import Case, cases
from scheme_columns import allows
from score_oracle import Rule, scores

from sqlanon.evaluate import query_plan as plan
from sqlanon.evaluate.evaluator import Evaluator
from sqlanon.metrics.suppression import Suppression

COUNTS = ("k", "k_max", "classes", "suppressed", "dcn")
RATIOS = ("nwp", "necd", "glm", "glm_share")


def rules(rows: int) -> list[tuple[Suppression, Rule]]:
    """No suppression, a given k with a limit, and POkA's limit, each with its oracle's rule."""
    tenth, third = rows // 10, rows * 3 // 10
    return [
        (Suppression(), Rule()),
        (Suppression.given_k(3, 0.3, rows), Rule(limit=third, k=3)),
        (Suppression.given_k(2, 1, rows), Rule(limit=rows, k=2)),
        (Suppression.up_to(0.1, rows), Rule(limit=tenth)),
    ]


def same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert {name: found[name] for name in COUNTS} == {name: wanted[name] for name in COUNTS}
    for name in RATIOS:
        assert math.isclose(found[name], wanted[name], rel_tol=1e-9, abs_tol=1e-12), name
    if wanted["ce"] is None:
        assert found["ce"] is None
    else:
        assert math.isclose(found["ce"], wanted["ce"], rel_tol=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    case=cases(),
    batch=st.sampled_from([1, 7, 100]),
    workers=st.sampled_from([1, 2]),
    cheap_queries=st.booleans(),
    at_once=st.booleans(),
)
def test_scores_equal_the_oracle(
    case: Case, batch: int, workers: int, cheap_queries: bool, at_once: bool
) -> None:
    histogram = case.histogram()
    distinct = [case.random_bits() for _ in range(batch if batch < 100 else 12)]
    bits = [case.rng.choice(distinct) for _ in range(batch)]
    schemes = [case.scheme(histogram, each) for each in bits]
    with pytest.MonkeyPatch.context() as patch:
        if cheap_queries:  # small data then go through groups and roll-ups as well
            patch.setattr(plan, "QUERY", 1)
        for suppression, rule in rules(case.rows):
            with Evaluator(
                histogram,
                suppression=suppression,
                label="label" if case.label is not None else None,
                workers=workers,
            ) as evaluator:
                if not at_once:
                    evaluator.score(schemes[: batch // 2 + 1])
                found = evaluator.score(schemes)
                assert evaluator.effort.distinct == len({s.fingerprint for s in schemes})
            wanted = {
                each: scores(case.oracle(each), subject=case.subject, label=case.label, rule=rule)
                for each in set(bits)
            }
            unit = math.lcm(*(max(c.size - 1, 1) for c in histogram.space.columns))
            for i, each in enumerate(bits):
                same(found.row(i), wanted[each])
                assert found.glm_units[i] == wanted[each]["glm"] * unit
                assert found.rows_below[i] == wanted[each]["rows_below"]


@settings(max_examples=40, deadline=None)
@given(case=cases())
def test_the_families_allow_their_partitions(case: Case) -> None:
    """What the generator calls taxonomic or a level, the package calls so too."""
    histogram = case.histogram()
    for _ in range(5):
        scheme = case.scheme(histogram, case.random_bits())
        for column, partition in zip(scheme.columns, scheme.partitions, strict=True):
            assert allows(column, partition)
