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


@pytest.mark.parametrize("method", ["auto", "nsga2"])
def test_a_model_leaves_the_choice_by_k_as_it_is(method: str) -> None:
    """b weighs nothing: classes of 4, 4, 5 and 5, or of 8 and 10, equal in ach; all have l = 2."""
    sizes = {(0, 0): 4, (0, 1): 4, (1, 0): 5, (1, 1): 5}
    rows = [(a, b, "uv"[i % 2]) for (a, b), n in sizes.items() for i in range(n)]
    policy = {
        "columns": {
            "a": {"role": "quasi", "max_level": 0},
            "b": {"role": "quasi", "weight": 0},
            "s": {"role": "sensitive"},
        },
        "one_row_per_person": True,
        "privacy": {"k": 2, "l_diversity": {"l": 2}},
        "preference": {"nwp": 0, "necd": 1},
        "search": {"method": method} | ({"evaluations": 300} if method == "nsga2" else {}),
    }
    with sqlanon.load(policy, data=pd.DataFrame(rows, columns=["a", "b", "s"])) as anonymizer:
        result = anonymizer.search()
        finer = anonymizer.measure({"columns": {"a": {"level": 0}, "b": {"level": 0}}})
    assert result.solution is not None
    assert (result.solution.k, finer.k) == (8, 4)
    assert result.solution.ach == finer.ach
    assert finer.pref_dev is not None
    assert result.solution.pref_dev is not None
    assert finer.pref_dev < result.solution.pref_dev  # so only k speaks for the coarser one
