"""A hierarchy: a tree over the values of one column, stored level by level."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, pairwise
from typing import Literal, TypeAlias

from sqlanon.domain.values import Value, parse_value, sort_key
from sqlanon.engines import Kind
from sqlanon.errors import DomainError, HierarchyError, UncoveredValueError
from sqlanon.wording import counted

_NAMED_IN_MESSAGES = 5

Span: TypeAlias = tuple[Value | None, Value | None]
"""All values low ≤ v < high, seen or not; None is no end at all."""

Extent: TypeAlias = Callable[[int, Value], Span | None]
"""The span of the node that holds a value on a level; None where its name tells none."""


@dataclass(frozen=True)
class Hierarchy:
    """A taxonomy over the values of one column: level 0 = the leaves, the last level = one root.

    `leaves` stand in the preorder of the tree, so that every node is a run of leaves; this
    order orders the column's domain. `levels[l][i]` is the label of leaf i's ancestor on
    level l, and `levels[0] == leaves`. A node is identified by its label on its level: the
    same text may name nodes of different levels. `origin` is the file, table or builder, for
    messages; it takes no part in comparisons. `extent` is there where the names of nodes say by
    themselves which values they hold, seen or not: a decade begins and ends. `root_is_all` where
    the name of the root is true of any value: a mask that shows nothing. `masked_from` is
    the side from which level l masks l characters of a leaf. Make one with `from_rows`, which
    checks it.
    """

    leaves: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    origin: str = field(compare=False)
    extent: Extent | None = field(default=None, compare=False, repr=False)
    root_is_all: bool = field(default=False, compare=False, repr=False)
    masked_from: Literal["left", "right"] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def from_rows(
        cls,
        rows: Sequence[Sequence[str | None]],
        origin: str,
        places: Sequence[str] | None = None,
    ) -> Hierarchy:
        """The hierarchy with one row per leaf and one column per level, leaf first, root last.

        Rows may come in any order: siblings are brought together in order of their first
        appearance. `places` says where each row stands in its origin ("line 7"), for the
        messages; without it rows are numbered from 1. Raises HierarchyError when the rows
        are no tree.
        """
        if places is None:
            places = [f"row {number}" for number in range(1, len(rows) + 1)]
        labels = _rectangle(rows, origin, places)
        _check_leaves([row[0] for row in labels], origin, places)
        columns = list(zip(*labels, strict=True))
        _check_nesting(columns, origin, places)
        _check_root(columns[-1], origin)
        # A node's first row orders it among its siblings, because labels nest.
        firsts = [_first_rows(column) for column in reversed(columns)]
        keys = [
            tuple(first[label] for first, label in zip(firsts, reversed(row), strict=True))
            for row in labels
        ]
        order = sorted(range(len(labels)), key=keys.__getitem__)
        levels = tuple(tuple(column[i] for i in order) for column in columns)
        return cls(levels[0], levels, origin)

    @property
    def height(self) -> int:
        """The number of generalization steps from a leaf to the root."""
        return len(self.levels) - 1

    def groups(self, level: int) -> tuple[int, ...]:
        """The group of each leaf on a level: runs, numbered from 0 in leaf order."""
        if not 0 <= level <= self.height:
            raise HierarchyError(
                f"Hierarchy {self.origin} has no level {level}. "
                f"Choose one from 0 (the values) to {self.height} (the root)."
            )
        runs = groupby(self.levels[level])
        return tuple(number for number, (_, run) in enumerate(runs) for _ in run)

    def label_of(self, start: int, stop: int, least: int = 0) -> str | None:
        """The label of the node that covers exactly the leaves start ≤ i < stop, if any.

        Of several it is the lowest that is on level `least` or above.
        """
        level = self.level_of(start, stop, least)
        return None if level is None else self.levels[level][start]

    def level_of(self, start: int, stop: int, least: int = 0) -> int | None:
        """The level of that node."""
        level = self._by_range.get((start, stop))
        if level is None or level >= least:
            return level
        if least > self.height:
            return None
        labels = self.levels[least]
        # The node above holds these leaves; whether it holds more, its neighbours tell.
        wider = labels[start - 1 : start] + labels[stop : stop + 1]
        return None if labels[start] in wider else least

    def parsed(self, kind: Kind) -> tuple[Value, ...]:
        """The leaves as values of `kind`, in leaf order, no two of them equal."""
        seen: dict[object, str] = {}
        values = []
        for leaf in self.leaves:
            try:
                value = parse_value(leaf, kind)
            except DomainError:
                raise HierarchyError(
                    f"Hierarchy {self.origin}: leaf {leaf!r} is not a value of kind {kind}. "
                    "Correct the leaf, or use the hierarchy with a column of its own kind."
                ) from None
            twin = seen.setdefault(sort_key(value), leaf)
            if twin != leaf:
                raise HierarchyError(
                    f"Hierarchy {self.origin}: leaves {twin!r} and {leaf!r} are the same value "
                    f"of kind {kind}. Keep one of them."
                )
            values.append(value)
        return tuple(values)

    def refuse_without_leaf(self, column: str, values: Sequence[str]) -> None:
        """Raises UncoveredValueError where values of a sensitive column have no leaf."""
        if values:
            raise UncoveredValueError(
                f"Hierarchy {self.origin} has no leaf for {counted(len(values), 'value')} of the "
                f"sensitive column {column!r}. Add a line for each, or leave the hierarchy out.",
                {column: values},
            )

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 in hex of all labels; equal for equal hierarchies, whatever their origin."""
        return hashlib.sha256(json.dumps(self.levels, separators=(",", ":")).encode()).hexdigest()

    @cached_property
    def _by_range(self) -> dict[tuple[int, int], int]:
        """The lowest level on which each node is one, by the leaves start ≤ i < stop under it."""
        found: dict[tuple[int, int], int] = {}
        for level, labels in enumerate(self.levels):
            start = 0
            for _, run in groupby(labels):
                stop = start + sum(1 for _ in run)
                found.setdefault((start, stop), level)
                start = stop
        return found


