"""The complete Pareto front k → least loss of a lattice, from a fraction of its nodes.

A node need not be evaluated when a found solution has at least its bound of k and at most its
bound of loss (see `bounds`): then it is dominated or brings the same point once more, which
counts only where its levels come first. Losses
that are sums over columns have their bounds from the start, and the walk goes from the top
down, a level sum at a time, because k is bounded from above by generalizations. The other
losses are bounded by specializations, so there each wave takes nodes from the top, the
highest bound of k first, and nodes from the middle, those with most open nodes on both sides.
"""

from __future__ import annotations

import numpy as np

from sqlanon.search.bounds import LowerLoss, UpperK
from sqlanon.search.lattice import ENDED_EARLY, FrontSettings, Lattice, Mask, NodeScores
from sqlanon.search.outcome import Outcome, Watch
from sqlanon.search.problem import Ints, Problem

WAVE = 32
"""Nodes of a wave; large waves evaluate nodes that smaller ones would have spared."""
WAVES = 500
"""Large lattices take more nodes a wave, so that about this many waves are enough."""


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
    walk = _Walk(lattice, upper, lower)
    found = np.zeros(0, dtype=np.int64)
    wave = np.array([lattice.top] if least_k else [lattice.bottom, lattice.top])
    while len(wave):
        for part, scores in nodes.evaluate(wave):
            upper.learn(part, scores)
            lower.learn(part, scores)
            found = nodes.front(np.append(found, part))
        if nodes.over:
            break
        wave = walk.next_wave(_open(nodes, found, upper, lower) & (upper.upper >= least_k))
    done = not (_open(nodes, found, upper, lower) & (upper.upper >= least_k)).any()
    notes = ["exact: every other node is dominated by one of these or equal to it"]
    if not done:
        notes = [ENDED_EARLY]
    return nodes.outcome("front", found, notes, done=done)


def _open(nodes: NodeScores, found: Ints, upper: UpperK, lower: LowerLoss) -> Mask:
    """The nodes that may still add a point to the front, or take a point for lesser levels."""
    if not len(found):  # nothing so far satisfies what is required beyond k
        return ~nodes.known[:-1]
    # The found points descend in k and in loss: the last with enough k has the least loss.
    rival = np.searchsorted(-nodes.k[found], -upper.upper, side="right") - 1
    k, loss = nodes.k[found][rival], nodes.loss[found][rival]
    loses_tie = (k > upper.upper) | (found[rival] < np.arange(len(rival)))
    covered = (rival >= 0) & ((loss < lower.lower) | ((loss == lower.lower) & loses_tie))
    return np.asarray(~nodes.known[:-1] & ~covered)


class _Walk:
    """Chooses which open nodes to evaluate next."""

    def __init__(self, lattice: Lattice, upper: UpperK, lower: LowerLoss) -> None:
        self._lattice = lattice
        self._upper = upper
        self._lower = lower
        self._heights = lattice.heights(np.arange(lattice.size))
        self._wave = max(WAVE, lattice.size // WAVES)

    def next_wave(self, is_open: Mask) -> Ints:
        nodes = np.flatnonzero(is_open)
        if not len(nodes):
            return nodes
        if self._lower.separable:
            heights = self._heights[nodes]
            return np.asarray(nodes[heights == heights.max()])
        half = self._wave // 2
        by_bound = np.lexsort((nodes, -self._lower.lower[nodes], -self._upper.upper[nodes]))
        return np.union1d(nodes[by_bound[:half]], middle_nodes(self._lattice, is_open, half))


def middle_nodes(lattice: Lattice, is_open: Mask, number: int) -> Ints:
    """Open nodes that have most open nodes above and below them: a lattice's bisection.

    What such a node tells, whichever way it turns out, tells about many others.
    """
    nodes = np.flatnonzero(is_open)
    # As floats: the counts of a large lattice, multiplied, need more than 64 bits.
    counts = is_open.astype(np.float64)
    above, below = lattice.spread_down(np.add, counts), lattice.spread_up(np.add, counts)
    return nodes[np.lexsort((nodes, -(above * below)[nodes]))[:number]]
