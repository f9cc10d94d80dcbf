"""A saved walk: what its document may hold, and taking it again over today's data.

Version 2 holds what a walk can be taken again from: its seed and what was chosen on the way.
Version 1 held every scheme that it had found. A walk that began as one keeps that document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sqlanon.documents import WALK_FORMAT, first_mistake, version_of
from sqlanon.domain import Batch, Space, from_document, to_document
from sqlanon.errors import SchemeError, SearchError
from sqlanon.evaluate import Part, Unfinished
from sqlanon.metrics import Preference, Scores
from sqlanon.search.fronts import take
from sqlanon.search.outcome import Watch
from sqlanon.search.problem import Problem
from sqlanon.search.walk.steps import Memory, Step, Visit, check_point, points_of
from sqlanon.wording import counted

VERSION = 2

Whole = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Coordinate = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Point = dict[str, Coordinate]
"""A loss and a bias, by the names of their measures."""
Ended = Literal["finished", "time", "patience", "interrupted"]
Columns = dict[str, Any]
"""The partitions of a scheme, as in scheme.json."""


class WalkSection(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class HeadSection(WalkSection):
    """Where a walk leads, and what its solutions satisfy."""

    k: Whole
    budget: Whole | None = None
    models: list[dict[str, Any]] = []
    start: Point
    preference: Point
    n: Positive
    seed: Whole


class FormerScheme(BaseModel):
    """A scheme with its k and, under the names of their measures, its loss and bias."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True, defer_build=True)
    __pydantic_extra__: dict[str, Coordinate]

    columns: Columns
    k: Whole

    def score(self, name: str) -> float:
        return self.k if name == "k" else self.__pydantic_extra__[name]


class FormerVisit(WalkSection):
    """A step: `solutions` are places in the list of schemes, `reached` and `chosen` in that."""

    origin: Point
    references: Annotated[list[Point], Field(min_length=1)]
    solutions: list[Whole]
    reached: list[Whole]
    chosen: Whole | None
    stopped: Ended


class FormerWalk(HeadSection):
    """A walk of version 1."""

    version: Literal[1] = 1
    schemes: list[FormerScheme]
    history: list[FormerVisit]


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
    stopped: Ended
    scored: ScoredPart | None
    own: list[Columns]
    found: list[Point]
    chosen: Whole | None


class SavedWalk(HeadSection):
    """A walk of version 2; `own` are schemes that the user had scored after the last step."""

    format: Literal["sqlanon walk"] = WALK_FORMAT
    version: Literal[2] = 2
    former: FormerWalk | None = None
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
        if version == VERSION:
            return SavedWalk.model_validate(dict(document))
        former = FormerWalk.model_validate(dict(document))
    except ValidationError as error:
        raise damaged(first_mistake(error)) from None
    head = {name: getattr(former, name) for name in HeadSection.model_fields}
    return SavedWalk(former=former, **head)


def damaged(words: str) -> SearchError:
    return SearchError(
        f"the walk is damaged: {words}; start a new one, or take a copy that was not edited"
    )


def _kind(document: object) -> str:
    """What a document is that is no walk, where it is another one of sqlanon."""
    if not isinstance(document, Mapping):
        return ""
    if isinstance(document.get("solutions"), list) and "method" in document:
        return "the result of a search, "
    return "a scheme, " if isinstance(document.get("columns"), Mapping) else ""


class Scorer:
    """Scores the batches of one step and remembers what is efficient.

    `until` ends a step that is taken again where it was ended: after some whole batches, and
    some rows of the next one.
    """

    def __init__(
        self, problem: Problem, memory: Memory, watch: Watch, until: ScoredPart | None = None
    ) -> None:
        self._problem = problem
        self._memory = memory
        self._watch = watch
        self._until = until
        self._batches = 0
        self._rows: list[int] = []

    @property
    def scored(self) -> ScoredPart:
        """What was scored so far."""
        return ScoredPart(batches=self._batches, rows=self._rows)

    def __call__(self, batch: Batch) -> Scores:
        try:
            if self._until is not None and self._batches == self._until.batches:
                raise Unfinished(self._part(batch, self._until.rows))
            scores = self._problem.evaluate(batch)
        except Unfinished as ended:
            if ended.part is not None:
                self._memory.keep(ended.part.batch, ended.part.scores)
                self._rows = [int(row) for row in ended.part.rows]
            raise
        self._memory.keep(batch, scores)
        self._batches += 1
        return scores

    def _part(self, batch: Batch, rows: Sequence[int]) -> Part | None:
        """The rows of the last batch that were scored before a step was ended."""
        self._watch.interrupt()
        self._watch.within_step()
        if any(row >= len(batch) for row in rows):
            raise other_walk("the schemes that it scores")
        part = batch.take(rows)
        return Part(rows, part, self._problem.evaluate(part)) if rows else None


