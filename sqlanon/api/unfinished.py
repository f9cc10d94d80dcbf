"""Certificates that a killed run had prepared, perhaps for a release that is out.

A certificate is written under private names, then the release is put in place, then the files
get their names. A process that is killed before the last step leaves a release without a
certificate, and the certificate in a private folder. By the hash of the released table the next
run tells whether the two belong together.
"""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sqlglot import exp

from sqlanon.api.certificate_files import Files
from sqlanon.certificate import Certificate
from sqlanon.engines import Engine, dead_kept_folders
from sqlanon.errors import CertificateError, SqlanonError
from sqlanon.model import Mode
from sqlanon.publish.export import written_file
from sqlanon.verify import table_hash

_MARK = ".certificate.json"


class Outcome(StrEnum):
    """What became of an unfinished certificate."""

    FINISHED = "finished"
    REMOVED = "removed"
    KEPT = "kept"


@dataclass(frozen=True)
class Unfinished:
    """A certificate of a dead process, complete but for the names of its files."""

    folder: Path
    files: Files
    certificate: Certificate

    @property
    def target(self) -> str:
        return self.certificate.target or ""

    @property
    def path(self) -> Path:
        """The file that holds it now."""
        return self.folder / self.files.path("certificate", "json").name

    def settle(self, found: str | None, *, remove_others: bool) -> Outcome:
        """Finishes it if `found`, the hash of what its target holds, is the certified one.

        One whose target has a certificate of the same or of a later release is removed. With
        `remove_others` so is one of a release that never came out, or is there no more.
        """
        release = self.certificate.document.release
        present = _read(self.files.path("certificate", "json"))
        if present is not None and present.target not in (None, self.target):
            return Outcome.KEPT
        known = None if present is None else present.document.release
        if known is not None and (known.hash == release.hash or known.time >= release.time):
            return self._remove()
        if found == release.hash:
            self.files.finish(self.folder, self.target)
            self._remove()
            return Outcome.FINISHED
        return self._remove() if remove_others else Outcome.KEPT

    def _remove(self) -> Outcome:
        shutil.rmtree(self.folder, ignore_errors=True)
        return Outcome.REMOVED

    def __str__(self) -> str:
        release = self.certificate.document.release.id
        return (
            f"{self.path}: the certificate of release {release} to {self.target}, left by a "
            "killed run"
        )


def unfinished(folder: Path) -> Iterator[Unfinished]:
    """The certificates in private folders of dead processes; incomplete ones are removed."""
    for private in dead_kept_folders(folder):
        for path in sorted(private.glob(f"*{_MARK}")):
            files = Files(folder, path.name.removesuffix(_MARK))
            certificate = _read(path)
            if certificate is not None and all((private / p.name).exists() for p in files.paths):
                yield Unfinished(private, files, certificate)
                break
        else:  # its release was not put in place yet: that comes after all files are written
            shutil.rmtree(private, ignore_errors=True)


def finish_certificates(
    folder: Path, target: Callable[[], str], hash_of: Callable[[Sequence[str]], str | None]
) -> list[str]:
    """Settles what killed runs left of one target's certificates; answers with what to tell.

    `hash_of` is the hash of the columns that the target holds now, None where it has none.
    """
    told = []
    for each in unfinished(folder):
        if each.target != target():
            continue
        # What a view showed when it was certified cannot be seen any more.
        is_view = each.certificate.document.release.mode is Mode.VIEW
        found = hash_of(each.certificate.columns)
        if each.settle(found, remove_others=not is_view) is Outcome.FINISHED:
            release = each.certificate.document.release.id
            told.append(
                f"the certificate of release {release}, which a killed run had left unfinished, "
                "was finished before this release"
            )
    return told


def table_holds(engine: Engine, table: exp.Expr, columns: Sequence[str]) -> str | None:
    """The hash of a table's columns; None where it has others, or does not exist."""
    try:
        if [info.name for info in engine.columns(table)] != list(columns):
            return None
        return table_hash(engine, table, columns)
    except SqlanonError:
        return None


def file_holds(engine: Engine, file: Path, columns: Sequence[str]) -> str | None:
    """The hash of a file that was released with these columns; None where it is none."""
    try:
        if file.suffix.lower() == ".csv":
            with file.open(newline="", encoding="utf-8") as opened:
                if next(csv.reader(opened), []) != list(columns):
                    return None
    except (OSError, UnicodeDecodeError, csv.Error):
        return None
    return table_holds(engine, written_file(file, tuple(columns)), columns)


def is_released_file(engine: Engine, file: Path, folders: Sequence[Path]) -> bool:
    """Whether a certificate in one of the folders speaks of this file as it is now."""
    for folder in folders:
        certificate = _read(Files(folder, file.name).path("certificate", "json"))
        if certificate is None or certificate.target != str(file.resolve()):
            continue
        if file_holds(engine, file, certificate.columns) == certificate.document.release.hash:
            return True
    return False


def _read(path: Path) -> Certificate | None:
    try:
        return Certificate.read(path)
    except CertificateError:
        return None
