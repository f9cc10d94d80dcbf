"""A privacy model that is defined here alone, from its policy key to a checked release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import pandas as pd
import pytest
from sqlglot import exp

import sqlanon
from sqlanon.errors import ArgumentError, PolicyError, VerificationError
from sqlanon.evaluate import constraints
from sqlanon.keys import Whole, about
from sqlanon.privacy import (
    MODELS,
    AuditedColumn,
    Cell,
    ClassCounts,
    ForColumns,
    Model,
    Released,
    ValueRows,
    register,
)


class DoubtSection(ForColumns):
    """Somebody in every class has another value than the most frequent one."""

    m: Annotated[Whole, about("How many people at least.", ge=1)]


@dataclass(frozen=True)
class Doubt(Model):
    """At least m people of every class do not have its most frequent value.

    Monotone by rows: the most frequent value of a merged class has no more people than the most
    frequent ones of its parts together.
    """

    m: int

    key: ClassVar[str] = "doubt"
    parameter: ClassVar[str] = "m"
    symbol: ClassVar[str] = "m"
    measure: ClassVar[str] = "minority"
    at_least: ClassVar[bool] = True
    is_whole: ClassVar[bool] = True
    section = DoubtSection
    summary = "People of every class without its most frequent value; several in a list."

    def reached(self, c: ClassCounts) -> Cell:
        return c.pairs - c.largest(c.counts)

    def released(self, v: ValueRows) -> Released:
        total = exp.Max(this=v.total)
        others = exp.Sub(this=total, expression=exp.Max(this=v.people))
        return Released(v.per_class("minority", others))

    def audited(self, a: AuditedColumn) -> np.ndarray:
        return (a.n - a.largest(a.counts)).astype(np.float64)

    def describe(self) -> str:
        return f"doubt m = {self.m:,} on {self.column!r}"

    def promise(self, reached: float | None) -> str:
        return f"At least {self.m:,} people of every group have another {self.column} than most."


@pytest.fixture(autouse=True)
def doubt() -> Iterator[None]:
    register(Doubt)
    yield
    MODELS.remove(Doubt)


# By age: 20 has flu twice and gout once, 30 gout three times, 40 one of each.
PEOPLE = pd.DataFrame(
    {
        "age": [20, 20, 20, 30, 30, 30, 40, 40, 40],
        "ill": ["flu", "flu", "gout", "gout", "gout", "gout", "flu", "gout", "mumps"],
    }
)


def policy(m: object, **sections: object) -> dict[str, object]:
    return {
        "columns": {"age": {"role": "quasi"}, "ill": {"role": "sensitive", "accept": "a test"}},
        "one_row_per_person": True,
        "privacy": {"k": 3, "doubt": {"m": m}},
        **sections,
    }


@pytest.mark.parametrize("most_counts", [128, 0], ids=["few values", "many values"])
@pytest.mark.parametrize(
    ("m", "limit", "groups"),
    [
        # By themselves 20 has one in doubt, 30 nobody and 40 two. 20 and 30 together have two, 30
        # and 40 two as well, and all three have four, since five of nine have gout. Where 30 may
        # be left out, that costs what it costs to hide the age of six.
        (1, 0.0, 2), (2, 0.0, 2), (1, 0.4, 2), (3, 0.0, 1),
    ],
)  # fmt: skip
def test_it_searches_publishes_and_is_checked(
    tmp_path: object, m: int, limit: float, groups: int, most_counts: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(constraints, "MOST_COUNTS", most_counts)
    file = f"{tmp_path}/released.csv"
    wanted = policy(m, suppression={"limit": limit}, publish={"file": file})
    with sqlanon.load(wanted, data=PEOPLE) as anonymizer:
        result = anonymizer.search()
        assert result.solution is not None
        (reached,) = result.solution.models
        release = anonymizer.publish(result)
    frame = release.to_pandas()
    rest = [len(c) - c["ill"].value_counts().max() for _, c in frame.groupby("age")]
    assert len(rest) == groups
    assert reached.value == min(rest) >= m
    said = release.certificate.to_dict()["words"]["protection"][2]["protects"]
    assert f"At least {m} people of every group have another ill than most." in said
    privacy = {"k": 3, "doubt": {"m": m}}
    checked = sqlanon.check(file, "age", sensitive="ill", privacy=privacy)
    assert checked.holds
    assert [each.describe() for each in checked.required][1] == f"doubt m = {m} on 'ill'"
    too_much = sqlanon.check(file, "age", sensitive="ill", privacy={"doubt": {"m": 9}})
    assert not too_much.holds


def test_the_select_leaves_out_what_violates_it(tmp_path: object) -> None:
    """Every age by itself: those of 30 all have gout."""
    file = f"{tmp_path}/released.csv"
    apart = {"version": 1, "columns": {"age": {"groups": [[20], [30], [40]]}}}
    wanted = policy(1, suppression={"limit": 0.4}, publish={"file": file})
    with sqlanon.load(wanted, data=PEOPLE) as anonymizer:
        assert sorted(anonymizer.publish(apart).to_pandas()["age"].unique()) == ["20", "40"]
    with (
        sqlanon.load(policy(1, publish={"file": f"{tmp_path}/other.csv"}), data=PEOPLE) as strict,
        pytest.raises(VerificationError, match="doubt m = 1 on 'ill': the worst class has 0"),
    ):
        strict.publish(apart)


def test_mistakes_are_named() -> None:
    with pytest.raises(PolicyError, match=r"privacy\.doubt\.m: found 0, expected a whole number"):
        sqlanon.load(policy(0), data=PEOPLE)
    with pytest.raises(ArgumentError, match=r"privacy\.doubts: unknown key; did you mean doubt\?"):
        sqlanon.check(PEOPLE, "age", sensitive="ill", privacy={"doubts": {"m": 1}})
