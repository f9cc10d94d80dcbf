"""What a search is asked, and all it may see: a space, a way to score batches, a wish."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from sqlanon.metrics import Scores
from sqlanon.preference import Preference
from sqlanon.scheme import Batch, Space

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Loss(StrEnum):
    """The information loss that a single-objective or lattice search minimizes."""

    NWP = "nwp"
    GLM = "glm"
    DCN = "dcn"
    CE = "ce"


@dataclass(frozen=True)
class Problem:
    """A search problem; `evaluate` scores schemes under the suppression rule of the policy.

    column_loss   Σ over rows of (atoms in the row's group − 1) by column, without any
                  suppression; it costs no query
    k             the k that a feasible solution reaches (k_pref in the papers)
    preference    the point that the achievement function aims at
    budget        rows that may be suppressed, so that bounds can account for them
    """

    space: Space
    evaluate: Callable[[Batch], Scores]
    column_loss: Callable[[Batch], Ints]
    rows: int
    k: int
    preference: Preference
    loss: Loss = Loss.NWP
    budget: int = 0

    def f1(self, scores: Scores) -> Floats:
        """The first objective of MOOP: the achievement function."""
        return self.preference.ach(scores.nwp, scores.necd)

    def f2(self, scores: Scores) -> Ints:
        """The second objective of MOOP: what is missing to k; at most 0 when feasible."""
        return self.k - scores.k

    def feasible(self, scores: Scores) -> npt.NDArray[np.bool_]:
        return np.asarray(scores.k >= self.k)

    def pref_dev(self, scores: Scores) -> Floats:
        return self.preference.pref_dev(scores.nwp, scores.necd)


def exact_loss(problem: Problem, scores: Scores) -> npt.NDArray[np.generic]:
    """The loss to minimize in values that can be compared for equality.

    GLM, DCN and CE are whole numbers of units; NWP, whose weights are real numbers, is not.
    """
    if problem.loss is Loss.GLM:
        return scores.glm_units
    if problem.loss is Loss.DCN:
        return scores.dcn
    if problem.loss is Loss.CE:
        return np.rint(scores.ce * problem.rows).astype(np.int64)
    return scores.nwp
