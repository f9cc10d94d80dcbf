"""Valid strings of a column: recognized, counted, drawn uniformly, and found nearby."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from genitor_cases import (
    WORKCLASS,
    all_strings,
    bits,
    column,
    is_valid,
    spaces,
    text,
    valid_strings,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from scheme_columns import columns

from sqlanon.domain.column import Bits, Column, Family
from sqlanon.domain.space import Space
from sqlanon.search.splits import Splits, below

DEEP = [  # a leaf beside deeper branches, and a node with one child
    ("a", "a", "left", "*"), ("b", "bc", "left", "*"), ("c", "bc", "left", "*"),
    ("d", "d", "right", "*"), ("e", "ef", "ef", "*"), ("f", "ef", "ef", "*"),
]  # fmt: skip

COLUMNS = {
    f"{name} {family}{' and NULL' if null else ''}": column(rows, family, null=null)
    for name, rows in {"workclass": WORKCLASS, "deep": DEEP, "five": 5, "one": 1}.items()
    for family in Family
    for null in (False, True)
}
COLUMNS["only NULL"] = column(0, null=True)
COLUMNS |= {
    f"{name} {family} levels {low} to {high}": column(rows, family, null=True, levels=(low, high))
    for name, rows, low, high in [
        *[("workclass", WORKCLASS, 0, 1), ("workclass", WORKCLASS, 1, None)],
        *[("deep", DEEP, 1, 2), ("deep", DEEP, 1, None), ("five", 5, 0, 0), ("five", 5, 1, 1)],
    ]
    for family in Family
}


@pytest.fixture(params=COLUMNS)
def tree(request: pytest.FixtureRequest) -> Column:
    return COLUMNS[request.param]


def test_the_workclass_tree_of_the_paper_has_nine_valid_partitions() -> None:
    tree = column(WORKCLASS)
    assert Splits.of_column(tree).count == 9
    assert [text(b) for b in all_strings(7) if Splits.of_column(tree).valid(b)] == [
        "0000000",
        *("0100110", "0100111", "0111110", "0111111"),
        *("1100110", "1100111", "1111110", "1111111"),
    ]


@settings(max_examples=150, deadline=None)
@given(columns(limits=True))
def test_valid_is_what_the_family_and_the_limits_allow(any_column: Column) -> None:
    splits = Splits.of_column(any_column)
    every = np.stack(all_strings(any_column.positions))
    allowed = {text(b) for b in valid_strings(any_column)}
    assert {text(b) for b in every[splits.valid(every)]} == allowed
    assert splits.count == len(allowed)


@settings(max_examples=100, deadline=None)
@given(spaces())
def test_changes_are_the_single_splits_that_lead_to_valid_strings(space: Space) -> None:
    splits = Splits.of_space(space)
    strings = splits.random(5, np.random.default_rng(1))
    made = splits.made(strings)
    assert (splits.bits(made) == strings).all()
    finer, coarser = splits.refining(made), splits.coarsening(made)
    assert not (finer & coarser).any()
    assert not (finer | coarser)[:, splits.choices :].any(), "what limits decide is not offered"
    for row in range(5):
        for split in range(splits.choices):
            changed = made[row].copy()
            changed[split] ^= True
            wanted = is_valid(space, splits.bits(changed))
            assert (finer if changed[split] else coarser)[row, split] == wanted
            assert not (coarser if changed[split] else finer)[row, split]


@settings(max_examples=60, deadline=None)
@given(columns(limits=True))
def test_rooted_keeps_what_has_all_splits_above_it(any_column: Column) -> None:
    splits, rng = Splits.of_column(any_column), np.random.default_rng(1)
    some = rng.random((20, len(splits))) < 0.7
    for given_row, kept in zip(some, splits.rooted(some), strict=True):
        for split in range(len(splits)):
            path, up = [split], splits.above[split]
            while up >= 0:
                path.append(up)
                up = splits.above[up]
            assert kept[split] == all(given_row[path])


def test_partitions_are_drawn_uniformly(tree: Column) -> None:
    valid = {text(b) for b in valid_strings(tree)}
    rng = np.random.default_rng(7)
    draws = Splits.of_column(tree).random(1000 * len(valid), rng)
    found = Counter(text(b) for b in draws)
    assert set(found) == valid
    assert all(850 < number < 1150 for number in found.values())  # 1000 ± 4.7 σ


@settings(max_examples=60, deadline=None)
@given(spaces(), st.integers(0, 99))
def test_random_individuals_are_valid_and_as_seeded(space: Space, seed: int) -> None:
    splits = Splits.of_space(space)
    strings = splits.random(3, np.random.default_rng(seed))
    assert all(is_valid(space, string) for string in strings)
    assert (strings == splits.random(3, np.random.default_rng(seed))).all()


def test_a_space_counts_the_product_of_its_columns() -> None:
    space = Space([column(WORKCLASS), column(DEEP, null=True), column(5, Family.CONTIGUOUS)])
    counts = [len(valid_strings(c)) for c in space.columns]
    assert Splits.of_space(space).count == np.prod(counts)


def test_counts_beyond_64_bits_are_exact() -> None:
    wide = column(200, Family.CONTIGUOUS, null=True)
    splits = Splits.of_column(wide)
    assert splits.count == 2**199 + 1
    draws = splits.random(400, np.random.default_rng(3))
    assert splits.valid(draws).all()
    assert draws[:, -1].all()
    assert abs(draws[:, :-1].mean() - 0.5) < 0.01


@pytest.mark.parametrize("bound", [1, 2, 3, 2**63 - 1, 2**63, 2**63 + 1, 2**64, 3 * 2**70])
def test_below_reaches_all_parts_of_its_range(bound: int) -> None:
    rng = np.random.default_rng(5)
    drawn = [below(rng, bound) for _ in range(300)]
    assert all(0 <= d < bound for d in drawn)
    assert {3 * d // bound for d in drawn} == {3 * d // bound for d in _thirds(bound)}


def _thirds(bound: int) -> set[int]:
    return {0, bound // 2, bound - 1}


@settings(max_examples=100, deadline=None)
@given(st.data(), columns(limits=True), st.integers(0, 99))
def test_closest_is_of_least_distance(data: st.DataObject, any_column: Column, seed: int) -> None:
    size = any_column.positions
    string = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), bool)
    found = Splits.of_column(any_column).closest(string, np.random.default_rng(seed))
    distances = {text(b): int((b != string).sum()) for b in valid_strings(any_column)}
    assert distances[text(found)] == min(distances.values())


def test_ties_for_the_closest_are_drawn_uniformly(tree: Column) -> None:
    """Of every string with ties, or of the first few with most of them."""
    splits, rng = Splits.of_column(tree), np.random.default_rng(11)
    tied = [(b, closest_by_hand(tree, b)) for b in all_strings(tree.positions)]
    for string, wanted in sorted(tied, key=lambda pair: -len(pair[1]))[:6]:
        draws = 400 * len(wanted)
        found = Counter(text(splits.closest(string, rng)) for _ in range(draws))
        assert set(found) == wanted
        assert all(300 < number < 500 for number in found.values())  # 400 ± 5 σ


def closest_by_hand(tree: Column, string: Bits) -> set[str]:
    distances = {text(b): int((b != string).sum()) for b in valid_strings(tree)}
    return {b for b, d in distances.items() if d == min(distances.values())}


def test_the_invalid_offspring_of_the_paper_has_two_closest() -> None:
    tree = column(WORKCLASS)
    assert closest_by_hand(tree, bits("0110111")) == {"0111111", "0100111"}
