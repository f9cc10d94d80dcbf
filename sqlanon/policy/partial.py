"""Contradictions between the sections of a policy that has other mistakes as well.

pydantic looks at a whole policy only once each of its parts is valid. A user wants to know of
all mistakes at once, so here the valid parts are put together and looked at without the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import TypeAdapter, ValidationError

from sqlanon.policy.columns import ColumnSection
from sqlanon.policy.schema import PolicySection


def contradictions(error: ValidationError, document: Mapping[Any, Any]) -> list[str]:
    """What `describe` cannot tell of this error: what valid parts of the policy say together."""
    if any(not problem["loc"] for problem in error.errors(include_url=False)):
        return []  # every part was valid, and the error is about the whole
    parts: dict[str, Any] = {}
    broken: set[str] = set()
    for key, field in PolicySection.model_fields.items():
        if key not in document:
            parts[key] = {} if field.is_required() else field.get_default()
            continue
        if key == "columns":
            parts[key], complete = _columns(document[key])
            broken |= set() if complete else {key}
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
    return PolicySection.model_construct(**parts).contradictions(broken)


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
