"""The memory of infeasible schemes against plain sets."""

from __future__ import annotations

import numpy as np
import pytest
from preference_cases import ruled_problem

from sqlanon.search.local.screen import MOST_ADDED, Infeasible, is_near, packed, refines_any
from sqlanon.search.splits import Splits


@pytest.mark.parametrize("width", [1, 7, 63, 64, 65, 130])
def test_words_tell_what_sets_tell(width: int) -> None:
    rng = np.random.default_rng(width)
    rows = rng.random((40, width)) < 0.7
    known = rng.random((15, width)) < 0.2
    wanted = [any(not (one & ~row).any() for one in known) for row in rows]
    assert refines_any(packed(rows), packed(known)).tolist() == wanted
    assert not refines_any(packed(rows), packed(known[:0])).any()


def test_near_is_what_lacks_few_however_many_splits_there_are() -> None:
    """256 and more are counted too: a byte does not hold them."""
    known = np.zeros((6, 600), dtype=bool)
    for row, absent in enumerate((0, MOST_ADDED, MOST_ADDED + 1, 255, 256, 512)):
        known[row, :absent] = True
    wanted = [True, True, False, False, False, False]
    assert is_near(packed(known), np.zeros(600, dtype=bool)).tolist() == wanted


@pytest.mark.parametrize("seed", range(6))
def test_the_latest_are_kept_and_those_near_are_given(seed: int) -> None:
    with ruled_problem(seed, 0.0) as problem:
        splits = Splits.of_space(problem.space)
        memory = Infeasible(splits, most=5)
        rng = np.random.default_rng(seed)
        assert memory.near(splits.made(splits.random(1, rng)[0])).size == 0
        made = splits.made(splits.random(9, rng))
        memory.learn(made[:2])
        memory.learn(made[2:])
        for here in splits.made(splits.random(9, rng)):
            near = [row for row in made[-5:] if (row & ~here).sum() <= MOST_ADDED]
            wanted = packed(np.array(near, dtype=bool).reshape(-1, len(splits)))
            assert memory.near(here).tolist() == wanted.tolist()
