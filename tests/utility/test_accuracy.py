"""Predictions by real models, on tables where the right answer is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import sqlanon
from sqlanon.errors import UtilityError
from sqlanon.utility import prediction as classify

POLICY: dict[str, Any] = {
    "columns": {
        "x": {"role": "quasi", "values": ["a", "b", "c", "d"]},
        "noise": {"role": "quasi"},
        "y": {"role": "label"},
    },
    "one_row_per_person": True,
    "privacy": {"k": 2},
}
# y is "high" for a and b: 60 of 100 rows.
TABLE = pd.DataFrame(
    {
        "x": ["a"] * 30 + ["b"] * 30 + ["c"] * 20 + ["d"] * 20,
        "noise": [1, 2] * 50,
        "y": ["high"] * 60 + ["low"] * 40,
    }
)
APART = {"columns": {"x": {"groups": [["a", "b"], ["c", "d"]]}, "noise": {"level": 1}}}
MIXED = {"columns": {"x": {"groups": [["a"], ["b", "c"], ["d"]]}, "noise": {"level": 1}}}
WHOLE = {"columns": {"x": {"level": 1}, "noise": {"level": 1}}}


def predicted(scheme: Any, table: pd.DataFrame = TABLE, **more: Any) -> classify.Accuracy:
    policy = POLICY | more.pop("policy", {})
    with sqlanon.load(policy, data=table) as anonymizer:
        found = anonymizer.utility(scheme, **({"queries": 1} | more)).accuracy
    assert found is not None
    return found


@pytest.mark.parametrize("model", ["logistic", "forest"])
@pytest.mark.parametrize(
    ("scheme", "share"),
    [
        (APART, 1.0),  # the groups tell as much as the values
        (WHOLE, 0.6),  # nothing is told, so the most frequent value is said
        (MIXED, 0.8),  # of b and c, 30 to 20, the 20 are wrong
    ],
)
def test_accuracies(scheme: Any, share: float, model: str) -> None:
    found = predicted(scheme, model=model)
    assert (found.original, found.released, found.baseline) == (1.0, share, 0.6)
    assert (found.target, found.model, found.folds, found.rows) == ("y", model, 5, 100)


def test_suppressed_rows_are_not_learned_from() -> None:
    """c is below k = 21, and so is d: only high is left to learn, and right for a and b."""
    policy = {"privacy": {"k": 21}, "suppression": {"limit": 0.5}}
    finest = {"columns": {"x": {"level": 0}, "noise": {"level": 1}}}
    for rows in ("leave_out", "mark"):
        rule = policy | {"suppression": {"limit": 0.5, "rows": rows}}
        found = predicted(finest, policy=rule)
        assert (found.original, found.released) == (1.0, 0.6)


def test_another_target() -> None:
    """Whether x is a or c: half of the rows, and the groups tell 30 of 60 and 20 of 40."""
    table = TABLE.assign(z=TABLE["x"].isin(["a", "c"]).astype(int))
    columns = {**POLICY["columns"], "z": {"role": "sensitive"}}
    found = predicted(APART, table, policy={"columns": columns}, target="z")
    assert (found.target, found.original, found.baseline) == ("z", 1.0, 0.5)


def test_a_target_of_too_many_values() -> None:
    table = pd.concat([TABLE, TABLE]).assign(y=range(200))
    with pytest.raises(UtilityError, match="'y' has 200 different values in 200 rows"):
        predicted(APART, table, target="y")


def test_a_release_without_rows_teaches_nothing() -> None:
    rule = {"privacy": {"k": 101}, "suppression": {"limit": 1}}
    found = predicted(APART, policy=rule)
    assert (found.original, found.released) == (1.0, 0.0)


def test_rows_without_a_label_are_left_out() -> None:
    table = TABLE.copy()
    table.loc[::10, "y"] = None  # of ten rows one: 6 of 60 and 4 of 40
    found = predicted(APART, table)
    assert (found.rows, found.released, found.baseline) == (90, 1.0, 0.6)


def test_several_rows_a_person_count_as_rows() -> None:
    table = TABLE.assign(who=[i // 2 for i in range(100)])
    columns = {**POLICY["columns"], "who": {"role": "identifying"}}
    policy = {"columns": columns, "subject": "who", "one_row_per_person": False}
    found = predicted(APART, table, policy=policy)
    assert (found.rows, found.original, found.released, found.baseline) == (100, 1.0, 1.0, 0.6)


def test_folds_are_even_and_stratified() -> None:
    labels = np.array([0] * 53 + [1] * 22, dtype=np.int32)
    found = classify.folds(labels, seed=4)
    assert np.bincount(found).tolist() == [15] * 5
    assert all(abs(np.bincount(found[labels == 0]) - 53 / 5) < 1)
    assert all(abs(np.bincount(found[labels == 1]) - 22 / 5) < 1)
    assert (found == classify.folds(labels, seed=4)).all()
    assert (found != classify.folds(labels, seed=5)).any()


def test_many_rows_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classify, "MOST_ROWS", 50)
    found = predicted(APART)
    assert (found.rows, found.original, found.released) == (50, 1.0, 1.0)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"target": "x"}, "column 'x' cannot be predicted: it is not released as it is"),
        ({"target": "yy"}, "cannot be predicted: it is no column of the source.*mean 'y'"),
    ],
)
def test_refusals(more: dict[str, Any], said: str) -> None:
    with pytest.raises(UtilityError, match=said):
        predicted(APART, **more)


def test_a_label_of_one_value_is_a_note() -> None:
    table = TABLE.assign(y="same")
    with sqlanon.load(POLICY, data=table) as anonymizer:
        found = anonymizer.utility(APART, queries=1)
        assert found.accuracy is None
        assert "accuracy is left out: column 'y' has 1 different values" in found.notes[0]
        with pytest.raises(UtilityError, match="column 'y' has 1 different values"):
            anonymizer.utility(APART, queries=1, target="y")


def test_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlanon.utility.assessment.is_available", lambda: False)
    with sqlanon.load(POLICY, data=TABLE) as anonymizer:
        found = anonymizer.utility(APART, queries=1)
        assert found.accuracy is None
        assert 'pip install "sqlanon[utility]"' in found.notes[0]
        with pytest.raises(UtilityError, match=r'pip install "sqlanon\[utility\]"'):
            anonymizer.utility(APART, queries=1, target="y")
