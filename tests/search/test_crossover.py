"""The crossovers of the GENITOR paper: its examples, and what holds for all parents."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from genitor_cases import (
    WORKCLASS,
    bits,
    column,
    is_valid,
    spaces_with_parents,
    text,
    valid_strings,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.domain.column import Bits, Family
from sqlanon.domain.space import Space
from sqlanon.search.genitor import New, NewStrangers, Trad, exchanged, joined
from sqlanon.search.splits import Splits

Parents = tuple[Space, Bits, Bits]


class Script:
    """A generator that draws what it is told."""

    def __init__(self, *draws: object) -> None:
        self._draws: Iterator[object] = iter(draws)

    def integers(self, *_: object, **__: object) -> np.ndarray:
        return np.array(next(self._draws))


# AB-C-D-E-F-GH and AB-CDE-F-G-H
FIRST, SECOND = bits("01 1 1 1 1 0"), bits("01 0 0 1 1 1")


def test_new_crosses_the_workclass_example_after_its_fifth_bit() -> None:
    cross = New(Space([column(WORKCLASS)]))
    assert cross.points(FIRST, SECOND).tolist() == [5]
    child = cross(FIRST, SECOND, np.random.default_rng(0))
    assert child is not None
    assert text(child) == "0111111"  # AB-C-D-E-F-G-H


def test_reduced_surrogates_of_the_paper() -> None:
    """In the display of the paper x is 1 and y is 0; its 7th place disagrees with the text."""
    first = bits("10 1 1 0 1 0 1 1 1")
    second = bits("xy y y x y 0 x x x".replace("x", "1").replace("y", "0"))
    assert np.flatnonzero(first != second).tolist() == [2, 3, 4, 5]
    assert text(exchanged(first, second, 3, 5)) == "1010110111"
    free = Splits.of_space(Space([column(11, Family.CONTIGUOUS)]))
    # Points behind the first and the third of the four bits that differ.
    child = Trad(free)(first, second, Script([1, 3]))  # type: ignore[arg-type]
    assert child is not None
    assert text(child) == "1010110111"


@pytest.mark.parametrize(("tie", "repaired"), [(1, "0111111"), (0, "0100111")])
def test_trad_breaks_the_workclass_example_and_repairs_it(tie: int, repaired: str) -> None:
    """After bit 3, as the paper displays it: C-DE is no partition of the tree."""
    splits = Splits.of_space(Space([column(WORKCLASS)]))
    assert text(joined(FIRST, SECOND, 3)) == "0110111"
    assert not splits.valid(joined(FIRST, SECOND, 3))
    # The bits that differ are 3, 4 and 7: points behind the first of them and at the end.
    child = Trad(splits)(FIRST, SECOND, Script([1, 3], tie))  # type: ignore[arg-type]
    assert child is not None
    assert text(child) == repaired


def test_trad_never_exchanges_nothing_or_everything() -> None:
    free = Splits.of_space(Space([column(4, Family.CONTIGUOUS)]))
    child = Trad(free)(bits("000"), bits("101"), Script([1, 1], [2, 0], [1, 0]))  # type: ignore[arg-type]
    assert child is not None
    assert text(child) == "100"
    assert Trad(free)(bits("000"), bits("010"), Script()) is None  # type: ignore[arg-type]


def test_borders_between_columns_are_points() -> None:
    cross = New(Space([column(3, name="a"), column(1, name="b"), column(3, name="c")]))
    assert cross.points(bits("11 00"), bits("00 11")).tolist() == [2]
    assert cross.points(bits("11 00"), bits("11 11")).tolist() == []


def test_full_domain_columns_are_crossed_at_their_borders_only() -> None:
    level = column(WORKCLASS, Family.FULL_DOMAIN)
    cross = New(Space([level, column(3)]))
    fine, coarse = bits("1111111 00"), bits("0100110 11")
    assert cross.points(fine, coarse).tolist() == [7]
    assert New(Space([level])).points(fine[:7], coarse[:7]).tolist() == []


def test_points_between_the_same_disagreements_count_once() -> None:
    cross = New(Space([column(9, Family.CONTIGUOUS)]))
    assert cross.points(bits("10 111 0 1 0"), bits("11 111 1 1 1")).tolist() == [3, 7]


@settings(max_examples=200, deadline=None)
@given(spaces_with_parents(), st.integers(0, 99))
def test_new_yields_valid_and_new_children(case: Parents, seed: int) -> None:
    space, first, second = case
    child = New(space)(first, second, np.random.default_rng(seed))
    possible = {text(c) for c in children_by_hand(space, first, second)}
    assert possible or child is None
    if child is not None:
        assert is_valid(space, child)
    assert possible.isdisjoint({text(first), text(second)})
    points = New(space).points(first, second).tolist()
    assert sorted(text(joined(first, second, p)) for p in points) == sorted(possible)
    assert (child is None and not points) or text(child) in possible


def children_by_hand(space: Space, first: Bits, second: Bits) -> list[Bits]:
    """One child for each eligible point, by the words of the paper; borders are bits."""
    # One pair of bits a position, preceded in every column by the border's (1, 1).
    pairs: list[tuple[bool, bool, int, bool]] = []
    for j, each in enumerate(space.columns):
        offset = int(space.offsets[j])
        pairs.append((True, True, offset, True))
        inside = each.family is not Family.FULL_DOMAIN
        positions = range(offset, offset + each.positions)
        pairs += [(bool(first[p]), bool(second[p]), p + 1, inside) for p in positions]
    found: dict[bytes, Bits] = {}
    for i, (a, b, point, allowed) in enumerate(pairs):
        agree = [x == y for x, y, *_ in pairs]
        after_both = False in agree[:i] and True in agree[: agree[:i].index(False)]
        if a and b and allowed and after_both and False in agree[i + 1 :]:
            child = np.array([*first[:point], *second[point:]], dtype=bool)
            found[child.tobytes()] = child
    return list(found.values())


@settings(max_examples=100, deadline=None)
@given(spaces_with_parents(), st.integers(0, 99))
def test_trad_repairs_to_a_closest_valid_string(case: Parents, seed: int) -> None:
    space, first, second = case
    splits, broken = Splits.of_space(space), []

    class Recording(Splits):
        def closest(self, string: Bits, rng: np.random.Generator) -> Bits:
            broken.append(string)
            return super().closest(string, rng)

    cross = Trad(Recording(splits.at, splits.above, splits.decided))
    child = cross(first, second, np.random.default_rng(seed))
    assert (child is None) == ((first != second).sum() < 2)
    if child is not None:
        assert is_valid(space, child)
        assert text(broken[0]) not in (text(first), text(second))
        assert ((broken[0] == first) | (broken[0] == second)).all()
        least = sum(
            min((b != broken[0][space.segment(j)]).sum() for b in valid_strings(c))
            for j, c in enumerate(space.columns)
        )
        assert (child != broken[0]).sum() == least


@settings(max_examples=200, deadline=None)
@given(spaces_with_parents(), st.integers(0, 99))
def test_new_mutates_one_column(case: Parents, seed: int) -> None:
    space, parent, _ = case
    child = New(space).mutated(parent, np.random.default_rng(seed))
    assert is_valid(space, child)
    changed = [j for j in range(len(space.columns)) if (child != parent)[space.segment(j)].any()]
    assert len(changed) <= 1
    if changed and space.columns[changed[0]].family is Family.CONTIGUOUS:
        # The first cut of a column with NULL sets NULL apart too.
        most = 2 if space.columns[changed[0]].domain.has_null else 1
        assert (child != parent).sum() <= most


@pytest.mark.parametrize(
    ("position", "mutant"),
    [
        (7, "0111110 10"),  # the column of ages is contiguous: its bit is flipped
        (8, "0111110 01"),
        # In the tree the parent is crossed with a stranger, AB-CDE-F-G-H with the parent's
        # ages: the two share cuts after C-D-E, behind the first disagreement, as in the paper.
        (3, "0111111 00"),
    ],
)
def test_new_flips_where_any_bits_are_valid_and_crosses_elsewhere(
    position: int, mutant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = Space([column(WORKCLASS), column(3, Family.CONTIGUOUS, name="age")])
    stranger = bits("0100111 11")
    monkeypatch.setattr(Splits, "random", lambda *_: stranger[None])
    # The second draw is the point, of one.
    child = New(space).mutated(bits("0111110 00"), Script(position, 0))  # type: ignore[arg-type]
    assert text(child) == mutant.replace(" ", "")


@settings(max_examples=100, deadline=None)
@given(spaces_with_parents(), st.integers(0, 99))
def test_strangers_are_crossed_with_the_whole_string(case: Parents, seed: int) -> None:
    space, parent, _ = case
    stranger = Splits.of_space(space).random(1, np.random.default_rng(seed))[0]
    child = NewStrangers(space).mutated(parent, np.random.default_rng(seed))
    assert is_valid(space, child)
    assert ((child == parent) | (child == stranger)).all()
    assert (child != parent).any() == (stranger != parent).any()


@settings(max_examples=200, deadline=None)
@given(spaces_with_parents(), st.integers(0, 99))
def test_trad_mutates_by_a_flip_and_a_repair(case: Parents, seed: int) -> None:
    """The parent is one bit away from what the flip made, so the repair goes no further."""
    space, parent, _ = case
    child = Trad(Splits.of_space(space)).mutated(parent, np.random.default_rng(seed))
    assert is_valid(space, child)
    assert (child != parent).sum() <= 2
    assert sum((child != parent)[space.segment(j)].any() for j in range(len(space.columns))) <= 1


@pytest.mark.parametrize(
    ("draws", "mutant"),
    [
        ((0,), "1100110"),  # A-B is valid
        ((1,), "0100110"),  # without the cut before C one node of the tree is broken: mended
        ((2, 0), "0100110"),  # C-DE is none: back to the parent, or
        ((2, 1), "0111110"),  # on to C-D-E, as close
    ],
)
def test_a_flip_in_a_tree_may_do_nothing_or_more_than_a_flip(
    draws: tuple[int, ...], mutant: str
) -> None:
    """What the paper says of mutation in its section 3.2, from AB-CDE-F-GH."""
    splits = Splits.of_space(Space([column(WORKCLASS)]))
    child = Trad(splits).mutated(bits("0100110"), Script(*draws))  # type: ignore[arg-type]
    assert text(child) == mutant


@pytest.mark.parametrize("cross", [New, NewStrangers])
def test_without_a_point_the_stranger_replaces_the_parent(
    cross: type[New], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is cut in AB-…-GH as a whole, so no cut is shared."""
    monkeypatch.setattr(Splits, "random", lambda *_: bits("0100111")[None])
    child = cross(Space([column(WORKCLASS)])).mutated(bits("0000000"), Script(2))  # type: ignore[arg-type]
    assert text(child) == "0100111"


def test_what_limits_decide_is_not_flipped() -> None:
    fixed = Space([column(WORKCLASS, levels=(1, 1)), column(3, Family.CONTIGUOUS)])
    trad = Trad(Splits.of_space(fixed))
    child = trad.mutated(bits("0100110 00"), Script(1))  # type: ignore[arg-type]
    assert text(child) == "010011001"
    new = New(fixed)
    assert text(new.mutated(bits("0100110 00"), Script(1))) == "010011001"  # type: ignore[arg-type]
    decided = Space([column(WORKCLASS, levels=(1, 1))])
    assert text(New(decided).mutated(bits("0100110"), Script())) == "0100110"  # type: ignore[arg-type]
    trad = Trad(Splits.of_space(decided))
    assert text(trad.mutated(bits("0100110"), Script())) == "0100110"  # type: ignore[arg-type]
