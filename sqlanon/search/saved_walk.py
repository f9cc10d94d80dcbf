"""A walk along reference directions as a JSON document: written, checked and read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from sqlanon.errors import SearchError
from sqlanon.metrics import Scores
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

    Its schemes are measured with `evaluate`. A document without any is as good as new.
    """
    if saved.k != problem.k:
        raise SearchError(f"the exploration was saved with k {saved.k}, not {problem.k}")
    if saved.models != write_models(problem):
        raise SearchError("the exploration was saved with other privacy models; start a new one")
    if not saved.schemes:
        return []
    batch = _read_catalogue(saved.schemes, problem.space)
    scores = evaluate(batch)
    points = points_of(problem, scores)
    _check_unchanged(saved.schemes, scores, points)
    _check_feasible(problem, scores)
    return [_read_visit(visit, batch, scores, points) for visit in saved.history]


def _read_catalogue(solutions: Sequence[SavedScheme], space: Space) -> Batch:
    """The schemes of a document."""
    return space.batch(
        [
            from_document({"columns": s.columns}, space.columns, f"exploration: schemes.{i}")
            for i, s in enumerate(solutions)
        ]
    )


def _check_unchanged(
    solutions: Sequence[SavedScheme], scores: Scores, points: Sequence[Preference]
) -> None:
    """Refuses a document whose schemes now measure to something else."""
    now = [{"k": int(k), **write_point(p)} for k, p in zip(scores.k, points, strict=True)]
    for name in now[0]:
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
            f"exploration: schemes.{fail[0]}: does not reach the required privacy, so no step "
            "found it; start a new one"
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
    saved: SavedVisit, catalogue: Batch, scores: Scores, points: Sequence[Preference]
) -> Visit:
    """A visit whose solutions are rows of the catalogue."""
    where = np.array(saved.solutions, dtype=np.intp)
    step = Step(
        origin=read_point("origin", saved.origin, points[0]),
        references=tuple(read_point("reference", r, points[0]) for r in saved.references),
        solutions=catalogue.take(where),
        scores=take(scores, where),
        points=tuple(points[place] for place in saved.solutions),
        reached=tuple(saved.reached),
        stopped=saved.stopped,
    )
    return Visit(step, saved.chosen)
