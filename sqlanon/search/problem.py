"""The problem that a search solves: a space, a way to score batches, a preference."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from sqlanon.domain import Batch, Bits, Column, Family, Partition, Space
from sqlanon.evaluate import Evaluator, Pulse
from sqlanon.metrics import METRICS, Floats, Ints, Preference, Scores, Suppression, scaled
from sqlanon.privacy import Model

MOST_CUTS = 200
"""Places where a contiguous column may be cut, unless a policy says otherwise."""
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
    loss: str = "nwp"
    budget: int = 0
    models: tuple[Model, ...] = ()
    monotone: bool = True
    start: Bits | None = None
    pulse: Pulse = field(default_factory=Pulse, compare=False)

    @classmethod
    def over(
        cls,
        evaluator: Evaluator,
        k: int,
        preference: Preference,
        loss: str,
        rule: Suppression | None = None,
    ) -> Problem:
        """The problem of an evaluator's schemes, of which searches see its functions only.

        A `rule` other than the evaluator's own needs no more detail than that.
        """
        rule = rule or evaluator.suppression
        moves = evaluator.histogram.tally.has_movers
        return cls(
            space=evaluator.space,
            evaluate=partial(evaluator.score, rule=rule),
            column_loss=evaluator.column_loss,
            rows=evaluator.histogram.rows,
            k=k,
            preference=preference,
            loss=loss,
            budget=rule.budget,
            models=evaluator.models,
            monotone=all(m.monotone_by_subject if moves else m.monotone for m in evaluator.models),
            pulse=evaluator.pulse,
        )

    def with_cuts(self, rows: Sequence[Ints], most: int | None) -> tuple[Problem, tuple[str, ...]]:
        """The problem with at most so many candidate cuts per column, and notes on them.

        `rows` has the rows of each atom, by column.
        """
        if most is None:
            return self, ()
        space, notes = with_candidates(self.space, rows, most)
        return replace(self, space=space), notes

    def f1(self, scores: Scores) -> Floats:
        """The first objective of MOOP: the achievement function."""
        return self.preference.ach(*self.loss_and_bias(scores))

    def loss_and_bias(self, scores: Scores) -> tuple[Floats, Floats]:
        """Loss and bias, in the measures of the preference."""
        by_loss, by_bias = self.preference.loss_by, self.preference.bias_by
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

    def feasible(self, scores: Scores) -> Bits:
        """Which schemes reach k and satisfy every model."""
        return np.asarray((scores.k >= self.k) & self.satisfied(scores))

    def satisfied(self, scores: Scores) -> Bits:
        """Which schemes satisfy every model, whatever their k."""
        if not self.models:
            return np.ones(len(scores), dtype=bool)
        return np.asarray((self._shortfalls(scores) <= 0).all(axis=1))

    def hopeless(self, scores: Scores) -> Bits:
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
    """The loss to minimize in values that can be compared for equality."""
    return METRICS[problem.loss].exact(scores, problem.rows)


def shown_loss(problem: Problem, scores: Scores) -> Floats:
    """The loss to minimize as reports show it."""
    return METRICS[problem.loss].shown(scores)


def with_candidates(
    space: Space, rows: Sequence[Ints], most: int = MOST_CUTS
) -> tuple[Space, tuple[str, ...]]:
    """The same space with at most so many candidate cuts per contiguous column, and notes.

    A contiguous column of thousands of values has as many places for a cut, and a search that
    must try them all gets nowhere. So only some places of a wide column are candidates, spread
    so that about as many rows lie between any two of them: the fullest group is parted in the
    middle, again and again. A value that many rows have ends up between two candidates.

    `rows` has the rows of each atom, by column. Partitions have the same numbers in both
    spaces, so a batch of the one is a batch of the other. Cuts that limits demand, and NULL's,
    are candidates beside the others.
    """
    columns, notes = list(space.columns), []
    for j, column in enumerate(space.columns):
        places = len(column.finest.cuts)
        if column.family is not Family.CONTIGUOUS or places <= most:
            continue
        columns[j] = replace(column, candidates=_candidates(column, rows[j], most))
        notes.append(
            f"column {column.name!r} may be cut in {len(columns[j].finest.cuts):,} of {places:,} "
            "places, spread evenly over its rows; a higher search.cuts allows more"
        )
    if not notes:
        return space, ()
    return Space(columns, space.tables), tuple(notes)


def _candidates(column: Column, rows: Ints, most: int) -> Partition:
    allowed, kept = column.finest.bits, column.coarsest.bits.copy()
    if column.domain.has_null:
        kept[-1] = True
    # Positions and the rows up to them, with an edge before the first atom and after the last.
    edges = np.flatnonzero(np.concatenate([[True], allowed, [True]]))
    below = np.concatenate([[0], np.cumsum(rows)])[edges]
    fixed = np.flatnonzero(np.concatenate([[True], kept, [True]])[edges])
    heap = [(-int(below[b] - below[a]), int(a), int(b)) for a, b in pairwise(fixed)]
    heapq.heapify(heap)
    chosen = 0
    while heap and chosen < most:
        _, first, last = heapq.heappop(heap)
        if last - first < 2:
            continue
        middle = _middle(below, first, last)
        kept[edges[middle] - 1] = True
        chosen += 1
        for a, b in ((first, middle), (middle, last)):
            heapq.heappush(heap, (-int(below[b] - below[a]), a, b))
    return Partition.from_bits(kept)


def _middle(below: Ints, first: int, last: int) -> int:
    """The edge between two others that parts the rows between them most evenly."""
    aim = (below[first] + below[last]) / 2
    after = int(np.searchsorted(below[first + 1 : last], aim)) + first + 1
    inner = [edge for edge in (after - 1, after) if first < edge < last]
    return min(inner, key=lambda edge: (abs(float(below[edge]) - aim), edge))
