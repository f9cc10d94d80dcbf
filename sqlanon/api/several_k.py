"""Searches for several k as one result: one list of solutions, an answer for every k."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sqlanon.api.result import SearchResult
from sqlanon.api.solution import Solution
from sqlanon.search.outcome import UNREPEATABLE

ENDS = (*UNREPEATABLE, "patience", "evaluations", "finished")
"""Why a search ends, that which is most worth knowing first."""


def together(results: Sequence[SearchResult], policys_k: int) -> SearchResult:
    """The results of searches for one k each, the smallest first, as one.

    The answer for a k is the best of all solutions that reach it, whichever search met it.
    """
    first = results[0]
    found = [each for result in results for each in result.solutions]
    answers = {result.required_k: _answer(first, found, result.required_k) for result in results}
    listed = unbeaten(first, [each for each in found if _satisfies(each)] or found)
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
        reproducible=all(result.reproducible for result in results),
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


def _satisfies(solution: Solution) -> bool:
    return all(each.holds for each in solution.models)


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
