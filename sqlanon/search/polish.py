"""Polishing: from a good scheme to one that no small change improves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sqlanon.metrics import Scores
from sqlanon.scheme import Bits
from sqlanon.search.moves import neighbours
from sqlanon.search.problem import Problem


@dataclass(frozen=True)
class Place:
    """A scheme and how good it is: smaller ranks are better, compared entry by entry."""

    bits: Bits
    rank: tuple[float, ...]


def rank_of(problem: Problem, scores: Scores) -> npt.NDArray[np.float64]:
    """What the solution to OP minimizes: the shortfall in k, then ach, then −k, then pref_dev."""
    shortfall = np.maximum(problem.f2(scores), 0)
    return np.stack([shortfall, problem.f1(scores), -scores.k, problem.pref_dev(scores)], axis=1)


def best_of(problem: Problem, bits: Bits) -> Place:
    """The best of some schemes, the first of equals."""
    scores = problem.evaluate(problem.space.batch_of_bits(bits))
    ranks = rank_of(problem, scores)
    first = np.lexsort(ranks.T[::-1])[0]
    return Place(bits[first], tuple(ranks[first].tolist()))


def never() -> bool:
    return False


def polish(
    problem: Problem, start: Place, budget: int, stop: Callable[[], bool] = never
) -> tuple[Place, int]:
    """Goes to the best neighbour while that is better; exchanges are tried when moves fail.

    Ends at a scheme that neither a move nor an exchange improves (of very many exchanges:
    none of those that `neighbours` offers), or earlier with the best so far, when `budget`
    schemes have been asked for or when `stop`, called after every batch, says so. Returns
    the scheme and how many were asked.
    """
    here, asked, exchanges = start, 0, False
    while True:
        best = here
        for around in neighbours(problem.space, here.bits, exchanges=exchanges):
            if asked >= budget:
                return best, asked
            batch = around[: budget - asked]
            asked += len(batch)
            best = min(best, best_of(problem, batch), key=lambda place: place.rank)
            if stop():
                return best, asked
        if best.rank < here.rank:
            here, exchanges = best, False
        elif exchanges:
            return here, asked
        else:
            exchanges = True
