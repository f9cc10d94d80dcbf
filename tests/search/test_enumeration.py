"""All schemes of a space against all bit strings that its columns allow."""

from __future__ import annotations

import random

import numpy as np
import pytest
from genitor_cases import WORKCLASS, column, text
from hypothesis import given, settings
from hypothesis import strategies as st
from preference_cases import every_scheme, random_column

from sqlanon.domain.column import Family
from sqlanon.domain.space import Space
from sqlanon.search.fronts import bits_of
from sqlanon.search.splits import all_schemes, space_size


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 7, 1_000]))
def test_every_allowed_scheme_comes_once_in_order(seed: int, rows: int) -> None:
    rng = random.Random(seed)
    space = Space([random_column(rng, f"c{i}", 5) for i in range(rng.randint(1, 3))])
    parts = list(all_schemes(space, rows))
    found = [text(row) for part in parts for row in part]
    # Tried: every string of bits; kept: those that Column.allows.
    assert found == sorted({text(row) for row in bits_of(every_scheme(space))})
    assert space_size(space) == len(found)
    assert {len(part) for part in parts[:-1]} <= {rows}
    assert 0 < len(parts[-1]) <= rows


@pytest.mark.parametrize(
    ("family", "null", "wanted"),
    [
        (Family.CONTIGUOUS, False, 2**7),
        (Family.CONTIGUOUS, True, 2**7 + 1),
        (Family.TAXONOMIC, False, 9),
        (Family.TAXONOMIC, True, 10),
        (Family.FULL_DOMAIN, False, 3),
        (Family.FULL_DOMAIN, True, 3),
    ],
)
def test_partitions_of_the_workclass_tree(family: Family, null: bool, wanted: int) -> None:
    space = Space([column(WORKCLASS, family, null=null)])
    assert space_size(space) == sum(map(len, all_schemes(space))) == wanted


def test_a_space_without_choices_has_one_scheme() -> None:
    space = Space([column(1), column(0, null=True)])
    assert space_size(space) == 1
    assert [part.shape for part in all_schemes(space)] == [(1, 0)]


def test_counts_of_wide_spaces_are_exact() -> None:
    space = Space([column(500, Family.CONTIGUOUS, null=True), column(100, Family.CONTIGUOUS)])
    assert space_size(space) == (2**499 + 1) * 2**99


def test_wide_columns_with_few_partitions_are_laid_out_in_parts() -> None:
    space = Space([column(20_000), column(12, Family.CONTIGUOUS)])
    parts = all_schemes(space, 100)
    first = next(parts)
    assert first.shape == (100, 19_999 + 11)
    assert sum(map(len, parts)) == 2 * 2**11 - 100
    assert np.unique(first[:, :19_999]).tolist() == [False]
