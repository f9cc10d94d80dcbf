"""Kicks stay within the families, and do not leave what is feasible unless they may."""

from __future__ import annotations

import numpy as np
import pytest
from genitor_cases import bits, column, is_valid, spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.model import Family
from sqlanon.preference import Preference
from sqlanon.scheme import Space
from sqlanon.search.kick import FACTOR, FEWEST, MOST, another, kicked
from sqlanon.search.variation import random_population


@settings(max_examples=150, deadline=None)
@given(spaces(), st.integers(0, 2**32 - 1), st.booleans())
def test_a_kick_is_some_moves_within_the_families(space: Space, seed: int, refining: bool) -> None:
    rng = np.random.default_rng(seed)
    for start in random_population(space, 5, rng):
        before = start.copy()
        found = kicked(space, start, rng, refining=refining)
        assert (start == before).all()
        assert is_valid(space, found)
        assert refining or (found <= start).all()


def test_a_kick_takes_between_the_fewest_and_the_most_moves() -> None:
    space, rng = Space([column(100, Family.CONTIGUOUS)]), np.random.default_rng(1)
    start = np.ones(space.positions, dtype=bool)
    gone = {int((~kicked(space, start, rng, refining=False)).sum()) for _ in range(300)}
    assert gone == set(range(FEWEST, MOST + 1))
    middle = np.arange(space.positions) % 2 == 0
    both = [kicked(space, middle, rng, refining=True) for _ in range(20)]
    assert any((row & ~middle).any() for row in both)
    assert any((middle & ~row).any() for row in both)


@pytest.mark.parametrize("refining", [False, True])
def test_nothing_to_undo(refining: bool) -> None:
    space, rng = Space([column(1)]), np.random.default_rng(1)
    assert kicked(space, bits(""), rng, refining=refining).shape == (0,)
    space = Space([column(3, Family.CONTIGUOUS)])
    assert not kicked(space, bits("00"), rng, refining=False).any()


def test_another_preference_is_for_more_or_less_bias() -> None:
    rng, given_ = np.random.default_rng(1), Preference(nwp=0.2, necd=0.1)
    found = [another(given_, rng) for _ in range(200)]
    assert {p.nwp for p in found} == {0.2}
    shares = [p.necd / given_.necd for p in found]
    assert 1 / FACTOR <= min(shares) < 0.6 < 1.7 < max(shares) <= FACTOR
