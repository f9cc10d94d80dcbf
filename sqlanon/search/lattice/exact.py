"""Exact searches of the lattice: every node, the front for every k, and the optimum at one k.

`front` and `optimal` evaluate few nodes and prove the rest from bounds (see `node_bounds`).

*optimal*: whether a node reaches k is monotone: an infeasible node rules out its specializations,
and so does one that violates another model where that is monotone too (see Problem.hopeless). A
feasible one bounds the loss from above and so rules out every node whose bound of loss from
below is larger, its generalizations mostly. Each wave takes nodes from the middle of what is
open, which are likely to rule out many either way. Once the best loss is likely to be near the
least, only the proof is missing, and that consists of the highest infeasible nodes among those
with a smaller bound: from then on the highest open nodes are taken.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic.dataclasses import dataclass as checked

from sqlanon.domain import Bits
from sqlanon.keys import Flag, about
from sqlanon.metrics import Ints
from sqlanon.search.lattice.lattice import (
    ENDED_EARLY,
    Lattice,
    NodeScores,
    Values,
)
from sqlanon.search.lattice.node_bounds import LowerLoss, UpperK
from sqlanon.search.method import SETTINGS, register
from sqlanon.search.outcome import Outcome, Watch
from sqlanon.search.problem import Problem


@checked(frozen=True, config=SETTINGS)
class FrontSettings:
    """Of the exact searches for every k.

    The scores that the search is given follow the rule of `given_k`.
    """

    given_k: Annotated[Flag, about("Rows are left out as for the required k, not for every k.")] = (
        False
    )


@register("exhaustive", FrontSettings, given_k=False, default_loss="glm")
def exhaustive(
    problem: Problem, settings: FrontSettings, rng: np.random.Generator, watch: Watch
) -> Outcome:
    """The Pareto front k → least loss, k descending, exact whatever the loss and the rule.

    Of nodes with equal k and loss the lexicographically least levels are listed. Nothing here
    is random.
    """
    lattice = Lattice(problem.space)
    nodes = NodeScores(problem, lattice, watch, spares=False)
    nodes.evaluate(np.arange(lattice.size))
    done = bool(nodes.known[:-1].all())
    notes = ["exact: every node was evaluated" if done else ENDED_EARLY]
    return nodes.outcome("exhaustive", nodes.front(np.flatnonzero(nodes.known)), notes, done=done)


WAVE = 32
"""Nodes of a wave; large waves evaluate nodes that smaller ones would have spared."""
WAVES = 500
"""Large lattices take more nodes per wave, so that about this many waves are enough."""


@register("front", FrontSettings, given_k=False, default_loss="glm")
def front(
    problem: Problem,
    settings: FrontSettings,
    rng: np.random.Generator,
    watch: Watch,
    least_k: int = 0,
) -> Outcome:
    """Every Pareto-optimal pair of k and loss with one node each, k descending; exact.

    It holds for POkA's limit η and for a rule with a given k, which then must be problem.k.
    Nothing here is random. Below `least_k` the front is not searched, which on a large table
    saves the nodes that cost most: those with the most classes.
    """
    lattice = Lattice(problem.space)
    nodes = NodeScores(problem, lattice, watch)
    upper, lower = UpperK(problem, lattice), LowerLoss(problem, lattice)
    heights = lattice.heights(np.arange(lattice.size))
    found = np.zeros(0, dtype=np.int64)
    wave = np.array([lattice.top] if least_k else [lattice.bottom, lattice.top])
    while True:
        for part, scores in nodes.evaluate(wave):
            upper.learn(part, scores)
            lower.learn(part, scores)
            found = nodes.front(np.append(found, part))
        is_open = _open(nodes, found, upper, lower) & (upper.upper >= least_k)
        done = not is_open.any()
        if nodes.over or done:
            break
        wave = _next_wave(lattice, is_open, heights, upper, lower)
    exact = "exact: every other node is dominated by one of these or equal to it"
    notes = [exact if done else ENDED_EARLY]
    return nodes.outcome("front", found, notes, done=done)


def _open(nodes: NodeScores, found: Ints, upper: UpperK, lower: LowerLoss) -> Bits:
    """The nodes that may still add a point to the front, or take a point for lesser levels."""
    if not len(found):  # nothing so far satisfies what is required beyond k
        return ~nodes.known[:-1]
    # The found points descend in k and in loss: the last with enough k has the least loss.
    rival = np.searchsorted(-nodes.k[found], -upper.upper, side="right") - 1
    k, loss = nodes.k[found][rival], nodes.loss[found][rival]
    loses_tie = (k > upper.upper) | (found[rival] < np.arange(len(rival)))
    covered = (rival >= 0) & ((loss < lower.lower) | ((loss == lower.lower) & loses_tie))
    return np.asarray(~nodes.known[:-1] & ~covered)


def _next_wave(
    lattice: Lattice, is_open: Bits, heights: Ints, upper: UpperK, lower: LowerLoss
) -> Ints:
    """Chooses which open nodes to evaluate next."""
    nodes = np.flatnonzero(is_open)
    if lower.separable:
        return np.asarray(nodes[heights[nodes] == heights[nodes].max()])
    half = max(WAVE, lattice.size // WAVES) // 2
    by_bound = np.lexsort((nodes, -lower.lower[nodes], -upper.upper[nodes]))
    return np.union1d(nodes[by_bound[:half]], middle_nodes(lattice, is_open, half))


def middle_nodes(lattice: Lattice, is_open: Bits, number: int) -> Ints:
    """Open nodes that have most open nodes above and below them: a lattice's bisection.

    Its score, whichever way it turns out, decides about many others.
    """
    nodes = np.flatnonzero(is_open)
    # As floats: the counts of a large lattice, multiplied, need more than 64 bits.
    counts = is_open.astype(np.float64)
    above, below = lattice.spread_down(np.add, counts), lattice.spread_up(np.add, counts)
    return nodes[np.lexsort((nodes, -(above * below)[nodes]))[:number]]


BISECTION = 16
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
        self._wave = max(BISECTION, lattice.size // WAVES // 2)

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

    def _open(self) -> Bits:
        """The nodes that may still be better than the best one."""
        candidates = ~self._nodes.known[:-1] & ~self._infeasible
        if self._best is None:
            return candidates
        k, loss = self._nodes.k[self._best], self._nodes.loss[self._best]
        upper, lower = self._upper.upper, self._lower.lower
        wins_tie = (upper > k) | ((upper == k) & (self._numbers < self._best))
        return np.asarray(candidates & ((lower < loss) | ((lower == loss) & wins_tie)))

    def _next_wave(self, is_open: Bits) -> Ints:
        scouting = not self._lower.separable or self._waves <= SCOUTING
        middle = middle_nodes(self._lattice, is_open, self._wave if scouting else 0)
        if self._lower.separable and scouting:
            return middle
        return np.union1d(middle, self._highest(is_open))

    def _highest(self, is_open: Bits) -> Ints:
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
