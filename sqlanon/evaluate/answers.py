"""Turns the answers of the queries in sql/evaluate into measurements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sqlanon.domain import Batch
from sqlanon.evaluate.layout import Layout
from sqlanon.metrics import CostModel, Detail, Floats, GroupCost, Ints, Measurement

Number = TypeVar("Number", np.int64, np.float64)


def read_answer(
    answer: Mapping[str, Ints],
    layout: Layout,
    batch: Batch,
    losses: Ints,
    detail: Detail,
    costs: CostModel,
) -> list[Measurement]:
    """One measurement per scheme of `batch`, in its order."""
    sizes = dict(answer)
    small = [np.zeros((0, losses.shape[1]), dtype=np.int64)] * len(batch)
    ambiguity: list[Floats] | None = None
    if detail.budget:
        is_class = answer["is_class"] == 1
        listed = Classes({k: v[is_class] for k, v in answer.items()}, layout, batch)
        sizes = {k: v[~is_class] for k, v in answer.items()}
        small, ambiguity = listed.totals(costs)
    order = np.lexsort(_suppressed_first(sizes))
    sizes = {name: values[order] for name, values in sizes.items()}
    ends = np.searchsorted(sizes["candidate"], np.arange(len(batch) + 1))
    size, classes, rows = sizes["size"], sizes["n_classes"], sizes["n_rows"]
    squared = sizes.get("n_rows_squared", size * rows)
    minority = sizes.get("minority")
    bad = sizes.get("bad", np.zeros(len(size), dtype=np.int64))
    reached = _reached(sizes)
    return [
        Measurement(
            loss=losses[i],
            size=size[a:b],
            classes=classes[a:b],
            rows=rows[a:b],
            rows_squared=squared[a:b],
            minority=None if minority is None else minority[a:b],
            small_loss=small[i],
            detail=detail,
            bad=bad[a:b],
            reached=reached[a:b],
            ambiguity=None if ambiguity is None else ambiguity[i],
        )
        for i, (a, b) in enumerate(pairwise(ends))
    ]


@dataclass(frozen=True)
class Listed:
    """The classes of one scheme that a rule may suppress.

    entry   the class size of each, numbered as in a measurement: in the order of suppression
    rows    its number of rows
    groups  its group in every column, one array per column
    """

    entry: Ints
    rows: Ints
    groups: list[Ints]

    def take_from(self, rows: Sequence[Ints], sizes: int) -> None:
        """Subtracts the classes of the first sizes from the rows of the groups, by column."""
        out = self.entry < sizes
        for by_group, groups in zip(rows, self.groups, strict=True):
            np.subtract.at(by_group, groups[out], self.rows[out])


def list_classes(answer: Mapping[str, Ints], layout: Layout, batch: Batch) -> list[Listed]:
    """The classes that a query listed one by one, by scheme."""
    is_class = answer["is_class"] == 1
    return Classes({k: v[is_class] for k, v in answer.items()}, layout, batch).by_scheme()


def _suppressed_first(sizes: Mapping[str, Ints]) -> tuple[Ints, ...]:
    """Sort keys, the last one first: the candidate, bad classes before others, the size."""
    if "bad" in sizes:
        return sizes["size"], -sizes["bad"], sizes["candidate"]
    return sizes["size"], sizes["candidate"]


def _reached(sizes: Mapping[str, Ints]) -> Floats:
    """One column per model."""
    columns = [np.asarray(sizes[f"s{i}"], dtype=np.float64) for i in range(_models(sizes))]
    return np.column_stack(columns) if columns else np.zeros((len(sizes["size"]), 0))


def _models(sizes: Mapping[str, Ints]) -> int:
    return sum(name[0] == "s" and name[1:].isdigit() for name in sizes)


class Classes:
    """Classes that are listed one by one, by scheme, badness and size, in this order."""

    def __init__(self, classes: Mapping[str, Ints], layout: Layout, batch: Batch) -> None:
        self._layout, self._batch = layout, batch
        keys = _suppressed_first(classes)
        order = np.lexsort(keys)
        self._candidate, self._rows = classes["candidate"][order], classes["n_rows"][order]
        first = np.ones(len(order), dtype=bool)
        first[1:] = np.any([key[order][1:] != key[order][:-1] for key in keys], axis=0)
        self._starts = np.flatnonzero(first)
        # Only schemes that have classes here are looked at: a wide domain has many groups.
        fresh = np.ones(len(order), dtype=bool)
        fresh[1:] = self._candidate[1:] != self._candidate[:-1]
        self._ids = batch.ids[self._candidate[fresh]]
        self._scheme = np.cumsum(fresh) - 1
        self._words = np.stack([classes[f"k{w}"][order] for w in range(layout.words)], axis=1)

    def totals(self, costs: CostModel) -> tuple[list[Ints], list[Floats] | None]:
        """For each scheme and size: the loss of the rows, by cost and column, and the Σ over rows
        of Π over columns of the atoms in their group, if that is asked for."""
        columns = len(self._layout.codings)
        losses = np.zeros((len(self._starts), len(costs.kinds) * columns), dtype=np.int64)
        tuples = self._rows.astype(np.float64)
        for j in range(columns if len(self._starts) else 0):
            for kind, cost in enumerate(self._costs(j, [kind[j] for kind in costs.kinds])):
                losses[:, kind * columns + j] = np.add.reduceat(cost * self._rows, self._starts)
                if kind == 0 and costs.tuples:
                    tuples *= cost + 1
        if not costs.tuples:
            return self._by_scheme(losses), None
        return self._by_scheme(losses), self._by_scheme(self._added(tuples))

    def by_scheme(self) -> list[Listed]:
        """The classes of every scheme."""
        entry = np.zeros(len(self._rows), dtype=np.int64)
        entry[self._starts] = 1
        entry = np.cumsum(entry) - 1
        groups = [self._groups(j) for j in range(len(self._layout.codings))]
        ends = np.searchsorted(self._candidate, np.arange(len(self._batch) + 1))
        return [
            Listed(entry[a:b] - entry[a : a + 1].sum(), self._rows[a:b], [g[a:b] for g in groups])
            for a, b in pairwise(ends)
        ]

    def _groups(self, j: int) -> Ints:
        """The number of each class's group in column j."""
        if not len(self._rows):
            return np.zeros(0, dtype=np.int64)
        key = self._layout.column_key(self._words, j)
        numbers = self._layout.codings[j].group_numbers(key, self._ids[:, j], self._scheme)
        return np.asarray(numbers, dtype=np.int64)

    def _costs(self, j: int, costs: Sequence[GroupCost]) -> Iterator[Ints]:
        """The costs of the groups of column j, by kind of cost and class."""
        numbers = self._groups(j)
        distinct, place = np.unique(self._ids[:, j], return_inverse=True)
        cells = place[self._scheme] * self._batch.space.columns[j].size + numbers
        for cost in costs:
            yield np.take(cost.by_group(distinct), cells)

    def _added(self, numbers: Floats) -> Floats:
        """The sum of each size. From the smallest on: a sum that is rounded does not depend on
        the order of the classes then."""
        size = np.zeros(len(numbers), dtype=np.int64)
        size[self._starts[1:]] = 1
        ascending = numbers[np.lexsort((numbers, np.cumsum(size)))]
        return np.asarray(np.add.reduceat(ascending, self._starts))

    def _by_scheme(self, totals: npt.NDArray[Number]) -> list[npt.NDArray[Number]]:
        schemes = np.arange(len(self._batch) + 1)
        ends = np.searchsorted(self._candidate[self._starts], schemes)
        return [totals[a:b] for a, b in pairwise(ends)]


def with_suppressible(sizes: Mapping[str, Ints], detail: Detail) -> Ints:
    """The candidates whose first classes to suppress fit into the budget of a rule."""
    order = np.lexsort(_suppressed_first(sizes))
    candidate, size = sizes["candidate"][order], sizes["size"][order]
    first = np.flatnonzero(np.append(True, candidate[1:] != candidate[:-1]))
    may = size[first] < detail.below
    if "bad" in sizes:
        may |= sizes["bad"][order][first] > 0
    return candidate[first][may & (sizes["n_rows"][order][first] <= detail.budget)]
