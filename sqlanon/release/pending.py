"""What a killed run may leave, and how the next one settles it: certificates, folders, tables."""

from __future__ import annotations

import csv
import logging
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryFile

from sqlglot import exp

from sqlanon.audit import table_hash
from sqlanon.domain import Mode
from sqlanon.engines import Engine, Source
from sqlanon.errors import CertificateError, PublishError, SqlanonError
from sqlanon.files import PrivateFolder, dead_kept_folders, remove_dead_folders
from sqlanon.release.certificate import Certificate, Document, EarlierEntry
from sqlanon.release.certify import following
from sqlanon.release.export import written_file
from sqlanon.release.plan import STAGE_COMMENT, STAGE_PREFIX
from sqlanon.render import render_text


@dataclass(frozen=True)
class Files:
    """The files of a certificate: two forms, each as JSON and as a page."""

    folder: Path
    stem: str

    def path(self, form: str, suffix: str) -> Path:
        return self.folder / f"{self.stem}.{form}.{suffix}"

    @property
    def paths(self) -> tuple[Path, ...]:
        forms = ("certificate", "shareable")
        return tuple(self.path(form, suffix) for form in forms for suffix in ("json", "html"))

    def prepare(self, target: str) -> tuple[EarlierEntry, ...]:
        """The releases before this one, by the certificate that it will replace.

        A folder that takes no files is refused now, while nothing is published, and so is one
        with the certificate of another target under the same name.
        """
        try:
            with TemporaryFile(dir=self.folder):
                path = self.path("certificate", "json")
        except OSError as error:
            raise PublishError(
                f"{self.folder}: the certificate cannot be written there ({error.strerror})"
            ) from None
        if not path.exists():
            return ()
        former = Certificate.read(path)
        if former.target is not None and former.target != target:
            raise CertificateError(
                f"{path}: is the certificate of {former.target}, and that of {target} would "
                "replace it; move it, or choose another folder with --certificates "
                "(certificates= in Python)"
            )
        return former.chain()

    def private(self) -> PrivateFolder:
        """Where the files are until the release is in place.

        A process that is killed after that leaves them there, see `unfinished`.
        """
        remove_dead_folders(self.folder)
        return PrivateFolder(self.folder, kept=True)

    def write(self, certificate: Certificate, folder: Path) -> None:
        """Writes the files into another folder than their own.

        The certificate itself comes last, here and in `finish`: while it is in that folder, all
        files are there or in their place.
        """
        there = replace(self, folder=folder)
        for form, shareable in (("shareable", True), ("certificate", False)):
            certificate.write_page(there.path(form, "html"), shareable=shareable)
            certificate.write(there.path(form, "json"), shareable=shareable)

    def finish(self, folder: Path, target: str) -> tuple[Path, ...]:
        """Moves the files from there to their own folder."""
        certificate, page, *shareable = self.paths
        for path in (*shareable, page, certificate):
            try:
                (folder / path.name).replace(path)
            except OSError as error:
                raise CertificateError(
                    f"The release was published as {target}, but the certificate could not be "
                    f"written: {path} ({error.strerror})"
                ) from None
        return self.paths


def write_certificate(document: Document, stem: str, folder: Path) -> tuple[Path, ...]:
    """Writes the certificate of a release that is out, after those that the folder knows."""
    files = Files(folder, stem)
    release = document.release
    known = tuple(each for each in files.prepare(release.target) if each.id != release.id)
    certificate = Certificate(following(document, known) if known else document)
    with files.private() as private:
        files.write(certificate, private.path)
        return files.finish(private.path, release.target)


_MARK = ".certificate.json"
_log = logging.getLogger("sqlanon.publish")


class Settled(StrEnum):
    """What became of an unfinished certificate."""

    FINISHED = "finished"
    REMOVED = "removed"
    KEPT = "kept"


@dataclass(frozen=True)
class UnfinishedCertificate:
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

    def settle(self, found: str | None, *, remove_others: bool) -> Settled:
        """Finishes it if `found`, the hash of what its target holds, is the certified one.

        So it does if some files are in their place, which happens after the release. One whose
        target has a certificate of the same or of a later release is removed. With
        `remove_others` so is one of a release that never came out, or is there no more.
        """
        release = self.certificate.document.release
        place = self.files.path("certificate", "json")
        present = _read(place)
        if present is None and place.exists():  # perhaps of a later version
            return Settled.KEPT
        if present is not None and present.target not in (None, self.target):
            return Settled.KEPT
        known, begun = None if present is None else present.document.release, self._begun()
        if known is not None and (
            known.time >= release.time or (known.hash == release.hash and not begun)
        ):
            return self._remove()
        if begun or found == release.hash:
            self._finish()
            self._remove()
            return Settled.FINISHED
        return self._remove() if remove_others else Settled.KEPT

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

    def _remove(self) -> Settled:
        shutil.rmtree(self.folder, ignore_errors=True)
        return Settled.REMOVED

    def __str__(self) -> str:
        release = self.certificate.document.release.id
        return (
            f"{self.path}: the certificate of release {release} to {self.target}, left by a "
            "killed run"
        )


