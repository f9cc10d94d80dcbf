"""Text files of hierarchies, with errors that say what to do."""

from __future__ import annotations

from pathlib import Path

from sqlanon import documents, resources
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


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8, replacing the file."""
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError as error:
        raise HierarchyError(
            f"Hierarchy file {path} cannot be written: {error.strerror}. "
            "Check that its folder exists and may be written to."
        ) from None


def _built_in() -> list[str]:
    folder = resources.path("hierarchies")
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*.csv"))
