"""Writes every mistake of a policy: key path, what was found, what is allowed."""

from __future__ import annotations

import datetime as dt
import re
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from sqlanon.keys import Section
from sqlanon.metrics import METRICS
from sqlanon.policy.search_keys import ALLOWED, valid_part
from sqlanon.policy.sections import ColumnSection, PolicySection, policy_section
from sqlanon.policy.variables import is_secret
from sqlanon.search import METHODS

Path = tuple[Any, ...]
Node = Mapping[str, Any]

_PLAIN = re.compile(r"[\w-]+")


class _Yaml(reprlib.Repr):
    """What was found, as YAML writes it where Python does otherwise; of much, its beginning."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = 60

    def repr_bool(self, value: bool, level: int) -> str:
        return str(value).lower()

    def repr_NoneType(self, value: None, level: int) -> str:  # noqa: N802
        return "null"

    def repr_date(self, value: dt.date, level: int) -> str:
        return str(value)

    repr_datetime = repr_date


_SHORT = _Yaml()


def describe(error: ValidationError, document: Any) -> list[str]:
    """One line per mistake, in the order in which they were found."""
    by_path: dict[Path, list[Any]] = {}
    for problem in error.errors(include_url=False):
        by_path.setdefault(_path(problem, document), []).append(problem)
    lines = []
    for path, problems in by_path.items():
        deeper = any(len(other) > len(path) and other[: len(path)] == path for other in by_path)
        # With a mistake further down, what is said here is an alternative that was not meant.
        if not deeper or problems[0]["type"] == "value_error":
            lines += _lines(path, problems)
    return lines


def _path(problem: Any, document: Any) -> Path:
    """The key path of a mistake, without the alternatives of unions that pydantic adds."""
    path: list[Any] = []
    value = document
    *_, last = problem["loc"] or (None,)
    for step in problem["loc"]:
        is_key = isinstance(value, Mapping) and step in value
        is_index = isinstance(value, Sequence) and isinstance(step, int) and step < len(value)
        if is_key:
            # The key itself: pydantic reports True as 1.
            path.append(next(key for key in value if key == step))
            value = value[step]
        elif is_index:
            path.append(step)
            value = value[step]
        elif problem["type"] == "missing" and step is last and isinstance(step, str):
            # What is above a missing key is there; any other step names an alternative.
            path.append(step)
    return tuple(path)


def _lines(path: Path, problems: list[Any]) -> list[str]:
    """What is wrong at one path; of several alternatives that failed, the most telling one."""
    where = _where(path)
    by_kind = {problem["type"]: problem for problem in reversed(problems)}
    if "value_error" in by_kind:
        message = by_kind["value_error"]["msg"].removeprefix("Value error, ")
        return [line_at(path, line) for line in message.split("\n")]
    if "extra_forbidden" in by_kind or "invalid_key" in by_kind:
        return [f"{where}: unknown key{_nearest(path)}"]
    if problems[0]["loc"][-1] == "[key]":
        return [
            f"{where}: the name is {path[-1]!r}, not text; put it in quotes, because YAML takes "
            "numbers, dates and words such as yes, no and on for other things"
        ]
    if ALLOWED in by_kind:
        allowed = _allowed(_alternatives(by_kind[ALLOWED]["ctx"]["node"]))
    else:
        allowed = _allowed(_nodes_at(path))
    if "missing" in by_kind and problems[0]["loc"][-1] == path[-1]:
        return [f"{where}: is missing; expected {allowed}"]
    found = problems[0]["input"] if "missing" not in by_kind else by_kind["missing"]["input"]
    if is_secret(path):
        return [f"{where}: found {'nothing' if found is None else 'no text'}, expected {allowed}"]
    if "finite_number" in by_kind:
        allowed = allowed.replace("a number", "a finite number")
    return [f"{where}: found {_found(found)}, expected {allowed}{_meant(found, path, allowed)}"]


def line_at(path: Path, words: str) -> str:
    """A mistake after its key path; words that begin with .key: continue the path."""
    where = _where(path)
    if words.startswith("."):
        return where + words if where else words[1:]
    return f"{where}: {words}" if where else words


def _where(path: Path) -> str:
    return ".".join(map(_step, path))


def _step(step: Any) -> str:
    return repr(step) if isinstance(step, str) and not _PLAIN.fullmatch(step) else str(step)


def _found(value: Any) -> str:
    return "nothing" if value is None else _SHORT.repr(value)


def _nearest(path: Path) -> str:
    """What the unknown key may have been meant to be, or which keys there are."""
    known = [key for node in _nodes_at(path[:-1]) for key in node.get("properties", ())]
    near = get_close_matches(str(path[-1]), known, 1, cutoff=0.6)
    if near:
        return f"; did you mean {near[0]}?"
    return f"; known here: {', '.join(known)}"


def _meant(found: Any, path: Path, allowed: str) -> str:
    """The allowed word that is spelled most like the one that was found."""
    nodes = _nodes_at(path)
    if isinstance(found, str) and any("role" in node.get("properties", ()) for node in nodes):
        roles = [word for node in _nodes_at((*path, "role")) for word in node.get("enum", ())]
        role = get_close_matches(found.lower(), roles, 1, cutoff=0.6)
        return f"; did you mean {{role: {role[0]}}}?" if role else ""
    words = [word for node in nodes for word in node.get("enum", ())]
    words = [word for word in words if repr(word) in allowed]
    near = get_close_matches(str(found).lower(), words, 1, cutoff=0.6)
    return f"; did you mean {near[0]}?" if near else ""


def _schema() -> dict[str, Any]:
    return _schema_of(policy_section(), tuple(METHODS), tuple(METRICS))


@cache
def _schema_of(
    section: type[PolicySection], methods: tuple[str, ...], metrics: tuple[str, ...]
) -> dict[str, Any]:
    """The schema of a policy; it changes as models, methods and metrics are registered."""
    return section.model_json_schema()


def _nodes_at(path: Path) -> list[Node]:
    """What the schema says about a key path: one node per alternative."""
    nodes = _alternatives(_schema())
    for step in path:
        nodes = [
            option
            for node in nodes
            for below in [_below(node, step)]
            if below
            for option in _alternatives(below)
        ]
    return nodes


def _below(node: Node, step: Any) -> Node | None:
    found = node.get("properties", {}).get(step)
    if found is None and isinstance(step, int):
        found = node.get("items")
    if found is None and isinstance(step, int) and "prefixItems" in node:
        found = node["prefixItems"][min(step, len(node["prefixItems"]) - 1)]
    more = node.get("additionalProperties")
    return found or (more if isinstance(more, Mapping) else None)


def _alternatives(node: Node) -> list[Node]:
    """A node without references and unions; NULL is left out, a missing key says it better."""
    if "allowed" in node:
        rest = {key: value for key, value in node.items() if key not in ("anyOf", "allowed")}
        options = [
            {**rest, **option} for part in node.get("anyOf", ()) for option in _alternatives(part)
        ]
        return [{**option, "allowed": node["allowed"]} for option in options or [rest]]
    if "$ref" in node:
        return _alternatives(_schema()["$defs"][node["$ref"].rpartition("/")[2]])
    if "anyOf" in node:
        return [option for part in node["anyOf"] for option in _alternatives(part)]
    return [] if node.get("type") == "null" else [node]


def _allowed(nodes: list[Node]) -> str:
    """What may stand at a key path."""
    words = list(dict.fromkeys(_words(node) for node in nodes))
    if "a number" in words and "a whole number" in words:
        words.remove("a whole number")
    return _joined(words)


def _words(node: Node) -> str:
    if "allowed" in node:
        return str(node["allowed"])
    if "enum" in node:
        return _joined([repr(word) for word in node["enum"]])
    match node.get("type"):
        case "boolean":
            return "true or false"
        case "integer" | "number":
            return ("a whole number" if node["type"] == "integer" else "a number") + _bounds(node)
        case "string":
            kind = "text that is not blank" if "pattern" in node else "text"
            return "a date" if "format" in node else kind
        case "array":
            return "a list of at least one" if node.get("minItems") else "a list"
        case _:
            return f"keys such as {', '.join(node['properties'])}"


def _bounds(node: Node) -> str:
    low, high = node.get("minimum"), node.get("maximum")
    if low is None:
        return ""
    return f" from {low:,} to {high:,}" if high is not None else f" of at least {low:,}"


def _joined(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def contradictions(error: ValidationError, document: Mapping[Any, Any]) -> list[str]:
    """What `describe` does not see: contradictions between the valid parts of the policy."""
    if any(not problem["loc"] for problem in error.errors(include_url=False)):
        return []  # every part was valid, and the error is about the whole
    parts: dict[str, Any] = {}
    broken: set[str] = set()
    lines = list(_within_sections(document))
    for key, field in policy_section().model_fields.items():
        if key not in document:
            parts[key] = {} if field.is_required() else field.get_default()
            continue
        if key == "columns":
            parts[key], complete = _columns(document[key])
            broken |= set() if complete else {key}
            continue
        if key == "search":
            parts[key], unknown = valid_part(document[key])
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
        broken.update(
            get_close_matches(str(unknown), policy_section().model_fields.keys() - document)
        )
    return [*lines, *policy_section().model_construct(**parts).contradictions(broken)]


def _within_sections(document: Mapping[Any, Any]) -> Iterator[str]:
    for key, field in policy_section().model_fields.items():
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
