"""Every node of the lattice: the yardstick for searches that evaluate fewer."""

from __future__ import annotations

import numpy as np

from sqlanon.search.lattice import ENDED_EARLY, FrontSettings, Lattice, NodeScores
from sqlanon.search.outcome import Outcome, Watch
from sqlanon.search.problem import Problem


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
