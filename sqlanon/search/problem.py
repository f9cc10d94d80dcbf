"""What a search is asked, and all it may see: a space, a way to score batches, a wish."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sqlanon.evaluate.pulse import Pulse
from sqlanon.metrics import Scores, scaled
from sqlanon.model import BiasName, LossName
from sqlanon.preference import Preference
from sqlanon.privacy import Model
from sqlanon.scheme import Batch, Bits, Space

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

MOST_MISSING = 1e9
"""More is never missing to a model: an infinite number has no distance from others."""


@dataclass(frozen=True)
class Problem:
    """A search problem; `evaluate` scores schemes under the suppression rule of the policy.

    column_loss   Σ over rows of (atoms in the row's group − 1) by column, without any
                  suppression; it costs no query
    k             the k that a feasible solution reaches (k_pref in the papers)
    models        what it satisfies beyond k; `evaluate` measures them in this order
    monotone      whether classes that satisfy all of them do so after a merge
    preference    the point that the achievement function aims at
    budget        rows that may be suppressed, so that bounds can account for them
    start         bit strings of schemes that are known to be good, from a search for another k
    pulse         beats while `evaluate` works, which raises Unfinished where its listener ends
                  that; searches keep what was scored until then and end with the best so far
    """

    space: Space
    evaluate: Callable[[Batch], Scores]
    column_loss: Callable[[Batch], Ints]
    rows: int
    k: int
    preference: Preference
    loss: LossName = LossName.NWP
    budget: int = 0
    models: tuple[Model, ...] = ()
    monotone: bool = True
    start: Bits | None = None
    pulse: Pulse = field(default_factory=Pulse, compare=False)

    def f1(self, scores: Scores) -> Floats:
        """The first objective of MOOP: the achievement function."""
        return self.preference.ach(*self.loss_and_bias(scores))

    def loss_and_bias(self, scores: Scores) -> tuple[Floats, Floats]:
        """What the preference speaks of, in its measures."""
        by_loss, by_bias = self.preference.loss_by, self.preference.bias_by
        if by_loss is LossName.NWP and by_bias is BiasName.NECD:
            return scores.nwp, scores.necd
        return scaled(by_loss, scores, self.rows), scaled(by_bias, scores, self.rows)

    def f2(self, scores: Scores) -> npt.NDArray[Any]:
        """The second objective of MOOP: what is missing to k; at most 0 when feasible.

        With further models it is the worst shortfall, each on its own scale.
        """
        if not self.models:
            return self.k - scores.k
        missing: Floats = np.maximum(self.k - scores.k, self._shortfalls(scores).max(axis=1))
        return missing

    def _shortfalls(self, scores: Scores) -> Floats:
        """What is missing to each model, one column each."""
        missing = [m.shortfall(scores.reached[:, i]) for i, m in enumerate(self.models)]
        return np.minimum(np.column_stack(missing), MOST_MISSING)

    def feasible(self, scores: Scores) -> Mask:
        """Which schemes reach k and satisfy every model."""
        return np.asarray((scores.k >= self.k) & self.satisfied(scores))

    def satisfied(self, scores: Scores) -> Mask:
        """Which schemes satisfy every model, whatever their k."""
        if not self.models:
            return np.ones(len(scores), dtype=bool)
        return np.asarray((self._shortfalls(scores) <= 0).all(axis=1))

    def hopeless(self, scores: Scores) -> Mask:
        """Which schemes are infeasible together with everything that refines them.

        Rows in classes below k only grow as classes are split. Rows in classes that violate
        another model may become fewer: the part that violates is split off and suppressed. Only
        where nothing is suppressed does one such class remain, if the models are monotone.
        """
        below = scores.rows_below > self.budget
        if self.models and (self.budget or not self.monotone):
            return np.asarray(below)
        return np.asarray(below | ~self.feasible(scores))

    def pref_dev(self, scores: Scores) -> Floats:
        return self.preference.pref_dev(*self.loss_and_bias(scores))

    def ties(self, scores: Scores) -> Floats:
        """What decides between schemes of equal f1 and f2: the higher k, then less pref_dev.

        Without further models f2 tells them by k already.
        """
        return np.column_stack([-scores.k, self.pref_dev(scores)])


def exact_loss(problem: Problem, scores: Scores) -> npt.NDArray[np.generic]:
    """The loss to minimize in values that can be compared for equality.

    GLM, DCN and CE are whole numbers of units. NWP, whose weights are real numbers, is rounded
    where it is made, as are the further losses.
    """
    if problem.loss is LossName.GLM:
        return scores.glm_units
    if problem.loss is LossName.DCN:
        return scores.dcn
    if problem.loss is LossName.CE:
        return np.rint(scores.ce * problem.rows).astype(np.int64)
    return shown_loss(problem, scores)


PLAIN = (LossName.NWP, LossName.GLM, LossName.DCN, LossName.CE)
"""The losses of the papers, which every score has."""


def shown_loss(problem: Problem, scores: Scores) -> Floats:
    """The loss to minimize as reports show it."""
    if problem.loss in PLAIN:
        return np.asarray(getattr(scores, problem.loss.value))
    return scaled(problem.loss, scores, problem.rows)
