"""The trade-off of a search for one k, told honestly for every other k.

A search for k = 5 leaves out classes below 5. A scheme that it meets may reach 10 as well, if
the classes below 10 are left out, within the same limit. So each scheme is listed with every k
that it reaches, scored with the rows left out for that k.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sqlanon.evaluate import Evaluator
from sqlanon.measurement import Ints, Measurements
from sqlanon.metrics import Scores
from sqlanon.scheme import Batch, Bits
from sqlanon.scheme.batch import Ids
from sqlanon.search.front import bits_of, join, take
from sqlanon.search.outcome import Outcome
from sqlanon.search.problem import PLAIN, Problem, exact_loss
from sqlanon.suppression import EachForItsK, Suppression, reachable

MOST_ENTRIES = 500_000
"""About so many class sizes are scored together."""
SLACK = 1e-9
"""Losses that are no whole numbers may be rounded a little down."""

Values = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


class EveryK:
    """What nothing beats that was scored: of a loss, or of ach, the least for every k.

    By descending k and so by descending loss. Of equal ones, the lattice searches list the one
    with the least levels; the others the one with the least deviation from the preference, then
    the first that was met.
    """

    def __init__(self, evaluator: Evaluator, *, by_ach: bool) -> None:
        self._evaluator = evaluator
        self._by_ach = by_ach
        self._ids: Ids = np.zeros((0, len(evaluator.space.columns)), dtype=np.int32)
        self._scores: Scores | None = None
        self._aims: Values = np.zeros(0)

    def watching(self, problem: Problem, rule: Suppression, *, by_levels: bool) -> Problem:
        """The problem, scored under a rule; whatever is scored is kept here for every k."""

        def evaluate(batch: Batch) -> Scores:
            measured = self._evaluator.measure(batch)
            self._offer(problem, batch, measured, by_levels)
            return self._evaluator.score_measured(measured, rule)

        return replace(problem, evaluate=evaluate)

    def listed(self, problem: Problem, outcome: Outcome) -> Outcome:
        """The outcome of a search with the solutions for every k; the least loss is chosen."""
        assert self._scores is not None
        scores = self._scores
        fit = np.flatnonzero(scores.k >= problem.k)
        order = np.arange(len(scores))
        if outcome.objectives[0] != "k":
            order = order[::-1]
        return replace(
            outcome,
            solutions=Batch(self._evaluator.space, self._ids[order]),
            scores=take(scores, order),
            chosen=int(np.flatnonzero(order == fit[-1])[0]) if len(fit) else None,
        )

    def starts(self, problem: Problem) -> Bits:
        """Schemes that reach the k of a problem, the best of them."""
        if self._scores is None:
            return np.zeros((0, problem.space.positions), dtype=bool)
        fit = np.flatnonzero(self._scores.k >= problem.k)[::-1]
        return bits_of(Batch(problem.space, self._ids[fit]))

    def _offer(
        self, problem: Problem, batch: Batch, measured: Measurements, by_levels: bool
    ) -> None:
        """Adds what a batch brings. Some schemes at a time: each is scored once for every k."""
        budget = self._evaluator.suppression.budget
        least = self._least(problem, measured)
        schemes, ks = reachable(measured, budget)
        entries = np.cumsum(np.diff(measured.offsets)[schemes])
        for part in np.split(np.arange(len(ks)), _borders(entries)):
            kept = part[self._promising(least[schemes[part]], ks[part])]
            if len(kept):
                rule = EachForItsK(ks[kept], budget)
                scores = self._evaluator.score_measured(measured.take(schemes[kept]), rule)
                self._keep(problem, batch.ids[schemes[kept]], scores, by_levels)

    def _least(self, problem: Problem, measured: Measurements) -> Values:
        """What is lost if no row is left out: for the losses of the papers never more than else."""
        loss = problem.preference.loss_by if self._by_ach else problem.loss
        if loss not in PLAIN:
            return np.full(len(measured), -np.inf)
        whole = self._evaluator.score_measured(measured, Suppression())
        least = self._aim(problem, whole, bias=0.0)
        return least - SLACK if least.dtype == np.float64 else least

    def _promising(self, least: Values, ks: Ints) -> Mask:
        """Which pairs of a scheme and a k nothing beats that is known."""
        if self._scores is None:
            return np.ones(len(ks), dtype=bool)
        rival = np.searchsorted(-self._scores.k, -ks, side="right") - 1
        return np.asarray((rival < 0) | (least <= self._aims[rival]))

    def _keep(self, problem: Problem, ids: Ids, scores: Scores, by_levels: bool) -> None:
        aims = self._aim(problem, scores)
        if self._scores is not None:
            ids = np.concatenate([self._ids, ids])
            scores = join([self._scores, scores])
            aims = np.concatenate([self._aims, aims])
        ties = ids if by_levels else problem.pref_dev(scores)[:, None]
        order = np.lexsort((*ties.T[::-1], aims, -scores.k))
        best_before = np.minimum.accumulate(aims[order])[:-1]
        order = order[np.append(True, aims[order][1:] < best_before)]
        self._ids, self._scores, self._aims = ids[order], take(scores, order), aims[order]

    def _aim(self, problem: Problem, scores: Scores, bias: float | None = None) -> Values:
        """What a search minimizes, at least as much as it is with a bias of so much."""
        if not self._by_ach:
            return exact_loss(problem, scores)
        if bias is None:
            return problem.f1(scores)
        loss, _ = problem.loss_and_bias(scores)
        return problem.preference.ach(loss, np.full(len(loss), bias))


def _borders(entries: Ints) -> Ints:
    """Where to part what has so many entries up to each place, so that the parts are small."""
    return np.flatnonzero(np.diff(entries // MOST_ENTRIES)) + 1
