"""The least loss at a given k and suppression limit, exact, from few nodes of a lattice.

Whether a node reaches k is monotone: an infeasible node rules out its specializations, and so
does one that violates another model where that is monotone too (see Problem.hopeless). A
feasible one bounds the loss from above and so rules out every node whose bound of loss from
below (see `bounds`) is larger, its generalizations mostly. Each wave takes nodes from the
middle of what is open, which are likely to rule out many either way. Once the best loss is
likely to be near the least, only the proof is missing, and that consists of the highest
infeasible nodes among those with a smaller bound: from then on the highest open nodes are
taken.
"""

from __future__ import annotations

import numpy as np
from pydantic.dataclasses import dataclass as checked

from sqlanon.search.lattice.lattice import (
    ENDED_EARLY,
    Lattice,
    Mask,
    NodeScores,
    Values,
)
from sqlanon.search.lattice.lattice_front import WAVES, middle_nodes
from sqlanon.search.lattice.node_bounds import LowerLoss, UpperK
from sqlanon.search.method import SETTINGS, register
from sqlanon.search.outcome import Outcome, Watch
from sqlanon.search.problem import Ints, Problem

WAVE = 16
"""Nodes of a wave."""
SCOUTING = 8
"""Waves from the middle, for losses whose bounds are known from the start."""


@checked(frozen=True, config=SETTINGS)
class OptimalSettings:
    """Of the search for one node: there is nothing to set."""


@register("optimal", OptimalSettings, default_loss="glm", lists_every_k=False)
def optimal(
    problem: Problem, settings: OptimalSettings, rng: np.random.Generator, watch: Watch
) -> Outcome:
    """The node with k ≥ problem.k and least loss, of those the highest k, of those the
    lexicographically least levels; exact.

    A suppression rule with a given k has problem.k. Where no node reaches k and satisfies every
    model, the solution listed is the fully generalized node, which has the largest k, and
    nothing is chosen. Nothing here is random.
    """
    search = _Bisection(problem, Lattice(problem.space), watch)
    search.run()
    return search.outcome()


class _Bisection:
    def __init__(self, problem: Problem, lattice: Lattice, watch: Watch) -> None:
        self._problem = problem
        self._lattice = lattice
        self._nodes = NodeScores(problem, lattice, watch)
        self._upper, self._lower = UpperK(problem, lattice), LowerLoss(problem, lattice)
        self._infeasible = np.zeros(lattice.size, dtype=bool)
        self._numbers = np.arange(lattice.size)
        self._best: int | None = None
        self._waves = 0
        self._wave = max(WAVE, lattice.size // WAVES // 2)

    def run(self) -> None:
        wave = np.array([self._lattice.bottom, self._lattice.top])
        while len(wave):
            self._evaluate(wave)
            if self._nodes.over:
                break
            wave = self._next_wave(self._open())

    def _evaluate(self, wave: Ints) -> None:
        self._waves += 1
        for part, scores in self._nodes.evaluate(wave):
            self._upper.learn(part, scores)
            self._lower.learn(part, scores)
            self._lower.learn_suppressed(part, scores)
            feasible = self._problem.feasible(scores)
            short = np.zeros(self._lattice.size, dtype=bool)
            short[part[self._problem.hopeless(scores)]] = True
            self._infeasible |= self._lattice.spread_down(np.logical_or, short)
            known = part[feasible] if self._best is None else np.append(part[feasible], self._best)
            if len(known):
                self._best = int(known[np.lexsort(self._rank(known))[0]])

    def _rank(self, nodes: Ints) -> tuple[Ints, Ints, Values]:
        """Sort keys, the last one first: loss, then k, then levels."""
        return nodes, -self._nodes.k[nodes], self._nodes.loss[nodes]

    def _open(self) -> Mask:
        """The nodes that may still be better than the best one."""
        candidates = ~self._nodes.known[:-1] & ~self._infeasible
        if self._best is None:
            return candidates
        k, loss = self._nodes.k[self._best], self._nodes.loss[self._best]
        upper, lower = self._upper.upper, self._lower.lower
        wins_tie = (upper > k) | ((upper == k) & (self._numbers < self._best))
        return np.asarray(candidates & ((lower < loss) | ((lower == loss) & wins_tie)))

    def _next_wave(self, is_open: Mask) -> Ints:
        scouting = not self._lower.separable or self._waves <= SCOUTING
        middle = middle_nodes(self._lattice, is_open, self._wave if scouting else 0)
        if self._lower.separable and scouting:
            return middle
        return np.union1d(middle, self._highest(is_open))

    def _highest(self, is_open: Mask) -> Ints:
        """Open nodes without an open generalization, those with most open nodes below first."""
        counts = is_open.astype(np.float64)
        above = self._lattice.spread_down(np.add, counts)
        nodes = np.flatnonzero(is_open & (above == 1))
        below = self._lattice.spread_up(np.add, counts)[nodes]
        return nodes[np.lexsort((nodes, -below))[: self._wave]]

    def outcome(self) -> Outcome:
        best = self._lattice.top if self._best is None else self._best
        wanted = "k and satisfies every model" if self._problem.models else "k"
        notes = [f"exact: no node that reaches {wanted} has less loss"]
        if self._best is None:
            notes = [f"no node of the lattice reaches {wanted}"]
        done = not self._open().any()
        if not done:
            notes = [ENDED_EARLY]
        return self._nodes.outcome("optimal", np.array([best]), notes, done=done)
