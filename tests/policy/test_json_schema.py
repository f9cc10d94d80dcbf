"""The JSON Schema for editors: valid, complete, and the one that is committed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_line import Run, message
from pydantic import BaseModel

from sqlanon.policy.sections import PolicySection, Role, policy_json_schema

ROOT = Path(__file__).resolve().parents[2]
COMMITTED = ROOT / "docs" / "policy.schema.json"
SCHEMA = policy_json_schema()

# The words of draft 2020-12 that pydantic may use, and what each may hold.
WORDS = {
    **dict.fromkeys(("$schema", "$ref", "title", "description", "type", "format", "pattern"), str),
    **dict.fromkeys(("$defs", "properties"), dict),
    **dict.fromkeys(("anyOf", "prefixItems", "enum", "required"), list),
    **dict.fromkeys(("minItems", "maxItems", "minLength", "maxLength", "minProperties"), int),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum"), (int, float)),
    "additionalProperties": (bool, dict),
    "items": dict,
    "default": (str, int, float, bool),
}
TYPES = {"object", "array", "string", "number", "integer", "boolean", "null"}


def nodes(node: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema in the schema, with where it is."""
    yield path, node
    for word, value in node.items():
        if word in ("properties", "$defs"):
            for name, below in value.items():
                yield from nodes(below, f"{path}/{word}/{name}")
        elif word in ("anyOf", "prefixItems"):
            for i, below in enumerate(value):
                yield from nodes(below, f"{path}/{word}/{i}")
        elif word in ("items", "additionalProperties") and isinstance(value, dict):
            yield from nodes(value, f"{path}/{word}")


def accepts(node: dict[str, Any], value: Any) -> bool:
    """A small validator for the words above, written from the text of draft 2020-12."""
    if "$ref" in node and not accepts(SCHEMA["$defs"][node["$ref"].split("/")[-1]], value):
        return False
    if "anyOf" in node and not any(accepts(option, value) for option in node["anyOf"]):
        return False
    if "enum" in node and value not in node["enum"]:
        return False
    if "type" in node and not is_type(node["type"], value):
        return False
    if isinstance(value, str):
        return (
            node.get("minLength", 0) <= len(value) <= node.get("maxLength", len(value))
            and re.search(node.get("pattern", ""), value) is not None
        )
    if isinstance(value, int | float) and not isinstance(value, bool):
        low, high = node.get("minimum", value), node.get("maximum", value)
        return bool(low <= value <= high and node.get("exclusiveMinimum", value - 1) < value)
    if isinstance(value, list):
        count = node.get("minItems", 0) <= len(value) <= node.get("maxItems", len(value))
        first = zip(node.get("prefixItems", []), value, strict=False)
        return (
            count
            and all(accepts(node.get("items", {}), each) for each in value)
            and all(accepts(part, each) for part, each in first)
        )
    if isinstance(value, dict):
        return accepts_keys(node, value)
    return True


def accepts_keys(node: dict[str, Any], value: dict[str, Any]) -> bool:
    known, more = node.get("properties", {}), node.get("additionalProperties", {})
    if not set(node.get("required", ())) <= value.keys():
        return False
    if len(value) < node.get("minProperties", 0):
        return False
    if more is False and not value.keys() <= known.keys():
        return False
    return all(accepts(known.get(key, more), each) for key, each in value.items())


def is_type(name: str, value: Any) -> bool:
    if isinstance(value, bool) or value is None:
        return name == ("null" if value is None else "boolean")
    kinds = {"object": dict, "array": list, "string": str, "number": (int, float), "integer": int}
    return name in kinds and isinstance(value, kinds[name])


@pytest.mark.parametrize(
    ("path", "node"), [pytest.param(*each, id=each[0]) for each in nodes(SCHEMA)]
)
def test_it_is_of_draft_2020_12(path: str, node: dict[str, Any]) -> None:
    for word, value in node.items():
        assert isinstance(value, WORDS[word]), word
    assert node.get("type", "object") in TYPES
    assert set(node.get("required", ())) <= node.get("properties", {}).keys()
    if "$ref" in node:
        assert node["$ref"].removeprefix("#/$defs/") in SCHEMA["$defs"]
    if path:
        assert "$schema" not in node
        assert "title" not in node


