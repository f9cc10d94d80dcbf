"""Small lattices for the tests: random tables scored by hand, and random scores."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from plain_scores import plain_scores

from sqlanon.domain.atoms import ValueDomain
from sqlanon.domain.column import Column, Family
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.space import Batch, Space
from sqlanon.engines.protocol import Kind
from sqlanon.metrics.preference import Preference
from sqlanon.metrics.scores import Scores
from sqlanon.search.problem import Problem

Node = tuple[int, ...]
Found = tuple[Node | None, int, float]
NULL: Found = (None, 0, 0)


class RecordingSpace(Space):
    """Remembers the nodes that a search made schemes of."""

    def __init__(self, columns: Sequence[Column]) -> None:
        super().__init__(columns)
        self.asked: set[Node] = set()

    def batch_of_levels(self, levels: np.ndarray) -> Batch:
        self.asked.update(map(tuple, np.asarray(levels).tolist()))
        return super().batch_of_levels(levels)


def column(levels: Sequence[Sequence[int]], name: str, weight: float = 1.0) -> Column:
    """A column whose atom i is in group levels[l][i] at level l; the root comes by itself."""
    width = len(levels[0])
    rows = [
        (str(i), *(f"{number} {groups[i]}" for number, groups in enumerate(levels[1:], 1)), "*")
        for i in range(width)
    ]
    tree = Hierarchy.from_rows(rows, "a test")
    domain = ValueDomain(name, Kind.TEXT, tree.leaves, False)
    return Column(domain, tree, Family.FULL_DOMAIN, weight)


def random_levels(rng: random.Random, width: int, height: int) -> list[list[int]]:
    """Nested groupings of atoms; a level may equal the one below it."""
    levels = [list(range(width))]
    for _ in range(height - 1):
        upper, number = [0], 0
        for a, b in itertools.pairwise(levels[-1]):
            number += a != b and rng.random() < 0.6
            upper.append(number)
        levels.append(upper)
    return levels


@dataclass
class Table:
    """A random table with nested groupings, scored row by row.

    below, budget   the suppression rule; below None: POkA's
    """

    columns: list[Column]
    cells: np.ndarray
    subject: np.ndarray
    label: np.ndarray
    below: int | None
    budget: int
    space: RecordingSpace = field(init=False)

    def __post_init__(self) -> None:
        self.space = RecordingSpace(self.columns)
        self._seen: dict[bytes, dict[str, float]] = {}

    def problem(self, loss: str, k: int) -> Problem:
        return Problem(
            space=self.space,
            evaluate=self.evaluate,
            column_loss=self.column_loss,
            rows=len(self.cells),
            k=k,
            preference=Preference(0.2, 1.0),
            loss=loss,
            budget=self.budget,
        )

    def nodes(self) -> list[Node]:
        return list(itertools.product(*(range(a, b + 1) for a, b in self.space.limits)))

    def evaluate(self, batch: Batch) -> Scores:
        rows = []
        for key, ids in zip(batch.keys, batch.ids, strict=True):
            if key not in self._seen:
                self._seen[key] = self._score(ids)
            rows.append(self._seen[key])
        return plain_scores(**{name: np.array([row[name] for row in rows]) for name in rows[0]})

    def _groups(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Each cell's group and that group's number of atoms."""
        groups, atoms = np.empty_like(self.cells), np.empty_like(self.cells)
        for j, table in enumerate(self.space.tables):
            group_of = np.append(0, np.cumsum(table.bits(ids[j : j + 1])[0]))
            groups[:, j] = group_of[self.cells[:, j]]
            atoms[:, j] = np.bincount(group_of)[groups[:, j]]
        return groups, atoms

    def column_loss(self, batch: Batch) -> np.ndarray:
        return np.array([(self._groups(ids)[1] - 1).sum(axis=0) for ids in batch.ids])

    def _score(self, ids: np.ndarray) -> dict[str, float]:
        groups, atoms = self._groups(ids)
        classes: dict[tuple[int, ...], list[int]] = {}
        for row, key in enumerate(map(tuple, groups.tolist())):
            classes.setdefault(key, []).append(row)
        members = sorted(classes.values(), key=self._people)
        out = self._suppressed(members)
        kept = [m for m in members if self._people(m) > out]
        gone = [row for m in members if self._people(m) <= out for row in m]
        n, s = len(self.cells), len(gone)
        steps = np.array([max(c.size - 1, 1) for c in self.columns])
        unit = math.lcm(*steps.tolist())
        penalties = np.delete(atoms - 1, gone, axis=0)
        weights = np.array([c.weight for c in self.columns])
        weights = weights / weights.sum()
        by_column = penalties.sum(axis=0).tolist()
        units = sum(p * (unit // step) for p, step in zip(by_column, steps.tolist(), strict=True))
        units += s * unit * len(steps)
        sizes = [self._people(m) for m in kept] or [0]
        strangers = sum(len(m) - np.bincount(self.label[m]).max() for m in kept)
        low = 0 if self.below is None else self.below
        return {
            "k": min(sizes),
            "k_max": max(sizes),
            "classes": len(kept),
            "suppressed": s,
            "nwp": round((float((penalties / steps @ weights).sum()) + s) / n, 12),
            "necd": 0.0,
            "glm": units / unit,
            "glm_share": units / unit / n / len(steps),
            "dcn": sum(len(m) ** 2 for m in kept) + n * s,
            "ce": (s + strangers) / n,
            "glm_units": units,
            "rows_below": sum(len(m) for m in members if self._people(m) < low),
        }

    def _people(self, members: list[int]) -> int:
        return len(set(self.subject[members].tolist()))

    def _suppressed(self, members: list[list[int]]) -> int:
        """The largest class size that is left out."""
        largest, total = 0, 0
        for size, group in itertools.groupby(members, key=self._people):
            total += sum(map(len, group))
            if total > self.budget or (self.below is not None and size >= self.below):
                break
            largest = size
        return largest


def random_table(rng: random.Random, rule: str, *, limits: bool = False) -> Table:
    """`rule`: "eta" (POkA's), "given" (a k and a limit) or "none"; `limits`: of levels."""
    rows = rng.randint(1, 40)
    columns, cells = [], []
    for j in range(rng.randint(1, 4)):
        width = rng.choice([1, 2, 3, 5, 8])
        levels = random_levels(rng, width, rng.choice([1, 1, 2, 3]))
        plain = column(levels, f"c{j}", rng.choice([1.0, 0.3, 2.5]))
        low = rng.choice([0, rng.randint(0, plain.height)]) if limits else 0
        high = rng.choice([None, rng.randint(low, plain.height)]) if limits else None
        columns.append(replace(plain, min_level=low, max_level=high))
        lean = rng.choice([1, 2, 4])
        cells.append([int(width * rng.random() ** lean) for _ in range(rows)])
    subject = list(range(rows))
    if rng.random() < 0.3:
        subject = [rng.randrange(max(1, rows // 2)) for _ in range(rows)]
    return Table(
        columns,
        np.array(cells).T,
        np.array(subject),
        np.array([rng.randrange(3) for _ in range(rows)]),
        below=rng.randint(1, 6) if rule == "given" else None,
        budget={
            "none": 0,
            "eta": rng.randint(0, rows - 1) if rng.random() < 0.5 else rows // 10,
            "given": rng.choice([rows // 10, rows // 4, rows // 2, rows]),
        }[rule],
    )


def scored(table: Table, loss: str) -> dict[Node, tuple[int, int | float]]:
    """k and loss of every node within the limits."""
    nodes = table.nodes()
    scores = table.evaluate(Space.batch_of_levels(table.space, np.array(nodes)))
    losses = {
        "glm": scores.glm_units,
        "dcn": scores.dcn,
        "ce": np.rint(scores.ce * len(table.cells)).astype(int),
        "nwp": np.round(scores.nwp, 10),
    }[loss]
    return dict(zip(nodes, zip(scores.k.tolist(), losses.tolist(), strict=True), strict=True))


def pareto(points: Sequence[tuple[int, int | float]]) -> list[tuple[int, int | float]]:
    """The points of which no other has as much k and as little loss, by its definition."""
    distinct = set(points)
    return sorted(
        (
            (k, loss)
            for k, loss in distinct
            if not any(a >= k and b <= loss and (a, b) != (k, loss) for a, b in distinct)
        ),
        reverse=True,
    )


def levels_of(batch: Batch, row: int) -> Node:
    """The node of a scheme; of equal levels of a column the lowest."""
    tables = batch.space.tables
    return tuple(t.level_ids.tolist().index(i) for t, i in zip(tables, batch.ids[row], strict=True))


@dataclass
class Twin:
    """POkA's recursion as printed, on a table of (k, loss) by node, with the stated repairs."""

    heights: Node
    score: Callable[[Node], tuple[int, float]]
    d: int
    evaluated: set[Node] = field(default_factory=set)

    def evaluate(self, node: Node) -> tuple[int, float]:
        self.evaluated.add(node)
        return self.score(node)

    def children(self, node: Node, step: int) -> list[Node]:
        moved = [(*node[:j], node[j] + step, *node[j + 1 :]) for j in range(len(node))]
        return [n for n in moved if all(0 <= a <= b for a, b in zip(n, self.heights, strict=True))]

    def better(self, q: Found, best: Found) -> Found:
        return q if q[1] > best[1] or (q[1] == best[1] and q[2] < best[2]) else best

    def test(self, node: Node) -> Found:
        k, loss = self.evaluate(node)
        if k < self.k_n and loss < self.loss_n:
            return self.height_search(node, True)
        return NULL

    def height_search(self, p: Node, use_node: bool) -> Found:
        if p in self.h_best:
            return self.h_best[p]
        best = (p, *self.evaluate(p)) if use_node else NULL
        for c in self.children(p, 1):
            below = all(a <= b for a, b in zip(c, self.n, strict=True))
            passed = below and sum(self.n) - sum(c) > 1
            q = self.height_search(c, False) if passed else self.test(c)
            best = self.better(q, best)
        self.h_best[p] = best
        return best

    def depth_search(self, p: Node, depth: int) -> Found:
        if p in self.d_best:
            return self.d_best[p]
        best = NULL
        for c in self.children(p, -1):
            if sum(self.n) - sum(c) == depth:
                q = self.test(c) if depth == 1 else self.height_search(c, False)
            else:
                q = self.depth_search(c, depth)
            best = self.better(q, best)
        self.d_best[p] = best
        return best

    def run(self) -> list[Node]:
        self.n = self.heights
        self.k_n, self.loss_n = self.evaluate(self.n)
        result = [self.n]
        while self.k_n > 2 and sum(self.n):
            self.h_best: dict[Node, Found] = {}
            self.d_best: dict[Node, Found] = {}
            node, k, loss = self.depth_search(self.n, min(self.d, sum(self.n)))
            if node is None:
                break
            self.n, self.k_n, self.loss_n = node, k, loss
            result.append(node)
        return result
