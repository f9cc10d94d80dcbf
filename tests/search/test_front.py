"""The front of everything offered does not depend on how it was offered."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_scores import plain_scores

from sqlanon.domain.atoms import ValueDomain
from sqlanon.domain.column import Column
from sqlanon.domain.space import Space
from sqlanon.engines.protocol import Kind
from sqlanon.metrics.scores import Scores
from sqlanon.search.fronts import Front, bits_of, distinct

NUMBERS = np.arange(64)
BITS = (NUMBERS[:, None] >> np.arange(6)) & 1 == 1
SPACE = Space([Column(ValueDomain("c", Kind.INTEGER, tuple(range(7))))])


def scores_of(rows: list[int]) -> Scores:
    """Scores that carry the number of the scheme, to see that they stay with it."""
    mark = np.array(rows, dtype=np.int64)
    whole = dict.fromkeys(
        ("k", "k_max", "classes", "suppressed", "dcn", "glm_units", "rows_below"), mark
    )
    real = dict.fromkeys(("nwp", "necd", "glm", "glm_share", "ce"), mark.astype(np.float64))
    return plain_scores(**whole, **real)


Offer = tuple[int, int, int, int, int]  # scheme, two objectives, two ties


@given(
    st.lists(
        st.lists(st.tuples(*[st.integers(0, n) for n in (63, 4, 4, 1, 2)]), max_size=6), max_size=6
    )
)
def test_front_of_offers(offers: list[list[Offer]]) -> None:
    # A scheme has one point: what it was first given.
    points: dict[int, Offer] = {}
    front = Front(SPACE)
    for batch in offers:
        for offer in batch:
            points.setdefault(offer[0], offer)
        listed = [points[offer[0]] for offer in batch]
        rows = [offer[0] for offer in listed]
        numbers = np.array(listed, dtype=float).reshape(-1, 5)
        front.offer(
            SPACE.batch_of_bits(BITS[rows].reshape(-1, 6)),
            scores_of(rows),
            numbers[:, 1:3],
            numbers[:, 3:],
        )
    best: dict[tuple[int, int], tuple[int, ...]] = {}
    for _, x, y, *tie in points.values():
        if not any(a <= x and b <= y and (a, b) != (x, y) for _, a, b, *_ in points.values()):
            best[x, y] = min(tuple(tie), best.get((x, y), tuple(tie)))
    assert [tuple(p) for p in front.points.tolist()] == sorted(best)
    if len(front):
        schemes = front.scores.k.tolist()
        assert [points[s][1:] for s in schemes] == [
            (*point, *tie) for point, tie in sorted(best.items())
        ]
        assert (bits_of(front.solutions) == BITS[schemes]).all()


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 20))
def test_distinct_rows_are_those_of_numpy(seed: int, width: int) -> None:
    bits = np.random.default_rng(seed).random((30, width)) < 0.3
    assert distinct(bits).tolist() == np.unique(bits, axis=0).tolist()
