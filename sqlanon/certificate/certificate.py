"""A certificate: what accompanies a published release."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from sqlanon.certificate.build import build, described
from sqlanon.certificate.document import FORMAT, FORMS, VERSION, Internal, Shareable
from sqlanon.certificate.facts import Facts, Prior
from sqlanon.certificate.files import write_text
from sqlanon.certificate.page import render_page
from sqlanon.documents import parse_json, read_text
from sqlanon.errors import CertificateError
from sqlanon.model import brief_list

_SHAREABLE = TypeAdapter(Shareable)


@dataclass(frozen=True, repr=False)
class Certificate:
    """The certificate of one release, in its internal or its shareable form.

    One that was read from a shareable file has no internal form: asking for it is an error.
    """

    document: Shareable

    @classmethod
    def of(cls, facts: Facts) -> Certificate:
        """The internal certificate of a release; facts that contradict themselves are refused."""
        return cls(build(facts))

    @classmethod
    def read(cls, path: str | Path) -> Certificate:
        """The certificate in a JSON file of either form; every mistake is a CertificateError."""
        return cls(_parsed(read_text(path, CertificateError), str(path)))

    def __repr__(self) -> str:
        target = "" if self.target is None else f" of {brief_list([self.target], width=100)}"
        form = "shareable" if self.is_shareable else "internal"
        return f"<Certificate{target}, {form}: release {self.document.release.id}>"

    @property
    def is_shareable(self) -> bool:
        """Whether this is the shareable form only."""
        return not isinstance(self.document, Internal)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the release, in its order."""
        return tuple(name for column in self.document.columns for name in column.released_as)

    @property
    def target(self) -> str | None:
        """The name of the released table; None in the shareable form."""
        return self.document.release.target if isinstance(self.document, Internal) else None

    def chain(self) -> tuple[Prior, ...]:
        """What the next certificate of the same target lists as prior: this release, newest
        first, and those before it."""
        release, privacy = self.document.release, self.document.privacy
        earlier = (Prior(each.id, each.time, each.hash, each.k) for each in self.document.prior)
        return (Prior(release.id, release.time, release.hash, privacy.k), *earlier)

    def to_dict(self, shareable: bool = False) -> dict[str, Any]:
        """For JSON; the keys are always in the same order (see docs/certificate.md)."""
        return self._form(shareable).model_dump(mode="json")

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

    def _form(self, shareable: bool) -> Shareable:
        if shareable:
            return _shared(self.document)
        if self.is_shareable:
            raise CertificateError(
                f"the certificate of release {self.document.release.id} was read from its "
                "shareable form, which cannot be turned back into the internal one"
            )
        return self.document


def _shared(document: Shareable) -> Shareable:
    """The shareable form of either form."""
    # Serialized by the type Shareable, an object shows only the fields which that type and the
    # types of its sections declare, whatever its own class has.
    content: dict[str, Any] = _SHAREABLE.dump_python(document, mode="json")
    content["form"] = "shareable"
    return Shareable.model_validate(content, strict=False)


def _parsed(text: str, origin: str) -> Shareable:
    found = parse_json(text, origin, CertificateError)
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise CertificateError(f'{origin}: is not a certificate; "format" is not {FORMAT!r}')
    if found.get("version") != VERSION:
        raise CertificateError(
            f"{origin}: format version {found.get('version')!r} is not supported; this sqlanon "
            f"reads version {VERSION}"
        )
    if not isinstance(found.get("form"), str) or found["form"] not in FORMS:
        raise CertificateError(
            f"{origin}: form is {found.get('form')!r}, not one of {', '.join(FORMS)}"
        )
    try:
        document = FORMS[found["form"]].model_validate_json(text)
    except ValidationError as error:
        raise CertificateError(f"{origin}: {described(error)}") from None
    if not any(column.released_as for column in document.columns):
        raise _fits_nothing(origin, "columns", "lists no released column")
    if not document.privacy.quasi:
        raise _fits_nothing(origin, "privacy.quasi", "lists no quasi-identifier")
    return document


def _fits_nothing(origin: str, key: str, what: str) -> CertificateError:
    return CertificateError(
        f"{origin}: {key}: {what}, so this is the certificate of no release; take the file that "
        "`sqlanon publish` wrote"
    )