def other_walk(what: str) -> SearchError:
    """What to raise where a walk that is taken again is not the saved one."""
    return SearchError(
        f"the walk was saved with other data, another policy or another version of sqlanon: "
        f"{what} have changed; start a new one"
    )


def check_saved(saved: SavedWalk, problem: Problem, seed: int | None) -> None:
    """Refuses a walk that was saved for another problem, or with another seed."""
    preference = read_point("the preference", saved.preference, problem.preference)
    if preference != problem.preference:
        raise SearchError(
            f"the walk was saved with the preference {_exactly(preference)}, and the policy says "
            f"{_exactly(problem.preference)}; put the former into the policy, or start a new one"
        )
    if seed not in (None, saved.seed):
        raise SearchError(
            f"the walk was saved with the seed {saved.seed}, not {seed}; leave the seed out, or "
            "start a new one"
        )
    if saved.k != problem.k:
        raise SearchError(
            f"the walk was saved with k {saved.k}, not {problem.k}; put the former into "
            "the policy, or start a new one"
        )
    if saved.budget is not None and saved.budget != problem.budget:
        raise SearchError(
            f"the walk was saved where {counted(saved.budget, 'row')} might be left out, "
            f"not {problem.budget:,}; put the former suppression.limit into the policy, or start "
            "a new one"
        )
    if saved.models != write_models(problem):
        raise SearchError("the walk was saved with other privacy models; start a new one")


def _exactly(point: Preference) -> str:
    return f"{point.loss_by} {point.loss:g}, {point.bias_by} {point.bias:g}"


def check_found(
    before: Sequence[Mapping[str, float]], scores: Scores, points: Sequence[Preference], what: str
) -> None:
    """Refuses a walk whose schemes measure to something else now."""
    now = write_found(scores, points)
    for name in now[0] if now else ():
        wanted = np.array([each.get(name, np.nan) for each in before], dtype=np.float64)
        found = [each[name] for each in now]
        if len(wanted) != len(found) or not np.allclose(wanted, found, rtol=1e-9, atol=1e-12):
            raise other_walk(f"{name} of {what}")
    if len(now) != len(before):
        raise other_walk(what)


def former_history(
    former: FormerWalk, problem: Problem, remember: Callable[[Batch], Scores]
) -> list[Visit]:
    """The visits of a walk of version 1, whose schemes are measured with `remember`."""
    batch = batch_of([each.columns for each in former.schemes], problem.space, "schemes")
    scores = remember(batch) if len(batch) else Scores.empty(len(problem.models))
    points, like = points_of(problem, scores), problem.preference
    before = [{"k": each.k, **_extra(each)} for each in former.schemes]
    check_found(before, scores, points, "its schemes")
    fail = np.flatnonzero(~problem.feasible(scores))
    if len(fail):
        raise damaged(f"schemes.{fail[0]}: does not reach the required privacy")
    try:
        return [_former_visit(each, batch, scores, points, like) for each in former.history]
    except IndexError:
        raise damaged("history: names a solution that is not there") from None


def _extra(scheme: FormerScheme) -> dict[str, float]:
    return scheme.__pydantic_extra__


def _former_visit(
    visit: FormerVisit,
    catalogue: Batch,
    scores: Scores,
    points: Sequence[Preference],
    like: Preference,
) -> Visit:
    """A visit whose solutions are rows of the catalogue, its points in the measures of `like`."""
    where = np.array(visit.solutions, dtype=np.intp)
    step = Step(
        origin=read_point("origin", visit.origin, like),
        references=tuple(read_point("reference", each, like) for each in visit.references),
        solutions=catalogue.take(where),
        scores=take(scores, where),
        points=tuple(points[place] for place in visit.solutions),
        reached=tuple(visit.reached),
        stopped=visit.stopped,
    )
    if max([*visit.reached, visit.chosen or 0], default=0) >= max(len(where), 1):
        raise IndexError
    return Visit(step, visit.chosen)


def batch_of(schemes: Sequence[Columns], space: Space, where: str) -> Batch:
    """The schemes of a document.

    One that does not fit is a mistake in the walk, not in a scheme file of the user.
    """
    try:
        return space.batch(
            [
                from_document({"columns": columns}, space.columns, f"{where}.{i}")
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
