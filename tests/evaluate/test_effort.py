"""How much work evaluating is: each distinct scheme once, few queries."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pytest
from scheme_columns import from_bits

from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import count
from sqlanon.domain.histogram import Histogram
from sqlanon.domain.scheme import from_levels
from sqlanon.engines.registry import open_source
from sqlanon.errors import EvaluationError, SchemeError
from sqlanon.evaluate import layout
from sqlanon.evaluate.evaluator import Effort, Evaluator


@pytest.fixture(scope="module")
def histogram() -> Histogram:
    data = pa.table({"a": [1, 2, 3, 3, None], "b": ["x", "y", "y", "x", "y"]})
    return count(open_source(data=data), [Quasi("a"), Quasi("b")])


def test_duplicates_are_measured_once(histogram: Histogram) -> None:
    bits = np.array([[1, 0, 1, 0], [0, 1, 1, 0], [1, 0, 1, 0], [1, 0, 1, 0]], dtype=bool)
    with Evaluator(histogram) as evaluator:
        found = evaluator.score(histogram.space.batch_of_bits(bits))
        assert evaluator.effort == Effort(asked=4, distinct=2, queries=1)
        assert found.row(0) == found.row(2) == found.row(3)
        evaluator.score(histogram.space.batch_of_bits(bits[:2]))
        assert evaluator.effort == Effort(asked=6, distinct=2, queries=1)


def test_ways_of_writing_one_scheme_are_one(histogram: Histogram) -> None:
    """NULL's cut follows the others; a level, a bit string and a scheme may mean the same."""
    columns, space = histogram.space.columns, histogram.space
    with Evaluator(histogram) as evaluator:
        evaluator.score(space.batch_of_bits(np.array([[1, 1, 0, 1], [1, 1, 1, 1]], dtype=bool)))
        evaluator.score(space.batch_of_levels(np.array([[0, 0]])))
        evaluator.score([from_levels(columns, (0, 0)), from_bits(columns, [1, 1, 0, 1])])
        assert evaluator.effort == Effort(asked=5, distinct=1, queries=1)


def test_a_small_batch_is_one_query(histogram: Histogram) -> None:
    every = np.array([[n >> i & 1 for i in range(4)] for n in range(16)], dtype=bool)
    with Evaluator(histogram, workers=2) as evaluator:
        evaluator.score(histogram.space.batch_of_bits(every))
        # a's three positions have 5 canonical strings (000, 001 and three with NULL apart)
        assert evaluator.effort == Effort(asked=16, distinct=10, queries=1)


def test_a_batch_larger_than_the_numbers_of_candidates() -> None:
    data = pa.table({"a": list(range(13)), "b": [1] * 13})
    histogram = count(open_source(data=data), [Quasi("a"), Quasi("b")])
    size = 2 * layout.MAX_CANDIDATES + 1
    bits = np.array([[n >> i & 1 for i in range(12)] for n in range(size)], dtype=bool)
    with Evaluator(histogram, workers=1) as evaluator:
        found = evaluator.score(histogram.space.batch_of_bits(bits))
        assert evaluator.effort == Effort(asked=size, distinct=size, queries=3)
    assert found.classes.tolist() == [n.bit_count() + 1 for n in range(size)]


def test_refusals(histogram: Histogram) -> None:
    with Evaluator(histogram) as evaluator:
        with pytest.raises(EvaluationError, match="no scheme"):
            evaluator.score([])
        other = count(open_source(data=pa.table({"a": [1, 2]})), [Quasi("a")])
        with pytest.raises(SchemeError, match="other columns"):
            evaluator.score([from_levels(other.space.columns, (0,))])
        assert evaluator.effort == Effort()
    with pytest.raises(EvaluationError, match="label column 'b' was not counted"):
        Evaluator(histogram, label="b")


def test_more_rows_than_sums_can_hold(histogram: Histogram) -> None:
    """Squares of class sizes up to √(2⁶³ − 1) rows fit; beyond that they would overflow."""
    rows = 3_037_000_499
    data = dataclasses.replace(histogram.tally, rows=np.array([rows - 4, 1, 1, 1, 1]))
    data = dataclasses.replace(data, people=data.rows)
    most = dataclasses.replace(histogram, tally=data, rows=rows, people=rows)
    with Evaluator(most) as evaluator:
        found = evaluator.score(histogram.space.batch_of_bits(np.zeros((1, 4), dtype=bool)))
    assert found.dcn[0] == rows**2
    assert found.k[0] == rows
    with pytest.raises(EvaluationError, match="3,037,000,500 rows"):
        Evaluator(dataclasses.replace(most, rows=rows + 1))
