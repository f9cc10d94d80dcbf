"""Columns: levels, NULL, and which partitions their families contain.

Expected values are written by hand or counted over all bit strings.
"""

from __future__ import annotations

from itertools import product

import pytest
from hierarchy_rows import valid_partitions
from hypothesis import given, settings
from hypothesis import strategies as st
from scheme_columns import allows, is_taxonomic, trees

from sqlanon.domain.atoms import IntervalDomain, ValueDomain
from sqlanon.domain.column import Column, Family, Partition
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.engines.protocol import Kind
from sqlanon.errors import HierarchyError

# The workclass tree of the taxonomic paper (002), its values abbreviated to letters.
WORKCLASS = Hierarchy.from_rows(
    [
        ["A", "Self-emp", "*"],
        ["B", "Self-emp", "*"],
        ["C", "Gov", "*"],
        ["D", "Gov", "*"],
        ["E", "Gov", "*"],
        ["F", "F", "*"],
        ["G", "Unpaid", "*"],
        ["H", "Unpaid", "*"],
    ],
    "workclass",
)


def text_column(
    letters: str,
    hierarchy: Hierarchy | None = None,
    family: Family = Family.TAXONOMIC,
    *,
    null: bool = False,
) -> Column:
    return Column(ValueDomain("work", Kind.TEXT, tuple(letters), null), hierarchy, family)


def strings(column: Column) -> list[Partition]:
    """Every partition of the column, by all its bit strings."""
    return [Partition.from_bits(bits) for bits in product((False, True), repeat=column.positions)]


def cuts_of_levels(column: Column) -> list[tuple[int, ...]]:
    return [level.cuts for level in column.levels]


def test_levels_of_the_paper() -> None:
    column = text_column("ABCDEFGH", WORKCLASS)
    assert (column.name, column.size, column.positions, column.height) == ("work", 8, 7, 2)
    assert cuts_of_levels(column) == [(0, 1, 2, 3, 4, 5, 6), (1, 4, 5), ()]


def test_levels_with_null() -> None:
    """NULL stands apart on every level below the root, and is merged in the root."""
    column = text_column("ABCDEFGH", WORKCLASS, null=True)
    assert (column.size, column.positions, column.height) == (9, 8, 2)
    assert cuts_of_levels(column) == [(0, 1, 2, 3, 4, 5, 6, 7), (1, 4, 5, 7), ()]


def test_a_level_that_already_holds_all_values() -> None:
    tree = Hierarchy.from_rows([["A", "all", "*"], ["B", "all", "*"]], "tree")
    assert cuts_of_levels(text_column("AB", tree)) == [(0,), (), ()]
    assert cuts_of_levels(text_column("AB", tree, null=True)) == [(0, 1), (1,), ()]
    assert text_column("AB", tree).level_of(Partition(2, ())) == 2, "the highest"
    assert text_column("AB", tree, null=True).level_of(Partition(3, (1,))) == 1
    assert text_column("AB", tree, null=True).level_of(Partition(3, (0,))) is None


def test_flat_columns() -> None:
    assert cuts_of_levels(text_column("ABC")) == [(0, 1), ()]
    assert cuts_of_levels(text_column("ABC", null=True)) == [(0, 1, 2), ()]
    assert cuts_of_levels(text_column("A")) == [()]
    assert cuts_of_levels(text_column("A", null=True)) == [(0,), ()]
    assert cuts_of_levels(text_column("", null=True)) == [()]
    assert text_column("", null=True).height == 0


def test_a_hierarchy_without_steps() -> None:
    single = Hierarchy.from_rows([["A"]], "single")
    assert single.height == 0
    assert cuts_of_levels(text_column("A", single)) == [()]
    column = text_column("A", single, null=True)
    assert cuts_of_levels(column) == [(0,), ()]
    assert column.height == 1