def _rectangle(
    rows: Sequence[Sequence[str | None]], origin: str, places: Sequence[str]
) -> list[tuple[str, ...]]:
    """The rows as tuples, all of the same length (1 or more), without NULLs."""
    if not rows:
        raise HierarchyError(f"Hierarchy {origin} has no rows. Give it one row per value.")
    if not rows[0]:
        raise HierarchyError(
            f"Hierarchy {origin}: {places[0]} has no levels. Start each row with its value."
        )
    labels = []
    for row, place in zip(rows, places, strict=True):
        if len(row) != len(rows[0]):
            raise HierarchyError(
                f"Hierarchy {origin}: {place} has {len(row)} level(s), "
                f"{places[0]} has {len(rows[0])}. Give every row one label per level."
            )
        texts = tuple(label for label in row if label is not None)
        if len(texts) != len(row):
            raise HierarchyError(
                f"Hierarchy {origin}: {place} has no label (NULL) on level {row.index(None)}. "
                "Give every row one label per level."
            )
        labels.append(texts)
    return labels


def _check_leaves(leaves: Sequence[str], origin: str, places: Sequence[str]) -> None:
    first = _first_rows(leaves)
    for number, leaf in enumerate(leaves):
        if first[leaf] != number:
            raise HierarchyError(
                f"Hierarchy {origin}: leaf {leaf!r} is there twice, "
                f"in {places[first[leaf]]} and {places[number]}. Keep one of them."
            )


def _check_nesting(columns: Sequence[Sequence[str]], origin: str, places: Sequence[str]) -> None:
    for level, (labels, parents) in enumerate(pairwise(columns)):
        first = _first_rows(labels)
        for number, (label, parent) in enumerate(zip(labels, parents, strict=True)):
            other = parents[first[label]]
            if parent != other:
                raise HierarchyError(
                    f"Hierarchy {origin}: levels do not nest. {label!r} on level {level} is "
                    f"under {other!r} in {places[first[label]]} and under {parent!r} in "
                    f"{places[number]}. Give it one parent, or two names."
                )


def _check_root(roots: Sequence[str], origin: str) -> None:
    labels = list(dict.fromkeys(roots))
    if len(labels) > 1:
        named = ", ".join(map(repr, labels[:_NAMED_IN_MESSAGES]))
        more = len(labels) - _NAMED_IN_MESSAGES
        raise HierarchyError(
            f"Hierarchy {origin} has no single root: its last level holds {named}"
            + (f" and {more} more" if more > 0 else "")
            + ". Add a last level with one label, such as '*'."
        )


def _first_rows(labels: Sequence[str]) -> dict[str, int]:
    first: dict[str, int] = {}
    for number, label in enumerate(labels):
        first.setdefault(label, number)
    return first
