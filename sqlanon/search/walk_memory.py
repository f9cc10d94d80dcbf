"""What a walk along reference directions keeps of everything that its steps evaluate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sqlanon.metrics import Scores
from sqlanon.preference import Preference
from sqlanon.scheme import Batch, Bits
from sqlanon.search.front import Front, bits_of, take
from sqlanon.search.problem import Ints, Problem
from sqlanon.search.reference_step import Step, points_of


class Memory:
    """The efficient solutions met so far; until there are any, those that come closest.

    Whatever the preference, the solution with least ach and then least pref_dev is strongly
    efficient: these are all that has to be kept of everything evaluated.
    """

    def __init__(self, problem: Problem, preference: Preference) -> None:
        self.efficient = Front(problem.space)
        self.closest = Front(problem.space)
        self._problem = problem
        self._preference = preference

    def keep(self, batch: Batch, scores: Scores) -> None:
        rows = np.flatnonzero(self._problem.feasible(scores))
        kept = take(scores, rows)
        points = np.column_stack(self._problem.loss_and_bias(kept))
        self.efficient.offer(batch.take(rows), kept, points, -kept.k[:, None].astype(np.float64))
        if not len(self.efficient):
            aim = replace(self._problem, preference=self._preference)
            points = np.column_stack([aim.f1(scores), aim.f2(scores)])
            self.closest.offer(batch, scores, points, aim.ties(scores))

    def best_known(self, reference: Preference, most: int) -> Bits | None:
        """The bit strings of the best efficient solutions for a reference point."""
        if not len(self.efficient):
            return None
        return bits_of(self.efficient.solutions.take(self._by_ach(reference)[:most]))

    def answer(self, origin: Preference, references: tuple[Preference, ...], stopped: str) -> Step:
        """The best of everything known for each reference, found for it or for another."""
        known = len(self.efficient)
        rows = [int(self._by_ach(r)[0]) for r in references] if known else []
        distinct = list(dict.fromkeys(rows))
        scores = take(self.efficient.scores, np.array(distinct, dtype=np.intp))
        return Step(
            origin=origin,
            references=references,
            solutions=self.efficient.solutions.take(distinct),
            scores=scores,
            points=points_of(self._problem, scores),
            reached=tuple(distinct.index(row) for row in rows),
            stopped=stopped,
        )

    def _by_ach(self, reference: Preference) -> Ints:
        """The rows of the efficient solutions by ach, ties by pref_dev."""
        point = self._problem.loss_and_bias(self.efficient.scores)
        return np.lexsort((reference.pref_dev(*point), reference.ach(*point)))
