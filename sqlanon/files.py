"""Files that sqlanon writes: whole or not at all, for their owner only, never over foreign ones."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlanon.documents import SCHEME_FORMAT, WALK_FORMAT, read_json
from sqlanon.errors import CertificateError, EngineError, SqlanonError

# Windows has no such locks, and needs none: there a file that is open cannot be removed.
if sys.platform != "win32":
    import fcntl

_PREFIX, _SUFFIX = ".sqlanon-", ".tmp"
_KEPT = ".sqlanon-kept-"
_LOCK = "lock"
_SECONDS_TO_LOCK = 60.0


class PrivateFolder:
    """A folder that only its owner may enter, removed at the end with everything in it.

    It lies in the folder `beside`, so that a finished file moves out of it by a rename. A lock
    tells the folders of living processes from those that a killed one has left. What is in a
    `kept` one may be needed even then: `remove_dead_folders` passes it by.
    """

    def __init__(self, beside: Path, *, kept: bool = False) -> None:
        prefix = _KEPT if kept else _PREFIX
        # mkdtemp gives the folder the permissions 0700.
        try:
            self.path = Path(tempfile.mkdtemp(prefix=prefix, suffix=_SUFFIX, dir=beside))
        except OSError as error:
            raise EngineError(f"Folder {beside} cannot be written to: {error.strerror}.") from error
        self._lock = -1
        try:
            self._lock = os.open(self.path / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
            if sys.platform != "win32":
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BaseException as error:
            if self._lock >= 0:
                os.close(self._lock)
            shutil.rmtree(self.path, ignore_errors=True)
            if isinstance(error, OSError):
                raise EngineError(
                    f"Folder {self.path} cannot be locked: {error.strerror}."
                ) from error
            raise

    def __enter__(self) -> PrivateFolder:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()

    def leave(self) -> None:
        """Leaves a kept folder to the next run, as a killed process does."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def remove(self) -> None:
        """Removes the folder; a second call does nothing."""
        if self._lock >= 0:
            self.leave()
            shutil.rmtree(self.path, ignore_errors=True)


def remove_dead_folders(beside: Path) -> list[Path]:
    """Removes the private folders in a folder whose process has died; answers with them.

    Those that are kept stay, see `dead_kept_folders`.
    """
    removed = []
    for folder in _folders(beside, _PREFIX):
        if not folder.name.startswith(_KEPT) and _is_dead(folder):
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(folder)
    return removed


def dead_kept_folders(beside: Path) -> list[Path]:
    """The kept private folders in a folder whose process has died."""
    # In one with files in it the lock was taken before they were written.
    return [
        folder
        for folder in _folders(beside, _KEPT)
        if _is_dead(folder, young_too=bool(_names(folder) - {_LOCK}))
    ]


def young_folders(beside: Path) -> list[Path]:
    """Private folders that no process holds, and those that are too young to be called dead."""
    known = dead_kept_folders(beside)
    return [
        folder
        for folder in _folders(beside, _PREFIX)
        if folder not in known and not _is_dead(folder) and _is_dead(folder, young_too=True)
    ]


def _folders(beside: Path, prefix: str) -> list[Path]:
    found = sorted(beside.glob(f"{prefix}*{_SUFFIX}"))
    return [folder for folder in found if folder.is_dir() and not folder.is_symlink()]


def _names(folder: Path) -> set[str]:
    """What is in a folder; nothing where it belongs to another user, or has just gone."""
    try:
        return {path.name for path in folder.iterdir()}
    except OSError:
        return set()


def _is_dead(folder: Path, *, young_too: bool = False) -> bool:
    try:
        # The process of a young one may be about to lock it.
        if not young_too and time.time() - folder.stat().st_mtime <= _SECONDS_TO_LOCK:
            return False
        # Listing it refuses the folder of another user, whose process may be alive.
        locked = any(path.name == _LOCK for path in folder.iterdir())
        return not locked or _is_free(folder / _LOCK)
    except OSError:
        return False


