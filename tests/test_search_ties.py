"""Equal losses are equal, however weights are written: their last digits decide nothing."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import sqlanon

PEOPLE = pd.DataFrame(
    {
        "a": [0, 0, 0, 0, 1, 1, 1, 1],
        "b": [0, 0, 1, 1, 0, 0, 1, 1],
        "c": [0, 0, 0, 1, 0, 1, 1, 1],
    }
)


@pytest.mark.parametrize("unit", [1, 0.1, 0.7, 1 / 3])
@pytest.mark.parametrize("method", ["auto", "nsga2", "genitor"])
def test_at_equal_loss_and_bias_the_higher_k_is_chosen(method: str, unit: float) -> None:
    """To hide c costs 3 of 6 and leaves four classes of 2; so does a with b, and two of 4."""
    weights = {"a": unit, "b": 2 * unit, "c": 3 * unit}
    search: dict[str, Any] = {"method": method}
    policy = {
        "columns": {name: {"role": "quasi", "weight": w} for name, w in weights.items()},
        "one_row_per_person": True,
        "privacy": {"k": 2},
        "preference": {"nwp": 0.2, "necd": 1.0},
        "search": search | ({"loss": "nwp"} if method == "genitor" else {}),
    }
    with sqlanon.load(policy, data=PEOPLE) as anonymizer:
        result = anonymizer.search()
    assert result.solution is not None
    found = result.solution.scores
    assert (found["k"], found["nwp"], found["necd"]) == (4, 0.5, 0)
    assert [s.scores["k"] for s in result.solutions if s.scores["nwp"] == 0.5] == [4]
