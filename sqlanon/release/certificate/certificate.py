"""A certificate: what accompanies a published release."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sqlanon.documents import first_mistake, parse_json, read_text, version_of
from sqlanon.errors import CertificateError
from sqlanon.files import write_text
from sqlanon.release.certificate.certificate_page import render_page
from sqlanon.release.certificate.document import (
    FORMAT,
    VERSION,
    Document,
    EarlierEntry,
    digest_of,
    upgraded,
)
from sqlanon.wording import brief_list

FORMS = ("internal", "shareable")


@dataclass(frozen=True, repr=False)
class Certificate:
    """The certificate of one release, in its internal or its shareable form.

    One that was read from a shareable file has no internal form: asking for it is an error.
    `is_intact` says whether its digest is that of its content: None without a digest, as in
    certificates of version 1.
    """

    document: Document
    is_intact: bool | None = True

    @classmethod
    def read(cls, path: str | Path) -> Certificate:
        """The certificate in a JSON file of either form; every mistake is a CertificateError."""
        return _parsed(read_text(path, CertificateError), str(path))

    def __repr__(self) -> str:
        target = "" if self.target is None else f" of {brief_list([self.target], width=100)}"
        return f"<Certificate{target}, {self.document.form}: release {self.document.release.id}>"

    @property
    def is_shareable(self) -> bool:
        """Whether this is the shareable form only."""
        return self.document.is_shareable

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the release, in its order."""
        return tuple(name for column in self.document.columns for name in column.released_as)

    @property
    def target(self) -> str | None:
        """The name of the released table; None in the shareable form."""
        return None if self.is_shareable else self.document.release.target

    def chain(self) -> tuple[EarlierEntry, ...]:
        """What the next certificate of the same target lists as earlier: this release, newest
        first, and those before it."""
        release, k = self.document.release, self.document.privacy.k
        this = EarlierEntry(
            id=release.id,
            time=release.time,
            hash=release.hash,
            hash_version=release.hash_version,
            k=k,
        )
        return (this, *self.document.lineage.earlier)

    def to_dict(self, shareable: bool = False) -> dict[str, Any]:
        """For JSON; the keys are always in the same order (see docs/certificate.md)."""
        return self._form(shareable).content(shareable=shareable or self.is_shareable)

    def to_html(self, shareable: bool = False) -> str:
        """The page: one HTML document that needs nothing else."""
        return render_page(self._form(shareable))

    def write(self, path: str | Path, shareable: bool = False) -> None:
        """Writes the JSON file, which is replaced as a whole or not at all.

        The internal form is readable by its owner only.
        """
        document = self.to_dict(shareable)
        text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
        write_text(path, text + "\n", private=not shareable)

    def write_page(self, path: str | Path, shareable: bool = False) -> None:
        """The same for the page."""
        write_text(path, self.to_html(shareable), private=not shareable)

    def _form(self, shareable: bool) -> Document:
        if shareable and not self.is_shareable:
            content = self.document.in_form("shareable")
            return Document.model_validate(content, strict=False).sealed()
        if self.is_shareable and not shareable:
            raise CertificateError(
                f"the certificate of release {self.document.release.id} was read from its "
                "shareable form, which cannot be turned back into the internal one"
            )
        return self.document


def _parsed(text: str, origin: str) -> Certificate:
    content = parse_json(text, origin, CertificateError)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise CertificateError(f'{origin}: is not a certificate; "format" is not {FORMAT!r}')
    found = version_of(content, FORMAT, VERSION, origin, CertificateError)
    if content.get("form") not in FORMS:
        raise CertificateError(
            f"{origin}: form is {content.get('form')!r}, not one of {', '.join(FORMS)}"
        )
    newest = content if found == VERSION else upgraded(content, found)
    try:
        document = Document.model_validate_json(json.dumps(newest))
    except ValidationError as error:
        raise CertificateError(f"{origin}: {first_mistake(error)}") from None
    if found > 1:
        for path, is_there in document.misplaced(shareable=document.is_shareable):
            what = "is not a key of the shareable form" if is_there else "is missing"
            raise CertificateError(f"{origin}: {path}: {what}")
    if not any(column.released_as for column in document.columns):
        raise _fits_nothing(origin, "columns", "lists no released column")
    if not document.privacy.quasi:
        raise _fits_nothing(origin, "privacy.quasi", "lists no quasi-identifier")
    intact = None if document.digest is None else document.digest == digest_of(content)
    if intact and found < VERSION:  # what is written again is of the newest version
        document = document.sealed()
    return Certificate(document, intact)


def _fits_nothing(origin: str, key: str, what: str) -> CertificateError:
    return CertificateError(
        f"{origin}: {key}: {what}, so this is the certificate of no release; take the file that "
        "`sqlanon publish` wrote"
    )
