"""The splits of a cut tree in the values of its columns, as a scheme file has them.

    "tree": {"1": ["age", "<", 40, 2, 3],
             "2": ["education", "in", ["10th", "11th"], 4, 5],
             "3": ["race", "not null", null, 6, 7]}

Node 1 is the whole table. What meets the condition of a node goes on at the first of the two
numbers, everything else at the second; a number without a split of its own is a region.

"<" is for columns whose values have an order. Of others, "in" lists the values of the node that
go on at the first number, and "not in" those that go on at the second, whichever are fewer. They
stand at one end of the node's values in the order of the hierarchy.

    "boxes": {"4": {"age": [20, 35], "education": ["10th"]},
              "6": {"age": [60, null], "race": [null]}}

A box is what is released of a region, where that is less than the region. Of a column with an
order it has the first value and the one after the last, or null where the column ends; of
others all values; and [null] is NULL alone. A column that it lacks is as in the region.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sqlanon.domain.column import Column
from sqlanon.domain.cut_tree import ROOT, CutTree, Regions, Run
from sqlanon.domain.partition import Partition, null_apart
from sqlanon.domain.values import Value, format_value, json_value, parse_value, sort_key
from sqlanon.errors import DomainError, SchemeError

CONDITIONS = ("<", "in", "not in", "not null")

Split = tuple[int, int, int, int, int]


def tree_to_document(tree: CutTree, columns: Sequence[Column]) -> dict[str, Any]:
    """The splits by the numbers of their nodes, from the root down."""
    numbers = (each.tolist() for each in (tree.node, tree.column, tree.at, tree.first, tree.second))
    splits = {node: rest for node, *rest in zip(*numbers, strict=True)}
    sizes = [column.size for column in columns]
    document = {}
    waiting: list[tuple[int, dict[int, Run]]] = [(ROOT, {})]
    while waiting:
        node, runs = waiting.pop()
        if node not in splits:
            continue
        j, at, first, second = splits[node]
        start, stop = runs.get(j, (0, sizes[j]))
        condition = _condition(columns[j], start, at, stop)
        document[str(node)] = [columns[j].name, *condition, first, second]
        waiting += [(second, {**runs, j: (at, stop)}), (first, {**runs, j: (start, at)})]
    return document


def _condition(column: Column, start: int, at: int, stop: int) -> list[Any]:
    """What is true of atoms start..at-1 and false of at..stop-1."""
    domain = column.domain
    if at == domain.width:
        return ["not null", None]
    if domain.is_sorted:
        return ["<", json_value(domain.left_ends[at])]
    last = min(stop, domain.width)
    # NULL is not in a list of values, and goes on at the second number.
    if at - start <= last - at or stop > last:
        return ["in", [json_value(value) for value in domain.left_ends[start:at]]]
    return ["not in", [json_value(value) for value in domain.left_ends[at:last]]]


def tree_from_document(document: Any, columns: Sequence[Column], origin: str) -> CutTree:
    """The tree that the splits of a document mean for these columns."""
    if not isinstance(document, Mapping):
        raise SchemeError(
            f'{origin}: tree: expected splits by node, such as {{"1": ["age", "<", 40, 2, 3]}}'
        )
    places = {column.name: j for j, column in enumerate(columns)}
    codes = [_codes(column) for column in columns]
    unread = {str(node): split for node, split in document.items()}
    splits: list[Split] = []
    waiting: list[tuple[int, dict[int, Run]]] = [(ROOT, {})]
    while waiting:
        node, runs = waiting.pop()
        split = unread.pop(str(node), None)
        if split is None:
            continue
        where = f"{origin}: tree: node {node}"
        name, condition, value, first, second = _parts(split, where)
        if name not in places:
            known = ", ".join(map(repr, places))
            raise SchemeError(
                f"{where}: {name!r} is no quasi-identifier of the policy; it has {known}"
            )
        j = places[name]
        start, stop = runs.get(j, (0, columns[j].size))
        at = _position(columns[j], codes[j], (start, stop), condition, value, where)
        if not start < at < stop:
            raise SchemeError(
                f"{where}: the split leaves one side without values of {name!r}; the node holds "
                f"{_spelled(columns[j], start, stop)}"
            )
        splits.append((node, j, at, first, second))
        waiting += [(second, {**runs, j: (at, stop)}), (first, {**runs, j: (start, at)})]
    if unread:
        raise SchemeError(
            f"{origin}: tree: no split leads to node {min(unread)}; the first node is {ROOT}"
        )
    try:
        return CutTree.of([c.name for c in columns], [c.size for c in columns], splits)
    except SchemeError as error:
        raise SchemeError(f"{origin}: {error}") from None


def boxes_to_document(tree: CutTree, columns: Sequence[Column]) -> dict[str, Any]:
    """The boxes by the numbers of their nodes; empty where all regions are released whole."""
    document: dict[str, Any] = {}
    whole, boxes = tree.regions, tree.released
    less = (whole.low != boxes.low) | (whole.high != boxes.high)
    for i in np.flatnonzero(less.any(axis=1)).tolist():
        document[str(whole.node[i])] = {
            columns[j].name: _ends(columns[j], int(boxes.low[i, j]), int(boxes.high[i, j]))
            for j in np.flatnonzero(less[i]).tolist()
        }
    return document


def _ends(column: Column, start: int, stop: int) -> list[Any]:
    domain = column.domain
    if start == domain.width:
        return [None]
    if not domain.is_sorted:
        return [*map(json_value, domain.left_ends[start:stop])]
    after = None if stop == domain.width else json_value(domain.left_ends[stop])
    return [json_value(domain.left_ends[start]), after]


def with_boxes(tree: CutTree, document: Any, columns: Sequence[Column], origin: str) -> CutTree:
    """The tree with the boxes of a document."""
    if not isinstance(document, Mapping) or not all(
        isinstance(b, Mapping) for b in document.values()
    ):
        raise SchemeError(
            f'{origin}: boxes: expected boxes by node, such as {{"4": {{"age": [20, 35]}}}}'
        )
    places = {column.name: j for j, column in enumerate(columns)}
    codes = [_codes(column) for column in columns]
    of_node = {str(node): i for i, node in enumerate(tree.regions.node.tolist())}
    low, high = tree.regions.low.copy(), tree.regions.high.copy()
    rows = []
    for node, box in document.items():
        if node not in of_node:
            raise SchemeError(f"{origin}: boxes: node {node} is no region of the tree")
        row = of_node[node]
        rows.append(row)
        for name, ends in box.items():
            where = f"{origin}: boxes: node {node}"
            if name not in places:
                raise SchemeError(f"{where}: {name!r} is no quasi-identifier of the policy")
            j = places[name]
            low[row, j], high[row, j] = _run_of(columns[j], codes[j], ends, where)
    try:
        return replace(tree, boxes=Regions(tree.regions.node[rows], low[rows], high[rows]))
    except SchemeError as error:
        raise SchemeError(f"{origin}: {error}") from None


def _run_of(column: Column, codes: Mapping[object, int], ends: Any, where: str) -> Run:
    """The atoms between the ends of a box."""
    domain = column.domain
    if ends == [None] and domain.has_null:
        return domain.width, domain.size
    is_pair = not domain.is_sorted or (isinstance(ends, list) and len(ends) == 2)
    if not isinstance(ends, list) or not ends or not is_pair:
        wanted = "[first, after the last]" if domain.is_sorted else "a list of values"
        raise SchemeError(f"{where}: {ends!r} is no box of {column.name!r}; expected {wanted}")

    def atom(raw: Any) -> int:
        found = codes.get(sort_key(_parsed(raw, column, where)))
        if found is None:
            raise SchemeError(f"{where}: {raw!r} is not in the domain of {column.name!r}")
        return found

    if domain.is_sorted:
        return atom(ends[0]), domain.width if ends[1] is None else atom(ends[1])
    atoms = sorted(map(atom, ends))
    if atoms != [*range(atoms[0], atoms[0] + len(atoms))]:
        raise SchemeError(
            f"{where}: the values of {column.name!r} are no neighbours in the order of the column"
        )
    return atoms[0], atoms[-1] + 1


def refined_partitions(
    tree: CutTree, columns: Sequence[Column], given: Mapping[int, Partition] | None = None
) -> tuple[Partition, ...]:
    """By column the groups that no split parts, or those that are given for an uncut column."""
    found, cut, given = [], tree.cut_columns, given or {}
    for j, column in enumerate(columns):
        if j not in cut:
            found.append(given.get(j, Partition.whole(column.size)))
            continue
        bits = tree.refined(j).bits
        found.append(Partition.from_bits(null_apart(bits) if column.domain.has_null else bits))
    return tuple(found)


def _codes(column: Column) -> dict[object, int]:
    return {sort_key(value): atom for atom, value in enumerate(column.domain.left_ends)}


def _parts(split: Any, where: str) -> tuple[str, str, Any, int, int]:
    if not isinstance(split, list) or len(split) != 5:
        raise SchemeError(f"{where}: expected [column, condition, value, first, second]")
    name, condition, value, first, second = split
    if condition not in CONDITIONS:
        raise SchemeError(f"{where}: {condition!r} is none of {', '.join(CONDITIONS)}")
    for number in (first, second):
        if type(number) is not int or number <= ROOT:
            raise SchemeError(f"{where}: {number!r} is no number of a node; they are above {ROOT}")
    return name, condition, value, first, second


def _position(
    column: Column, codes: Mapping[object, int], run: Run, condition: str, value: Any, where: str
) -> int:
    """The first atom that goes on at the second number."""
    domain, (start, stop) = column.domain, run
    if condition == "not null":
        if not domain.has_null:
            raise SchemeError(f"{where}: column {column.name!r} has no NULL")
        return domain.width
    if condition == "<":
        if not domain.is_sorted:
            raise SchemeError(f"{where}: column {column.name!r} has no order; list values with in")
        at = codes.get(sort_key(_parsed(value, column, where)))
        if at is None:
            near = ", ".join(format_value(v) for v in domain.left_ends[1:6])
            raise SchemeError(
                f"{where}: {value!r} is not a place to cut {column.name!r}; places are {near}"
                f"{', …' if domain.width > 6 else ''}"
            )
        return at
    if not isinstance(value, list) or not value:
        raise SchemeError(f"{where}: {condition} needs a list of values")
    atoms = []
    for each in value:
        atom = codes.get(sort_key(_parsed(each, column, where)))
        if atom is None:
            raise SchemeError(f"{where}: {each!r} is not in the domain of {column.name!r}")
        atoms.append(atom)
    at = max(atoms) + 1 if condition == "in" else min(atoms)
    expected = range(start, at) if condition == "in" else range(at, min(stop, domain.width))
    if sorted(atoms) != list(expected):
        raise SchemeError(
            f"{where}: the values of {column.name!r} do not stand at one end of the node's, which "
            f"are in the order of the hierarchy {_spelled(column, start, stop)}"
        )
    return at


def _parsed(raw: Any, column: Column, where: str) -> Value:
    try:
        return parse_value(raw, column.domain.kind)
    except DomainError as error:
        raise SchemeError(f"{where}: column {column.name!r}: {error}") from None


def _spelled(column: Column, start: int, stop: int, most: int = 8) -> str:
    ends = column.domain.left_ends[start : min(stop, column.domain.width)]
    shown = [format_value(value) for value in ends[:most]]
    return ", ".join(
        [*shown, *["…"] * (len(ends) > most), *["NULL"] * (stop > column.domain.width)]
    )
