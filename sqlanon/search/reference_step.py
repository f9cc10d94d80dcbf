"""One step along a reference direction, and how steps are written as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sqlanon.errors import SearchError
from sqlanon.metrics import Scores
from sqlanon.preference import Preference
from sqlanon.scheme import Batch, Space, from_document, to_document
from sqlanon.search.front import take
from sqlanon.search.problem import Problem


@dataclass(frozen=True)
class Step:
    """What one step found.

    origin       q_t
    references   q̄_1 … q̄_n
    solutions    Q_eff, the distinct efficient solutions, in the order of their references;
                 none when nothing feasible was found
    points       where the solutions lie, in the measures of the preference
    reached      for each reference the row of its solution; empty when there is none
    stopped      why the step ended: "finished", "time", "patience" or "interrupted"
    """

    origin: Preference
    references: tuple[Preference, ...]
    solutions: Batch
    scores: Scores
    points: tuple[Preference, ...]
    reached: tuple[int, ...]
    stopped: str = "finished"

    def references_of(self, row: int) -> tuple[Preference, ...]:
        """The reference points that led to a solution."""
        return tuple(self.references[m] for m, reached in enumerate(self.reached) if reached == row)

    def point(self, row: int) -> Preference:
        """Where a solution lies."""
        return self.points[row]


@dataclass(frozen=True)
class Visit:
    """A step of the history, and the solution that the publisher chose in it."""

    step: Step
    chosen: int | None = None


def directed(origin: Preference, preference: Preference, n: int) -> tuple[Preference, ...]:
    """q̄_m = q_t + (m/n)(q̄ − q_t) for m = 1 … n; the last one is q̄ itself."""
    return tuple(
        replace(
            preference,
            loss=(1 - share) * origin.loss + share * preference.loss,
            bias=(1 - share) * origin.bias + share * preference.bias,
        )
        for share in (m / n for m in range(1, n + 1))
    )


def points_of(problem: Problem, scores: Scores) -> tuple[Preference, ...]:
    """Where schemes lie, in the measures of the problem's preference."""
    loss, bias = problem.loss_and_bias(scores)
    pairs = zip(loss.tolist(), bias.tolist(), strict=True)
    return tuple(replace(problem.preference, loss=x, bias=y) for x, y in pairs)


def check_point(name: str, point: Preference) -> None:
    for coordinate, value in ((point.loss_by, point.loss), (point.bias_by, point.bias)):
        if not (math.isfinite(value) and value >= 0):
            raise SearchError(f"{name}: {coordinate} {value} is not a number of at least 0")


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


def read_catalogue(solutions: Sequence[Mapping[str, Any]], space: Space) -> Batch:
    """The schemes of a document."""
    return space.batch(
        [
            from_document({"columns": s["columns"]}, space.columns, f"exploration: scheme {i}")
            for i, s in enumerate(solutions)
        ]
    )


def check_unchanged(
    solutions: Sequence[Mapping[str, Any]], scores: Scores, points: Sequence[Preference]
) -> None:
    """Refuses a document whose schemes now measure to something else."""
    now = [{"k": int(k), **write_point(p)} for k, p in zip(scores.k, points, strict=True)]
    for name in now[0]:
        before = np.array([s[name] for s in solutions], dtype=np.float64)
        if not np.allclose(before, [each[name] for each in now], rtol=1e-9, atol=1e-12):
            raise SearchError(
                f"the exploration was saved with other data or another policy: {name} of its "
                "schemes has changed; start a new one"
            )


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


def read_visit(
    document: Mapping[str, Any], catalogue: Batch, scores: Scores, points: Sequence[Preference]
) -> Visit:
    """A visit whose solutions are rows of the catalogue."""
    places, reached, chosen = (document[name] for name in ("solutions", "reached", "chosen"))
    rows = [*reached, *([] if chosen is None else [chosen])]
    if not all(0 <= p < len(catalogue) for p in places) or not all(
        0 <= r < len(places) for r in rows
    ):
        raise IndexError("a place lies outside its list")
    where = np.array(places, dtype=np.intp)
    step = Step(
        origin=read_point("origin", document["origin"], points[0]),
        references=tuple(read_point("reference", r, points[0]) for r in document["references"]),
        solutions=catalogue.take(where),
        scores=take(scores, where),
        points=tuple(points[place] for place in places),
        reached=tuple(reached),
        stopped=document["stopped"],
    )
    return Visit(step, chosen)
