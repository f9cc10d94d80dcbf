"""The models of a certificate, counted again on a table: what can be, and what cannot."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlanon.audit import Audit, ColumnGroups, finite, settled
from sqlanon.engines import Kind
from sqlanon.privacy import Model as PrivacyModel
from sqlanon.privacy import figures
from sqlanon.release.certificate import (
    Certificate,
    Document,
    ModelEntry,
    PrivacyEntry,
    SensitiveEntry,
    write_time,
)
from sqlanon.release.certify import bands_of, unique_band
from sqlanon.wording import counted

Figure = tuple[str, object, object]
"""The path of a key, what it states, and what the table tells."""


@dataclass(frozen=True)
class Recountable:
    """The models that a table can be audited for, and a sentence for each of the others."""

    models: tuple[PrivacyModel, ...]
    others: tuple[str, ...]


def recountable(
    document: Document, kinds: Mapping[str, Kind | None], *, in_people: bool
) -> Recountable:
    """What can be counted again on a table with columns of these kinds.

    `in_people` says whether the table tells the people apart whom the certificate counted.
    """
    models, others = [], []
    for section in document.privacy.models:
        if section.column is not None and section.column not in kinds:
            continue  # that the column is missing is said already
        kind = None if section.column is None else kinds[section.column]
        missing = _missing(document, section, kind, in_people)
        if missing is None:
            models.append(section.model())
        else:
            others.append(f"{section.required} was not counted again: {missing}.")
    return Recountable(tuple(models), tuple(others))


def _missing(
    document: Document, section: ModelEntry, kind: Kind | None, in_people: bool
) -> str | None:
    """What it takes to count a model again and is not there; None if nothing is missing."""
    model = section.model()
    if model.needs_population:
        return "that needs the population"
    if model.is_compared and document.release.rows != document.source.rows:
        return "that needs the source, because rows of it were left out"
    if model.needs_hierarchy:
        return "that needs the hierarchy of the column"
    if kind is None:
        return "the column has a type whose values cannot be told apart"
    if model.needs_order and not kind.is_ordered:
        return "the table holds the column as text, without its order"
    # How many values a class has does not depend on whether rows or people are counted.
    if not in_people and not model.asks_which_occur:
        return "that needs the subject, which the release does not have"
    return None


def model_figures(document: Document, audit: Audit) -> Iterator[Figure]:
    """What was reached of every model that was counted again."""
    found = {each.model: each for each in audit.models}
    for section in document.privacy.models:
        reached = found.get(section.model())
        stated = section.reached if document.is_shareable else section.counted
        if reached is not None and stated is not None:
            yield f"{section.required}, reached", stated, finite(settled(reached.value))


def sensitive_figures(document: Document, audit: Audit, in_people: bool) -> Iterator[Figure]:
    """The figures of sensitive columns; those of earlier versions' certificates are fewer."""
    privacy: PrivacyEntry = document.privacy
    found = {each.column: each for each in audit.sensitive}
    whole = document.release.rows == document.source.rows
    shared = SensitiveEntry.shared_keys()
    stated = shared if document.is_shareable else tuple(SensitiveEntry.model_fields)
    for each in privacy.sensitive:
        worst = found.get(each.column)
        if worst is None:
            continue
        for name, of_unit, model in ((f.name, f.unit, f.model) for f in figures(each.column)):
            is_older = each.entropy_l is None and of_unit == "number"
            can_tell = in_people or model.asks_which_occur
            if is_older or not can_tell or name not in stated or worst.figures[name] is None:
                continue  # such as a distance by order in a file of texts
            if whole or not model.is_compared:
                counted_now = finite(worst.figures[name])
                yield f"{name} of {each.column!r}", getattr(each, name), counted_now


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

    What the table cannot show is held by the digest of the certificate, see docs/certificate.md.
    """
    document = certificate.document
    found = _columns(certificate.columns, columns)
    if certificate.is_intact is False:
        found.insert(
            0,
            "The certificate is not as it was written: its digest is not that of its content. Take "
            "another copy of the file.",
        )
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
    return found


def caveats(certificate: Certificate) -> Iterator[str]:
    """What a comparison without differences does not show."""
    if certificate.is_intact is None:
        yield (
            "The certificate has no digest, as version 1 of the format: what the table does not "
            "show was not checked."
        )
    else:
        yield (
            "The digest of the certificate is not signed: it shows damage and mistakes, and no "
            "forgery."
        )


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


def _counts(document: Document, audit: Audit) -> list[str]:
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
    if audit.k < privacy.required_k:
        sentences.append(
            f"The table no longer holds what the policy requires: k is {audit.k:,}, "
            f"required are {privacy.required_k:,}."
        )
    if audit.classes != classes:
        sentences.append(_changed("class", audit.classes, classes))
    return sentences + [
        "The table no longer holds what the policy requires: "
        f"{each.model.describe()} fails in {counted(each.classes, 'class')}."
        for each in audit.models
        if not each.holds
    ]


def _figures(
    document: Document,
    audit: Audit,
    unique_rows: int | None,
    groups: Mapping[str, ColumnGroups],
) -> list[str]:
    """The figures that the table tells beyond its rows, k and classes, each that differs."""
    in_people = document.privacy.subject is None or audit.by_people is not None
    figures: list[Figure] = [("privacy.by_rows.k", document.privacy.by_rows.k, audit.by_rows.k)]
    if in_people:
        figures += _class_figures(document, audit)
    if unique_rows is not None:
        privacy = document.privacy
        band = unique_band(unique_rows, max(audit.rows, 1))
        figures.append(("privacy.unique", privacy.unique, band))
        if not document.is_shareable:
            figures.append(("privacy.unique_rows", privacy.unique_rows, unique_rows))
    figures += _group_figures(document, groups)
    figures += sensitive_figures(document, audit, in_people)
    figures += model_figures(document, audit)
    if document.scores.dcn is not None:
        figures.append(("scores.dcn", document.scores.dcn, _dcn(document, audit)))
    return [
        _figure(name, stated, found) for name, stated, found in figures if not _agree(stated, found)
    ]


def _class_figures(document: Document, audit: Audit) -> Iterator[Figure]:
    privacy = document.privacy
    yield "privacy.largest", privacy.largest, audit.spread.largest
    yield "privacy.average", privacy.average, audit.spread.average
    for name, value in audit.risk.to_dict().items():
        yield f"privacy.risk.{name}", getattr(privacy.risk, name), value
    bands = tuple(bands_of(audit, privacy.required_k))
    if document.is_shareable:
        stated = [(band.least, band.most, band.share) for band in privacy.bands]
        yield "privacy.bands", stated, [(band.least, band.most, band.share) for band in bands]
        return
    yield "privacy.bands", privacy.bands, bands
    sizes = [(each.size, each.classes, each.rows) for each in privacy.sizes]
    yield "privacy.sizes", sizes, [(each.size, each.classes, each.rows) for each in audit.sizes]


def _group_figures(document: Document, groups: Mapping[str, ColumnGroups]) -> Iterator[Figure]:
    for column in document.columns:
        if column.name in groups and column.groups_released is not None:
            where, found = f"columns.{column.name}", groups[column.name]
            yield f"{where}.groups_released", column.groups_released, found.groups
            yield f"{where}.largest_share", column.largest_share, found.largest


def _dcn(document: Document, audit: Audit) -> int:
    suppression = document.suppression
    squares = sum(each.size**2 * each.classes for each in audit.by_rows.sizes)
    marked = suppression.rows if suppression.marked else 0  # a class of the table, but no class
    return squares - marked**2 + document.source.rows * suppression.rows


def _agree(stated: object, found: object) -> bool:
    """Whether two figures are the same, numbers but for rounding."""
    if isinstance(stated, float) and isinstance(found, float):
        return math.isclose(stated, found, rel_tol=1e-6, abs_tol=1e-9)
    return stated == found


def _figure(name: str, stated: object, found: object) -> str:
    if not isinstance(stated, int | float | str | None):
        return f"{name} is not what is counted in the table."
    bound = "without a bound"
    return (
        f"{name} is {bound if found is None else found} in the table; certified is "
        f"{bound if stated is None else stated}."
    )


def _changed(what: str, found: int, certified: int) -> str:
    more = f"{abs(found - certified):,} {'more' if found > certified else 'fewer'}"
    return f"The table has {counted(found, what)}, {more} than the {certified:,} certified."


def _listed(names: Sequence[str]) -> str:
    return f"the column{'s' * (len(names) > 1)} {', '.join(map(repr, names))}"
