"""Distinct l-diversity by itself is not counted: one bit says whether a value occurs.

pandas counts the distinct values of every class anew.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import count
from sqlanon.engines.registry import open_source
from sqlanon.evaluate.evaluator import Evaluator
from sqlanon.privacy.l_diversity import DistinctDiversity
from sqlanon.privacy.model import Model
from sqlanon.privacy.t_closeness import Closeness, Distance

AGES, VALUES, PEOPLE = 12, 100, 900


def table(seed: int) -> pd.DataFrame:
    """Rows of people who have up to three, in classes that hold very different values."""
    rng = np.random.default_rng(seed)
    age = rng.integers(0, AGES, PEOPLE)
    return pd.DataFrame(
        {
            "person": rng.integers(0, PEOPLE // 2, PEOPLE),
            "age": age,
            "value": [f"v{int(rng.integers(0, 1 + VALUES * a // AGES)):03}" for a in age],
        }
    )


@pytest.mark.parametrize("subject", [None, "person"])
@pytest.mark.parametrize("further", [False, True])
def test_every_scheme_has_the_least_number_of_distinct_values(
    subject: str | None, further: bool
) -> None:
    """With a second model of the column the values are counted; both ways must agree."""
    people = table(seed=len(subject or ""))
    source = open_source(data=pa.Table.from_pandas(people))
    histogram = count(source, [Quasi("age")], facets=["value"], subject=subject)
    models: list[Model] = [DistinctDiversity("value", 2)]
    if further:
        models.append(Closeness("value", 0.2, Distance.EQUAL))
    bits = np.random.default_rng(1).random((40, AGES - 1)) < 0.3
    with Evaluator(histogram, models=models) as evaluator:
        reached = evaluator.score(histogram.space.batch_of_bits(bits)).reached[:, 0]
    for row, found in zip(bits, reached.tolist(), strict=True):
        group = np.concatenate([[0], np.cumsum(row)])[people["age"]]
        assert found == people["value"].groupby(group).nunique().min()
