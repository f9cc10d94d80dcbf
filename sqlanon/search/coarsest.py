"""The coarsest scheme as an answer: nothing can be feasible, or nothing was scored in time."""

from __future__ import annotations

import numpy as np

from sqlanon.metrics import Scores
from sqlanon.scheme import Batch
from sqlanon.search.outcome import Outcome
from sqlanon.search.problem import Problem

NOT_SEARCHED = "nothing was searched: no scheme can reach what the policy requires"
NOTHING_SCORED = (
    "the search ended before any scheme was scored: this is the coarsest one; give it more seconds"
)


def coarsest(
    problem: Problem, method: str, objectives: tuple[str, ...], *, certain: bool
) -> Outcome | None:
    """The scheme with the largest classes, for want of a feasible one; None if there may be one.

    `certain` says that it is known already; else what every scheme refines has to tell.
    """
    batch, scores = coarsest_scored(problem)
    if problem.feasible(scores).any() or not (certain or problem.hopeless(scores).all()):
        return None
    return Outcome(method, batch, scores, None, objectives, notes=(NOT_SEARCHED,))


def unscored(problem: Problem, method: str, objectives: tuple[str, ...], stopped: str) -> Outcome:
    """The coarsest scheme, scored, as the answer of a search that ended before it scored any."""
    batch, scores = coarsest_scored(problem)
    return Outcome(
        method=method,
        solutions=batch,
        scores=scores,
        chosen=0 if problem.feasible(scores).all() else None,
        objectives=objectives,
        stopped=stopped,
        reproducible=False,
        notes=(NOTHING_SCORED,),
    )


def coarsest_scored(problem: Problem) -> tuple[Batch, Scores]:
    """The scheme that every other one refines, and its scores."""
    bits = np.concatenate([column.coarsest.bits for column in problem.space.columns])
    batch = problem.space.batch_of_bits(bits[None])
    return batch, problem.evaluate(batch)
