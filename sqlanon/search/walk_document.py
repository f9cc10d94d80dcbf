"""What the document of a saved walk may hold, and what is wrong with another one, in words."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sqlanon.errors import SearchError
from sqlanon.model import counted

VERSION = 1
WALK_KEYS = frozenset({"schemes", "history"})
"""A document without either is no damaged walk, but something else."""

Whole = Annotated[int, Field(ge=0)]
Coordinate = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Point = dict[str, Coordinate]
"""A loss and a bias, by the names of their measures."""


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class SavedScheme(BaseModel):
    """A scheme with its k and, under the names of their measures, its loss and bias."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)
    __pydantic_extra__: dict[str, Coordinate]

    columns: dict[str, Any]
    k: Whole

    def score(self, name: str) -> float:
        return self.k if name == "k" else self.__pydantic_extra__[name]


class SavedVisit(Section):
    """A step: `solutions` are places in the list of schemes, `reached` and `chosen` in that."""

    origin: Point
    references: Annotated[list[Point], Field(min_length=1)]
    solutions: list[Whole]
    reached: list[Whole]
    chosen: Whole | None
    stopped: Literal["finished", "time", "patience", "interrupted"]


class SavedWalk(Section):
    version: Literal[1]
    k: Whole
    budget: Whole | None = None
    models: list[dict[str, Any]] = []
    start: Point
    preference: Point
    n: Annotated[int, Field(ge=1)]
    seed: Whole
    schemes: list[SavedScheme]
    history: list[SavedVisit]

    @model_validator(mode="after")
    def _consistent(self) -> SavedWalk:
        problem = next(self._contradictions(), None)
        if problem is not None:
            raise ValueError(problem)
        return self

    def _contradictions(self) -> Iterator[str]:
        """Keys that do not go with others, each after its path."""
        measures = set(self.preference)
        for i, scheme in enumerate(self.schemes):
            yield from _other_measures(f"schemes.{i}", set(scheme.__pydantic_extra__), measures)
        for i, visit in enumerate(self.history):
            at = f"history.{i}"
            yield from _other_measures(f"{at}.origin", set(visit.origin), measures)
            for j, point in enumerate(visit.references):
                yield from _other_measures(f"{at}.references.{j}", set(point), measures)
            yield from _beyond(f"{at}.solutions", visit.solutions, len(self.schemes), "scheme")
            found = len(visit.solutions)
            yield from _beyond(f"{at}.reached", visit.reached, found, "solution")
            if visit.chosen is not None:
                yield from _beyond(f"{at}.chosen", [visit.chosen], found, "solution")
            wanted = len(visit.references) if found else 0
            if len(visit.reached) != wanted:
                references = counted(len(visit.references), "reference")
                yield (
                    f"{at}.reached: found {counted(len(visit.reached), 'number')}, expected "
                    f"{wanted}, because there are {counted(found, 'solution')} for {references}"
                )


def _other_measures(where: str, found: set[str], wanted: set[str]) -> Iterator[str]:
    if found != wanted:
        yield f"{where}: has {_listed(found)}, and the preference has {_listed(wanted)}"


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _beyond(where: str, places: list[int], size: int, noun: str) -> Iterator[str]:
    for place in places:
        if place >= size:
            yield f"{where}: there is no {noun} {place}; there are {size}, numbered from 0"


def read_walk(document: object) -> SavedWalk:
    """The checked document of a walk; every mistake is a SearchError that names its key."""
    if not isinstance(document, Mapping) or not WALK_KEYS & set(document):
        raise SearchError(
            f"this is {_kind(document)}not a saved walk; give what the answer `save` of a walk "
            "wrote, or to_json() returned"
        )
    if document.get("version") != VERSION:
        raise SearchError(
            f"this is not an exploration of format version {VERSION}, which this sqlanon reads; "
            "start a new one"
        )
    try:
        return SavedWalk.model_validate(dict(document))
    except ValidationError as error:
        raise SearchError(
            f"the exploration is damaged: {_described(error)}; start a new one, or take a copy "
            "that nobody edited"
        ) from None


def _kind(document: object) -> str:
    """What a document is that is no walk, where it is another one of sqlanon."""
    if not isinstance(document, Mapping):
        return ""
    if isinstance(document.get("solutions"), list) and "method" in document:
        return "the result of a search, "
    return "a scheme, " if isinstance(document.get("columns"), Mapping) else ""


def _described(error: ValidationError) -> str:
    """The first mistake, with the path of its key, and how many others there are."""
    first, *others = error.errors(include_url=False)
    more = f" (and {len(others)} more)" if others else ""
    kind, context = first["type"], first.get("ctx", {})
    if kind == "value_error":
        return f"{context['error']}{more}"
    where = ".".join(map(str, first["loc"]))
    if kind == "missing":
        return f"{where}: is missing{more}"
    if kind == "extra_forbidden":
        return f"{where}: is not a key of an exploration{more}"
    found = "nothing" if first["input"] is None else reprlib.repr(first["input"])
    return f"{where}: found {found}, expected {_expected(kind, context)}{more}"


def _expected(kind: str, context: Mapping[str, Any]) -> str:
    match kind:
        case "int_type" | "int_from_float":
            return "a whole number"
        case "greater_than_equal":
            return f"a number of at least {context['ge']:g}"
        case "float_type" | "finite_number":
            return "a number"
        case "list_type":
            return "a list"
        case "too_short":
            return "a list of at least one"
        case "literal_error":
            return str(context["expected"])
        case "dict_type" | "model_type":
            return "an object with keys"
        case _:
            return "something else"
