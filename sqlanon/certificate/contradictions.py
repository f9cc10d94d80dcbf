"""Where a certificate contradicts itself.

Much of a certificate follows from the rest of it, by the very functions that wrote it. Whoever
changes one statement is found out by the others, also where the table alone cannot tell.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from sqlanon.certificate.document import Internal, Shareable, SharedColumn, Suppression
from sqlanon.certificate.facts import Subgroup, Treatment
from sqlanon.certificate.figures import uneven_columns, unique_band
from sqlanon.certificate.model_contradictions import model_contradictions
from sqlanon.certificate.words import words_of
from sqlanon.preference import Preference

TREATMENTS = {
    "quasi": (Treatment.GENERALIZED,),
    "identifying": (Treatment.REMOVED,),
    "subject": (Treatment.REMOVED,),
    "pseudonym": (Treatment.PSEUDONYM,),
    "sensitive": (Treatment.VERBATIM,),
    "label": (Treatment.VERBATIM,),
    "insensitive": (Treatment.VERBATIM,),
    "not named": (Treatment.REMOVED, Treatment.VERBATIM),
}
"""By role of a column what may become of it."""


def contradictions(document: Shareable) -> list[str]:
    """Every statement that does not go with the others, a sentence each."""
    found = [*_columns(document), *_rows(document), *_sensitive(document), *_scores(document)]
    found += [_contradicted(what, because) for what, because in model_contradictions(document)]
    if isinstance(document, Internal):
        found += _inside(document)
    return [*found, *_words(document)]


def same(one: float, other: float) -> bool:
    """Whether two figures are the same but for rounding."""
    return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)


def _contradicted(what: str, because: str) -> str:
    return f"The certificate contradicts itself: {what}, but {because}."


def _columns(document: Shareable) -> Iterator[str]:
    for column in document.columns:
        where = f"column {column.name!r}"
        treatments = TREATMENTS.get(column.role)
        if treatments is None:
            yield _contradicted(f"{where} has the role {column.role!r}", "there is no such role")
        elif column.treatment not in treatments:
            yield _contradicted(
                f"{where} has the role {column.role!r}",
                f"its treatment is {column.treatment.value}, not {' or '.join(treatments)}",
            )
        if (column.treatment is Treatment.REMOVED) != (not column.released_as):
            names = ", ".join(column.released_as) or "nothing"
            yield _contradicted(
                f"{where} is stated as {column.treatment.value}", f"it is released as {names}"
            )
        figures = (column.groups, column.values, column.loss)
        given = [figure is not None for figure in figures]
        if any(given) != all(given) or all(given) != (column.treatment is Treatment.GENERALIZED):
            yield _contradicted(
                f"{where} is stated as {column.treatment.value}",
                "groups, values and loss are for generalized columns, all three of them",
            )
        elif column.groups is not None and column.groups > (column.values or 0):
            yield _contradicted(
                f"{where} has {column.groups:,} groups", f"only {column.values:,} values"
            )
        yield from _released_groups(column, where)
    yield from _lists(document)


def _released_groups(column: SharedColumn, where: str) -> Iterator[str]:
    """Earlier certificates do not say what of a column occurs in the release."""
    groups, share = column.groups_released, column.largest_share
    if groups is None and share is None:
        return
    if groups is None or share is None or column.treatment is not Treatment.GENERALIZED:
        yield _contradicted(
            f"{where} is stated as {column.treatment.value}",
            "groups_released and largest_share are for generalized columns, both of them",
        )
    elif groups and share < 1 / groups and not same(share, 1 / groups):
        yield _contradicted(
            f"largest_share of {where} is {share:g}",
            f"one of {groups:,} groups has at least {1 / groups:.4g} of the rows",
        )


def _lists(document: Shareable) -> Iterator[str]:
    """The columns that `privacy` speaks of are those that `columns` describes."""
    privacy = document.privacy
    quasi = [n for c in document.columns if c.treatment is Treatment.GENERALIZED
             for n in c.released_as]  # fmt: skip
    if set(quasi) != set(privacy.quasi):
        yield _contradicted(
            f"privacy.quasi lists {', '.join(privacy.quasi)}",
            f"the generalized columns are {', '.join(quasi) or 'none'}",
        )
    sensitive = [c.name for c in document.columns if c.role == "sensitive" and c.released_as]
    measured = [each.column for each in privacy.sensitive]
    if set(sensitive) != set(measured):
        yield _contradicted(
            f"privacy.sensitive speaks of {', '.join(measured) or 'no column'}",
            f"the columns with the role sensitive are {', '.join(sensitive) or 'none'}",
        )
    released = {name for column in document.columns for name in column.released_as}
    for finding in document.findings:
        if finding.column not in released - set(quasi):
            yield _contradicted(
                f"findings speak of {finding.column!r}", "it is not released unchanged"
            )


def _rows(document: Shareable) -> Iterator[str]:
    release, source, suppression = document.release, document.source, document.suppression
    missing = source.rows - release.rows
    stated = suppression.unseen + (0 if suppression.marked else suppression.rows)
    if missing != stated:
        yield _contradicted(
            f"{release.rows:,} of the source's {source.rows:,} rows are released, {missing:,} "
            "fewer",
            f"suppression.rows ({suppression.rows:,}{', marked' * suppression.marked}) and "
            f"suppression.unseen ({suppression.unseen:,}) leave out {stated:,}",
        )
    for name, counts in (("release", release), ("source", source)):
        if document.privacy.subject is None and counts.people != counts.rows:
            yield _contradicted(
                f"{name}.people is {counts.people:,} and {name}.rows {counts.rows:,}",
                "without a subject every row is a person",
            )
        elif counts.people > counts.rows:
            yield _contradicted(
                f"{name}.people is {counts.people:,}", f"there are {counts.rows:,} rows"
            )
    if release.people > source.people:
        yield _contradicted(
            f"release.people is {release.people:,}", f"the source has {source.people:,}"
        )


def _sensitive(document: Shareable) -> Iterator[str]:
    """A class of n values has one that at least one in n of its people share."""
    for each in document.privacy.sensitive:
        least = 1 / each.fewest_values if each.fewest_values else 0.0
        if each.largest_share < least and not same(each.largest_share, least):
            yield _contradicted(
                f"largest_share of {each.column!r} is {each.largest_share:g}",
                f"a class with {each.fewest_values:,} different values has one that at least "
                f"{least:.4g} share",
            )


def _scores(document: Shareable) -> Iterator[str]:
    scores, privacy, source = document.scores, document.privacy, document.source
    losses = [column.loss for column in document.columns if column.loss is not None]
    derived: dict[str, float] = {"glm": math.fsum(losses) * source.rows}
    if losses:
        derived["glm_share"] = math.fsum(losses) / len(losses)
    if not document.suppression.marked:  # marked rows are a class of the table, but of no score
        derived["necd"] = (privacy.largest - privacy.k) / max(source.people - 1, 1)
    wish = document.preference
    if wish is not None and scores.nwp is not None and scores.necd is not None:
        preference = Preference(wish.nwp, wish.necd)
        nwp, necd = np.array(scores.nwp), np.array(scores.necd)
        derived["ach"] = float(preference.ach(nwp, necd))
        derived["pref_dev"] = float(preference.pref_dev(nwp, necd))
    for name, value in derived.items():
        stated = getattr(scores, name)
        if stated is not None and not same(stated, value):
            yield _contradicted(
                f"scores.{name} is {stated:g}", f"its other figures make it {value:g}"
            )
    if scores.nwp is not None and losses:
        low, high = min(losses), max(losses)
        if not (low <= scores.nwp <= high or same(scores.nwp, low) or same(scores.nwp, high)):
            yield _contradicted(
                f"scores.nwp is {scores.nwp:g}",
                f"the losses of the columns are between {low:g} and {high:g}",
            )


def _inside(document: Internal) -> Iterator[str]:
    privacy = document.privacy
    for column in document.columns:
        if column.groups is not None and len(column.labels) != column.groups:
            yield _contradicted(
                f"column {column.name!r} has {column.groups:,} groups",
                f"{len(column.labels):,} labels",
            )
    band = unique_band(privacy.unique_rows, max(document.release.rows, 1))
    if band != privacy.unique:
        yield _contradicted(
            f"privacy.unique is {privacy.unique!r}",
            f"privacy.unique_rows is {privacy.unique_rows:,}, which is {band!r}",
        )
    uneven = _uneven(document.suppression, document.source.rows)
    if document.suppression.uneven != uneven:
        yield _contradicted(
            f"suppression.uneven is {_named(document.suppression.uneven)}",
            f"by its subgroups it is {_named(uneven)}",
        )


def _uneven(suppression: Suppression, rows: int) -> tuple[str, ...] | None:
    if suppression.rows and not suppression.subgroups:
        return None
    subgroups = [Subgroup(s.column, s.label, s.rows, s.left_out) for s in suppression.subgroups]
    return uneven_columns(subgroups, suppression.rows, rows)


def _named(names: tuple[str, ...] | None) -> str:
    return "not counted" if names is None else ", ".join(names) or "empty"


def _words(document: Shareable) -> Iterator[str]:
    """The sentences are made from the figures; other sentences were put in their place."""
    made, said = words_of(document), document.words
    changed = [
        n for n in ("summary", "protection", "notice") if getattr(made, n) != getattr(said, n)
    ]
    if changed:
        by = document.software.get("sqlanon", "an unknown version")
        yield (
            f"The sentences in {' and '.join(f'words.{name}' for name in changed)} are not those "
            f"that follow from the certificate's figures; it says to be written by sqlanon {by}."
        )
