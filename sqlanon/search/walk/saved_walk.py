"""A saved walk: what its document may hold, and whether it goes with today's policy.

Version 2 holds what a walk can be taken again from: its seed and what was chosen on the way.
Version 1 held every scheme that it had found: these are measured anew, and the walk goes on from
the solution that was chosen last.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sqlanon.documents import WALK_FORMAT, first_mistake, version_of
from sqlanon.domain import Batch, Space, from_document, to_document
from sqlanon.errors import SchemeError, SearchError
from sqlanon.metrics import Preference, Scores
from sqlanon.search.problem import Problem

VERSION = 2

Whole = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Coordinate = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Point = dict[str, Coordinate]
"""A loss and a bias, by the names of their measures."""
Columns = dict[str, Any]
"""The partitions of a scheme, as in scheme.json."""


class WalkSection(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class ScoredPart(WalkSection):
    """What a step that was ended early had scored: whole batches, and rows of the next one."""

    batches: Whole
    rows: list[Whole] = []


class SavedStep(WalkSection):
    """How to take a step again, what it found then, and what was chosen of that.

    `own` are schemes that the user had scored before it.
    """

    n: Positive
    settings: dict[str, Any]
    patience: Positive | None
    stopped: Literal["finished", "time", "patience", "interrupted"]
    scored: ScoredPart | None
    own: list[Columns]
    found: list[Point]
    chosen: Whole | None


class SavedWalk(WalkSection):
    """Where a walk leads, what its solutions satisfy, and its steps.

    `own` are schemes that the user had scored after the last step.
    """

    format: Literal["sqlanon walk"] = WALK_FORMAT
    version: Literal[2] = 2
    k: Whole
    budget: Whole | None = None
    models: list[dict[str, Any]] = []
    start: Point
    preference: Point
    n: Positive
    seed: Whole
    steps: list[SavedStep] = []
    own: list[Columns] = []

    @model_validator(mode="after")
    def _consistent(self) -> SavedWalk:
        problem = next(self._contradictions(), None)
        if problem is not None:
            raise ValueError(problem)
        return self

    def _contradictions(self) -> Iterator[str]:
        """Keys that do not go with others, each after its path."""
        for i, step in enumerate(self.steps):
            found = len(step.found)
            if step.chosen is not None and step.chosen >= found:
                yield (
                    f"steps.{i}.chosen: there is no solution {step.chosen}; there are {found}, "
                    "numbered from 0"
                )
            if (step.scored is None) != (step.stopped in ("finished", "patience")):
                yield f"steps.{i}.scored: does not go with stopped: {step.stopped}"


def read_walk(document: object) -> SavedWalk:
    """The checked document of a walk; every mistake is a SearchError that names its key."""
    if not isinstance(document, Mapping) or not (
        document.get("format") == WALK_FORMAT or document.keys() & {"schemes", "history"}
    ):
        raise SearchError(
            f"this is {_kind(document)}not a saved walk; give what the answer `save` of a walk "
            "wrote, or to_json() returned"
        )
    version = version_of(document, WALK_FORMAT, VERSION, "the walk", SearchError)
    try:
        return SavedWalk.model_validate(dict(document) if version == VERSION else _newer(document))
    except ValidationError as error:
        words = first_mistake(error)
    except (KeyError, IndexError, TypeError):
        words = "history or schemes lack what a walk of version 1 has"
    raise SearchError(
        f"the walk is damaged: {words}; start a new one, or take a copy that was not edited"
    )


def _newer(former: Mapping[str, Any]) -> dict[str, Any]:
    """A walk of version 1 as one of version 2 that has yet to take a step."""
    document = {key: each for key, each in former.items() if key not in ("schemes", "history")}
    for visit in former["history"]:
        if visit["chosen"] is not None:
            point = former["schemes"][visit["solutions"][visit["chosen"]]]
            document["start"] = {name: point[name] for name in former["start"]}
    own = [each["columns"] for each in former["schemes"]]
    return document | {"version": VERSION, "own": own}


def _kind(document: object) -> str:
    """What a document is that is no walk, where it is another one of sqlanon."""
    if not isinstance(document, Mapping):
        return ""
    if isinstance(document.get("solutions"), list) and "method" in document:
        return "the result of a search, "
    return "a scheme, " if isinstance(document.get("columns"), Mapping) else ""


def other_walk(what: str) -> SearchError:
    """What to raise where a walk that is taken again is not the saved one."""
    return SearchError(
        f"the walk was saved with other data, another policy or another version of sqlanon: "
        f"{what} have changed; start a new one"
    )


def check_saved(saved: SavedWalk, problem: Problem, seed: int | None) -> None:
    """Refuses a walk that was saved for another problem, or with another seed."""
    preference = read_point("the preference", saved.preference, problem.preference)
    seed = saved.seed if seed is None else seed
    policy = "put the former into the policy"
    for what, before, now, hint in (
        ("the preference", _exactly(preference), _exactly(problem.preference), policy),
        ("the seed", saved.seed, seed, "leave the seed out"),
        ("k", saved.k, problem.k, policy),
        (
            "rows that might be left out:",
            problem.budget if saved.budget is None else saved.budget,
            problem.budget,
            "put the former suppression.limit into the policy",
        ),
    ):
        if before != now:
            raise SearchError(
                f"the walk was saved with {what} {before}, not {now}; {hint}, or start a new one"
            )
    if saved.models != write_models(problem):
        raise SearchError("the walk was saved with other privacy models; start a new one")


def _exactly(point: Preference) -> str:
    return f"{point.loss_by} {point.loss:g}, {point.bias_by} {point.bias:g}"


def check_found(
    before: Sequence[Mapping[str, float]], scores: Scores, points: Sequence[Preference], what: str
) -> None:
    """Refuses a walk whose solutions measure to something else now."""
    now = write_found(scores, points)
    for name in now[0] if now else ():
        wanted = np.array([each.get(name, np.nan) for each in before], dtype=np.float64)
        found = [each[name] for each in now]
        if len(wanted) != len(found) or not np.allclose(wanted, found, rtol=1e-9, atol=1e-12):
            raise other_walk(f"{name} of {what}")
    if len(now) != len(before):
        raise other_walk(what)


def batch_of(schemes: Sequence[Columns], space: Space) -> Batch:
    """The schemes of a document.

    One that does not fit is a mistake in the walk, not in a scheme file of the user.
    """
    try:
        return space.batch(
            [
                from_document({"columns": columns}, space.columns, f"own.{i}")
                for i, columns in enumerate(schemes)
            ]
        )
    except SchemeError as error:
        raise SearchError(
            f"the walk is damaged, or was saved with another policy: {error}; start a new "
            "one, or take a copy that was not edited"
        ) from None


def write_schemes(batch: Batch) -> list[Columns]:
    return [to_document(batch.scheme(row))["columns"] for row in range(len(batch))]


def write_models(problem: Problem) -> list[dict[str, Any]]:
    """The models to the last digit of their bounds, which words for people do not have."""
    return [{"measure": model.measure, **asdict(model)} for model in problem.models]


def write_found(scores: Scores, points: Sequence[Preference]) -> list[dict[str, float]]:
    pairs = zip(scores.k.tolist(), points, strict=True)
    return [{"k": k, **write_point(point)} for k, point in pairs]


def write_point(point: Preference) -> dict[str, float]:
    return {point.loss_by: point.loss, point.bias_by: point.bias}


def read_point(name: str, document: Mapping[str, float], like: Preference) -> Preference:
    """A point in the measures of another one."""
    if set(document) != {like.loss_by, like.bias_by}:
        raise SearchError(
            f"the walk was saved with other measures than {like.loss_by} and "
            f"{like.bias_by}; start a new one"
        )
    point = replace(like, loss=document[like.loss_by], bias=document[like.bias_by])
    check_point(name, point)
    return point


def check_point(name: str, point: Preference) -> None:
    for coordinate, value in ((point.loss_by, point.loss), (point.bias_by, point.bias)):
        if not (math.isfinite(value) and value >= 0):
            raise SearchError(f"{name}: {coordinate} {value} is not a number of at least 0")
