"""What sqlanon may have left on the disk, found and removed: it tells about people."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from sqlanon.counting import is_histogram
from sqlanon.engines import Engine, file_address, open_engine, parse_table
from sqlanon.errors import EngineError
from sqlanon.evaluate import CONTENTS, is_workspace, remove_own_folder
from sqlanon.files import folder_of, remove_dead_folders, young_folders
from sqlanon.release.pending import (
    Settled,
    UnfinishedCertificate,
    UnreadableCertificate,
    file_holds,
    remove_incomplete,
    remove_leftovers,
    table_holds,
    unfinished,
)

_SECONDS_TO_WRITE = 60.0


@dataclass
class Cleaned:
    """The leftovers that `clean` found and what it did with them.

    removed   paths and names that are gone
    finished  files of certificates that a killed run had prepared for a release that is out
    kept      certificates whose release cannot be determined, and files too young to be
              leftovers, each with what to do about it
    """

    removed: list[str] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)


def clean(paths: Iterable[str | Path]) -> Cleaned:
    """Removes what killed runs and workspaces left behind.

    A folder loses the private folders and half-written certificates of processes that have
    died. A workspace, which is a DuckDB file with nothing but measurements, is removed, and so is
    a folder that was made for it. Any
    other DuckDB file loses the spill files and private folders beside it, and no table. A
    certificate that lacks nothing but its name gets that, if its release is there. A histogram,
    which is a CSV or Parquet file with the column that counts rows, is removed.
    """
    cleaned = Cleaned()
    for path in map(Path, paths):
        if path.is_dir():
            _clean_folder(path, cleaned)
        elif is_histogram(path):
            path.unlink()
            cleaned.removed.append(str(path))
        elif path.is_file():
            _clean_database(path, cleaned)
        else:
            raise EngineError(f"{path} is neither a folder nor a file.")
    return cleaned


def _clean_folder(folder: Path, cleaned: Cleaned) -> None:
    cleaned.removed += [str(path) for path in remove_dead_folders(folder)]
    young = []
    for path in sorted(folder.glob(".sqlanon-*.tmp")):
        if not path.is_file():
            continue
        # A certificate is written in a moment; what is older was left by a killed process.
        if time.time() - path.stat().st_mtime > _SECONDS_TO_WRITE:
            path.unlink(missing_ok=True)
            cleaned.removed.append(str(path))
        else:
            young.append(path)
    _settle(folder, cleaned, lambda folders: open_engine(None, folders=folders))
    _keep_young([*young, *young_folders(folder)], cleaned)


def _keep_young(paths: Iterable[Path], cleaned: Cleaned) -> None:
    cleaned.kept += [
        f"{path}: younger than a minute, so a process may be about to use it; clean again later"
        for path in paths
    ]


def _clean_database(path: Path, cleaned: Cleaned) -> None:
    address = file_address(path.absolute())
    engine = open_engine(address, read_only=False)
    try:
        found = engine.fetch(CONTENTS)
        workspace = is_workspace(
            list(zip(*(column.to_pylist() for column in found.columns), strict=True))
        )
        if not workspace:
            cleaned.removed += remove_leftovers(engine)
    finally:
        engine.close()
    if not workspace:
        _settle(path.parent, cleaned, lambda folders: open_engine(address, folders=folders))
        _keep_young(young_folders(path.parent), cleaned)
        return
    for file in (path, *engine.logs_of(path)):
        if file.exists():
            file.unlink()
            cleaned.removed.append(str(file))
    cleaned.removed += map(str, remove_own_folder(path))


def _settle(folder: Path, cleaned: Cleaned, opened: Callable[[list[Path]], Engine]) -> None:
    """Finishes the certificates whose release is a file, or is in the database.

    `opened` opens what holds the releases, for reading in the folders of their files.
    """
    cleaned.removed += map(str, remove_incomplete(folder))
    for each in unfinished(folder):
        if isinstance(each, UnreadableCertificate):
            cleaned.kept.append(
                f"{each}; clean with the version of sqlanon that wrote it, or delete that folder"
            )
            continue
        file = Path(each.target)
        engine = opened([folder_of(file)] if file.is_absolute() else [])
        try:
            outcome = each.settle(_found(engine, each), remove_others=False)
        finally:
            engine.close()
        if outcome is Settled.FINISHED:
            cleaned.finished += map(str, each.files.paths)
        elif outcome is Settled.REMOVED:
            cleaned.removed.append(str(each.folder))
        else:
            cleaned.kept.append(
                f"{each}; publish again, which settles it, or clean the database of the release, "
                "or delete that folder if there is no such release"
            )


def _found(engine: Engine, each: UnfinishedCertificate) -> str | None:
    """The hash of what the target holds; None where it is not here."""
    file = Path(each.target)
    if file.is_absolute():
        return file_holds(engine, file, each.certificate)
    try:
        return table_holds(engine, parse_table(each.target), each.certificate)
    except EngineError:
        return None
