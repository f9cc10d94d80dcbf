"""Taxonomies over the values of a column: read from files or built from the values."""

from __future__ import annotations

from pathlib import Path

from sqlanon.errors import HierarchyError
from sqlanon.hierarchy.builders import dates, intervals, masked
from sqlanon.hierarchy.csv_format import read_csv, write_csv
from sqlanon.hierarchy.tree import Hierarchy, Node
from sqlanon.hierarchy.yaml_format import read_yaml, write_yaml

__all__ = [
    "Hierarchy",
    "Node",
    "dates",
    "intervals",
    "masked",
    "read",
    "read_csv",
    "read_yaml",
    "write_csv",
    "write_yaml",
]


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
                + ". Use .csv (one line a value, one field a level) or .yml, .yaml (a tree)."
            )
