"""Files that sqlanon writes: they replace their own kind and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlanon.api.used_files import Used, refuse_used
from sqlanon.documents import read_json
from sqlanon.errors import SqlanonError
from sqlanon.policy.json_schema import TITLE

ANOTHER = "name another file with --output"
_SCHEME_KEYS = frozenset({"version", "columns", "domains"})


@dataclass(frozen=True)
class Kind:
    """A kind of JSON file that sqlanon writes, and how to know one that it wrote before."""

    name: str
    fits: Callable[[Mapping[str, Any]], bool]


RESULT = Kind(
    "a result file", lambda found: isinstance(found.get("solutions"), list) and "method" in found
)
SCHEME = Kind(
    "a scheme file",
    lambda found: isinstance(found.get("columns"), dict) and set(found) <= _SCHEME_KEYS,
)
SCHEMA = Kind("the JSON Schema of policies", lambda found: found.get("title") == TITLE)
EXPLORATION = Kind("a saved exploration", lambda found: {"schemes", "history"} <= set(found))


def refuse_to_replace(
    path: Path, kind: Kind, used: Iterable[Used] = (), otherwise: str = ANOTHER
) -> None:
    """Refuses to write a file of a kind over one in use, or over one of another kind.

    An empty file, as mktemp makes it, may be written, and so may what is no file, as /dev/null.
    """
    refuse_used(path, used, otherwise)
    if path.is_file() and not _is_empty_or(path, kind):
        raise SqlanonError(
            f"{path}: exists and is not {kind.name} of sqlanon, so it is left as it is; "
            f"{otherwise}, or delete it first"
        )


def _is_empty_or(path: Path, kind: Kind) -> bool:
    try:
        with path.open("rb") as file:
            head = file.read(100).strip()
    except OSError as error:
        raise SqlanonError(
            f"{path}: exists and cannot be read ({error.strerror}), so it is left as it is; "
            "name another file"
        ) from None
    if not head:
        return path.stat().st_size == 0
    if not head.startswith(b"{"):  # no need to read a large table to its end
        return False
    try:
        found = read_json(path, SqlanonError)
    except SqlanonError:
        return False
    return isinstance(found, dict) and kind.fits(found)
