"""Hierarchies as YAML files: the root above its children above lists of leaves.

    "*":
      Government: [Federal-gov, State-gov, Local-gov]
      Private: [Private]
      Unknown:

A leaf may stand higher up, in a list or as a key with no value; the levels below repeat its
label. Every scalar is the text as it is written: ``no``, ``1.0`` and dates are labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import yaml

from sqlanon.documents import compose_yaml
from sqlanon.errors import HierarchyError
from sqlanon.hierarchy.files import read_text, write_text
from sqlanon.hierarchy.tree import Hierarchy

_NULLS = ("", "~", "null", "Null", "NULL")
_LINE_ENDS = "\n\r\x85\u2028\u2029"


def read_yaml(path: str | Path) -> Hierarchy:
    """The hierarchy in a YAML file; raises HierarchyError with the line at fault."""
    path = Path(path)
    walk = _Walk(str(path))
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


def write_yaml(hierarchy: Hierarchy, path: str | Path) -> None:
    """Write a YAML file that `read_yaml` turns back into the same hierarchy."""
    document: Any = {} if hierarchy.height else list(hierarchy.leaves)
    for labels in zip(*reversed(hierarchy.levels), strict=True):
        if len(labels) > 1:
            *outer, parent, leaf = labels
            node = document
            for label in outer:
                node = node.setdefault(label, {})
            node.setdefault(parent, []).append(leaf)
    text = yaml.dump(
        document,
        Dumper=_Dumper,
        default_flow_style=None,
        sort_keys=False,
        allow_unicode=True,
        width=96,
    )
    write_text(Path(path), text)


class _Dumper(yaml.SafeDumper):
    """Escapes line ends; in single quotes, reading would turn some of them into blanks."""

    def represent_str(self, data: str) -> yaml.ScalarNode:
        style = '"' if any(end in data for end in _LINE_ENDS) else None
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)


_Dumper.add_representer(str, _Dumper.represent_str)


class _Walk:
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
