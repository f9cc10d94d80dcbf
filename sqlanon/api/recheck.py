"""Whether a release is still the one that its certificate speaks of."""

from __future__ import annotations

import csv
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from duckdb import DuckDBPyConnection

from sqlanon.api.check import Checked, open_checked
from sqlanon.api.unfinished import Unreadable, unfinished
from sqlanon.certificate import Certificate, Treatment, differences, recountable
from sqlanon.engines import Source
from sqlanon.errors import CertificateError, SubjectError
from sqlanon.model import counted
from sqlanon.publish.export import written_file
from sqlanon.verify import Audit, audit, column_groups, rows_unique_over, table_hash


class _How(TypedDict):
    """How an audit counts beside its classes, as the certificate says."""

    sensitive: list[str]
    threshold: float


@dataclass(frozen=True)
class Recheck:
    """A release counted again, and every way in which it differs from its certificate.

    `not_recounted` says of each required model that the release alone cannot show why not.
    """

    certificate: Certificate
    audit: Audit | None
    table_hash: str | None
    differences: tuple[str, ...]
    not_recounted: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        return not self.differences

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "release": self.certificate.document.release.id,
            "holds": self.holds,
            "differences": list(self.differences),
            "not_recounted": list(self.not_recounted),
            "hash": self.table_hash,
            "audit": None if self.audit is None else self.audit.to_dict(),
        }

    def __str__(self) -> str:
        release = self.certificate.document.release
        if self.holds:
            rows = counted(release.rows, "row")
            said = f"the table is release {release.id}, as certified: {rows}"
            return "\n".join([said, *self.not_recounted])
        return "\n".join([*self.differences, *self.not_recounted])


def recheck(
    source: Checked | None,
    certificate: Certificate | str | Path,
    *,
    table: str | None = None,
    query: str | None = None,
    connection: str | DuckDBPyConnection | None = None,
) -> Recheck:
    """Counts and hashes a release again and compares it with its certificate.

    `source` and the others are as for `check`; the certificate may be of either form.
    """
    if not isinstance(certificate, Certificate):
        _refuse_unfinished(Path(certificate))
        certificate = Certificate.read(certificate)
    opened = open_checked(source, table=table, query=query, connection=connection)
    try:
        return _compared(_as_written(opened, source, certificate), certificate)
    finally:
        opened.engine.close()


def _refuse_unfinished(path: Path) -> None:
    """Says where a certificate is that a killed run has left."""
    if path.exists() or not path.parent.is_dir():
        return
    for each in unfinished(path.parent):
        if path.name in [own.name for own in each.files.paths]:
            if isinstance(each, Unreadable):
                raise CertificateError(f"{path}: is not there, but {each}")
            raise CertificateError(
                f"{path}: is not there, but {each}; check the release with that file, or publish "
                "again, which finishes it"
            )


def _as_written(opened: Source, source: object, certificate: Certificate) -> Source:
    """A CSV file as the texts that were hashed, without any guess at types."""
    if not isinstance(source, str | Path) or not str(source).lower().endswith(".csv"):
        return opened
    try:
        with Path(source).open(newline="", encoding="utf-8") as file:
            names = tuple(next(csv.reader(file), []))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CertificateError(f"{source}: cannot be read ({error})") from None
    if names != certificate.columns:
        return opened  # no release of ours: the comparison says what is wrong
    relation = written_file(Path(source), names)
    return Source(opened.engine, relation, opened.name, opened.engine.columns(relation))


def _compared(source: Source, certificate: Certificate) -> Recheck:
    names = [info.name for info in source.columns]
    quasi = certificate.document.privacy.quasi
    audited, missing = None, tuple[str, ...]()
    if set(quasi) <= set(names):
        audited, missing = _audited(source, certificate)
    hashed, unique = None, None
    if set(certificate.columns) <= set(names):
        hashed = table_hash(source.engine, source.relation, certificate.columns)
        if audited is not None:
            unique = _unique(source, certificate, audited)
    groups = {
        column.name: column_groups(source.engine, source.relation, column.released_as)
        for column in certificate.document.columns
        if column.treatment is Treatment.GENERALIZED and set(column.released_as) <= set(names)
    }
    found = differences(certificate, audited, hashed, names, unique, groups)
    return Recheck(certificate, audited, hashed, tuple(found), missing)


def _audited(source: Source, certificate: Certificate) -> tuple[Audit, tuple[str, ...]]:
    """The classes of a release, in people where the subject is released as a pseudonym.

    A database may take subjects for one person that differ in case, and have pseudonyms that
    differ: then there are more of these than people, and rows are all that can be compared.
    The sentences say which models were not counted.
    """
    privacy, release = certificate.document.privacy, certificate.document.release
    kinds = {info.name: info.kind for info in source.columns}
    present = {name for name, kind in kinds.items() if kind is not None}
    counted_as: _How = {
        "sensitive": [each.column for each in privacy.sensitive if each.column in present],
        "threshold": privacy.risk.threshold,
    }
    if privacy.subject in certificate.columns and privacy.subject in (
        info.name for info in source.columns
    ):
        with suppress(SubjectError):  # a changed table may hold rows without one
            again = recountable(certificate.document, kinds, in_people=True)
            by_people = audit(
                source,
                privacy.quasi,
                subject=privacy.subject,
                models=again.models,
                **counted_as,
            )
            if by_people.people <= release.people:
                return by_people, again.others
    again = recountable(certificate.document, kinds, in_people=privacy.subject is None)
    return audit(source, privacy.quasi, models=again.models, **counted_as), again.others


def _unique(source: Source, certificate: Certificate, audited: Audit) -> int | None:
    """Rows that are unique over all released columns; None where people cannot be told apart."""
    subject = certificate.document.privacy.subject
    if subject is not None and audited.by_people is None:
        return None
    return rows_unique_over(source.engine, source.relation, certificate.columns, subject=subject)
