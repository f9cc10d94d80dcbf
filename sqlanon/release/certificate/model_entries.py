"""The privacy models of a certificate: stated from an audit, and read again as models."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.audit import Audit, Sensitive, finite, settled
from sqlanon.errors import CertificateError, PrivacyError
from sqlanon.privacy import Model, certified_model
from sqlanon.release.certificate.document import (
    Document,
    JournalistEntry,
    ModelEntry,
    SensitiveEntry,
)


def model_of(section: ModelEntry) -> Model:
    """The model that a certificate states."""
    try:
        return certified_model(section.measure, section.column, section.bound, section.top)
    except KeyError:
        known = f"privacy.models: there is no model with the measure {section.measure!r}"
        raise CertificateError(f"certificate: {known}") from None
    except PrivacyError as error:
        raise CertificateError(f"certificate: privacy.models: {error}") from error


def is_told_by_the_table(document: Document, section: ModelEntry) -> bool:
    """Whether the released table alone tells what was reached.

    Where no row was left out, the table as a whole holds what the source holds.
    """
    model = model_of(section)
    if model.needs_population:
        return False
    return not model.is_compared or document.release.rows == document.source.rows


def models_of(audit: Audit, *, whole: bool) -> Iterator[ModelEntry]:
    """What was required and reached; `whole` says whether no row was left out."""
    for each in audit.models:
        model = each.model
        value = finite(settled(each.value))
        if value is None:
            raise CertificateError(f"certificate: {model.describe()} has no bound")
        # Next to the release, how far a class is from the source tells what else that holds.
        tells_others = model.is_compared and not whole
        yield ModelEntry(
            key=model.key,
            column=model.column,
            required=model.describe(),
            measure=model.measure,
            top=model.top,
            bound=float(model.bound),
            reached=None if tells_others else value,
            counted=value,
        )


def worst_of(found: Sensitive) -> SensitiveEntry:
    """The worst class of a sensitive column, in every respect."""
    stated = {
        name: finite(value)
        for name, value in found.figures.items()
        if name in SensitiveEntry.model_fields
    }
    return SensitiveEntry.model_validate({"column": found.column, **stated})


def journalist_of(audit: Audit) -> JournalistEntry | None:
    """The risks within a population; None without one."""
    found, uniques = audit.journalist, audit.uniques
    if found is None:
        return None
    return JournalistEntry(
        k_map=found.k,
        unmatched=found.unmatched,
        highest=found.highest,
        average=found.average,
        above=found.above,
        marketer=found.marketer,
        population=None if uniques is None else uniques.population_size,
        estimated_uniques=None if uniques is None else uniques.estimated,
    )
