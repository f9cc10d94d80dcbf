"""Reads JSON and YAML files, which may come from others.

A file cannot exhaust the machine: its size, its nesting and what the aliases of a YAML file
expand to are bounded. A key that is given twice is refused, because readers disagree about
which of the two counts. Every fault is the SqlanonError that the caller names, with the file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from sqlanon.errors import SqlanonError

if TYPE_CHECKING:
    from pydantic import ValidationError

SCHEME_FORMAT, RESULT_FORMAT = "sqlanon scheme", "sqlanon result"
WALK_FORMAT: Final = "sqlanon walk"

MOST_BYTES = 2**29
MOST_NESTING = 100
MOST_EXPANDED = 100_000
"""What a YAML file with aliases may have: nodes, each counted wherever it is used."""

_MERGE = "tag:yaml.org,2002:merge"


def read_text(path: str | Path, refusal: type[SqlanonError]) -> str:
    """The text of a UTF-8 file without its byte order mark, line ends as they are."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise refusal(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise refusal(f"{path}: is not UTF-8 text (byte {error.start})") from None
    except ValueError:  # a NUL in the name
        raise refusal(f"{str(path)!r} is not the name of a file") from None
    if len(content) > MOST_BYTES:  # as of a device that has no end
        raise refusal(f"{path}: is larger than {MOST_BYTES:,} bytes")
    return text


def version_of(
    document: Mapping[str, Any],
    format: str,
    newest: int,
    origin: str,
    refusal: type[SqlanonError],
) -> int:
    """The version of a document in one of our formats; the first has no `format`.

    Refuses other formats, and versions that a later sqlanon wrote.
    """
    found, version = document.get("format", format), document.get("version", 1)
    if found != format:
        raise refusal(f"{origin}: its format is {found!r}, not {format!r}")
    if type(version) is not int or not 1 <= version <= newest:
        raise refusal(
            f"{origin}: format version {version!r} is not supported; this sqlanon reads versions "
            f"1 to {newest} of a {format.removeprefix('sqlanon ')}"
        )
    return version


def first_mistake(error: ValidationError) -> str:
    """The first mistake in a document, with the path of its key, and how many others there are."""
    first, *others = error.errors(include_url=False, include_context=False)
    more = f" (and {len(others)} more)" if others else ""
    message: str = first["msg"].removeprefix("Value error, ")
    if first["type"] == "value_error":
        return message + more
    path = ".".join(map(str, first["loc"])) or "the document"
    found = "" if first["type"] in ("missing", "extra_forbidden") else f", found {first['input']!r}"
    what = {"missing": "is missing", "extra_forbidden": "is not a key of this format"}
    return f"{path}: {what.get(first['type'], message[:1].lower() + message[1:])}{found}{more}"


def read_json(path: str | Path, refusal: type[SqlanonError]) -> Any:
    """The document in a JSON file."""
    return parse_json(read_text(path, refusal), str(path), refusal)


def parse_json(text: str, origin: str, refusal: type[SqlanonError]) -> Any:
    """The document that a text means; `origin` names its file."""

    def refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = next(name for name, times in Counter(k for k, _ in pairs).items() if times > 1)
            raise refusal(f"{origin}: the key {twice!r} is given twice; remove one of them")
        return found

    try:
        document = json.loads(text, object_pairs_hook=refuse_twice)
    except RecursionError:
        raise refusal(f"{origin}: is nested too deeply") from None
    except ValueError as error:
        raise refusal(f"{origin}: is not JSON ({_problem(error)})") from None
    level = [document]
    for _ in range(MOST_NESTING):
        level = [below for each in level for below in _containers(each)]
        if not level:
            return document
    raise refusal(f"{origin}: is nested too deeply")


def _containers(value: Any) -> Iterator[Any]:
    """The objects and lists directly in a value."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (each for each in inside if isinstance(each, dict | list))


def parse_yaml(text: str, origin: str, refusal: type[SqlanonError]) -> Any:
    """The document that a YAML text means; `origin` names its file."""
    with _faults_of_yaml(origin, refusal):
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            return None
        _refuse_expanding(node, origin, refusal)
        return loader.construct_document(node)


def compose_yaml(text: str, origin: str, refusal: type[SqlanonError]) -> yaml.Node | None:
    """The nodes of a YAML text, which unlike its values know their own text and line.

    A node that an alias repeats is one object in several places.
    """
    with _faults_of_yaml(origin, refusal):
        return yaml.BaseLoader(text).get_single_node()


class _Loader(yaml.SafeLoader):
    """Refuses a key given twice, of which YAML would silently take the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Hashable] = set()
        for key_node, _ in node.value:
            if not isinstance(key_node, yaml.ScalarNode) or key_node.tag == _MERGE:
                continue  # lists as keys are refused below, merged keys may be overridden
            key = self.construct_object(key_node)
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} is given twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


@contextmanager
def _faults_of_yaml(origin: str, refusal: type[SqlanonError]) -> Iterator[None]:
    try:
        yield
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f"line {mark.line + 1}: " if mark else ""
        raise refusal(f"{origin}: {line}not valid YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        problem = str(error).splitlines()[0]
        raise refusal(f"{origin}: not valid YAML: {problem}") from None
    except ValueError as error:  # of what looks like a date or a number but is not one
        problem = _problem(error)
        raise refusal(f"{origin}: not valid YAML: {problem}; put text in quotes") from None
    except RecursionError:
        raise refusal(f"{origin}: is nested too deeply") from None


def _refuse_expanding(root: yaml.Node, origin: str, refusal: type[SqlanonError]) -> None:
    """Refuses a small file whose aliases, written out, would be a huge or endless document."""
    measured: dict[int, tuple[int, int]] = {}
    written = 0

    def measure(node: yaml.Node) -> tuple[int, int]:
        """The nodes and the nesting of what a node stands for."""
        nonlocal written
        if isinstance(node, yaml.ScalarNode):
            return 1, 0
        if id(node) not in measured:
            measured[id(node)] = (1, MOST_NESTING)  # for an alias of this node inside of it
            pairs = isinstance(node, yaml.MappingNode)
            below = [each for pair in node.value for each in pair] if pairs else node.value
            written += 1 + len(below)
            found = [measure(each) for each in below]
            depth = 1 + max((depth for _, depth in found), default=0)
            measured[id(node)] = 1 + sum(size for size, _ in found), depth
        return measured[id(node)]

    size, depth = measure(root)
    if depth > MOST_NESTING:
        raise refusal(f"{origin}: is nested too deeply")
    if size > max(MOST_EXPANDED, 2 * written):
        raise refusal(
            f"{origin}: its aliases (*name) stand for more than {MOST_EXPANDED:,} values; write "
            "out what is meant"
        )


def _problem(error: ValueError) -> str:
    """What is wrong with a text; Python's words about long numbers name a setting of Python."""
    return "a number has too many digits" if "integer string" in str(error) else str(error)