def _is_free(lock: Path) -> bool:
    if sys.platform == "win32":
        lock.unlink()
        return True
    opened = os.open(lock, os.O_RDWR)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    finally:
        os.close(opened)


def folder_of(path: Path) -> Path:
    """The folder of a file; where that is a link, of what it leads to."""
    return Path(os.path.realpath(path)).parent


def finish_file(path: Path, target: Path) -> None:
    """Puts a finished file in its place, so that a reader sees the former one or all of it.

    It is on the disk before it shows. A file that was there keeps its permissions, a new one is
    for its owner only.
    """
    try:
        with path.open("rb+") as file:
            os.fsync(file.fileno())
        path.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o600)
        path.replace(target)
    except OSError as error:
        raise EngineError(f"File {target} cannot be written: {error.strerror}.") from error
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Makes a rename in the folder outlast a power cut, where the system can do that."""
    if sys.platform == "win32":
        return
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def write_text(path: str | Path, text: str, *, private: bool) -> None:
    """Writes a text file, see `write_bytes`."""
    write_bytes(path, text.encode(), private=private)


def write_bytes(path: str | Path, content: bytes, *, private: bool) -> None:
    """Writes a file by way of a temporary one beside it, `.sqlanon-*.tmp`.

    A private file is readable by its owner only, from its first byte on; others are as the
    user's umask says. What was at `path` before is replaced, with its permissions.
    """
    final = Path(path)
    temporary = final.parent / f".sqlanon-{secrets.token_hex(8)}.tmp"
    try:
        # O_EXCL: never write through a link that someone else has put there.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        descriptor = os.open(temporary, flags, 0o600 if private else 0o666)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(final)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        raise CertificateError(f"{path}: cannot be written ({error.strerror})") from None


def refuse_impossible(path: Path) -> None:
    """Refuses a path that the system cannot look up, as one with a name that is too long."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise EngineError(f"{path} cannot be read ({error.strerror}).") from None
    except ValueError:  # a NUL
        raise EngineError(f"{str(path)!r} is not the name of a file.") from None


@dataclass(frozen=True)
class Used:
    """A file in use; `role` says in a message what it is."""

    path: Path
    role: str

    def is_same(self, other: Path) -> bool:
        """Whether another path leads to this file, by a link too."""
        try:
            return self.path.samefile(other)
        except OSError:  # one of them does not exist
            # Path.resolve raises where links go round in circles.
            return os.path.realpath(self.path) == os.path.realpath(other)


def refuse_used(path: Path, used: Iterable[Used], otherwise: str) -> None:
    """Refuses a file that is in use already; `otherwise` says what to do instead."""
    for each in used:
        if each.is_same(path):
            raise EngineError(f"{path}: is {each.role}; {otherwise}")


ANOTHER = "name another file with --output"
_SCHEME_KEYS = frozenset({"version", "columns", "domains", "required_k"})
"""The keys of a scheme file of version 1, which names no format."""


@dataclass(frozen=True)
class FileKind:
    """A kind of JSON file that sqlanon writes, and how to know one that it wrote before."""

    name: str
    fits: Callable[[Mapping[str, Any]], bool]


RESULT = FileKind(
    "a result file", lambda found: isinstance(found.get("solutions"), list) and "method" in found
)
SCHEME = FileKind(
    "a scheme file",
    lambda found: (
        found.get("format") == SCHEME_FORMAT
        or (isinstance(found.get("columns"), dict) and set(found) <= _SCHEME_KEYS)
    ),
)
SAVED_WALK = FileKind(
    "a saved walk",
    lambda found: found.get("format") == WALK_FORMAT or {"schemes", "history"} <= set(found),
)


def refuse_to_replace(
    path: Path, kind: FileKind, used: Iterable[Used] = (), otherwise: str = ANOTHER
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


def _is_empty_or(path: Path, kind: FileKind) -> bool:
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
