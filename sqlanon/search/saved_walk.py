"""A walk along reference directions as a JSON document: written, checked and read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np

from sqlanon.errors import SchemeError, SearchError
from sqlanon.metrics import FURTHER, Scores
from sqlanon.model import counted
from sqlanon.preference import Preference
from sqlanon.scheme import Batch, Space, from_document, to_document
from sqlanon.search.front import take
from sqlanon.search.problem import Problem
from sqlanon.search.reference_step import Step, Visit, check_point, points_of
from sqlanon.search.walk_document import SavedScheme, SavedVisit, SavedWalk


class Catalogue:
    """Schemes listed once in a document, and named elsewhere by their places in the list."""

    def __init__(self) -> None:
        self.solutions: list[dict[str, Any]] = []
        self._places: dict[bytes, int] = {}

    def places(self, batch: Batch, scores: Scores, points: Sequence[Preference]) -> list[int]:
        for row, key in enumerate(batch.keys):
            if key not in self._places:
                self._places[key] = len(self.solutions)
                self.solutions.append(
                    {
                        "columns": to_document(batch.scheme(row))["columns"],
                        "k": int(scores.k[row]),
                        **write_point(points[row]),
                    }
                )
        return [self._places[key] for key in batch.keys]


def read_history(
    saved: SavedWalk, problem: Problem, evaluate: Callable[[Batch], Scores]
) -> list[Visit]:
    """The visits of a document, if the problem is the one that it was saved with.

    Its schemes are measured with `evaluate`. Where no step found anything feasible there are
    none, and the steps are remembered all the same.
    """
    if saved.k != problem.k:
        raise SearchError(
            f"the exploration was saved with k {saved.k}, not {problem.k}; put the former into "
            "the policy, or start a new one"
        )
    if saved.budget is not None and saved.budget != problem.budget:
        raise SearchError(
            f"the exploration was saved where {counted(saved.budget, 'row')} might be left out, "
            f"not {problem.budget:,}; put the former suppression.limit into the policy, or start "
            "a new one"
        )
    if saved.models != write_models(problem):
        raise SearchError("the exploration was saved with other privacy models; start a new one")
    batch = _read_catalogue(saved.schemes, problem.space)
    scores = evaluate(batch) if len(batch) else _no_scores(len(problem.models))
    points = points_of(problem, scores)
    _check_unchanged(saved.schemes, scores, points)
    _check_feasible(problem, scores)
    like = problem.preference
    return [_read_visit(visit, batch, scores, points, like) for visit in saved.history]


def _no_scores(models: int) -> Scores:
    """The scores of no scheme at all, where so many models are required."""
    found: dict[str, Any] = {
        each.name: np.zeros(0, dtype=np.int64 if each.type == "Ints" else np.float64)
        for each in fields(Scores)
    }
    wide = {"reached": np.zeros((0, models)), "further": np.zeros((0, len(FURTHER)))}
    return Scores(**(found | wide))


def _read_catalogue(solutions: Sequence[SavedScheme], space: Space) -> Batch:
    """The schemes of a document.

    One that does not fit is a mistake in the walk, not in a scheme file of the user.
    """
    try:
        return space.batch(
            [
                from_document({"columns": s.columns}, space.columns, f"schemes.{i}")
                for i, s in enumerate(solutions)
            ]
        )
    except SchemeError as error:
        raise SearchError(
            f"the exploration is damaged, or was saved with another policy: {error}; start a new "
            "one, or take a copy that nobody edited"
        ) from None


def _check_unchanged(
    solutions: Sequence[SavedScheme], scores: Scores, points: Sequence[Preference]
) -> None:
    """Refuses a document whose schemes now measure to something else."""
    now = [{"k": int(k), **write_point(p)} for k, p in zip(scores.k, points, strict=True)]
    for name in now[0] if now else ():
        before = np.array([s.score(name) for s in solutions], dtype=np.float64)
        if not np.allclose(before, [each[name] for each in now], rtol=1e-9, atol=1e-12):
            raise SearchError(
                f"the exploration was saved with other data or another policy: {name} of its "
                "schemes has changed; start a new one"
            )


def _check_feasible(problem: Problem, scores: Scores) -> None:
    """Refuses schemes that no step can have answered."""
    fail = np.flatnonzero(~problem.feasible(scores))
    if len(fail):
        raise SearchError(
            f"the exploration is damaged: schemes.{fail[0]}: does not reach the required privacy, "
            "so no step found it; start a new one"
        )


def write_models(problem: Problem) -> list[dict[str, Any]]:
    """The models to the last digit of their bounds, which words for people do not have."""
    return [{"measure": model.statistic.measure.value, **asdict(model)} for model in problem.models]


def write_point(point: Preference) -> dict[str, float]:
    return {point.loss_by.value: point.loss, point.bias_by.value: point.bias}


def read_point(name: str, document: Mapping[str, float], like: Preference) -> Preference:
    """A point in the measures of another one."""
    if set(document) != {like.loss_by, like.bias_by}:
        raise SearchError(
            f"the exploration was saved with other measures than {like.loss_by} and "
            f"{like.bias_by}; start a new one"
        )
    point = replace(like, loss=document[like.loss_by], bias=document[like.bias_by])
    check_point(name, point)
    return point


def write_visit(visit: Visit, catalogue: Catalogue) -> dict[str, Any]:
    step = visit.step
    return {
        "origin": write_point(step.origin),
        "references": [write_point(r) for r in step.references],
        "solutions": catalogue.places(step.solutions, step.scores, step.points),
        "reached": list(step.reached),
        "chosen": visit.chosen,
        "stopped": step.stopped,
    }


def _read_visit(
    saved: SavedVisit,
    catalogue: Batch,
    scores: Scores,
    points: Sequence[Preference],
    like: Preference,
) -> Visit:
    """A visit whose solutions are rows of the catalogue, its points in the measures of `like`."""
    where = np.array(saved.solutions, dtype=np.intp)
    step = Step(
        origin=read_point("origin", saved.origin, like),
        references=tuple(read_point("reference", r, like) for r in saved.references),
        solutions=catalogue.take(where),
        scores=take(scores, where),
        points=tuple(points[place] for place in saved.solutions),
        reached=tuple(saved.reached),
        stopped=saved.stopped,
    )
    return Visit(step, saved.chosen)
