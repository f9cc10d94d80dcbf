"""Every mistake of a policy in words: key path, what was found, what is allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from sqlanon.policy.schema import PolicySection


def describe(error: ValidationError, document: Any) -> list[str]:
    """One line a mistake, in the order in which they were found."""
    by_path: dict[str, list[tuple[list[Any], Any]]] = {}
    for problem in error.errors():
        path = _path(problem, document)
        by_path.setdefault(".".join(map(str, path)), []).append((path, problem))
    return [_line(where or "policy", found) for where, found in by_path.items()]


def _path(problem: Any, document: Any) -> list[Any]:
    """The key path of a mistake, without the alternatives of unions that pydantic adds."""
    path, value = [], document
    for step in problem["loc"]:
        is_key = isinstance(value, Mapping) and step in value
        is_index = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if is_key or is_index:
            value = value[step]
        elif problem["type"] != "missing" or step is not problem["loc"][-1]:
            continue
        path.append(step)
    return path


def _line(where: str, found: list[tuple[list[Any], Any]]) -> str:
    """The mistakes at one path; alternatives that could not be meant are left out."""
    meant = [p for _, p in found if p["type"] == "value_error"]
    path, first = found[0]
    problem = meant[0] if meant else first
    kind, message, value = problem["type"], problem["msg"], problem["input"]
    if kind == "extra_forbidden":
        return f"{where}: unknown key{_nearest(path)}"
    if kind == "missing":
        return f"{where}: is missing"
    if kind == "value_error":
        return f"{where}: {message.removeprefix('Value error, ')}"
    allowed = [p["msg"].removeprefix("Input should be ") for _, p in found]
    return f"{where}: found {value!r}, expected {' or '.join(dict.fromkeys(allowed))}"


def _nearest(path: Sequence[Any]) -> str:
    """What the unknown key may have been meant to be, or which keys there are."""
    known = _keys_at(PolicySection, list(path[:-1]))
    near = get_close_matches(str(path[-1]), known, 1, cutoff=0.6)
    if near:
        return f"; did you mean {near[0]}?"
    return f"; known here: {', '.join(known)}" if known else ""


def _keys_at(model: type[BaseModel], path: list[Any]) -> list[str]:
    """The keys that the schema knows below a key path."""
    current: list[Any] = [model]
    for part in path:
        following: list[Any] = []
        for option in current:
            if isinstance(option, type) and issubclass(option, BaseModel):
                fields = option.model_fields
                if part in fields:
                    following += _options(fields[part].annotation)
            else:
                following.append(option)
        current = following
    names = []
    for option in current:
        if isinstance(option, type) and issubclass(option, BaseModel):
            names += [field.alias or name for name, field in option.model_fields.items()]
    return names


def _options(annotation: Any) -> list[Any]:
    """The types that an annotation allows; of a mapping, those of its values."""
    arguments = get_args(annotation)
    if not arguments:
        return [annotation]
    if getattr(annotation, "__origin__", None) is dict:
        arguments = arguments[1:]
    return [option for argument in arguments for option in _options(argument)]
