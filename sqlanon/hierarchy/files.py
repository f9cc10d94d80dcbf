"""Text files of hierarchies, with errors that say what to do."""

from __future__ import annotations

from pathlib import Path

from sqlanon import resources
from sqlanon.errors import HierarchyError


def read_text(path: Path) -> str:
    """The text of a UTF-8 file without its byte order mark, line ends as they are."""
    try:
        # Line ends inside quoted CSV fields are part of a value.
        with path.open(encoding="utf-8-sig", newline="") as file:
            return file.read()
    except FileNotFoundError:
        raise HierarchyError(
            f"Hierarchy file {path} does not exist. Correct the path, or take one that comes "
            f"with sqlanon under hierarchies/: {', '.join(_built_in())}."
        ) from None
    except UnicodeDecodeError as error:
        raise HierarchyError(
            f"Hierarchy file {path} is not UTF-8 (byte {error.start}). Save it as UTF-8."
        ) from None
    except OSError as error:
        raise HierarchyError(
            f"Hierarchy file {path} cannot be read: {error.strerror}. Check path and permissions."
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
