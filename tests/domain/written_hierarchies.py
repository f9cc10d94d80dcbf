"""Hierarchies written as CSV and YAML, for tests that read them back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from sqlanon.domain.hierarchy import Hierarchy

SEPARATORS = ";,"
LINE_ENDS = "\n\r\x85\u2028\u2029"


def write_csv(hierarchy: Hierarchy, path: str | Path, separator: str = ";") -> None:
    """Write a CSV file that `read_csv` turns back into the same hierarchy."""
    rows = list(zip(*hierarchy.levels, strict=True))
    texts = [text for row in rows for text in row]
    other = SEPARATORS.replace(separator, "")
    # Only where the other separator could be mistaken for this one does everything need
    # quotes: between quoted fields a reader accepts no separator but the right one.
    everything = any('"' in text for text in texts) or (
        (separator == "," or hierarchy.height == 0) and any(other in text for text in texts)
    )
    lines = (
        separator.join(_quoted(text) if everything else _field(text, separator) for text in row)
        for row in rows
    )
    Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="")


def _field(text: str, separator: str) -> str:
    # A leading U+FEFF would be read as the file's byte order mark.
    special = not text or text != text.strip() or text.startswith("\ufeff")
    return _quoted(text) if special or any(c in text for c in f"{separator}\r\n") else text


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


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
    Path(path).write_text(text, encoding="utf-8", newline="")


class _Dumper(yaml.SafeDumper):
    """Escapes line ends; in single quotes, reading would turn some of them into blanks."""

    def represent_str(self, data: str) -> yaml.ScalarNode:
        style = '"' if any(end in data for end in LINE_ENDS) else None
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)


_Dumper.add_representer(str, _Dumper.represent_str)
