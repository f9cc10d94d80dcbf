"""The models of a certificate, counted again on a table: what can be, and what cannot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlanon.certificate.document import Model, Shareable, SharedModel, SharedPrivacy, Worst
from sqlanon.certificate.models import is_told_by_the_table, model_of
from sqlanon.model import Kind, counted
from sqlanon.privacy import Measure
from sqlanon.privacy import Model as PrivacyModel
from sqlanon.verify import Audit, Sensitive
from sqlanon.verify.sensitive import finite, settled

Figure = tuple[str, object, object]
"""The path of a key, what it states, and what the table tells."""


@dataclass(frozen=True)
class Recountable:
    """The models that a table can be audited for, and a sentence for each of the others."""

    models: tuple[PrivacyModel, ...]
    others: tuple[str, ...]


def recountable(
    document: Shareable, kinds: Mapping[str, Kind | None], *, in_people: bool
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
            models.append(model_of(section))
        else:
            others.append(f"{section.required} was not counted again: {missing}.")
    return Recountable(tuple(models), tuple(others))


def _missing(
    document: Shareable, section: SharedModel, kind: Kind | None, in_people: bool
) -> str | None:
    """What it takes to count a model again and is not there; None if nothing is missing."""
    if section.measure is Measure.POPULATION:
        return "that needs the population"
    if not is_told_by_the_table(document, section):
        return "that needs the source, because rows of it were left out"
    if section.measure is Measure.HIERARCHICAL_DISTANCE:
        return "that needs the hierarchy of the column"
    if kind is None:
        return "the column has a type whose values cannot be told apart"
    if section.measure is Measure.ORDERED_DISTANCE and not kind.is_ordered:
        return "the table holds the column as text, without its order"
    # How many values a class has does not depend on whether rows or people are counted.
    if not in_people and section.measure is not Measure.DISTINCT:
        return "that needs the subject, which the release does not have"
    return None


def violations(audit: Audit) -> list[str]:
    """The models that the table does not hold any more."""
    return [
        "The table no longer holds what the policy requires: "
        f"{each.model.describe()} fails in {counted(each.classes, 'class')}."
        for each in audit.models
        if not each.holds
    ]


def model_figures(document: Shareable, audit: Audit) -> Iterator[Figure]:
    """What was reached of every model that was counted again."""
    found = {each.model: each for each in audit.models}
    for section in document.privacy.models:
        reached = found.get(model_of(section))
        stated = section.counted if isinstance(section, Model) else section.reached
        if reached is not None and stated is not None:
            yield f"{section.required}, reached", stated, finite(settled(reached.value))


def sensitive_figures(document: Shareable, audit: Audit, in_people: bool) -> Iterator[Figure]:
    """The figures of sensitive columns; those of earlier versions' certificates are fewer."""
    privacy: SharedPrivacy = document.privacy
    found = {each.column: each for each in audit.sensitive}
    whole = document.release.rows == document.source.rows
    for each in privacy.sensitive:
        worst = found.get(each.column)
        if worst is None:
            continue
        where = f"of {each.column!r}"
        yield f"fewest_values {where}", each.fewest_values, worst.fewest_values
        if not in_people:
            continue
        yield f"largest_share {where}", each.largest_share, worst.largest_share
        if each.entropy_l is None:
            continue
        yield f"entropy_l {where}", each.entropy_l, worst.entropy_l
        yield f"recursive_c {where}", each.recursive_c, finite(worst.recursive_c)
        if whole and isinstance(each, Worst):
            yield from _distances(each, worst, where)


def _distances(each: Worst, worst: Sensitive, where: str) -> Iterator[Figure]:
    """What is compared with the whole source, which the whole table holds."""
    yield f"t_equal {where}", each.t_equal, finite(worst.t_equal)
    yield f"beta {where}", each.beta, finite(worst.beta)
    yield f"delta {where}", each.delta, finite(worst.delta)
    if worst.t_ordered is not None:  # a file of texts has no order
        yield f"t_ordered {where}", each.t_ordered, finite(worst.t_ordered)
