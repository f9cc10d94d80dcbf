"""Moves and exchanges: exactly the small changes that the families allow, and enough of them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import numpy as np
import pytest
from genitor_cases import WORKCLASS, bits, column, text
from hypothesis import given, settings
from hypothesis import strategies as st
from move_cases import neighbours
from preference_cases import allowed, every_scheme, random_column

from sqlanon.domain.column import Bits, Column, Family
from sqlanon.domain.space import Space
from sqlanon.search.fronts import bits_of
from sqlanon.search.local.polish import MOST_EXCHANGES, exchanges_of
from sqlanon.search.splits import Splits

SEEDS = st.integers(0, 2**32 - 1)
Cuts = frozenset[int]


def small_space(seed: int, most: int = 5) -> Space:
    rng = random.Random(seed)
    return Space([random_column(rng, f"c{i}", most) for i in range(rng.randint(1, 3))])


def random_scheme(space: Space, seed: int) -> Bits:
    everything = bits_of(every_scheme(space))
    scheme: Bits = everything[seed % len(everything)]
    return scheme


def rows(space: Space, scheme: Bits, *, exchanges: bool) -> list[str]:
    return [text(row) for row in neighbours(space, scheme, exchanges=exchanges)]


# What the moves of a column are, from its partitions alone


def cut_sets(of: Column) -> list[Cuts]:
    return [frozenset(np.flatnonzero(row).tolist()) for row in allowed(of)]


def finer(of: Column, here: Cuts) -> list[Cuts]:
    """The partitions that refine this one with none in between; and for the first cut of a
    contiguous column the NULL that it sets apart is no step of its own."""
    above = [cuts for cuts in cut_sets(of) if here < cuts]
    nearest = [cuts for cuts in above if not any(here < other < cuts for other in above)]
    if of.family is Family.CONTIGUOUS and of.domain.has_null and not here:
        nearest += [cuts for cuts in above if len(cuts) == 2]
    return nearest


def coarser(of: Column, here: Cuts) -> list[Cuts]:
    below = [cuts for cuts in cut_sets(of) if cuts < here]
    return [cuts for cuts in below if not any(cuts < other < here for other in below)]


def with_a_cut_elsewhere(of: Column, here: Cuts) -> list[Cuts]:
    if of.family is not Family.CONTIGUOUS:
        return []
    return [cuts for cuts in cut_sets(of) if len(cuts - here) == len(here - cuts) == 1]


class ByHand:
    def __init__(self, space: Space, scheme: Bits) -> None:
        self.columns = space.columns
        parts = [scheme[space.segment(j)] for j in range(len(space.columns))]
        self.here = [frozenset(np.flatnonzero(part).tolist()) for part in parts]

    def moved(self, **parts: Cuts) -> str:
        """The scheme with other cuts in some columns, given as c0, c1, …"""
        cuts = [parts.get(f"c{j}", here) for j, here in enumerate(self.here)]
        return "".join(
            "1" if p in cut else "0"
            for of, cut in zip(self.columns, cuts, strict=True)
            for p in range(of.positions)
        )

    def moves(self) -> Iterator[str]:
        for j, (of, here) in enumerate(zip(self.columns, self.here, strict=True)):
            for part in [*finer(of, here), *coarser(of, here)]:
                yield self.moved(**{f"c{j}": part})

    def exchanges(self) -> Iterator[str]:
        each = list(enumerate(zip(self.columns, self.here, strict=True)))
        for (i, (one, x)), (j, (other, y)) in itertools.permutations(each, 2):
            for up, down in itertools.product(finer(one, x), coarser(other, y)):
                yield self.moved(**{f"c{i}": up, f"c{j}": down})
        for j, (of, here) in each:
            for part in with_a_cut_elsewhere(of, here):
                yield self.moved(**{f"c{j}": part})


@settings(max_examples=150, deadline=None)
@given(SEEDS)
def test_neighbours_are_the_schemes_one_move_away(seed: int) -> None:
    space = small_space(seed)
    scheme = random_scheme(space, seed)
    assert sorted(rows(space, scheme, exchanges=False)) == sorted(ByHand(space, scheme).moves())


@settings(max_examples=150, deadline=None)
@given(SEEDS)
def test_exchanges_refine_once_and_coarsen_once(seed: int) -> None:
    space = small_space(seed)
    scheme = random_scheme(space, seed)
    found = rows(space, scheme, exchanges=True)
    assert sorted(found) == sorted(ByHand(space, scheme).exchanges())
    valid = {text(row) for row in bits_of(every_scheme(space))}
    assert set(found) <= valid - {text(scheme)}


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_moves_lead_from_any_scheme_to_all(seed: int) -> None:
    space = small_space(seed, most=4)
    start = text(random_scheme(space, seed))
    seen, pending = {start}, [start]
    while pending:
        for found in rows(space, bits(pending.pop()), exchanges=False):
            if found not in seen:
                seen.add(found)
                pending.append(found)
    assert seen == {text(row) for row in bits_of(every_scheme(space))}


# By hand: the workclass tree AB CDE F GH, and three numbers, NULL last


def test_moves_in_a_tree() -> None:
    space = Space([column(WORKCLASS, null=True)])
    assert rows(space, bits("0000000 0"), exchanges=False) == ["00000001"]
    assert rows(space, bits("0000000 1"), exchanges=False) == ["00000000", "01001101"]
    assert rows(space, bits("0111110 1"), exchanges=False) == [
        "01001101",  # C, D and E merged; the root cannot be, nor can NULL join
        "11111101",  # A | B
        "01111111",  # G | H
    ]
    assert rows(space, bits("0111110 1"), exchanges=True) == []


def test_moves_of_cuts() -> None:
    space = Space([column(3, Family.CONTIGUOUS, null=True)])
    assert rows(space, bits("000"), exchanges=False) == ["001", "101", "011"]
    assert rows(space, bits("001"), exchanges=False) == ["000", "101", "011"]
    assert rows(space, bits("101"), exchanges=False) == ["001", "111"]
    assert rows(space, bits("101"), exchanges=True) == ["011"]
    assert rows(space, bits("001"), exchanges=True) == [], "a cut without NULL's is none"


def test_moves_of_levels() -> None:
    space = Space([column(WORKCLASS, Family.FULL_DOMAIN), column(2, Family.CONTIGUOUS)])
    assert rows(space, bits("0100110 1"), exchanges=False) == ["00000001", "01001100", "11111111"]
    assert rows(space, bits("0100110 1"), exchanges=True) == ["11111110"]


def test_nothing_to_move() -> None:
    space = Space([column(1), column(0, null=True)])
    for exchanges in (False, True):
        assert not len(neighbours(space, bits(""), exchanges=exchanges))


# Wide columns


@pytest.mark.parametrize(
    ("atoms", "cuts"), [(3_000, 1_500), (3_000, 1_499), (3_000, 2), (20_002, 1), (24_001, 12_000)]
)
def test_exchanges_of_wide_columns_are_thinned_evenly(atoms: int, cuts: int) -> None:
    space = Space([column(atoms, Family.CONTIGUOUS)])
    scheme = np.zeros(space.positions, dtype=bool)
    scheme[np.linspace(0, space.positions - 1, cuts).astype(int)] = True
    all_pairs = cuts * (space.positions - cuts)
    splits = Splits.of_space(space)
    made = splits.made(scheme)
    found = exchanges_of(space, made)
    assert 0.9 * min(all_pairs, MOST_EXCHANGES) < len(found) <= MOST_EXCHANGES
    assert made[found.coarser].all()
    assert not made[found.finer].any()
    times = np.bincount(np.append(found.finer, found.coarser), minlength=len(splits))
    for kind in (made, ~made):
        assert np.ptp(times[kind]) <= 1


def test_few_exchanges_are_all_there() -> None:
    space = Space([column(201, Family.CONTIGUOUS)])
    scheme = np.arange(200) % 2 == 0
    assert len(set(rows(space, scheme, exchanges=True))) == 100 * 100 == MOST_EXCHANGES
