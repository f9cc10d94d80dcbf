"""Every node of the lattice: the yardstick for searches that evaluate fewer."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic.dataclasses import dataclass as checked

from sqlanon.keys import Flag, about
from sqlanon.search.lattice.lattice import ENDED_EARLY, Lattice, Mask, NodeScores
from sqlanon.search.lattice.node_bounds import LowerLoss, UpperK
from sqlanon.search.method import SETTINGS, register
from sqlanon.search.outcome import Outcome, Watch
from sqlanon.search.problem import Ints, Problem


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
    notes = ["exact: every node was evaluated"]
    if not done:
        notes = [ENDED_EARLY]
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
    waves = _Waves(lattice, upper, lower)
    found = np.zeros(0, dtype=np.int64)
    wave = np.array([lattice.top] if least_k else [lattice.bottom, lattice.top])
    while len(wave):
        for part, scores in nodes.evaluate(wave):
            upper.learn(part, scores)
            lower.learn(part, scores)
            found = nodes.front(np.append(found, part))
        if nodes.over:
            break
        wave = waves.next_wave(_open(nodes, found, upper, lower) & (upper.upper >= least_k))
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


class _Waves:
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

    Its score, whichever way it turns out, decides about many others.
    """
    nodes = np.flatnonzero(is_open)
    # As floats: the counts of a large lattice, multiplied, need more than 64 bits.
    counts = is_open.astype(np.float64)
    above, below = lattice.spread_down(np.add, counts), lattice.spread_up(np.add, counts)
    return nodes[np.lexsort((nodes, -(above * below)[nodes]))[:number]]
