"""Random changes: every one is a move or an exchange, and every one can be drawn."""

from __future__ import annotations

import numpy as np
import pytest
from preference_cases import ruled_problem

from sqlanon.domain.column import Bits
from sqlanon.domain.space import Space
from sqlanon.search.local.anneal import Draw
from sqlanon.search.local.polish import exchanges_of, moves
from sqlanon.search.splits import Splits


def allowed(space: Space, made: Bits) -> set[tuple[int, int]]:
    parts = (moves(space, made), exchanges_of(space, made))
    pairs = [zip(p.finer.tolist(), p.coarser.tolist(), strict=True) for p in parts]
    return {pair for part in pairs for pair in part}


@pytest.mark.parametrize("seed", range(10))
def test_all_changes_and_no_others_are_drawn(seed: int) -> None:
    with ruled_problem(seed, None) as problem:
        space, splits = problem.space, Splits.of_space(problem.space)
        rng = np.random.default_rng(seed)
        bits = np.concatenate([splits.random(5, rng), np.zeros((1, space.positions), bool)])
        made = splits.made(bits)
        drawn = Draw(space).some(made, 4_000, rng)
        assert (np.diff(drawn.scheme) >= 0).all()
        for row in range(len(made)):
            mine = drawn.take(drawn.scheme == row)
            assert (np.diff(mine.number) > 0).all()
            found = set(
                zip(mine.changes.finer.tolist(), mine.changes.coarser.tolist(), strict=True)
            )
            wanted = allowed(space, made[row])
            assert found <= wanted
            assert len(wanted) > 60 or found == wanted
            rows = mine.changes.applied_to(splits, made[mine.scheme])
            assert splits.valid(splits.bits(rows)).all()
