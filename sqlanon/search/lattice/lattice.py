"""The domain hierarchy lattice of a space, and what is known about its nodes.

A node is one hierarchy level per column (Samarati; the POkA paper's section 3.2). Nodes are
numbered by mixed radix, column 0 the most significant digit, so that ascending numbers are
lexicographic levels. The level limits of the columns bound the lattice. A *generalization* of
a node is at least as high in every column, a *specialization* at most as high; both include
the node itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sqlanon.domain import Batch, Space
from sqlanon.errors import SearchError
from sqlanon.evaluate import Unfinished
from sqlanon.metrics import Ints, Scores
from sqlanon.search.fronts import frontier
from sqlanon.search.outcome import Outcome, Progress, Watch
from sqlanon.search.problem import Problem, exact_loss, shown_loss

Values = npt.NDArray[Any]

NONE = -1
"""The number of no node; as an index it finds the entry after the last node."""
MAX_NODES = 5_000_000
"""Lattice searches keep arrays over all nodes."""
ENDED_EARLY = "ended early: better solutions may exist"
"""The note on a search that was stopped."""
CHUNK = 4_096
"""Nodes evaluated between two looks at the watch."""


class Lattice:
    """The nodes of a space within the level limits of its columns.

    `extents` are the numbers of levels by column, `size` is their product, `bottom` and `top`
    are the fully specialized and the fully generalized node.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self.low, self.high = np.array(space.limits, dtype=np.int64).reshape(-1, 2).T
        self.extents = self.high - self.low + 1
        self.size = math.prod(self.extents.tolist())
        if self.size > MAX_NODES:
            raise SearchError(
                f"the lattice has {self.size:,} nodes, more than {MAX_NODES:,}; bound the "
                "levels of some columns with min_level and max_level, or choose a method that "
                "does not walk the lattice"
            )
        self.strides = np.append(np.cumprod(self.extents[:0:-1])[::-1], 1).astype(np.int64)
        self.bottom, self.top = 0, self.size - 1
        # Axes of one level are left out: an array has at most 64 axes, a table more columns.
        self._shape = tuple(int(e) for e in self.extents if e > 1)

    def decode(self, nodes: npt.ArrayLike) -> Ints:
        """The levels of nodes, one row each."""
        return self.digits(nodes) + self.low

    def digits(self, nodes: npt.ArrayLike) -> Ints:
        """The levels above the lower bound, one row per node."""
        numbers = np.asarray(nodes, dtype=np.int64)
        return np.asarray(numbers[..., None] // self.strides % self.extents)

    def heights(self, nodes: npt.ArrayLike) -> Ints:
        """Steps from the bottom: the sums of the digits."""
        return np.asarray(self.digits(nodes).sum(axis=-1))

    def above(self, nodes: Ints) -> Ints:
        """The immediate generalizations, one column each; NONE beyond the limits."""
        inside = self.digits(nodes) < self.extents - 1
        return np.where(inside, nodes[:, None] + self.strides, NONE)

    def below(self, nodes: Ints) -> Ints:
        """The immediate specializations, one column each; NONE beyond the limits."""
        return np.where(self.digits(nodes) > 0, nodes[:, None] - self.strides, NONE)

    def batch(self, nodes: Ints) -> Batch:
        """The schemes of some nodes."""
        return self.space.batch_of_levels(self.decode(nodes))

    def grid(self, values: Values) -> Values:
        """Values by node as an array with one axis for every column of several levels."""
        return values.reshape(self._shape)

    def spread_up(self, function: np.ufunc, values: Values) -> Values:
        """For each node, `function` over the values of all its specializations."""
        grid = self.grid(values)
        for axis in range(grid.ndim):
            grid = function.accumulate(grid, axis=axis)
        return grid.reshape(-1)

    def two_levels(self) -> list[str]:
        """Notes on columns without levels between their values and everything."""
        pairs = zip(self.space.columns, self.extents, strict=True)
        names = [column.name for column, n in pairs if column.hierarchy is None and n > 1]
        if not names:
            return []
        they = "has no hierarchy: it is" if len(names) == 1 else "have no hierarchy: they are"
        return [f"{', '.join(names)} {they} kept or hidden whole"]

    def spread_down(self, function: np.ufunc, values: Values) -> Values:
        """For each node, `function` over the values of all its generalizations."""
        # Reversing the numbers turns the lattice upside down.
        return self.spread_up(function, values[::-1])[::-1]


class NodeScores:
    """k and loss of the nodes evaluated so far, each node evaluated once.

    `k` and `loss` are indexed by node and mean something where `known`; losses can be
    compared for equality. A node that violates a model beyond k has k = 0. The entry of NONE
    is k = 0 and loss 0, as the POkA paper has it.
    `over` says that the watch wants the search to end.
    """

    def __init__(
        self, problem: Problem, lattice: Lattice, watch: Watch, *, spares: bool = True
    ) -> None:
        self.problem = problem
        # How many nodes a search that spares some will evaluate is not known beforehand.
        self._limit = None if spares else lattice.size
        self.lattice = lattice
        self.watch = watch
        self.known = np.zeros(lattice.size + 1, dtype=bool)
        self._fits = np.zeros(lattice.size + 1, dtype=bool)
        self.k = np.zeros(lattice.size + 1, dtype=np.int64)
        self.loss: Values = np.zeros(lattice.size + 1, dtype=np.int64)
        self.evaluated = 0
        self.over = False
        self._best: tuple[float, int, float] | None = None

    def evaluate(self, nodes: Ints) -> list[tuple[Ints, Scores]]:
        """Evaluates the nodes that are not yet known; returns those with their scores.

        When the watch ends the search, the last nodes stay unknown; the most general come
        first, so that there is something feasible early.
        """
        fresh = np.unique(nodes[(nodes != NONE) & ~self.known[nodes]])[::-1]
        parts: list[tuple[Ints, Scores]] = []
        for start in range(0, len(fresh), CHUNK):
            if self.over:
                break
            part = fresh[start : start + CHUNK]
            try:
                scores = self.problem.evaluate(self.lattice.batch(part))
            except Unfinished as ended:
                parts += self._kept_of(part, ended)
                break
            self._keep(part, scores)
            parts.append((part, scores))
        return parts

    def _kept_of(self, nodes: Ints, ended: Unfinished) -> list[tuple[Ints, Scores]]:
        """Takes in those of some nodes that were scored; there must be something to answer with."""
        if ended.part is None and not self.evaluated:
            raise ended
        part: list[tuple[Ints, Scores]] = []
        if ended.part is not None:
            part = [(nodes[ended.part.rows], ended.part.scores)]
            self._keep(*part[0])
        self.over = True
        return part

    def _keep(self, nodes: Ints, scores: Scores) -> None:
        loss = exact_loss(self.problem, scores)
        if loss.dtype != self.loss.dtype and (not self.evaluated or loss.dtype == object):
            self.loss = self.loss.astype(loss.dtype)
        self._fits[nodes] = self.problem.satisfied(scores)
        self.k[nodes] = np.where(self._fits[nodes], scores.k, 0)
        self.loss[nodes], self.known[nodes] = loss, True
        self.evaluated += len(nodes)
        feasible = np.flatnonzero(self.problem.feasible(scores))
        if len(feasible):
            shown = shown_loss(self.problem, scores)
            row = feasible[np.lexsort((-scores.k[feasible], shown[feasible]))[0]]
            found = float(shown[row]), -int(scores.k[row]), float(scores.nwp[row])
            self._best = found if self._best is None else min(self._best, found)
        progress = Progress(self.evaluated, self._limit)
        if self._best is not None:
            best, k, lost = self._best
            progress.best, progress.best_k, progress.lost = best, -k, lost
        self.over = self.watch.step(progress)

    def front(self, nodes: Ints) -> Ints:
        """Of the given nodes the Pareto-optimal ones, k descending and so loss descending.

        Of nodes with equal k and loss the one with the lexicographically least levels stays.
        Nodes that violate a model are not among them.
        """
        nodes = nodes[self._fits[nodes]]
        return nodes[frontier(-self.k[nodes], self.loss[nodes], nodes)]

    def outcome(
        self, method: str, solutions: Ints, notes: Sequence[str] = (), *, done: bool
    ) -> Outcome:
        """The answer of a search: chosen is the least loss with k ≥ problem.k.

        Without any solution the top is listed, which has the largest k. What is `done` has
        not been stopped, even where the watch said so after the last node.
        """
        stopped = "finished" if done else self.watch.stopped
        if not len(solutions):
            solutions = np.array([self.lattice.top])
        batch = self.lattice.batch(solutions)
        feasible = np.flatnonzero(self.k[solutions] >= self.problem.k)
        order = np.lexsort((-self.k[solutions[feasible]], self.loss[solutions[feasible]]))
        share = self.evaluated / self.lattice.size
        return Outcome(
            method=method,
            solutions=batch,
            scores=self.problem.evaluate(batch),
            chosen=int(feasible[order[0]]) if len(feasible) else None,
            objectives=("k", self.problem.loss),
            stopped=stopped,
            notes=(
                f"{self.evaluated:,} of {self.lattice.size:,} lattice nodes evaluated "
                f"({share:.1%})",
                *notes,
                *self.lattice.two_levels(),
            ),
        )
