"""Where nothing can reach what is required: the coarsest scheme instead of a search."""

from __future__ import annotations

import numpy as np

from sqlanon.search.outcome import Outcome
from sqlanon.search.problem import Problem

NOT_SEARCHED = "nothing was searched: no scheme can reach what the policy requires"


def coarsest(
    problem: Problem, method: str, objectives: tuple[str, ...], *, certain: bool
) -> Outcome | None:
    """The scheme with the largest classes, for want of a feasible one; None if there may be one.

    `certain` says that it is known already; else what every scheme refines has to tell.
    """
    bits = np.concatenate([column.coarsest.bits for column in problem.space.columns])
    batch = problem.space.batch_of_bits(bits[None])
    scores = problem.evaluate(batch)
    if problem.feasible(scores).any() or not (certain or problem.hopeless(scores).all()):
        return None
    return Outcome(method, batch, scores, None, objectives, notes=(NOT_SEARCHED,))
