"""The files of a certificate: when they are written, and under which names."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile

from sqlanon.certificate import Certificate, Facts, Prior
from sqlanon.engines import PrivateFolder, remove_dead_folders
from sqlanon.errors import CertificateError, PublishError

LONGEST_STEM = 200
"""Bytes of a table's name in the names of its certificate's files."""


def stem_of(name: str) -> str:
    """What the files of a table's certificate begin with; other names, other stems."""
    stem = re.sub(r"[^\w.-]+", "_", name)
    if stem == name and len(stem.encode()) <= LONGEST_STEM:
        return stem
    start = stem.encode()[:LONGEST_STEM].decode(errors="ignore")
    return f"{start}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


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

    def prepare(self, target: Callable[[], str]) -> tuple[Prior, ...]:
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
        if former.target is not None and former.target != target():
            raise CertificateError(
                f"{path}: is the certificate of {former.target}, and that of {target()} would "
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


def write_certificate(facts: Facts, stem: str, folder: Path) -> tuple[Path, ...]:
    """Writes the certificate of a release that is out, after those that the folder knows."""
    files = Files(folder, stem)
    found = files.prepare(lambda: facts.target)
    prior = tuple(each for each in found if each.release != facts.release) or facts.prior
    with files.private() as private:
        files.write(Certificate.of(replace(facts, prior=prior)), private.path)
        return files.finish(private.path, facts.target)