def test_its_head() -> None:
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert SCHEMA["title"] == "Policy of sqlanon"
    assert list(SCHEMA)[:2] == ["$schema", "title"]
    assert SCHEMA["type"] == "object"


KEYS = [
    pytest.param(below, id=f"{path}/{name}")
    for path, node in nodes(SCHEMA)
    for name, below in node.get("properties", {}).items()
]


@pytest.mark.parametrize("node", KEYS)
def test_every_key_is_described(node: dict[str, Any]) -> None:
    assert node["description"].endswith(".")
    assert "\n" not in node["description"]


def test_every_section_is_there() -> None:
    def sections(model: type[BaseModel]) -> set[str]:
        """Those that nothing is derived from: a base is part of others, not a section."""
        found = [each for each in model.__subclasses__() if each.__module__.startswith("sqlanon.")]
        below = set().union(*(sections(each) for each in found)) if found else set()
        return below or {model.__name__}

    (base,) = PolicySection.__bases__
    assert {*sections(base), "Role"} - {"PolicySection"} <= SCHEMA["$defs"].keys()
    assert SCHEMA["$defs"]["Role"]["enum"] == list(Role)


def every_policy() -> Iterator[Any]:
    yield pytest.param((ROOT / "examples/adult/policy.yml").read_text(), id="adult")
    for page in sorted((ROOT / "docs").glob("*.md")):
        found = re.findall(r"^```yaml\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
        yield from (pytest.param(text, id=f"{page.stem}-{i}") for i, text in enumerate(found))


@pytest.mark.parametrize("text", list(every_policy()))
def test_it_accepts_the_policies_of_the_documentation(text: str) -> None:
    # Editors read a date as the text it is.
    assert accepts(SCHEMA, json.loads(json.dumps(yaml.safe_load(text), default=str)))


@pytest.mark.parametrize(
    "change",
    [
        {"colums": {}},
        {"columns": {}},
        {"columns": {"age": {}}},
        {"columns": {"age": {"role": "qasi"}}},
        {"columns": {"age": {"role": "quasi", "output": "mid"}}},
        {"columns": {"age": {"role": "quasi", "range": [1]}}},
        {"columns": {"age": {"role": "quasi", "weight": -1}}},
        {"columns": {"id": {"role": "insensitive", "accept": " "}}},
        {"columns": {"zip": {"role": "quasi", "hierarchy": {"mask": {"from": "top"}}}}},
        {"privacy": {"k": 0}},
        {"privacy": {"k": 2, "l_diversity": {"l": 0}}},
        {"privacy": {"k": 2, "l_diversity": [{"l": 2, "kind": "best"}]}},
        {"privacy": {"k": 2, "t_closeness": {"t": 1.5}}},
        {"privacy": {"k": 2, "homogeneity": {"accept": " "}}},
        {"population": {"tabel": "everybody"}},
        {"publish": {"mode": "copy"}},
        {"publish": {"target": "x"}},
        {"search": {"seconds": 0}},
        {"suppression": {"limit": 2}},
    ],
)
def test_it_marks_mistakes(change: dict[str, Any]) -> None:
    good = {"columns": {"age": {"role": "quasi"}}, "one_row_per_person": True}
    assert accepts(SCHEMA, good)
    assert not accepts(SCHEMA, {**good, **change})


def test_the_committed_one_is_what_the_command_prints(run: Run, tmp_path: Path) -> None:
    """After a change of the policy's keys: sqlanon schema -o docs/policy.schema.json"""
    done = run("schema")
    assert (done.status, done.err) == (0, "")
    assert json.loads(done.out) == SCHEMA
    assert done.out == COMMITTED.read_text(encoding="utf-8")
    assert run("schema", "-o", "a.json").out == ""
    assert (tmp_path / "a.json").read_bytes() == COMMITTED.read_bytes()


def test_a_file_that_cannot_be_written(run: Run) -> None:
    said = message(1, run("schema", "--output", "nowhere/a.json"))
    assert said == "error: nowhere/a.json: cannot be written (No such file or directory)"


def test_the_example_names_it() -> None:
    file = ROOT / "examples" / "adult" / "policy.yml"
    line = file.read_text(encoding="utf-8").splitlines()[0]
    (target,) = re.findall(r"^# yaml-language-server: \$schema=(\S+)$", line)
    assert (file.parent / target).resolve() == COMMITTED
