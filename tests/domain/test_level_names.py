"""Which level's names groups carry, and that none below min_level ever shows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scheme_columns import columns, partitions, trees

from sqlanon.domain.atoms import IntervalDomain, ValueDomain
from sqlanon.domain.column import Column, Partition
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.hierarchy_builders import intervals
from sqlanon.domain.presentation import group_labels
from sqlanon.engines.protocol import Kind
from sqlanon.errors import SchemeError

DECADES = [
    ["1931-05-01", "1930s", "1900-1999", "*"],
    ["1940-01-19", "1940s", "1900-1999", "*"],
    ["1949-03-02", "1940s", "1900-1999", "*"],
    ["2003-07-08", "2000s", "2000-2099", "*"],
]
LONE = DECADES[:1]


def births(rows: list[list[str]] = DECADES, least: int = 0, *, null: bool = False) -> Column:
    tree = Hierarchy.from_rows(rows, "decades")
    values = tree.parsed(Kind.DATE)
    return Column(ValueDomain("birth", Kind.DATE, values, null), tree, min_level=least)


def named(column: Column, *cuts: int, open_ends: bool = False) -> list[str | None]:
    return list(group_labels(column, Partition(column.size, cuts), open_ends=open_ends))


def test_a_level_is_called_by_its_own_names() -> None:
    assert named(births(), 0, 2) == ["1930s", "1940s", "2000s"]
    assert named(births(), 2) == ["1900-1999", "2000-2099"]
    assert named(births(), 0, 1, 2) == ["1931-05-01", "1940-01-19", "1949-03-02", "2003-07-08"]
    assert named(births(null=True), 0, 2, 3) == ["1930s", "1940s", "2000s", None]


def test_a_taxonomic_cut_takes_the_lowest_names() -> None:
    assert named(births(), 0, 1, 2) == [row[0] for row in DECADES]
    assert named(births(DECADES[:3]), 0) == ["1930s", "1940s"], "a level"
    mixed = [["a", "x", "*"], ["b", "y", "*"], ["c", "y", "*"], ["d", "z", "*"], ["e", "z", "*"]]
    tree = Hierarchy.from_rows(mixed, "t")
    column = Column(ValueDomain("c", Kind.TEXT, tree.leaves), tree)
    assert named(column, 0, 2, 3) == ["a", "y", "d", "e"]
    assert named(replace(column, min_level=1), 0, 2) == ["x", "y", "z"]


def test_of_equal_levels_the_lowest_that_the_limit_allows() -> None:
    alone = [DECADES[0], DECADES[1], DECADES[3]]
    assert named(births(alone), 0, 1) == ["1931-05-01", "1940-01-19", "2003-07-08"]
    assert named(births(alone, 1), 0, 1) == ["1930s", "1940s", "2000s"]
    assert named(births(LONE)) == ["1931-05-01"]
    shown = [named(births(LONE, least))[0] for least in (1, 2, 3)]
    assert shown == ["1930s", "1900-1999", "*"]
    assert named(births(LONE, 1, null=True), 0) == ["1930s", None]
    assert named(births(LONE, 3, null=True)) == ["*"], "only the root hides NULL"


def test_a_lone_value_without_a_tree_is_hidden_too() -> None:
    for tree in (None, Hierarchy.from_rows([["A"]], "t")):
        column = Column(ValueDomain("c", Kind.TEXT, ("A",)), tree)
        assert named(column) == ["A"]
        assert named(replace(column, min_level=1)) == ["*"]
    width = Column(IntervalDomain("c", Kind.INTEGER, (0, 5)), min_level=1)
    assert named(width) == ["*"]
    nothing = Column(ValueDomain("c", Kind.TEXT, (), has_null=True), min_level=1)
    assert named(nothing) == [None]


def test_neighbours_that_are_no_node_are_written_by_names() -> None:
    assert named(births(least=1), 0) == ["1930s", "[1940s, 2000s]"]
    assert named(births([*DECADES[:3], ["2013-01-01", "2010s", "2000-2099", "*"]], 1), 2) == [
        "1900-1999", "2000-2099",
    ]  # fmt: skip
    more = [*DECADES, ["2013-01-01", "2010s", "2000-2099", "*"]]
    assert named(births(more, 1), 0, 3) == ["1930s", "[1940s, 2010s)", "2010s"]
    assert named(births(more, 1), 3, open_ends=True) == ["<2010s", "2010s"]
    assert named(births(more, 1), 0, open_ends=True) == ["1930s", "1940s+"]
    tree = Hierarchy.from_rows([["a", "x, y", "*"], ["b", "w", "*"], ["c", "z", "*"]], "t")
    column = Column(ValueDomain("c", Kind.TEXT, tree.leaves), tree, min_level=1)
    assert named(column, 1) == ['{"x, y", w}', "z"]


def test_neighbouring_intervals_of_numbers_are_one_interval() -> None:
    ages = (21, 22, 26, 33, 38, 41)
    tree = intervals(ages, Kind.INTEGER, [5])
    column = Column(ValueDomain("age", Kind.INTEGER, ages), tree, min_level=1)
    assert named(column, 2, 3) == ["[20, 30)", "[30, 35)", "[35, 45)"]
    assert named(column, 2, 3, open_ends=True) == ["<30", "[30, 35)", "35+"]


def test_what_is_no_number_is_no_part_of_an_interval() -> None:
    tree = intervals((1.0, 2.0, 6.0, float("inf")), Kind.FLOAT, [5])
    column = Column(ValueDomain("c", Kind.FLOAT, (1.0, 2.0, 6.0, float("inf"))), tree, min_level=1)
    assert named(column, 1) == ["[0, 5)", '{"[5, 10)", inf}']
    rows = [["1", "[7, 8)", "*"], ["2", "[8, 9)", "*"], ["3", "x", "*"]]
    odd = Hierarchy.from_rows(rows, "t")
    column = Column(ValueDomain("c", Kind.INTEGER, (1, 2, 3)), odd, min_level=1)
    assert named(column, 1) == ['{"[7, 8)", "[8, 9)"}', "x"], "names that are not true of 1 and 2"


def test_equal_names_of_different_levels_are_spelled_by_names() -> None:
    rows = [
        ["a", "n", "u", "*"], ["b", "m", "n", "*"], ["c", "o", "n", "*"], ["d", "p", "p", "*"],
        ["e", "q", "p", "*"],
    ]  # fmt: skip
    tree = Hierarchy.from_rows(rows, "t")
    column = Column(ValueDomain("c", Kind.TEXT, tree.leaves), tree, min_level=1)
    assert named(column, 0, 2, 3) == ["{n}", "{m, o}", "p", "q"]
    assert named(replace(column, min_level=0), 0, 1, 2, 3) == ["a", "b", "c", "d", "e"]


def test_ranges_are_written_by_their_declared_ends() -> None:
    domain = IntervalDomain.of_range("age", Kind.INTEGER, 0, 35, 5)
    column = Column(domain, intervals(domain.left_ends, Kind.INTEGER, [10]), min_level=1)
    assert named(column, 1, 3, 5) == ["[0, 10)", "[10, 20)", "[20, 30)", "[30, 35]"]
    assert named(column, 3) == ["[0, 20)", "[20, 35]"]
    rows = [["0", "young", "*"], ["5", "young", "*"], ["9", "old", "*"]]
    column = Column(IntervalDomain("c", Kind.INTEGER, (0, 5, 9, 12)), Hierarchy.from_rows(rows, ""))
    assert named(column, 1) == ["young", "old"]
    assert named(column, 1, open_ends=True) == ["young", "old"]


def test_a_partition_beyond_the_limits_has_no_labels() -> None:
    with pytest.raises(SchemeError, match="'birth': the partition is finer than min_level 1"):
        named(births(least=1), 0, 1, 2)


LEAVES = ["a", "b", "c", "d", "e", "f"]


def within(column: Column, partition: Partition) -> Partition:
    """The partition without the cuts that min_level does not have."""
    allowed = set(column.finest.cuts)
    cuts = sorted(set(partition.cuts) & allowed)
    if cuts and column.domain.has_null:
        cuts = sorted({*cuts, column.positions - 1})
    return Partition(column.size, tuple(cuts))


@settings(max_examples=300, deadline=None)
@given(st.data(), st.integers(1, 6), st.booleans(), st.booleans(), st.booleans())
def test_no_atom_shows_below_min_level(
    data: st.DataObject, width: int, null: bool, numbers: bool, open_ends: bool
) -> None:
    leaves = [str(n) for n in range(width)] if numbers else LEAVES[:width]
    tree = data.draw(trees(leaves, st.sampled_from([*leaves, "x", "y", "z", "v", "w", "*"])))
    kind = Kind.INTEGER if numbers else Kind.TEXT
    domain = ValueDomain("c", kind, tree.parsed(kind), null)
    least = data.draw(st.integers(1, max(tree.height, 1)))
    column = Column(domain, tree, min_level=least)
    partition = within(column, data.draw(partitions(column)))
    labels = group_labels(column, partition, open_ends=open_ends)
    assert len(set(labels)) == len(labels)
    above = {name for level in tree.levels[least:] for name in level}
    assert {label for label in labels if label in tree.leaves} <= above
    for (start, stop), label in zip(partition.runs, labels, strict=True):
        if stop <= column.domain.width and label in tree.leaves:
            at = {level[start] for level in tree.levels[least:]}
            assert label in at, "it names a node of this group, not some other value"


@settings(max_examples=150, deadline=None)
@given(st.data(), columns(limits=True), st.booleans())
def test_labels_are_distinct_under_limits(
    data: st.DataObject, column: Column, open_ends: bool
) -> None:
    for level in range(column.limits[0], column.limits[1] + 1):
        labels = group_labels(column, column.levels[level], open_ends=open_ends)
        assert len(set(labels)) == len(labels)
    if column.max_level is None:
        partition = within(column, data.draw(partitions(column)))
        labels = group_labels(column, partition, open_ends=open_ends)
        assert len(set(labels)) == len(labels) == len(partition)
