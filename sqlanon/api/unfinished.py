"""Certificates that a killed run had prepared, perhaps for a release that is out.

A certificate is written under private names, then the release is put in place, then the files
get their names. A process that is killed before the last step is done leaves a release without
a certificate, and the certificate in a private folder. By the hash of the released table, or by
the files that have their names already, the next run tells whether the two belong together.

The certificate's own file is written last and moved last. A private folder without it is of a
release that was not put in place yet, or of one whose certificate is finished.
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
    """A certificate of a dead process, complete but for the names of some of its files."""

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

        So it does if some files are in their place, which happens after the release. One whose
        target has a certificate of the same or of a later release is removed. With
        `remove_others` so is one of a release that never came out, or is there no more.
        """
        release = self.certificate.document.release
        place = self.files.path("certificate", "json")
        present = _read(place)
        if present is None and place.exists():  # perhaps of a later version
            return Outcome.KEPT
        if present is not None and present.target not in (None, self.target):
            return Outcome.KEPT
        known, begun = None if present is None else present.document.release, self._begun()
        if known is not None and (
            known.time >= release.time or (known.hash == release.hash and not begun)
        ):
            return self._remove()
        if begun or found == release.hash:
            self._finish()
            self._remove()
            return Outcome.FINISHED
        return self._remove() if remove_others else Outcome.KEPT

    def _begun(self) -> bool:
        """Whether the first of the files is in its place."""
        first = _read(self.files.path("shareable", "json"))
        return (
            first is not None and first.document.release.id == self.certificate.document.release.id
        )

    def _finish(self) -> None:
        if not all((self.folder / path.name).exists() for path in self.files.paths):
            self.files.write(self.certificate, self.folder)  # those that were moved, once more
        self.files.finish(self.folder, self.target)

    def _remove(self) -> Outcome:
        shutil.rmtree(self.folder, ignore_errors=True)
        return Outcome.REMOVED

    def __str__(self) -> str:
        release = self.certificate.document.release.id
        return (
            f"{self.path}: the certificate of release {release} to {self.target}, left by a "
            "killed run"
        )


@dataclass(frozen=True)
class Unreadable:
    """A certificate of a dead process that this version cannot read: nobody else may have it."""

    files: Files
    reason: str

    def __str__(self) -> str:
        return f"{self.reason}; a killed run left this certificate, and it stays there"


def unfinished(folder: Path) -> Iterator[Unfinished | Unreadable]:
    """The certificates in private folders of dead processes."""
    for private in dead_kept_folders(folder):
        path = _marked(private)
        if path is None:
            continue
        files = Files(folder, path.name.removesuffix(_MARK))
        try:
            yield Unfinished(private, files, Certificate.read(path))
        except CertificateError as error:
            yield Unreadable(files, str(error))


def remove_incomplete(folder: Path) -> list[Path]:
    """Removes private folders of dead processes without a certificate; answers with them."""
    removed = [private for private in dead_kept_folders(folder) if _marked(private) is None]
    for private in removed:
        shutil.rmtree(private, ignore_errors=True)
    return removed


def _marked(private: Path) -> Path | None:
    return next(iter(sorted(private.glob(f"*{_MARK}"))), None)


def finish_certificates(
    folder: Path, target: Callable[[], str], hash_of: Callable[[Sequence[str]], str | None]
) -> list[str]:
    """Settles what killed runs left of one target's certificates; answers with what to tell.

    `hash_of` is the hash of the columns that the target holds now, None where it has none.
    """
    told = []
    remove_incomplete(folder)
    for each in unfinished(folder):
        if isinstance(each, Unreadable):
            told.append(str(each))
            continue
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