@dataclass(frozen=True)
class UnreadableCertificate:
    """A dead process's certificate that this version cannot read; it may be the only copy."""

    files: Files
    reason: str

    def __str__(self) -> str:
        return f"{self.reason}; a killed run left this certificate, and it stays there"


def unfinished(folder: Path) -> Iterator[UnfinishedCertificate | UnreadableCertificate]:
    """The certificates in private folders of dead processes."""
    for private in dead_kept_folders(folder):
        path = _marked(private)
        if path is None:
            continue
        files = Files(folder, path.name.removesuffix(_MARK))
        try:
            yield UnfinishedCertificate(private, files, Certificate.read(path))
        except CertificateError as error:
            yield UnreadableCertificate(files, str(error))


def remove_incomplete(folder: Path) -> list[Path]:
    """Removes private folders of dead processes without a certificate; answers with them."""
    removed = [private for private in dead_kept_folders(folder) if _marked(private) is None]
    for private in removed:
        shutil.rmtree(private, ignore_errors=True)
    return removed


def _marked(private: Path) -> Path | None:
    return next(iter(sorted(private.glob(f"*{_MARK}"))), None)


def finish_certificates(
    folder: Path, target: str, hash_of: Callable[[Certificate], str | None]
) -> list[str]:
    """Settles what killed runs left of one target's certificates; answers with what to tell.

    `hash_of` hashes what the target holds now as a certificate says; None where it has other
    columns, or does not exist.
    """
    told = []
    remove_incomplete(folder)
    for each in unfinished(folder):
        if isinstance(each, UnreadableCertificate):
            told.append(str(each))
            continue
        if each.target != target:
            continue
        # What a view showed when it was certified cannot be seen any more.
        is_view = each.certificate.document.release.mode is Mode.VIEW
        found = hash_of(each.certificate)
        if each.settle(found, remove_others=not is_view) is Settled.FINISHED:
            release = each.certificate.document.release.id
            told.append(
                f"the certificate of release {release}, which a killed run had left unfinished, "
                "was finished before this release"
            )
    return told


def table_holds(engine: Engine, table: exp.Expr, certificate: Certificate) -> str | None:
    """The hash of a table; None where its columns are not those certified, or without a table."""
    try:
        found = Source.of(engine, table)
        if [info.name for info in found.columns] != list(certificate.columns):
            return None
        version = certificate.document.release.hash_version
        return table_hash(found, certificate.columns, version)
    except SqlanonError:
        return None


def file_holds(engine: Engine, file: Path, certificate: Certificate) -> str | None:
    """The hash of a file; None where it is no file with the certified columns."""
    columns = certificate.columns
    try:
        if file.suffix.lower() == ".csv":
            with file.open(newline="", encoding="utf-8") as opened:
                if next(csv.reader(opened), []) != list(columns):
                    return None
    except (OSError, UnicodeDecodeError, csv.Error):
        return None
    return table_holds(engine, written_file(file, columns), certificate)


def is_released_file(engine: Engine, file: Path, folders: Sequence[Path]) -> bool:
    """Whether a certificate in one of the folders describes the current content of this file."""
    for folder in folders:
        certificate = _read(Files(folder, file.name).path("certificate", "json"))
        if certificate is None or certificate.target != str(file.resolve()):
            continue
        if file_holds(engine, file, certificate) == certificate.document.release.hash:
            return True
    return False


def _read(path: Path) -> Certificate | None:
    try:
        return Certificate.read(path)
    except CertificateError:
        return None


def remove_leftovers(engine: Engine, folders: Iterable[Path] = ()) -> list[str]:
    """Removes what killed runs have left; answers with its names.

    That is: private folders beside the engine's databases and in `folders`, spill files of a
    database that only this process has open, and staged tables that carry our mark (DuckDB
    leaves none, since they come and go in one transaction). What a living process uses stays.
    """
    removed: list[str] = []
    files = engine.database_files()
    for folder in sorted({path.parent for path in files} | set(folders)):
        removed += [str(path) for path in remove_dead_folders(folder)]
    if files:
        removed += _remove_files(engine.stale_spill_files())
    if engine.owned or not engine.in_transaction():
        for table in engine.tables_like(STAGE_PREFIX, STAGE_COMMENT):
            drop = "DROP TABLE {{ table | sql }}"
            engine.run(render_text(drop, dialect=engine.dialect, table=table))
            removed.append(".".join((table.catalog, table.db, table.name)))
    if removed:
        _log.info("removed %d leftovers of killed runs", len(removed))
    return removed


def _remove_files(paths: Iterable[Path]) -> list[str]:
    removed = []
    for path in paths:
        try:
            path.unlink()
        except OSError as error:
            _log.warning("the leftover %s cannot be removed: %s", path, error.strerror)
        else:
            removed.append(str(path))
    return removed
