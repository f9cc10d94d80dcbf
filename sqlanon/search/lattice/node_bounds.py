"""What evaluated nodes tell about others: bounds on k from above and on loss from below.

Y specializes X here. k and class sizes count people, losses rows.

*k.* Every class of Y lies inside one of X, so the rows in classes of at most a given size only
grow from X to Y. Under POkA's limit η, k is the smallest size s for which more than η rows lie
in classes of at most s: k(Y) ≤ k(X). With a given k a node that falls short of it has that
same k, so again k(Y) ≤ k(X). A node X that reaches it gives no such bound: Y may suppress a
class that X keeps, and only larger classes are left. It does so only by suppressing the
smallest class of X whole, beside all that X suppresses, for these rows are in classes below
the given k of Y too; so k(Y) ≤ k(X) if suppressed(X) + k(X) exceeds the limit. Otherwise what
remains is k(Y) ≤ largest class of Y ≤ largest class of X. Where other models are required,
classes of any size may be suppressed. However the rows to suppress are chosen, all classes
smaller than k(Y) are among them, so they are within the limit; η would take them too, and k(Y)
is at most what X has under η.

*Loss.* A suppressed row costs at least as much as it would if it were kept, so every loss is at
least the loss without suppression, and that one grows from Y to X: merging classes adds to
Σ rows² (DCN) and to the rows outside the majority (CE). GLM and NWP without suppression are
sums over columns and known for every node without a query. DCN has a bound the other way,
too: if each group of X splits into at most m groups of Y, then Σ rows² of Y ≥ that of X / m,
by Cauchy and Schwarz. The losses beyond the papers' are not bounded: for these a search is
exact too, but spares fewer nodes.
"""

from __future__ import annotations

import numpy as np

from sqlanon.domain import Column
from sqlanon.metrics import METRICS, SLACK, Ints, Scores
from sqlanon.search.lattice.lattice import Lattice, Values
from sqlanon.search.problem import Problem, exact_loss

UNLIMITED = 2**62


class UpperK:
    """`upper`: no node has a larger k, by node.

    A suppression rule with a given k has problem.k. Which rule it is shows in the scores of
    the bottom node, so that must be among the first nodes learned: only a rule without k
    leaves out rows that are in no class below k.
    """

    def __init__(self, problem: Problem, lattice: Lattice) -> None:
        self._problem = problem
        self._lattice = lattice
        self._always_monotone = False
        self.upper = np.full(lattice.size, UNLIMITED, dtype=np.int64)

    def learn(self, nodes: Ints, scores: Scores) -> None:
        """Takes in evaluated nodes."""
        if (scores.suppressed > scores.rows_below).any():
            self._always_monotone = True
        binding = scores.suppressed + scores.k > self._problem.budget
        monotone = self._always_monotone | binding | ~self._problem.feasible(scores)
        found = np.full(self._lattice.size, UNLIMITED, dtype=np.int64)
        found[nodes] = np.where(monotone, scores.k, scores.k_max)
        if self._problem.models and self._problem.budget:
            found[nodes] = scores.k_most
        spread = self._lattice.spread_down(np.minimum, found)
        np.minimum(self.upper, spread, out=self.upper)


class LowerLoss:
    """`lower`: no node has a smaller loss, by node, in the values of `exact_loss`.

    `separable`: the bounds are all known from the start and do not depend on evaluations.
    """

    def __init__(self, problem: Problem, lattice: Lattice) -> None:
        self._problem = problem
        self._lattice = lattice
        self._metric = METRICS[problem.loss]
        # Without suppression. Kept apart from `lower`: only these bounds pass on to others.
        self._kept: Values = np.zeros(lattice.size, dtype=np.int64)
        separable = _separable_loss(problem, lattice)
        self.separable = separable is not None
        self.lower = self._kept if separable is None else separable
        self._parts = [_most_parts(c) for c in problem.space.columns]

    def learn(self, nodes: Ints, scores: Scores) -> None:
        """Takes in evaluated nodes: what their kept rows lose, every generalization loses."""
        loss = exact_loss(self._problem, scores)
        kept = self._metric.kept(loss, scores.suppressed, self._problem.rows)
        if kept is None:
            return
        self._kept[nodes] = np.maximum(self._kept[nodes], kept)
        self._kept = self._lattice.spread_up(np.maximum, self._kept)
        if self._metric.by_splits:
            self._learn_from_splits()
        self.lower = np.maximum(self.lower, self._kept)

    def _learn_from_splits(self) -> None:
        grid = self._lattice.grid(self._kept).copy()
        split = [j for j, extent in enumerate(self._lattice.extents) if extent > 1]
        for axis, j in enumerate(split):
            low = int(self._lattice.low[j])
            along = np.moveaxis(grid, axis, 0)
            # The finest level first: each takes from the untouched bounds of coarser ones.
            for fine in range(len(along)):
                for coarse in range(fine + 1, len(along)):
                    parts = self._parts[j][low + fine, low + coarse]
                    along[fine] = np.maximum(along[fine], -(-along[coarse] // parts))
        self._kept = grid.reshape(-1)

    def learn_suppressed(self, nodes: Ints, scores: Scores) -> None:
        """Takes in what feasible nodes must suppress; for searches that want no others.

        With a given k a feasible specialization of X suppresses every row that X has in
        classes below k, at the full price. Without one `rows_below` is 0 and says nothing.
        """
        problem = self._problem
        price = self._metric.row_price(problem.space.columns, problem.rows)
        if not scores.rows_below.any() or not price:
            return
        found = np.zeros(self._lattice.size, dtype=np.int64)
        found[nodes] = scores.rows_below
        spread = self._lattice.spread_down(np.maximum, found)
        # As the bounds are: GLM in units may need whole numbers of any length.
        rows = spread.astype(self.lower.dtype)
        least = rows * price
        if isinstance(price, float):  # losses are rounded where they are compared
            least = np.maximum(least - SLACK, 0.0)
        self.lower = np.maximum(self.lower, least)


def _separable_loss(problem: Problem, lattice: Lattice) -> Values | None:
    """The loss without suppression of every node, where it is a sum over columns."""
    steps = np.arange(lattice.extents.max())[:, None]
    levels = np.minimum(lattice.low + steps, lattice.high)
    by_level = problem.column_loss(problem.space.batch_of_levels(levels))
    prices = METRICS[problem.loss].column_prices(by_level, problem.space.columns, problem.rows)
    if not prices:
        return None
    total: Values = np.zeros(1, dtype=prices[0].dtype)
    for extent, price in zip(lattice.extents, prices, strict=True):
        total = np.add.outer(total, price[:extent]).reshape(-1)
    # Losses that are no whole numbers are rounded where they are compared.
    return np.maximum(total - SLACK, 0) if total.dtype == np.float64 else total


def _most_parts(column: Column) -> Ints:
    """Entry (a, b): the most groups of level a that one group of level b consists of."""
    groups = [np.append(0, np.cumsum(level.bits)) for level in column.levels]
    parts = np.ones((len(groups), len(groups)), dtype=np.int64)
    for a, fine in enumerate(groups):
        starts = np.append(True, fine[1:] != fine[:-1])
        for b in range(a + 1, len(groups)):
            parts[a, b] = np.bincount(groups[b][starts]).max()
    return parts
