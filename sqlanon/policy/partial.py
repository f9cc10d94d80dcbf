"""Contradictions within and between the sections of a policy that has other mistakes as well.

pydantic looks at a whole policy, or section, only once each of its parts is valid. A user wants
to know of all mistakes at once, so here the valid parts are put together and looked at without
the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from sqlanon.policy.columns import ColumnSection
from sqlanon.policy.fields import Section
from sqlanon.policy.methods import method_of
from sqlanon.policy.problems import line_at
from sqlanon.policy.schema import PolicySection
from sqlanon.policy.settings import SearchSection


def contradictions(error: ValidationError, document: Mapping[Any, Any]) -> list[str]:
    """What `describe` cannot tell of this error: what valid parts of the policy say together."""
    if any(not problem["loc"] for problem in error.errors(include_url=False)):
        return []  # every part was valid, and the error is about the whole
    parts: dict[str, Any] = {}
    broken: set[str] = set()
    lines = list(_within_sections(document))
    for key, field in PolicySection.model_fields.items():
        if key not in document:
            parts[key] = {} if field.is_required() else field.get_default()
            continue
        if key == "columns":
            parts[key], complete = _columns(document[key])
            broken |= set() if complete else {key}
            continue
        if key == "search":
            parts[key], unknown = _search(document[key])
            broken |= unknown
            continue
        try:
            wanted: Any = field.annotation
            parts[key] = TypeAdapter(wanted).validate_python(document[key])
        except ValidationError:
            parts[key] = None if field.is_required() else field.get_default()
            broken.add(key)
    broken |= set() if "columns" in document else {"columns"}
    for unknown in document:
        # A key that is spelled wrong may be the one that seems to be missing.
        broken.update(get_close_matches(str(unknown), PolicySection.model_fields.keys() - document))
    return [*lines, *PolicySection.model_construct(**parts).contradictions(broken)]


def _within_sections(document: Mapping[Any, Any]) -> Iterator[str]:
    for key, field in PolicySection.model_fields.items():
        kinds = (field.annotation, *get_args(field.annotation))
        model = next((k for k in kinds if isinstance(k, type) and issubclass(k, Section)), None)
        if key == "columns" and isinstance(document.get(key), Mapping):
            for name, keys in document[key].items():
                yield from _within(ColumnSection, keys, (key, name))
        elif model is not None:
            yield from _within(model, document.get(key), (key,))


def _within(model: type[Section], given: Any, path: tuple[Any, ...]) -> Iterator[str]:
    """What the valid keys of a section say together, where others are not valid.

    Only what is about one of them and does not mention the others, which may be meant otherwise.
    """
    if not isinstance(given, Mapping):
        return
    broken = {each["loc"][0] for each in _errors(model, given) if each["loc"]}
    if not broken:
        return  # the section was looked at as a whole
    rest = {key: value for key, value in given.items() if key not in broken}
    for unknown in broken - model.model_fields.keys():
        # A key that is spelled wrong may be the one that seems to be missing.
        broken = broken | set(get_close_matches(str(unknown), model.model_fields.keys() - given))
    for each in _errors(model, rest):
        if each["loc"] or each["type"] != "value_error":
            continue
        for line in each["msg"].removeprefix("Value error, ").split("\n"):
            about = line[1:].partition(":")[0] if line.startswith(".") else None
            # "to" is a word of many sentences, so it tells nothing there.
            named = {about, *(set(re.findall(r"\w+", line)) - {"to"})}
            if (about is None or about in rest) and not named & broken:
                yield line_at(path, line)


def _errors(model: type[Section], given: Mapping[Any, Any]) -> list[Any]:
    try:
        model.model_validate(given)
    except ValidationError as error:
        return list(error.errors(include_url=False, include_context=False))
    return []


def _search(given: Any) -> tuple[SearchSection, set[str]]:
    """What is valid of a search, and its keys that are not, as `search.KEY`."""
    known = SearchSection.model_fields
    keys = given if isinstance(given, Mapping) else {}
    wrong = {each["loc"][0] for each in _errors(SearchSection, keys) if each["loc"]}
    if method_of(given) is None:
        wrong |= known.keys()  # what they mean depends on the method
    valid: dict[str, Any] = {}
    for key in keys.keys() & known.keys() - wrong:
        kind: Any = known[key].annotation
        valid[key] = TypeAdapter(kind).validate_python(keys[key])
    return SearchSection.model_construct(**valid), {f"search.{key}" for key in wrong}


def _columns(given: Any) -> tuple[dict[str, ColumnSection], bool]:
    """The columns that are valid, and whether these are all."""
    if not isinstance(given, Mapping) or not given:
        return {}, False
    valid: dict[str, ColumnSection] = {}
    for name, keys in given.items():
        try:
            section = ColumnSection.model_validate(keys)
        except ValidationError:
            continue
        if isinstance(name, str):
            valid[name] = section
    return valid, len(valid) == len(given)
