"""Folders for what is still being written, beside the place where it will go."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from sqlanon.errors import EngineError

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

    def remove(self) -> None:
        """Removes the folder; a second call does nothing."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1
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
    """Private folders in a folder that nobody holds, and that are too young to be called dead."""
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
    """What is in a folder; nothing in one of somebody else, or that has just gone."""
    try:
        return {path.name for path in folder.iterdir()}
    except OSError:
        return set()


def _is_dead(folder: Path, *, young_too: bool = False) -> bool:
    try:
        # The process of a young one may be about to lock it.
        if not young_too and time.time() - folder.stat().st_mtime <= _SECONDS_TO_LOCK:
            return False
        # Listing it refuses the folder of somebody else, who may be alive.
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