def test_a_single_value_under_a_root() -> None:
    tree = Hierarchy.from_rows([["A", "*"]], "tree")
    assert cuts_of_levels(text_column("A", tree)) == [(), ()]
    assert cuts_of_levels(text_column("A", tree, null=True)) == [(0,), ()]


def test_hierarchy_and_domain_have_the_same_atoms() -> None:
    with pytest.raises(HierarchyError) as caught:
        text_column("ABC", WORKCLASS)
    assert str(caught.value) == (
        "column 'work': the hierarchy workclass has 8 leaves, the domain 3 atoms"
    )


def test_intervals_have_levels_too() -> None:
    tree = Hierarchy.from_rows(
        [["0", "young", "*"], ["30", "young", "*"], ["60", "old", "*"]], "ages"
    )
    column = Column(IntervalDomain("age", Kind.INTEGER, (0, 30, 60, 90), True), tree)
    assert cuts_of_levels(column) == [(0, 1, 2), (1, 2), ()]


@pytest.mark.parametrize(
    ("cuts", "contiguous", "taxonomic", "full_domain"),
    [
        ((), True, True, True),
        ((1, 4, 5), True, True, True),
        ((0, 1, 2, 3, 4, 5, 6), True, True, True),
        ((0, 1, 4, 5), True, True, False),
        ((1, 4, 5, 6), True, True, False),
        ((1, 2, 4, 5), True, False, False),
        ((1,), True, False, False),
        ((4, 5), True, False, False),
        ((3,), True, False, False),
    ],
)
def test_families(
    cuts: tuple[int, ...], contiguous: bool, taxonomic: bool, full_domain: bool
) -> None:
    partition = Partition(8, cuts)
    found = [
        allows(text_column("ABCDEFGH", WORKCLASS, family), partition)
        for family in (Family.CONTIGUOUS, Family.TAXONOMIC, Family.FULL_DOMAIN)
    ]
    assert found == [contiguous, taxonomic, full_domain]


@pytest.mark.parametrize(
    ("cuts", "contiguous", "taxonomic", "full_domain"),
    [
        ((), True, True, True),
        ((2,), True, True, False),
        ((0, 1, 2), True, True, True),
        ((0, 2), True, False, False),
        ((0,), False, False, False),
        ((0, 1), False, False, False),
    ],
)
def test_families_of_a_flat_column_with_null(
    cuts: tuple[int, ...], contiguous: bool, taxonomic: bool, full_domain: bool
) -> None:
    partition = Partition(4, cuts)
    found = [
        allows(text_column("ABC", None, family, null=True), partition)
        for family in (Family.CONTIGUOUS, Family.TAXONOMIC, Family.FULL_DOMAIN)
    ]
    assert found == [contiguous, taxonomic, full_domain]


def test_the_papers_tree_has_nine_partitions() -> None:
    """Of 128 bit strings: the root, or each of the three inner nodes whole or divided."""
    column = text_column("ABCDEFGH", WORKCLASS)
    assert len(strings(column)) == 128
    assert sum(is_taxonomic(column, partition) for partition in strings(column)) == 9
    with_null = text_column("ABCDEFGH", WORKCLASS, null=True)
    assert sum(is_taxonomic(with_null, partition) for partition in strings(with_null)) == 10


@given(st.data(), st.integers(1, 7), st.booleans())
@settings(max_examples=60)
def test_taxonomic_partitions_are_counted(data: st.DataObject, width: int, null: bool) -> None:
    tree = data.draw(trees("ABCDEFG"[:width]))
    column = text_column("ABCDEFG"[:width], tree, null=null)
    valid = [partition for partition in strings(column) if is_taxonomic(column, partition)]
    # With NULL: each of the tree's own partitions with NULL apart, and everything merged.
    assert len(valid) == valid_partitions(tree) + null
    assert set(column.levels) <= set(valid)


def test_columns_without_positions() -> None:
    column = text_column("A")
    assert column.positions == 0
    assert column.is_canonical(Partition.whole(1))
    assert is_taxonomic(column, Partition.whole(1))
