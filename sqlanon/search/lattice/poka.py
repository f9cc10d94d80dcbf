"""POkA (Dewri, Ray, Ray & Whitley, CIKM 2009): from one Pareto-optimal node to the next.

From a *base node* N, which is the fully generalized node at first, a *depth search* goes down
to every *ground node* d steps below, and a *height search* goes up from each while k and loss
stay below those of N. The node with the highest k met there, and of those the least loss, is
the next base node. Specializations of N that are not its neighbours are passed, not evaluated.

A height search asks of a node only how it compares with N, so what all of them need is
found in waves, one height above the ground nodes after the other, one batch per wave. The paper's
recursion is then decided on the scores, from the top down instead of by calls: `HBest` and
`DBest` hold for every node what HeightSearch and DepthSearch return, children in the order of
the columns, and only a strictly better one replaces what was found before. So ties in (k, loss)
fall as they do in Functions 1 and 2.

Repairs to the pseudocode:
- the depth is min(d, Σ n_i), or nothing would be searched near the bottom;
- the search ends when DepthSearch returns NULL, which is no part of the result;
- at d = 1 a ground node must pass the test of k and loss as any other node must.

The fully generalized node is one of the optima. The search ends at the first base node with
k ≤ 2, so a node with k = 1 is listed only if it follows one with k > 2 at once.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass as checked

from sqlanon.domain import Bits
from sqlanon.keys import Flag, Whole, about
from sqlanon.metrics import Ints
from sqlanon.search.lattice.lattice import ENDED_EARLY, NONE, Lattice, NodeScores
from sqlanon.search.method import SETTINGS, register
from sqlanon.search.outcome import Outcome, Watch
from sqlanon.search.problem import Problem


@checked(frozen=True, config=SETTINGS)
class PokaSettings:
    """The paper's d, and a way past its end.

    Without a depth it is the paper's d_avg = ⌈Σ N_i / s⌉, the mean DGH length, within the level
    limits. Past plateaus, where DepthSearch returns NULL, the search goes on from the neighbour
    below with the highest k (then least loss) instead of ending: beyond the paper, for losses
    with ties such as CE. That neighbour is listed only where nothing else found is at least as
    good.
    """

    depth: Annotated[
        Annotated[Whole, Field(ge=1, le=1_000)] | None,
        about("Steps down from one solution in search of the next."),
    ] = None
    past_plateaus: Annotated[Flag, about("Goes on where no node in reach is better.")] = False


@register("poka", PokaSettings, given_k=False, default_loss="glm")
def poka(
    problem: Problem, settings: PokaSettings, rng: np.random.Generator, watch: Watch
) -> Outcome:
    """The nodes that POkA finds, k descending and loss descending with it.

    Not always all Pareto-optimal nodes, and not always only such. The suppression limit η is
    in what the problem's `evaluate` does. Nothing here is random.
    """
    lattice = Lattice(problem.space)
    nodes = NodeScores(problem, lattice, watch)
    depth = settings.depth or mean_height(lattice)
    base = lattice.top
    nodes.evaluate(np.array([base]))
    found = [base]
    passed = 0
    while nodes.k[base] > 2 and base != lattice.bottom and not nodes.over:
        following = BaseNode(nodes, base, depth).next()
        if following == NONE and settings.past_plateaus and not nodes.over:
            following = _best_below(nodes, base)
            passed += 1
        if following == NONE:
            break
        base = following
        found.append(base)
    notes = [f"depth {depth}"]
    if not nodes.k[lattice.top] and problem.models:
        notes.append(
            "the fully generalized node violates a model, and POkA begins there; front and optimal "
            "find other nodes, if there are any"
        )
    if nodes.k[base] > 2 and not nodes.over:
        notes.append(f"ended at k = {nodes.k[base]}: no node in reach has less loss and less k")
    if passed:
        notes.append(f"went past {passed} base nodes without a better node in reach")
    if nodes.over:
        notes.append(ENDED_EARLY)
    # Past a plateau a base node may be no better than those before it, or make them worse.
    return nodes.outcome("poka", nodes.front(np.array(found)), notes, done=not nodes.over)


def mean_height(lattice: Lattice) -> int:
    """d_avg of the paper, at least 1; the levels outside the lattice do not count."""
    heights = lattice.extents - 1
    return max(1, math.ceil(int(heights.sum()) / len(heights)))


def _best_below(nodes: NodeScores, base: int) -> int:
    """The neighbour below with the highest k, then least loss, then of the first column.

    All neighbours are known: every height search passes them or starts there.
    """
    below = nodes.lattice.below(np.array([base]))[0]
    below = below[below != NONE]
    return int(below[np.lexsort((np.arange(len(below)), nodes.loss[below], -nodes.k[below]))[0]])


class BaseNode:
    """A base node N and the searches around it."""

    def __init__(self, nodes: NodeScores, base: int, depth: int) -> None:
        self._nodes = nodes
        self._lattice = nodes.lattice
        self._base = base
        self._digits = self._lattice.digits(base)
        self._depth = min(depth, int(self._digits.sum()))
        self._best = np.full(self._lattice.size + 1, NONE, dtype=np.int64)

    def next(self) -> int:
        """The next base node, NONE where the paper has NULL or the watch ended the search."""
        layers = self._layers()
        ground = layers[-1] if self._depth > 1 else self._tested(layers[-1])
        waves = self._waves(ground)
        if self._nodes.over:
            return NONE
        self._decide_height_searches(waves)
        # DBest takes HBest's place: nothing asks for the HBest of these nodes any more.
        for layer in reversed(layers[:-1]):
            self._best[layer] = self._best_of(np.full(len(layer), NONE), self._lattice.below(layer))
        return int(self._best[self._base])

    def _layers(self) -> list[Ints]:
        """The nodes of the depth search by their distance from N; the last are ground nodes."""
        layers = [np.array([self._base])]
        for _ in range(self._depth):
            layers.append(_distinct(self._lattice.below(layers[-1])))
        return layers

    def _waves(self, ground: Ints) -> list[Ints]:
        """The nodes that the height searches enter, by their height above the ground nodes."""
        waves = [ground]
        while len(waves[-1]) and not self._nodes.over:
            children = _distinct(self._lattice.above(waves[-1]))
            passing = self._passed(children)
            tested = self._tested(children[~passing])
            waves.append(np.union1d(children[passing], tested))
        return waves

    def _passed(self, nodes: Ints) -> Bits:
        """Whether nodes are in SG(N) and more than a step from N: entered, not evaluated."""
        distances = self._digits - self._lattice.digits(nodes)
        return np.asarray((distances >= 0).all(axis=1) & (distances.sum(axis=1) > 1))

    def _tested(self, nodes: Ints) -> Ints:
        """Of some nodes, evaluated now, those with less k and less loss than N."""
        known = self._nodes
        known.evaluate(nodes)
        if known.over:
            return nodes[:0]
        less_k = known.k[nodes] < known.k[self._base]
        less_loss = known.loss[nodes] < known.loss[self._base]
        return np.asarray(nodes[less_k & less_loss])

    def _decide_height_searches(self, waves: list[Ints]) -> None:
        """HBest of every node entered, which is what HeightSearch returns there."""
        for wave in reversed(waves):
            itself = np.where(self._passed(wave), NONE, wave)
            self._best[wave] = self._best_of(itself, self._lattice.above(wave))

    def _best_of(self, best: Ints, children: Ints) -> Ints:
        """The last lines of Functions 1 and 2; nodes not entered have HBest NULL."""
        k, loss = self._nodes.k, self._nodes.loss
        for column in children.T:
            other = np.where(column == NONE, NONE, self._best[column])
            tie = (k[other] == k[best]) & (loss[other] < loss[best])
            best = np.where((k[other] > k[best]) | tie, other, best)
        return np.asarray(best)


def _distinct(nodes: Ints) -> Ints:
    found = np.unique(nodes)
    return np.asarray(found[found != NONE])
