"""Candidate cuts of wide columns: where they lie, and that searches keep to them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from genitor_cases import WORKCLASS, column
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon.domain.column import Family, Partition
from sqlanon.domain.space import Space
from sqlanon.errors import SqlanonError
from sqlanon.search.problem import with_candidates
from sqlanon.search.splits import Splits


def candidates(rows: list[int], most: int, null: bool = False) -> tuple[int, ...]:
    """The candidate cuts of a contiguous column with so many rows an atom."""
    wide = column(len(rows) - null, Family.CONTIGUOUS, null=null)
    space, _ = with_candidates(Space([wide]), [np.array(rows)], most)
    return space.columns[0].finest.cuts


@pytest.mark.parametrize(
    ("rows", "most", "cuts"),
    [
        ([1] * 8, 3, (1, 3, 5)),  # four groups of two
        ([1] * 8, 7, (0, 1, 2, 3, 4, 5, 6)),  # no more places than that
        ([1, 1, 100, 1, 1], 2, (1, 2)),  # on both sides of what most rows have
        ([4, 1, 1, 1, 1, 1, 1], 2, (0, 1)),  # 5 | 5, and of equals the first: 4 | 1 | 5
        ([0, 0, 0, 5, 5], 1, (3,)),  # values without rows do not count
        ([0, 0, 0, 0], 2, (0, 1)),
    ],
)
def test_the_fullest_group_is_parted_in_the_middle(
    rows: list[int], most: int, cuts: tuple[int, ...]
) -> None:
    assert candidates(rows, most) == cuts


def test_the_cut_of_null_is_a_candidate_besides() -> None:
    assert candidates([1] * 8 + [3], 3, null=True) == (1, 3, 5, 7)


def test_cuts_that_limits_demand_are_candidates_besides() -> None:
    """AB, CDE, F and GH stay apart; the fullest of them are AB and CDE."""
    work = column(WORKCLASS, Family.CONTIGUOUS, levels=(0, 1))
    demanded = work.coarsest.cuts
    space, notes = with_candidates(Space([work]), [np.array([9, 9, 4, 4, 4, 1, 1, 1])], 2)
    assert set(space.columns[0].finest.cuts) == {*demanded, 0, 2}
    assert len(notes) == 1


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 50), min_size=3, max_size=40), st.integers(1, 45))
def test_no_group_of_several_values_is_fuller_than_one_that_was_parted(
    rows: list[int], most: int
) -> None:
    """Else it would have been parted instead: two neighbours together were one such group."""
    cuts = candidates(rows, most)
    assert len(cuts) == min(most, len(rows) - 1)
    runs = Partition(len(rows), cuts).runs
    wide = [sum(rows[a:b]) for a, b in runs if b - a > 1]
    joined = [sum(rows[a:d]) for (a, _), (_, d) in pairwise(runs)]
    assert max(wide, default=0) <= max(joined, default=sum(rows))


def test_narrow_and_other_columns_stay_as_they_are() -> None:
    space = Space([column(5, Family.CONTIGUOUS), column(WORKCLASS)])
    bounded, notes = with_candidates(space, [np.ones(5), np.ones(8)], 4)
    assert bounded is space
    assert notes == ()


def test_random_schemes_are_cut_at_candidates_only() -> None:
    wide = column(50, Family.CONTIGUOUS)
    space, _ = with_candidates(Space([wide]), [np.ones(50, dtype=np.int64)], 6)
    drawn = Splits.of_space(space).random(100, np.random.default_rng(1))
    assert set(np.flatnonzero(drawn.any(axis=0)).tolist()) == set(space.columns[0].finest.cuts)
    assert Splits.of_space(space).count == 2**6


def test_a_scheme_cut_elsewhere_is_told_why() -> None:
    bounded = replace(column(4, Family.CONTIGUOUS), candidates=Partition(4, (1,)))
    said = bounded.beyond_limits(Partition(4, (1, 2)))
    assert said is not None
    assert "none of the 1 candidates; raise search.cuts in the policy" in said


@pytest.fixture(scope="module")
def incomes() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    income = np.where(rng.random(400) < 0.3, 0, rng.integers(1, 5_000, 400))
    return pd.DataFrame({"income": income, "sex": rng.choice(["F", "M"], 400)})


def policy(search: dict[str, object]) -> dict[str, object]:
    return {
        "columns": {"income": {"role": "quasi"}, "sex": {"role": "quasi"}},
        "one_row_per_person": True,
        "privacy": {"k": 5},
        "preference": {"nwp": 0.2, "necd": 1.0},
        "search": search,
    }


@pytest.mark.parametrize(
    "search",
    [
        {"method": "auto", "cuts": 20, "evaluations": 3_000},
        {"method": "nsga2", "cuts": 20, "evaluations": 1_000},
        {"method": "genitor", "cuts": 20, "evaluations": 600, "brood": 50},
    ],
)
def test_a_search_of_a_wide_column(incomes: pd.DataFrame, search: dict[str, object]) -> None:
    """The raw incomes are recounted in pandas by the cuts of the answer."""
    with sqlanon.load(policy(search), data=incomes) as anonymizer:
        found = anonymizer.search()
        places = len(set(incomes["income"])) - 1
        told = f"column 'income' may be cut in 20 of {places:,} places, spread evenly"
        assert any(note.startswith(told) for note in found.notes)
        assert found.solution is not None
        assert anonymizer.measure(found.solution.scheme).scores["k"] == found.solution.scores["k"]
        groups = found.solution.scheme.partitions[0]
    atoms = np.searchsorted(np.unique(incomes["income"]), incomes["income"])
    group = np.searchsorted(np.array(groups.cuts), atoms, side="left")
    sexes = incomes["sex"] if len(found.solution.scheme.partitions[1]) > 1 else "*"
    sizes = pd.DataFrame({"income": group, "sex": sexes}).value_counts()
    assert sizes.min() == found.solution.scores["k"] >= 5


def test_more_cuts_than_places_is_no_bound(incomes: pd.DataFrame) -> None:
    search = {"method": "nsga2", "cuts": 5_000, "evaluations": 200}
    with sqlanon.load(policy(search), data=incomes) as anonymizer:
        assert not any("may be cut" in note for note in anonymizer.search().notes)


def test_a_walk_in_a_wide_column_can_be_saved_and_resumed(incomes: pd.DataFrame) -> None:
    search: dict[str, object] = {
        "method": "reference-direction", "cuts": 20, "points": 2, "evaluations": 300,
    }  # fmt: skip
    with sqlanon.load(policy(search), data=incomes) as anonymizer:
        walk = anonymizer.walk()
        walk.step()
        saved = walk.to_json()
        result = anonymizer.walked(anonymizer.walk(saved))
        assert any("may be cut in 20 of" in note for note in result.notes)
        assert result.solutions[0].scheme.columns == anonymizer.space.columns
    fewer = policy(search | {"cuts": 2})
    with (
        sqlanon.load(fewer, data=incomes) as anonymizer,
        pytest.raises(SqlanonError, match=r"saved with cuts 20, not 2; put the former"),
    ):
        anonymizer.walk(saved)
