"""Cut trees: regions are disjoint, cover every tuple, and are written in values."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from tree_oracle import node_of, regions

from sqlanon.domain import Scheme, from_document, to_document
from sqlanon.domain.atoms import IntervalDomain, ValueDomain
from sqlanon.domain.column import Column
from sqlanon.domain.cut_tree import CutTree
from sqlanon.engines.protocol import Kind
from sqlanon.errors import SchemeError

AGES = tuple(range(20, 30))
EDUCATION = ("10th", "11th", "Bachelors", "Masters")
COLUMNS = [
    Column(IntervalDomain.of_range("age", Kind.INTEGER, 20, 30, 1)),
    Column(ValueDomain("education", Kind.TEXT, EDUCATION, has_null=True)),
    Column(ValueDomain("sex", Kind.TEXT, ("f", "m"))),
]
DOMAINS = {"age": AGES, "education": (*EDUCATION, None), "sex": ("f", "m")}
SPLITS: dict[str, Any] = {
    "1": ["age", "<", 25, 2, 3],
    "2": ["age", "<", 22, 4, 5],
    "3": ["education", "not null", None, 6, 7],
    "6": ["education", "in", ["10th", "11th"], 8, 9],
    "9": ["education", "not in", ["Masters"], 10, 11],
}


def document(**changes: Any) -> dict[str, Any]:
    return {
        "format": "sqlanon scheme",
        "version": 3,
        "recoding": "multidimensional",
        "columns": {"sex": {"groups": [["f"], ["m"]]}},
        "tree": SPLITS,
        **changes,
    }


def read(**changes: Any) -> Scheme:
    return from_document(document(**changes), COLUMNS, "s.json")


def test_every_tuple_lies_in_one_region() -> None:
    tree = read().tree
    assert tree is not None
    codes = np.array(list(product(range(10), range(5), range(2))))
    low, high = tree.regions.low, tree.regions.high
    inside = ((codes[:, None] >= low) & (codes[:, None] < high)).all(axis=2)
    assert (inside.sum(axis=1) == 1).all()
    assert (inside.argmax(axis=1) == tree.region_of(codes)).all()


def test_regions_are_those_of_the_splits() -> None:
    """By routing every possible row as the oracle does."""
    tree = read().tree
    assert tree is not None
    domains = {name: list(values) for name, values in DOMAINS.items()}
    codes = np.array(list(product(*(range(len(v)) for v in domains.values()))))
    cells = list(product(*domains.values()))
    nodes = [node_of(dict(zip(domains, row, strict=True)), SPLITS) for row in cells]
    assert tree.regions.node[tree.region_of(codes)].tolist() == nodes


def test_groups_overlap_and_have_labels_of_their_own() -> None:
    scheme = read()
    boxes = regions(SPLITS, DOMAINS)
    wanted = {box["education"] for box in boxes.values()}
    assert len(scheme.groups[1]) == len(wanted) == 5
    assert scheme.labels("education") == (
        "{10th, 11th}", "*", "Bachelors", "Masters", None,
    )  # fmt: skip
    assert scheme.labels("age") == ("[20, 22)", "[22, 25)", "[25, 30]")


def test_a_document_is_read_back() -> None:
    written = to_document(read())
    assert written["recoding"] == "multidimensional"
    assert from_document(written, COLUMNS, "s.json") == read()
    assert written["tree"]["1"] == ["age", "<", 25, 2, 3]
    assert written["tree"]["9"] == ["education", "in", ["Bachelors"], 10, 11]


def test_the_fingerprint_names_the_regions_and_not_the_numbers_of_nodes() -> None:
    other = {"1": ["age", "<", 25, 20, 30], "20": ["age", "<", 22, 4, 5]}
    same = {"1": ["age", "<", 22, 7, 8], "8": ["age", "<", 25, 3, 4]}
    assert read(tree=other).fingerprint == read(tree=same).fingerprint
    assert read(tree=other).fingerprint != read().fingerprint


def test_skewed_trees_of_many_levels() -> None:
    width = 3_000
    splits = [(2 * i - 1, 0, i, 2 * i, 2 * i + 1) for i in range(1, width)]
    tree = CutTree.of(["n"], [width], splits)
    assert tree.region_of(np.arange(width)[:, None]).tolist() == list(range(width))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tree": []}, "expected splits by node"),
        ({"tree": {"1": ["age", "<", 25, 2]}}, "node 1: expected [column, condition, value"),
        ({"tree": {"1": ["age", "under", 25, 2, 3]}}, "'under' is not one of <, in, not in"),
        ({"tree": {"1": ["aeg", "<", 25, 2, 3]}}, "'aeg' is no quasi-identifier"),
        ({"tree": {"1": ["age", "<", 25, 2, 1]}}, "1 is no number of a node"),
        ({"tree": {"1": ["age", "<", 25, 2, 2]}}, "node 2 is reached in two ways"),
        ({"tree": {"1": ["age", "<", 99, 2, 3]}}, "99 is not a place to cut 'age'"),
        ({"tree": {"1": ["age", "not null", None, 2, 2]}}, "node 2 is reached in two ways"),
        (
            {"tree": {"1": ["age", "<", 25, 2, 3], "3": ["age", "not null", None, 4, 2]}},
            "node 2 is reached in two ways",
        ),
        ({"tree": {"1": ["education", "<", "B", 2, 3]}}, "has no order; list values with in"),
        ({"tree": {"1": ["education", "in", "10th", 2, 3]}}, "in needs a list of values"),
        ({"tree": {"1": ["education", "in", ["12th"], 2, 3]}}, "'12th' is not in the domain"),
        ({"tree": {"1": ["education", "in", ["11th"], 2, 3]}}, "do not stand at one end"),
        ({"tree": {"1": ["education", "in", ["10th"], 2, 3]}}, "some values and NULL"),
        (
            {
                "tree": {
                    "1": ["age", "<", 25, 2, 3],
                    "2": ["education", "not null", None, 4, 5],
                    "3": ["education", "in", ["10th"], 6, 7],
                }
            },
            "a region holds some values and NULL",
        ),
        (
            {"tree": {"1": ["age", "<", 25, 2, 3], "2": ["age", "<", 27, 4, 5]}},
            "node 2: the split leaves one side without values of 'age'",
        ),
        ({"tree": {"1": ["age", "<", 25, 2, 3], "9": ["age", "<", 22, 4, 5]}}, "leads to node 9"),
        ({"tree": {"1": ["sex", "in", ["f"], 2, 3]}}, "has a partition, and the tree cuts it too"),
        ({"recoding": "global"}, "a tree goes with recoding 'multidimensional'"),
    ],
)  # fmt: skip
def test_refusals_name_the_node_and_the_column(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(SchemeError) as refused:
        read(**changes)
    assert str(refused.value).startswith("s.json: ")
    assert words in str(refused.value)


def test_max_level_holds_for_every_region() -> None:
    limited = [COLUMNS[0], COLUMNS[1], Column(COLUMNS[2].domain, max_level=0)]
    tree = {"1": ["age", "<", 25, 2, 3], "2": ["sex", "in", ["f"], 4, 5]}
    with pytest.raises(SchemeError, match="'sex': a region is above level 0, which max_level"):
        from_document(document(tree=tree, columns={}), limited, "s.json")


BOXES: dict[str, Any] = {
    "4": {"age": [20, 21], "education": [None]},
    "5": {"age": [23, 25], "education": ["Masters"]},
    "7": {"age": [28, None]},
    "8": {"age": [26, 28], "education": ["11th"]},
}
"""Of the regions of SPLITS: node 4 has ages 20 and 21, node 5 22 to 24, node 8 25 and above."""


def test_boxes_are_read_and_written_back() -> None:
    scheme = read(boxes=BOXES)
    tree = scheme.tree
    assert tree is not None
    assert to_document(scheme)["boxes"] == BOXES
    assert scheme.labels("age") == ("[20, 21)", "[23, 25)", "[25, 30]", "[26, 28)", "[28, 30]")
    assert scheme.fingerprint != read().fingerprint
    assert read(boxes={}).fingerprint == read().fingerprint
    whole = {"4": {"age": [20, 22]}}  # a box that is its region
    assert "boxes" not in to_document(read(boxes=whole))
    assert read(boxes=whole).fingerprint == read().fingerprint


def test_tuples_outside_their_box() -> None:
    """By hand: age 21 is beyond the box of node 4, and so is every education but NULL."""
    tree = read(boxes=BOXES).tree
    assert tree is not None
    codes = np.array([[0, 4, 0], [1, 4, 0], [0, 1, 1], [2, 0, 0], [6, 1, 0], [5, 0, 0]])
    assert tree.outside(codes).tolist() == [
        [False, False, False],
        [True, False, False],
        [False, True, False],
        [True, True, False],
        [False, False, False],
        [True, True, False],
    ]


def test_a_box_may_narrow_a_column_that_no_split_parts() -> None:
    """The partition has the groups that nothing parts: sex is whole, education is f and NULL."""
    tree = {"1": ["age", "<", 25, 2, 3]}
    scheme = read(tree=tree, columns={}, boxes={"2": {"education": ["11th", "Bachelors"]}})
    assert scheme.tree is not None
    assert scheme.tree.cut_names == ("age", "education")
    assert scheme["education"].runs == ((0, 1), (1, 3), (3, 4), (4, 5))


@pytest.mark.parametrize(
    ("boxes", "words"),
    [
        ([], "boxes: expected boxes by node"),
        ({"4": [20, 21]}, "boxes: expected boxes by node"),
        ({"2": {"age": [20, 21]}}, "boxes: node 2 is no region of the tree"),
        ({"4": {"aeg": [20, 21]}}, "boxes: node 4: 'aeg' is no quasi-identifier"),
        ({"4": {"age": [20]}}, "node 4: [20] is no box of 'age'; expected [first, after the last]"),
        ({"4": {"age": [19, 21]}}, "node 4: 19 is not in the domain of 'age'"),
        ({"4": {"age": [20, 25]}}, "node 4: the box has no values of 'age', or some that its"),
        ({"4": {"age": [21, 21]}}, "node 4: the box has no values of 'age', or some that its"),
        ({"4": {"education": []}}, "node 4: [] is no box of 'education'; expected a list of"),
        ({"4": {"education": ["10th", "Masters"]}}, "are no neighbours in the order of the column"),
        ({"4": {"sex": ["f"]}}, "column 'sex' has a partition, and the tree cuts it too"),
    ],
)
def test_refusals_of_boxes_name_the_node(boxes: Any, words: str) -> None:
    with pytest.raises(SchemeError) as refused:
        read(boxes=boxes)
    assert str(refused.value).startswith("s.json: ")
    assert words in str(refused.value)


def test_without_null_a_split_of_null_parts_nothing() -> None:
    """By routing: every tuple without NULL has the region that it had, under a number or another.

    Here NULL is parted at node 1, and one of its sides again for NULL of a column without one.
    """
    tree = {
        "1": ["education", "not null", None, 2, 3],
        "2": ["age", "not null", None, 4, 5],
        "3": ["age", "<", 27, 6, 7],
        "4": ["age", "<", 25, 8, 9],
        "5": ["sex", "in", ["f"], 10, 11],
        "9": ["education", "in", ["10th", "11th"], 12, 13],
    }
    boxes = {"6": {"age": [20, 22]}, "10": {"age": [20, 22]}, "12": {"age": [26, 28]}}
    columns = [COLUMNS[0], Column(ValueDomain("education", Kind.TEXT, EDUCATION)), COLUMNS[2]]
    scheme = from_document(document(tree=tree, columns={}, boxes=boxes), columns, "s.json")
    assert scheme.tree is not None
    assert to_document(scheme)["tree"] == {
        "1": ["age", "<", 25, 8, 9],
        "9": ["education", "in", ["10th", "11th"], 12, 13],
    }
    assert to_document(scheme)["boxes"] == {"12": {"age": [26, 28]}}
    domains = {name: [v for v in values if v is not None] for name, values in DOMAINS.items()}
    codes = np.array(list(product(*(range(len(v)) for v in domains.values()))))
    nodes = [
        node_of(dict(zip(domains, row, strict=True)), tree) for row in product(*domains.values())
    ]
    assert scheme.tree.regions.node[scheme.tree.region_of(codes)].tolist() == nodes


def test_a_region_that_only_null_told_apart_takes_the_number_above() -> None:
    tree = {"1": ["age", "<", 25, 2, 3], "3": ["education", "not null", None, 6, 7]}
    columns = [COLUMNS[0], Column(ValueDomain("education", Kind.TEXT, EDUCATION)), COLUMNS[2]]
    wanted = document(
        tree=tree, columns={}, boxes={"6": {"age": [26, None]}, "7": {"age": [25, 26]}}
    )
    scheme = from_document(wanted, columns, "s.json")
    written = to_document(scheme)
    assert written["tree"] == {"1": ["age", "<", 25, 2, 3]}
    assert written["boxes"] == {"3": {"age": [26, None]}}
    alone = document(tree=tree, columns={}, boxes={"2": {"education": [None]}})
    with pytest.raises(SchemeError, match="node 2: the box of 'education' is NULL alone"):
        from_document(alone, columns, "s.json")


def test_boxes_need_a_tree() -> None:
    plain = {"recoding": "global", "columns": {}, "boxes": {}}
    with pytest.raises(SchemeError, match="boxes go with a tree, and the scheme has none"):
        from_document(plain, COLUMNS, "s.json")
