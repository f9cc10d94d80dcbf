"""Random hierarchies as rows (one a leaf, one column a level), in the preorder of their tree."""

from __future__ import annotations

from itertools import combinations, groupby, pairwise, product
from typing import NamedTuple

from hypothesis import strategies as st

from sqlanon.domain.hierarchy import Hierarchy

Rows = list[list[str]]


@st.composite
def tree_rows(
    draw: st.DrawFn,
    labels: st.SearchStrategy[str] = st.text("abcxyz", max_size=3),  # noqa: B008
    most_leaves: int = 7,
) -> Rows:
    """Rows whose labels are distinct on their level, but may repeat between levels."""
    leaves = draw(st.integers(1, most_leaves))
    height = draw(st.integers(0 if leaves == 1 else 1, 4))
    groups = [list(range(leaves))]
    for level in range(1, height + 1):
        count = groups[-1][-1] + 1
        last = level == height
        starts = [not last and draw(st.booleans()) for _ in range(count - 1)]
        parent = [0]
        for start in starts:
            parent.append(parent[-1] + start)
        groups.append([parent[group] for group in groups[-1]])
    columns = []
    for level in groups:
        count = level[-1] + 1
        names = draw(st.lists(labels, min_size=count, max_size=count, unique=True))
        columns.append([names[group] for group in level])
    return [list(row) for row in zip(*columns, strict=True)]


def check_tree(hierarchy: Hierarchy) -> None:
    """Assert what every hierarchy promises, without its own shortcuts."""
    assert hierarchy.levels[0] == hierarchy.leaves
    assert len(set(hierarchy.leaves)) == len(hierarchy.leaves)
    assert len(set(hierarchy.levels[-1])) == 1
    for fine, coarse in pairwise(hierarchy.levels):
        assert len(set(zip(fine, coarse, strict=True))) == len(set(fine)), "levels nest"
    for level, labels in enumerate(hierarchy.levels):
        runs = [label for label, _ in groupby(labels)]
        assert len(runs) == len(set(runs)), f"groups of level {level} are runs"


class Node(NamedTuple):
    """The leaves start ≤ i < stop under one label; `level` is the lowest that groups them so."""

    start: int
    stop: int
    label: str
    level: int


def nodes_of(hierarchy: Hierarchy) -> tuple[Node, ...]:
    """Every run of leaves that is a node, outer before inner."""
    found = [
        Node(start, stop, hierarchy.levels[level][start], level)
        for start, stop in combinations(range(len(hierarchy.leaves) + 1), 2)
        if (level := hierarchy.level_of(start, stop)) is not None
    ]
    return tuple(sorted(found, key=lambda node: (node.start, -node.stop)))


def ranges(hierarchy: Hierarchy) -> set[frozenset[str]]:
    """The leaves below each label of each level."""
    return {
        frozenset(leaf for leaf, other in zip(hierarchy.leaves, level, strict=True) if other == up)
        for level in hierarchy.levels
        for up in level
    }


def valid_partitions(hierarchy: Hierarchy) -> int:
    """By brute force: all cuts of the leaf order whose every run is the leaves of a label."""
    nodes = ranges(hierarchy)
    valid = 0
    for cuts in product((False, True), repeat=len(hierarchy.leaves) - 1):
        runs: list[list[str]] = [[hierarchy.leaves[0]]]
        for cut, leaf in zip(cuts, hierarchy.leaves[1:], strict=True):
            if cut:
                runs.append([])
            runs[-1].append(leaf)
        valid += all(frozenset(run) in nodes for run in runs)
    return valid
