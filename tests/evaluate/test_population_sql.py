"""The text of the queries that count a population, or people in several tuples.

tests/release has what they must count of a population.
"""

from __future__ import annotations

import pyarrow as pa
import pytest
from golden_files import assert_golden
from scheme_columns import from_bits

from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import count
from sqlanon.counting.population import Reach, count_population
from sqlanon.domain.histogram import Histogram
from sqlanon.engines.registry import open_source
from sqlanon.evaluate import constraints
from sqlanon.evaluate.evaluator import Evaluator
from sqlanon.privacy.alpha_k import AlphaAnonymity
from sqlanon.privacy.k_map import KMap
from sqlanon.privacy.l_diversity import DistinctDiversity


def counted(reach: Reach) -> Histogram:
    """Seventy ages, which take two words, and a population with ages in between."""
    source = open_source(
        data=pa.table({"age": [2 * n for n in range(70)], "ill": ["flu", "cold"] * 35})
    )
    others = open_source(
        data=pa.table({"age": list(range(139)), "who": [n // 2 for n in range(139)]})
    )
    quasis = [Quasi("age")]
    found = count(source, quasis, facets=["ill"])
    people = count_population(others, quasis, found.space, [reach], "who")
    source.engine.close()
    others.engine.close()
    return Histogram(found.space, found.tally, found.rows, found.people, found.facets, None, people)


@pytest.mark.parametrize(("name", "most"), [("models", 128), ("values", 0)])
def test_golden_sql(name: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constraints, "MOST_COUNTS", most)
    histogram = counted(Reach(between=True))
    with Evaluator(histogram, models=[KMap(None, 2), DistinctDiversity("ill", 2)]) as evaluator:
        bits = [n % 2 == 1 for n in range(69)]
        batch = histogram.space.batch([from_bits(histogram.space.columns, bits)])
        scores = evaluator.score(batch)
        layout = evaluator._workbench.layout_of(batch)
        assert layout is not None
        sql = evaluator._workbench.sql(layout, rolled_up=name == "models", details=False)
    # Two ages and what lies up to the next two: ages 4n to 4n + 3, which are two people.
    assert scores.reached[0].tolist() == [2, 2]
    assert_golden(f"evaluate/{name}_with_population", sql)


def test_golden_sql_of_people_in_several_tuples() -> None:
    """Person 1 has a row of each age and one of each disease; 2 is of age 0, and 3 of age 1."""
    rows = {"who": [1, 1, 2, 3], "age": [0, 1, 0, 1], "ill": ["flu", "cold", "cold", "flu"]}
    source = open_source(data=pa.table(rows))
    histogram = count(source, [Quasi("age")], facets=["ill"], subject="who")
    source.engine.close()
    with Evaluator(histogram, models=[AlphaAnonymity("ill", 0.6)]) as evaluator:
        columns = histogram.space.columns
        batch = histogram.space.batch([from_bits(columns, [cut]) for cut in (True, False)])
        scores = evaluator.score(batch)
        layout = evaluator._workbench.layout_of(batch)
        assert layout is not None
        sql = evaluator._workbench.sql(layout, rolled_up=False, details=True)
    # Apart one of two people has each disease; together two of three, person 1 in both.
    assert scores.k.tolist() == [2, 3]
    assert scores.reached[:, 0].tolist() == [1 / 2, 2 / 3]
    assert_golden("evaluate/models_with_movers", sql)
