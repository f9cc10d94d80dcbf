"""Hierarchies from rows: order, nodes, counts and refusals.

Expected values are calculated by hand, or by enumeration of all bit strings.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from decimal import Decimal

import pytest
from hierarchy_rows import Node, Rows, check_tree, nodes_of, ranges, tree_rows, valid_partitions
from hypothesis import given
from hypothesis import strategies as st

from sqlanon import resources
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.hierarchy_files import read
from sqlanon.engines.protocol import Kind
from sqlanon.errors import HierarchyError

# The workclass tree of the taxonomic paper (002), its values abbreviated to letters.
PAPER = [
    ["A", "Self-emp", "*"],
    ["B", "Self-emp", "*"],
    ["C", "Gov", "*"],
    ["D", "Gov", "*"],
    ["E", "Gov", "*"],
    ["F", "F", "*"],
    ["G", "Unpaid", "*"],
    ["H", "Unpaid", "*"],
]


def refusal(rows: list[list[str | None]] | Rows) -> str:
    with pytest.raises(HierarchyError) as caught:
        Hierarchy.from_rows(rows, "work.csv")
    return str(caught.value)


def test_paper_tree_has_nine_partitions() -> None:
    hierarchy = Hierarchy.from_rows(PAPER, "paper 002")
    assert hierarchy.height == 2
    assert valid_partitions(hierarchy) == 9


def test_nodes_of_the_paper_tree() -> None:
    """F covers the same leaves on levels 0 and 1, so it is one node, on level 0."""
    hierarchy = Hierarchy.from_rows(PAPER, "paper 002")
    assert nodes_of(hierarchy) == (
        Node(0, 8, "*", 2),
        Node(0, 2, "Self-emp", 1),
        Node(0, 1, "A", 0),
        Node(1, 2, "B", 0),
        Node(2, 5, "Gov", 1),
        Node(2, 3, "C", 0),
        Node(3, 4, "D", 0),
        Node(4, 5, "E", 0),
        Node(5, 6, "F", 0),
        Node(6, 8, "Unpaid", 1),
        Node(6, 7, "G", 0),
        Node(7, 8, "H", 0),
    )
    assert hierarchy.label_of(2, 5) == "Gov"
    assert hierarchy.label_of(5, 6) == "F"
    assert hierarchy.label_of(1, 3) is None


def test_groups() -> None:
    hierarchy = Hierarchy.from_rows(PAPER, "paper 002")
    assert hierarchy.groups(0) == (0, 1, 2, 3, 4, 5, 6, 7)
    assert hierarchy.groups(1) == (0, 0, 1, 1, 1, 2, 3, 3)
    assert hierarchy.groups(2) == (0,) * 8


@pytest.mark.parametrize("level", [-1, 3])
def test_no_such_level(level: int) -> None:
    with pytest.raises(HierarchyError, match=rf"no level {level}\. Choose one from 0 .* to 2"):
        Hierarchy.from_rows(PAPER, "paper 002").groups(level)


def test_siblings_are_brought_together_in_order_of_appearance() -> None:
    rows = [["b1", "B", "*"], ["a1", "A", "*"], ["b2", "B", "*"], ["c", "C", "*"], ["a0", "A", "*"]]
    hierarchy = Hierarchy.from_rows(rows, "rows")
    assert hierarchy.leaves == ("b1", "b2", "a1", "a0", "c")
    assert hierarchy.levels[1] == ("B", "B", "A", "A", "C")


def test_one_text_may_name_nodes_of_different_levels() -> None:
    """The leaf x, the group x of y and z, and the root x are three nodes."""
    rows = [["x", "w", "x"], ["y", "x", "x"], ["z", "x", "x"]]
    hierarchy = Hierarchy.from_rows(rows, "rows")
    assert nodes_of(hierarchy) == (
        Node(0, 3, "x", 2),
        Node(0, 1, "x", 0),
        Node(1, 3, "x", 1),
        Node(1, 2, "y", 0),
        Node(2, 3, "z", 0),
    )
    assert valid_partitions(hierarchy) == 3


def test_a_leaf_that_is_the_root() -> None:
    hierarchy = Hierarchy.from_rows([["only"]], "rows")
    assert (hierarchy.height, nodes_of(hierarchy)) == (0, (Node(0, 1, "only", 0),))


def test_a_chain_is_one_node_with_the_lowest_label() -> None:
    hierarchy = Hierarchy.from_rows([["a", "G", "H", "*"], ["b", "G", "H", "*"]], "rows")
    assert nodes_of(hierarchy)[0] == Node(0, 2, "G", 1)
    assert hierarchy.label_of(0, 2) == "G"


def test_no_rows() -> None:
    assert refusal([]) == "Hierarchy work.csv has no rows. Give it one row per value."


def test_a_row_without_levels() -> None:
    assert "work.csv: row 1 has no levels" in refusal([[]])


def test_rows_of_different_length() -> None:
    message = refusal([["a", "*"], ["b", "*"], ["c", "C", "*"]])
    assert "work.csv: row 3 has 3 level(s), row 1 has 2" in message


def test_a_null_label() -> None:
    assert "row 2 has no label (NULL) on level 1" in refusal([["a", "*"], ["b", None]])


def test_a_leaf_twice() -> None:
    message = refusal([["a", "*"], ["b", "*"], ["c", "*"], ["b", "*"]])
    assert message == (
        "Hierarchy work.csv: leaf 'b' is there twice, in row 2 and row 4. Keep one of them."
    )


def test_levels_that_do_not_nest() -> None:
    message = refusal([["a", "G", "X", "*"], ["b", "H", "X", "*"], ["c", "G", "Y", "*"]])
    assert "levels do not nest. 'G' on level 1 is under 'X' in row 1" in message
    assert "and under 'Y' in row 3. Give it one parent, or two names." in message


def test_no_single_root() -> None:
    assert "no single root: its last level holds 'X', 'Y'. Add" in refusal([["a", "X"], ["b", "Y"]])


def test_no_single_root_names_five_labels() -> None:
    message = refusal([[leaf] for leaf in "abcdefg"])
    assert "holds 'a', 'b', 'c', 'd', 'e' and 2 more. Add a last level" in message


def test_places_replace_row_numbers() -> None:
    with pytest.raises(HierarchyError, match="in line 4 and line 9"):
        Hierarchy.from_rows([["a", "*"], ["a", "*"]], "f", places=["line 4", "line 9"])


def test_parsed() -> None:
    numbers = Hierarchy.from_rows([["10", "*"], ["2", "*"]], "rows")
    assert numbers.parsed(Kind.INTEGER) == (10, 2)
    assert numbers.parsed(Kind.DECIMAL) == (Decimal(10), Decimal(2))
    assert numbers.parsed(Kind.TEXT) == ("10", "2")
    days = Hierarchy.from_rows([["2024-02-29", "*"]], "rows")
    assert days.parsed(Kind.DATE) == (dt.date(2024, 2, 29),)


def test_a_leaf_that_is_no_value_of_the_kind() -> None:
    hierarchy = Hierarchy.from_rows([["1", "*"], ["two", "*"]], "n.csv")
    with pytest.raises(HierarchyError, match=r"n\.csv: leaf 'two' is not a value of kind integer"):
        hierarchy.parsed(Kind.INTEGER)


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("1", "1.0", Kind.INTEGER),
        ("0.5", "0.50", Kind.DECIMAL),
        ("0", "-0.0", Kind.FLOAT),
        ("nan", "NaN", Kind.FLOAT),
        ("true", "TRUE", Kind.BOOLEAN),
    ],
)
def test_two_leaves_of_one_value(one: str, other: str, kind: Kind) -> None:
    hierarchy = Hierarchy.from_rows([[one, "*"], [other, "*"]], "n.csv")
    with pytest.raises(HierarchyError, match=f"leaves '{one}' and '{other}' are the same value"):
        hierarchy.parsed(kind)


def test_fingerprint() -> None:
    hierarchy = Hierarchy.from_rows([["a", "*"], ["ü", "*"]], "one")
    expected = hashlib.sha256(rb'[["a","\u00fc"],["*","*"]]').hexdigest()
    assert hierarchy.fingerprint == expected
    twin = Hierarchy.from_rows([["a", "*"], ["ü", "*"]], "two")
    assert (twin, hash(twin), twin.fingerprint) == (hierarchy, hash(hierarchy), expected)
    reordered = Hierarchy.from_rows([["ü", "*"], ["a", "*"]], "one")
    assert reordered.fingerprint != expected


def test_fingerprint_tells_levels_from_leaves() -> None:
    one = Hierarchy.from_rows([["a", "b"]], "rows")
    other = Hierarchy.from_rows([["a,b"]], "rows")
    assert one.fingerprint != other.fingerprint


@given(tree_rows(), st.randoms(use_true_random=False))
def test_shuffled_rows_give_the_same_tree(rows: Rows, random) -> None:  # type: ignore[no-untyped-def]
    shuffled = list(rows)
    random.shuffle(shuffled)
    hierarchy = Hierarchy.from_rows(rows, "rows")
    other = Hierarchy.from_rows(shuffled, "shuffled")
    assert [list(row) for row in zip(*hierarchy.levels, strict=True)] == rows
    check_tree(other)
    assert other.leaves[0] == shuffled[0][0]
    assert ranges(other) == ranges(hierarchy)


@given(tree_rows())
def test_nodes_are_the_ranges_in_preorder(rows: Rows) -> None:
    hierarchy = Hierarchy.from_rows(rows, "rows")
    nodes = nodes_of(hierarchy)
    assert {frozenset(hierarchy.leaves[n.start : n.stop]) for n in nodes} == ranges(hierarchy)
    assert len(nodes) == len(ranges(hierarchy))
    assert [(n.start, -n.stop) for n in nodes] == sorted((n.start, -n.stop) for n in nodes)
    for node in nodes:
        assert set(hierarchy.levels[node.level][node.start : node.stop]) == {node.label}
        lower = hierarchy.levels[node.level - 1][node.start : node.stop]
        assert node.level == 0 or len(set(lower)) > 1, "the lowest of its chain"
        assert hierarchy.label_of(node.start, node.stop) == node.label


@given(tree_rows())
def test_groups_follow_the_labels(rows: Rows) -> None:
    hierarchy = Hierarchy.from_rows(rows, "rows")
    for level, labels in enumerate(hierarchy.levels):
        numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
        assert hierarchy.groups(level) == tuple(numbers[label] for label in labels)


def test_the_adult_hierarchies_are_read() -> None:
    for file in resources.path("hierarchies", "adult").glob("*.csv"):
        check_tree(read(file))


def test_wide_hierarchies_are_quick_enough() -> None:
    """40,000 zip codes on six levels: the size the design names."""
    rows = [
        [f"{code:05}"[: 5 - hidden] + "*" * hidden for hidden in range(6)]
        for code in range(0, 80_000, 2)
    ]
    hierarchy = Hierarchy.from_rows(rows, "zip")
    # 1 + 8 + 80 + 800 + 8,000 inner nodes and the leaves; no node has a single child.
    assert sum(hierarchy.groups(level)[-1] + 1 for level in range(6)) == 48_889
    assert hierarchy.label_of(0, 5) == "0000*"
