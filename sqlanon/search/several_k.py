"""One search's solutions scored for every k, and searches for several k as one result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sqlanon.domain import Batch, Bits, Ids
from sqlanon.evaluate import Evaluator
from sqlanon.metrics import METRICS, EachForItsK, Ints, Measurements, Scores, Suppression, reachable
from sqlanon.search.fronts import bits_of, frontier, join, take
from sqlanon.search.outcome import UNREPEATABLE, Outcome
from sqlanon.search.problem import Problem, exact_loss
from sqlanon.search.result import SearchResult, Solution

MOST_ENTRIES = 500_000
"""About so many class sizes are scored together."""
SLACK = 1e-9
"""Losses that are no whole numbers may be rounded a little down."""

Values = npt.NDArray[Any]


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
        if not METRICS[loss].always:
            return np.full(len(measured), -np.inf)
        whole = self._evaluator.score_measured(measured, Suppression())
        least = self._aim(problem, whole, bias=0.0)
        return least - SLACK if least.dtype == np.float64 else least

    def _promising(self, least: Values, ks: Ints) -> Bits:
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
        order = frontier(-scores.k, aims, *ties.T)
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


ENDS = (*UNREPEATABLE, "patience", "evaluations", "finished")
"""Why a search ends, that which is most worth knowing first."""


def together(results: Sequence[SearchResult], policys_k: int) -> SearchResult:
    """The results of searches for one k each, the smallest first, as one.

    The answer for a k is the best of all solutions that reach it, whichever search met it.
    """
    first = results[0]
    found = [each for result in results for each in result.solutions]
    answers = {result.required_k: _answer(first, found, result.required_k) for result in results}
    listed = unbeaten(first, [s for s in found if all(each.holds for each in s.models)] or found)
    listed = [each for each in listed if not any(each is one for one in answers.values())]
    marked = {
        id(one): _marked(one, answers, policys_k) for one in answers.values() if one is not None
    }
    listed = in_order(first, [*listed, *marked.values()])
    rows = {id(solution): row for row, solution in enumerate(listed)}
    choices = {k: None if one is None else rows[id(marked[id(one)])] for k, one in answers.items()}
    return replace(
        first,
        objectives=tuple("k" if name == "shortfall" else name for name in first.objectives),
        solutions=tuple(listed),
        chosen=choices[first.required_k],
        choices=choices,
        evaluations={n: sum(r.evaluations[n] for r in results) for n in first.evaluations},
        seconds=sum(result.seconds for result in results),
        stopped=min((result.stopped for result in results), key=ENDS.index),
        notes=_notes(results),
    )


def unbeaten(result: SearchResult, solutions: Iterable[Solution]) -> list[Solution]:
    """The solutions that no other beats in k and in what the search minimized; the first of
    equal ones."""
    kept: list[Solution] = []
    for each in sorted(solutions, key=lambda one: (-_k(one), result.aim(one))):
        if not kept or result.aim(each) < result.aim(kept[-1]):
            kept.append(each)
    return kept


def in_order(result: SearchResult, solutions: Iterable[Solution]) -> list[Solution]:
    """Solutions in the order in which the search lists them."""
    descending = result.objectives[0] == "k"
    return sorted(solutions, key=lambda one: -_k(one) if descending else _k(one))


def _answer(result: SearchResult, found: Sequence[Solution], k: int) -> Solution | None:
    """The best solution for a k, if any reaches it."""
    fit = [each for each in found if each.feasible and _k(each) >= k]
    return min(fit, key=lambda each: (result.aim(each), -_k(each)), default=None)


def _marked(answer: Solution, answers: Mapping[int, Solution | None], policys_k: int) -> Solution:
    """An answer that demands of its release the largest k that it is the answer for.

    That changes no score: smaller classes are left out already.
    """
    largest = max(k for k, one in answers.items() if one is answer)
    if largest <= max(policys_k, answer.scheme.required_k or 0):
        return answer
    return replace(answer, scheme=replace(answer.scheme, required_k=largest))


def _k(solution: Solution) -> int:
    return int(solution.scores["k"] or 0)


def _notes(results: Sequence[SearchResult]) -> tuple[str, ...]:
    """What all searches say, then what each of them says by itself."""
    common = [note for note in results[0].notes if all(note in r.notes for r in results)]
    own = [
        f"k = {result.required_k}: {note}"
        for result in results
        for note in result.notes
        if note not in common
    ]
    return (*common, *own)


_FALL_SHORT = (
    "the best solution marks rows that are too few or too alike to be a class of the release; "
)
MARKED_FALL_SHORT = (
    f"{_FALL_SHORT}chosen is the best of the others found, a search that marks nothing included"
)
MARKED_AND_ENDED = (
    f"{_FALL_SHORT}chosen is the best of the others found; the search ended before one that marks "
    "nothing, which may find better"
)


def with_publishable_choice(result: SearchResult, note: str) -> SearchResult:
    """A result whose choice falls short by its marked rows, with the best on its list instead."""
    left = [i for i, each in enumerate(result.solutions) if each.feasible]
    chosen = min(left, key=lambda i: result.aim(result.solutions[i]), default=None)
    choices = {result.required_k: chosen}
    return replace(result, chosen=chosen, choices=choices, notes=(*result.notes, note))


def better_of(marking: SearchResult, plain: SearchResult) -> SearchResult:
    """Of a search that marks rows and one that marks none the better, at the cost of both."""
    better = plain
    if marking.chosen is not None and (
        plain.chosen is None
        or marking.aim(marking.solutions[marking.chosen])
        <= plain.aim(plain.solutions[plain.chosen])
    ):
        better = marking
    effort = {name: marking.evaluations[name] + n for name, n in plain.evaluations.items()}
    return replace(
        better,
        evaluations=effort,
        seconds=marking.seconds + plain.seconds,
        stopped=plain.stopped,
        notes=(*better.notes, *([MARKED_FALL_SHORT] if better is plain else [])),
    )
