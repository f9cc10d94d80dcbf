"""Whether a table is still the one that a certificate speaks of."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from sqlanon.certificate.certificate import Certificate
from sqlanon.certificate.contradictions import contradictions, same
from sqlanon.certificate.document import Privacy, Shareable, SharedPrivacy, write_time
from sqlanon.certificate.figures import bands_of, unique_band
from sqlanon.certificate.recounted import (
    Figure,
    model_figures,
    sensitive_figures,
    violations,
)
from sqlanon.model import counted
from sqlanon.verify import Audit, ColumnGroups


def differences(
    certificate: Certificate,
    audit: Audit | None,
    table_hash: str | None,
    columns: Sequence[str],
    unique_rows: int | None = None,
    groups: Mapping[str, ColumnGroups] | None = None,
) -> list[str]:
    """What is not as the certificate says, a sentence each; empty if all is.

    `columns` are those of the table, in its order. `audit` and `table_hash` are counted over
    `certificate.document.privacy.quasi` and `certificate.columns`, and None where that cannot
    be done because columns are missing. Without a subject the audit's rows are compared with
    the certified rows, because a release seldom holds the column that names people.
    `unique_rows` are those that are unique over all released columns; None where that was not
    counted in the certificate's unit. `groups` are those of the generalized columns, by name.

    What the table cannot tell is compared with the rest of the certificate, see
    `contradictions`; docs/certificate.md lists what nothing can tell.
    """
    document = certificate.document
    found = _columns(certificate.columns, columns)
    if audit is not None:
        counts = _counts(document, audit)
        # In a table that has changed every figure is another one: the cause is said already.
        found += counts or _figures(document, audit, unique_rows, groups or {})
    elif not found:
        found.append("The classes could not be counted, so nothing is known of k.")
    if table_hash is not None and table_hash != document.release.hash:
        same = " although everything that was counted is the same" if not found else ""
        time = write_time(document.release.time)
        found.append(
            f"The contents are not those that were certified on {time}{same}: the hash of the "
            f"table is {table_hash}, certified is {document.release.hash}."
        )
    return [*found, *contradictions(document)]


def _columns(certified: Sequence[str], found: Sequence[str]) -> list[str]:
    missing = [name for name in certified if name not in found]
    further = [name for name in found if name not in certified]
    sentences = []
    if missing:
        sentences.append(f"The table lacks {_listed(missing)}, which the certificate lists.")
    if further:
        sentences.append(
            f"The table has {_listed(further)}, which the certificate does not list: nothing is "
            "certified about what others learn from it."
        )
    if not sentences and list(found) != list(certified):
        sentences.append(
            f"The columns are in another order: {', '.join(found)}; certified are "
            f"{', '.join(certified)}."
        )
    return sentences


def _counts(document: Shareable, audit: Audit) -> list[str]:
    privacy, release = document.privacy, document.release
    sentences = []
    if set(audit.quasi) != set(privacy.quasi):
        sentences.append(
            f"The classes were counted over {', '.join(audit.quasi)}, but the certificate speaks "
            f"of {', '.join(privacy.quasi)}, so their figures cannot be compared."
        )
    if audit.rows != release.rows:
        sentences.append(_changed("row", audit.rows, release.rows))
    if audit.by_people is not None and privacy.subject is not None:
        if audit.people != release.people:
            sentences.append(_changed("person", audit.people, release.people))
        unit, k, classes = "people", privacy.k, privacy.classes
    else:
        unit, k, classes = "rows", privacy.by_rows.k, privacy.by_rows.classes
    if set(audit.quasi) != set(privacy.quasi):
        return sentences
    if audit.k != k:
        sentences.append(f"k, counted in {unit}, is {audit.k:,}; certified is {k:,}.")
    if privacy.k > audit.by_rows.k == privacy.by_rows.k:
        sentences.append(
            f"The certificate is not right: it states k = {privacy.k:,}, but the smallest class "
            f"has {counted(audit.by_rows.k, 'row')}, and no more people than rows."
        )
    elif not _is_consistent(privacy):
        sentences.append(
            f"The certificate contradicts itself: k = {privacy.k:,} does not go with its other "
            "figures (risk.highest, by_rows, sizes), so one of them was changed."
        )
    if audit.k < privacy.required_k:
        sentences.append(
            f"The table no longer holds what the policy requires: k is {audit.k:,}, "
            f"required are {privacy.required_k:,}."
        )
    if audit.classes != classes:
        sentences.append(_changed("class", audit.classes, classes))
    return [*sentences, *violations(audit)]


def _figures(
    document: Shareable,
    audit: Audit,
    unique_rows: int | None,
    groups: Mapping[str, ColumnGroups],
) -> list[str]:
    """The figures that the table tells beyond its rows, k and classes, each that differs."""
    in_people = document.privacy.subject is None or audit.by_people is not None
    figures: list[Figure] = [("privacy.by_rows.k", document.privacy.by_rows.k, audit.by_rows.k)]
    if in_people:
        figures += _class_figures(document.privacy, audit)
    if unique_rows is not None:
        figures += _unique_figures(document.privacy, unique_rows, audit.rows)
    figures += _group_figures(document, groups)
    figures += sensitive_figures(document, audit, in_people)
    figures += model_figures(document, audit)
    if document.scores.dcn is not None:
        figures.append(("scores.dcn", document.scores.dcn, _dcn(document, audit)))
    return [
        _figure(name, stated, found) for name, stated, found in figures if not _agree(stated, found)
    ]


def _class_figures(privacy: SharedPrivacy, audit: Audit) -> Iterator[Figure]:
    yield "privacy.largest", privacy.largest, audit.spread.largest
    yield "privacy.average", privacy.average, audit.spread.average
    for name, value in audit.risk.to_dict().items():
        yield f"privacy.risk.{name}", getattr(privacy.risk, name), value
    bands = tuple(bands_of(audit, privacy.required_k))
    if not isinstance(privacy, Privacy):
        stated = [(band.least, band.most, band.share) for band in privacy.bands]
        yield "privacy.bands", stated, [(band.least, band.most, band.share) for band in bands]
        return
    yield "privacy.bands", privacy.bands, bands
    sizes = [(each.size, each.classes, each.rows) for each in privacy.sizes]
    yield "privacy.sizes", sizes, [(each.size, each.classes, each.rows) for each in audit.sizes]


def _unique_figures(privacy: SharedPrivacy, unique_rows: int, rows: int) -> Iterator[Figure]:
    yield "privacy.unique", privacy.unique, unique_band(unique_rows, max(rows, 1))
    if isinstance(privacy, Privacy):
        yield "privacy.unique_rows", privacy.unique_rows, unique_rows


def _group_figures(document: Shareable, groups: Mapping[str, ColumnGroups]) -> Iterator[Figure]:
    for column in document.columns:
        if column.name in groups and column.groups_released is not None:
            where, found = f"columns.{column.name}", groups[column.name]
            yield f"{where}.groups_released", column.groups_released, found.groups
            yield f"{where}.largest_share", column.largest_share, found.largest


def _dcn(document: Shareable, audit: Audit) -> int:
    suppression = document.suppression
    squares = sum(each.size**2 * each.classes for each in audit.by_rows.sizes)
    marked = suppression.rows if suppression.marked else 0  # a class of the table, but no class
    return squares - marked**2 + document.source.rows * suppression.rows


def _agree(stated: object, found: object) -> bool:
    if isinstance(stated, float) and isinstance(found, float):
        return same(stated, found)
    return stated == found


def _figure(name: str, stated: object, found: object) -> str:
    if not isinstance(stated, int | float | str | None):
        return f"{name} is not what is counted in the table."
    bound = "without a bound"
    return (
        f"{name} is {bound if found is None else found} in the table; certified is "
        f"{bound if stated is None else stated}."
    )


def _is_consistent(privacy: SharedPrivacy) -> bool:
    """Whether what else the certificate says of the smallest class agrees with its k.

    Without the subject nobody can count people again, but whoever changes k alone is found out.
    """
    highest = 1 / privacy.k if privacy.k else 0.0
    agree = math.isclose(privacy.risk.highest, highest, rel_tol=1e-6)
    if privacy.subject is None:
        agree = agree and privacy.k == privacy.by_rows.k
    if isinstance(privacy, Privacy):
        agree = agree and privacy.k == min((each.size for each in privacy.sizes), default=0)
    return agree


def _changed(what: str, found: int, certified: int) -> str:
    more = f"{abs(found - certified):,} {'more' if found > certified else 'fewer'}"
    return f"The table has {counted(found, what)}, {more} than the {certified:,} certified."


def _listed(names: Sequence[str]) -> str:
    return f"the column{'s' * (len(names) > 1)} {', '.join(map(repr, names))}"
