"""Small lattices for the tests: random tables scored by hand, and random scores."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sqlanon.domain import ValueDomain
from sqlanon.hierarchy import Hierarchy
from sqlanon.metrics import Scores
from sqlanon.model import Family, Kind
from sqlanon.preference import Preference
from sqlanon.scheme import Batch, Column, Space
from sqlanon.search.problem import Loss, Problem

Node = tuple[int, ...]


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

    def problem(self, loss: Loss, k: int) -> Problem:
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
        return list(itertools.product(*(range(h + 1) for h in self.space.heights)))

    def evaluate(self, batch: Batch) -> Scores:
        rows = []
        for key, ids in zip(batch.keys, batch.ids, strict=True):
            if key not in self._seen:
                self._seen[key] = self._score(ids)
            rows.append(self._seen[key])
        return Scores(**{name: np.array([row[name] for row in rows]) for name in rows[0]})

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
            "nwp": (float((penalties / steps @ weights).sum()) + s) / n,
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


def random_table(rng: random.Random, rule: str) -> Table:
    """`rule`: "eta" (POkA's), "given" (a k and a limit) or "none"."""
    rows = rng.randint(1, 40)
    columns, cells = [], []
    for j in range(rng.randint(1, 4)):
        width = rng.choice([1, 2, 3, 5, 8])
        levels = random_levels(rng, width, rng.choice([1, 1, 2, 3]))
        columns.append(column(levels, f"c{j}", rng.choice([1.0, 0.3, 2.5])))
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


def scored(table: Table, loss: Loss) -> dict[Node, tuple[int, int | float]]:
    """k and loss of every node."""
    nodes = table.nodes()
    scores = table.evaluate(Space.batch_of_levels(table.space, np.array(nodes)))
    losses = {
        Loss.GLM: scores.glm_units,
        Loss.DCN: scores.dcn,
        Loss.CE: np.rint(scores.ce * len(table.cells)).astype(int),
        Loss.NWP: np.round(scores.nwp, 10),
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
