"""Random COUNT queries: by hand on six people, and against a twin that goes row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_table import POLICY, SCHEME, changed
from utility_cases import Prepared, prepared

import sqlanon
from sqlanon.utility.assessment import order_to_assess
from sqlanon.utility.released_classes import ReleasedClasses, released_classes
from sqlanon.utility.workload import Workload, draw_queries, estimate, in_order, workload

PEOPLE = pa.table(
    {
        "age": [21, 23, 27, 34, 38, 39],
        "sex": ["F", "F", "M", "M", "M", "F"],
        "outcome": ["yes", "no", "yes", "no", "no", "yes"],
    }
)


def taking(*atoms: bool) -> Any:
    return np.array(atoms)


# The youngest of four intervals of age, and women.
YOUNG_WOMEN = {0: taking(True, False, False, False), 1: taking(True, False)}
EVERYBODY = {0: taking(True, True, True, True)}


def small_classes(**keys: Any) -> ReleasedClasses:
    with sqlanon.load(changed(**keys), data=PEOPLE) as anonymizer:
        scheme = anonymizer.scheme(SCHEME)
        recipe = order_to_assess(anonymizer.policy, anonymizer.source, scheme)
        return released_classes(anonymizer.source.engine, recipe, scheme)


@pytest.mark.parametrize(
    ("keys", "young_women", "everybody"),
    [
        # Four people in an age group of three atoms, both sexes in one group.
        ({}, 4 / 3 / 2, 6),
        # The two of 35 and more are fewer than three, and missing.
        ({"privacy": {"k": 3}, "suppression": {"limit": 0.4}}, 4 / 3 / 2, 4),
        # With the marker they may be anybody: 2 · 1/4 · 1/2 more.
        (
            {"privacy": {"k": 3}, "suppression": {"limit": 0.4, "rows": "mark"}},
            4 / 3 / 2 + 2 / 4 / 2,
            6,
        ),
        # All are fewer than seven: nothing is left.
        ({"privacy": {"k": 7}, "suppression": {"limit": 1}}, 0, 0),
        ({"privacy": None}, 4 / 3 / 2, 6),
    ],
)
def test_estimates_by_hand(keys: dict[str, Any], young_women: float, everybody: float) -> None:
    classes = small_classes(**keys)
    assert estimate(YOUNG_WOMEN, classes) == pytest.approx(young_women, abs=1e-15)
    assert estimate(EVERYBODY, classes) == everybody


def test_errors_by_hand() -> None:
    """Errors of 1/2, 0, 1/4 and 1."""
    found = Workload(1, ((),) * 4, (2, 5, 4, 1), (1.0, 5.0, 5.0, 2.0))
    assert found.errors == (0.5, 0.0, 0.25, 1.0)
    assert found.median == 0.375
    assert found.mean == 0.4375
    assert found.p95 == pytest.approx(0.5 + 0.5 * 0.85)  # at place 2.85 of 0 to 3


def test_everything_in_its_own_group_has_no_error() -> None:
    with sqlanon.load(POLICY, data=PEOPLE) as anonymizer:
        scheme = {"columns": {"age": {"level": 0}, "sex": {"level": 0}}}
        found = anonymizer.utility(scheme, queries=200).workload
    assert (found.queries, found.median, found.p95, found.mean) == (200, 0, 0, 0)


def test_the_seed_decides() -> None:
    with sqlanon.load(POLICY, data=PEOPLE) as anonymizer:
        one, same, other = (anonymizer.utility(SCHEME, seed=s).workload for s in (1, 1, 2))
    shuffled = PEOPLE.take([3, 1, 5, 0, 2, 4])
    with sqlanon.load(POLICY, data=shuffled) as anonymizer:
        again = anonymizer.utility(SCHEME).workload
    assert one == same == again
    assert one.counts != other.counts


@settings(max_examples=100, deadline=None)
@given(prepared, st.integers(0, 2**32))
def test_workload_and_twin_agree(made: Prepared, seed: int) -> None:
    classes = made.classes()
    found = workload(made.histogram, classes, 15, seed)
    codes, rows = in_order(made.histogram.tally.codes, made.histogram.tally.rows)
    rng = np.random.default_rng(seed)
    queries = list(draw_queries(made.histogram.space.columns, codes, rows, 15, rng))
    for i, masks in enumerate(queries):
        query = {
            j: {atom for atom, taken in zip(made.atoms(j), mask, strict=True) if taken}
            for j, mask in masks.items()
        }
        assert found.counts[i] == made.twin.count(query) >= 1
        assert found.estimates[i] == pytest.approx(float(made.twin.estimate(query)), rel=1e-12)
        assert found.columns[i] == tuple(made.case.fields[j].quasi.name for j in query)


@settings(max_examples=30, deadline=None)
@given(prepared)
def test_queries_are_ranges_or_few_values(made: Prepared) -> None:
    columns = made.histogram.space.columns
    codes, rows = in_order(made.histogram.tally.codes, made.histogram.tally.rows)
    for query in draw_queries(columns, codes, rows, 20, np.random.default_rng(3)):
        assert 1 <= len(query) <= len(columns)
        for j, mask in query.items():
            places = np.flatnonzero(mask)
            assert len(places)
            if columns[j].domain.is_sorted:
                assert (np.diff(places) == 1).all()
                assert columns[j].domain.width not in places or len(places) == 1
            else:
                assert len(places) <= 3
