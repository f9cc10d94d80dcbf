"""The audit refuses a release whose search, or whose SELECT, counted a model wrongly.

The formulas of a model for searches and releases are broken on purpose, so that every class
satisfies it; the formula of the audit is as it is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from model_cases import APART, CASES, write
from sqlglot import exp

import sqlanon
from sqlanon.errors import VerificationError
from sqlanon.privacy import MODELS, Model, Released

EVERY = pytest.mark.parametrize("name", CASES)


def required(folder: Path, name: str, **sections: Any) -> tuple[Path, type[Model]]:
    """The policy of a case, and its model."""
    policy = write(folder, CASES[name], **sections)
    with sqlanon.load(policy) as anonymizer:
        (model,) = anonymizer.models
    return policy, type(model)


def test_every_model_has_a_case(tmp_path: Path) -> None:
    assert {required(tmp_path, name)[1] for name in CASES} == set(MODELS)


@EVERY
def test_a_broken_search(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    policy, model = required(tmp_path, name, suppression={"limit": 0})
    with sqlanon.load(policy) as anonymizer:
        assert anonymizer.publish(anonymizer.search()).k >= 3
    (tmp_path / "again").mkdir()
    policy = write(tmp_path / "again", CASES[name], suppression={"limit": 0})
    always = 1_000_000 if model.at_least else 0
    monkeypatch.setattr(model, "reached", lambda self, c: c.size * 0 + always)
    with sqlanon.load(policy) as anonymizer:
        result = anonymizer.search()
        assert result.solution is not None
        assert result.solution.feasible
        with pytest.raises(VerificationError, match="violate it"):
            anonymizer.publish(result)


@EVERY
def test_a_broken_select(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    policy, model = required(tmp_path, name)
    with sqlanon.load(policy) as anonymizer:
        assert anonymizer.publish(APART).k >= 3
    (tmp_path / "again").mkdir()
    policy = write(tmp_path / "again", CASES[name])
    always = exp.Literal.number(1_000_000 if model.at_least else 0)
    monkeypatch.setattr(model, "released", lambda self, v: Released(always.copy()))
    with (
        sqlanon.load(policy) as anonymizer,
        pytest.raises(VerificationError, match="violate it"),
    ):
        anonymizer.publish(APART)
