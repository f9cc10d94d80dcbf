"""What a change adds to NWP, against the NWP of the changed scheme."""

from __future__ import annotations

import numpy as np
import pytest
from preference_cases import ruled_problem

from sqlanon.search.local import screen as module
from sqlanon.search.local.anneal import Draw
from sqlanon.search.local.screen import Prices
from sqlanon.search.splits import Splits


@pytest.mark.parametrize("seed", range(10))
def test_nwp_and_changes_are_priced_as_they_are_measured(seed: int) -> None:
    with ruled_problem(seed, None) as problem:
        splits, prices = Splits.of_space(problem.space), Prices(problem)
        rng = np.random.default_rng(seed)
        for _ in range(3):  # from memory too
            bits = splits.random(6, rng)
            made, batch = splits.made(bits), problem.space.batch_of_bits(bits)
            measured = problem.evaluate(batch).nwp
            # NWP is rounded to twelve digits where it is measured.
            assert np.allclose(prices.of(batch), measured, rtol=0.0, atol=1e-12)
            drawn = Draw(problem.space).some(made, 20, rng)
            if not len(drawn):
                continue
            rows = drawn.changes.applied_to(splits, made[drawn.scheme])
            after = problem.evaluate(problem.space.batch_of_bits(splits.bits(rows))).nwp
            added = prices.added(batch, made, drawn.scheme, drawn.changes)
            assert np.allclose(measured[drawn.scheme] + added, after, rtol=0.0, atol=2e-12)


def test_a_full_memory_is_emptied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 3)
    test_nwp_and_changes_are_priced_as_they_are_measured(1)
