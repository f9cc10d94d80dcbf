"""Hierarchies in files: CSV in the format of ARX, and YAML."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn, TypeAlias

import yaml

from sqlanon import documents, resources
from sqlanon.documents import compose_yaml
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.errors import HierarchyError


def read_text(path: Path) -> str:
    """The text of a UTF-8 file without its byte order mark, line ends as they are."""
    try:
        return documents.read_text(path, HierarchyError)
    except HierarchyError as error:
        raise HierarchyError(
            f"Hierarchy file {error}. Correct it, or take one that comes with sqlanon under "
            f"hierarchies/: {', '.join(_built_in())}."
        ) from None


def _built_in() -> list[str]:
    folder = resources.path("hierarchies")
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*.csv"))


_SEPARATORS = ";,"

_Line: TypeAlias = tuple[int, list[str]]  # number of its first line in the file, its fields


def read_csv(path: str | Path) -> Hierarchy:
    """The hierarchy in a CSV file; the separator is found out, blank lines are skipped.

    The separator is the one that divides every line into the same number of fields, two or
    more; ``;`` where both do. A file that is one value alone is a leaf that is its own root.
    """
    path = Path(path)
    lines = _divided(read_text(path), str(path))
    places = [f"line {number}" for number, _ in lines]
    try:
        return Hierarchy.from_rows([fields for _, fields in lines], str(path), places)
    except HierarchyError as error:
        if _begins_with_header(lines):
            raise HierarchyError(
                f"{error} But {places[0]} looks like a header, since no other line differs in the "
                "last level; if it is one, leave it out instead."
            ) from None
        raise


def _divided(text: str, origin: str) -> list[_Line]:
    parsed: list[list[_Line]] = []
    problems: list[str] = []
    for separator in _SEPARATORS:
        try:
            lines = _parse(text, separator)
        except csv.Error as error:
            problems.append(f"with {separator!r}, {error}")
            continue
        if not lines:
            return lines
        if len(lines[0][1]) > 1 and (odd := _first_of_other_length(lines)) is not None:
            number, fields = lines[odd]
            problems.append(
                f"with {separator!r}, line {lines[0][0]} has {len(lines[0][1])} fields "
                f"but line {number} has {len(fields)}"
            )
            continue
        parsed.append(lines)
    tables = [lines for lines in parsed if len(lines[0][1]) > 1]
    if tables:
        # A quote that opens in the middle of a field hints that the separator is wrong.
        return min(tables, key=_has_dangling_quote)
    if len(parsed) == len(_SEPARATORS) and len(parsed[0]) == 1:
        return parsed[0]
    if not problems:
        problems.append("the first line is one field alone")
    raise HierarchyError(
        f"Hierarchy {origin}: neither ';' nor ',' divides every line into the same number of "
        f"fields, two or more ({'; '.join(problems)}). "
        "Give every line one label per level, and quote labels that contain the separator."
    )


def _parse(text: str, separator: str) -> list[_Line]:
    """The lines that are not blank; raises csv.Error, with the line, on broken quoting."""
    raw: list[str] = []

    def feed() -> Iterator[str]:
        for line in io.StringIO(text, newline=""):
            raw.append(line)
            yield line

    reader = csv.reader(feed(), delimiter=separator, strict=True)
    lines = []
    number = 1
    try:
        for fields in reader:
            if "".join(raw).strip():
                lines.append((number, fields))
            raw.clear()
            number = reader.line_num + 1
    except csv.Error as error:
        raise csv.Error(f"line {number} is broken: {error}") from None
    return lines


def _first_of_other_length(lines: Sequence[_Line]) -> int | None:
    length = len(lines[0][1])
    return next((i for i, (_, fields) in enumerate(lines) if len(fields) != length), None)


def _begins_with_header(lines: Sequence[_Line]) -> bool:
    """Whether all lines but the first, several of them, have the same root."""
    roots = [fields[-1] for _, fields in lines]
    return len(roots) > 2 and len(set(roots[1:])) == 1 and roots[0] != roots[1]


def _has_dangling_quote(lines: Sequence[_Line]) -> bool:
    return any(text.count('"') % 2 for _, fields in lines for text in fields)


_NULLS = ("", "~", "null", "Null", "NULL")


def read_yaml(path: str | Path) -> Hierarchy:
    """The hierarchy in a YAML file; raises HierarchyError with the line at fault."""
    path = Path(path)
    walk = _LeafReader(str(path))
    try:
        document = compose_yaml(read_text(path), f"Hierarchy {path}", HierarchyError)
        leaves = [] if document is None else list(walk.leaves(document, ()))
    except RecursionError:
        raise HierarchyError(
            f"Hierarchy {path} is nested too deeply. Write it as CSV, one column per level."
        ) from None
    length = max((len(labels) for labels, _ in leaves), default=0)
    rows = [labels[-1:] * (length - len(labels)) + tuple(reversed(labels)) for labels, _ in leaves]
    return Hierarchy.from_rows(rows, str(path), [f"line {line}" for _, line in leaves])


class _LeafReader:
    """Reads leaves off composed nodes, which unlike constructed ones know text and line."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._seen: set[int] = set()

    def leaves(
        self, node: yaml.Node, above: tuple[str, ...]
    ) -> Iterator[tuple[tuple[str, ...], int]]:
        """The labels from the root down to each leaf below `node`, and the leaf's line."""
        lines: dict[str, int] = {}
        for key, value in self._entries(node):
            label = self._label(key)
            line = _line(key)
            if label in lines:
                self._refuse(
                    key, f"{label!r} is there already, in line {lines[label]}", "Merge the two"
                )
            lines[label] = line
            if value is None:
                yield (*above, label), line
            else:
                yield from self.leaves(value, (*above, label))
        if not lines:
            self._refuse(node, "a label has nothing below it", "List its values, or remove it")

    def _entries(self, node: yaml.Node) -> Iterator[tuple[yaml.Node, yaml.Node | None]]:
        """The labels directly in `node`, each with what stands below it; None for a leaf."""
        self._visit(node)
        if isinstance(node, yaml.MappingNode):
            yield from self._pairs(node)
        elif isinstance(node, yaml.SequenceNode):
            for item in node.value:
                if isinstance(item, yaml.MappingNode):
                    self._visit(item)
                    yield from self._pairs(item)
                else:
                    yield item, None
        else:
            yield node, None

    def _pairs(self, node: yaml.MappingNode) -> Iterator[tuple[yaml.Node, yaml.Node | None]]:
        for key, value in node.value:
            if not isinstance(value, yaml.ScalarNode):
                yield key, value
            elif value.style is None and value.value in _NULLS:
                yield key, None
            else:
                self._refuse(
                    value,
                    f"{value.value!r} stands alone below {self._label(key)!r}",
                    "Write a list, even of one",
                )

    def _label(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode):
            self._refuse(node, "a list or mapping stands where a label belongs", "Name a label")
        return str(node.value)

    def _visit(self, node: yaml.Node) -> None:
        # The same node twice comes from an alias, which may even contain itself.
        if id(node) in self._seen:
            self._refuse(node, "this part is used again through an alias", "Write it out")
        self._seen.add(id(node))

    def _refuse(self, node: yaml.Node, problem: str, step: str) -> NoReturn:
        raise HierarchyError(f"Hierarchy {self._origin}: line {_line(node)}: {problem}. {step}.")


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def read(path: str | Path) -> Hierarchy:
    """The hierarchy in a file, by its suffix: .csv, .yml or .yaml."""
    path = Path(path)
    match path.suffix.lower():
        case ".csv":
            return read_csv(path)
        case ".yml" | ".yaml":
            return read_yaml(path)
        case suffix:
            raise HierarchyError(
                f"Hierarchy file {path} has "
                + (f"the suffix {suffix!r}" if suffix else "no suffix")
                + ". Use .csv (one line per value, one field per level) or .yml, .yaml (a tree)."
            )
