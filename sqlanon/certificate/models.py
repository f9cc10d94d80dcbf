"""The privacy models of a certificate: stated from an audit, and read again as models."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlanon.certificate import document as doc
from sqlanon.certificate.facts import Facts
from sqlanon.errors import CertificateError, PrivacyError
from sqlanon.privacy import (
    AlphaAnonymity,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    Distance,
    DistinctDiversity,
    EntropyDiversity,
    KMap,
    Measure,
    Model,
    RecursiveDiversity,
)
from sqlanon.verify import Audit, Sensitive
from sqlanon.verify.sensitive import finite, settled

BY_TABLE = frozenset({Measure.DISTINCT, Measure.PERPLEXITY, Measure.RECURSIVE, Measure.SHARE})
"""What the classes of a table tell by themselves; everything else is compared with the whole
source, or with a population."""

FIGURES = {
    Measure.DISTINCT: "fewest_values",
    Measure.PERPLEXITY: "entropy_l",
    Measure.RECURSIVE: "recursive_c",
    Measure.EQUAL_DISTANCE: "t_equal",
    Measure.ORDERED_DISTANCE: "t_ordered",
    Measure.HIERARCHICAL_DISTANCE: "t_hierarchical",
    Measure.GAIN: "beta",
    Measure.RATIO: "delta",
    Measure.SHARE: "largest_share",
}
"""By measure the key of `sensitive` that states the same of a column."""

_MODELS: dict[Measure, Callable[[str | None, float, int], Model]] = {
    Measure.POPULATION: lambda column, bound, top: KMap(column, int(bound)),
    Measure.DISTINCT: lambda column, bound, top: DistinctDiversity(column, int(bound)),
    Measure.PERPLEXITY: lambda column, bound, top: EntropyDiversity(column, bound),
    Measure.RECURSIVE: RecursiveDiversity,
    Measure.EQUAL_DISTANCE: lambda column, bound, top: Closeness(column, bound, Distance.EQUAL),
    Measure.ORDERED_DISTANCE: lambda column, bound, top: Closeness(column, bound, Distance.ORDERED),
    Measure.HIERARCHICAL_DISTANCE: lambda column, bound, top: Closeness(
        column, bound, Distance.HIERARCHICAL
    ),
    Measure.GAIN: lambda column, bound, top: BetaLikeness(column, bound),
    Measure.RATIO: lambda column, bound, top: DeltaDisclosure(column, bound),
    Measure.SHARE: lambda column, bound, top: AlphaAnonymity(column, bound),
}


def model_of(section: doc.SharedModel) -> Model:
    """The model that a certificate states."""
    try:
        return _MODELS[section.measure](section.column, section.bound, section.top)
    except PrivacyError as error:
        raise CertificateError(f"certificate: privacy.models: {error}") from error


def is_told_by_the_table(document: doc.Shareable, section: doc.SharedModel) -> bool:
    """Whether the released table alone tells what was reached.

    Where no row was left out, the table as a whole holds what the source holds.
    """
    if section.measure is Measure.POPULATION:
        return False
    return section.measure in BY_TABLE or document.release.rows == document.source.rows


def models_of(facts: Facts) -> Iterator[doc.Model]:
    """What was required and reached; Facts hold no model that does not hold."""
    whole = facts.audit.rows == facts.source_rows
    for each in facts.audit.models:
        statistic, model = each.model.statistic, each.model
        value = finite(settled(each.value))
        if value is None:
            raise CertificateError(f"certificate: {model.describe()} has no bound")
        # Next to the release, how far a class is from the source tells what else that holds.
        tells_others = statistic.measure not in (*BY_TABLE, Measure.POPULATION) and not whole
        yield doc.Model(
            key=model.key,
            column=model.column,
            required=model.describe(),
            measure=statistic.measure,
            top=statistic.top,
            bound=float(model.bound),
            reached=None if tells_others else value,
            counted=value,
        )


def worst_of(found: Sensitive) -> doc.Worst:
    """The worst class of a sensitive column, in every respect."""
    return doc.Worst(
        column=found.column,
        largest_share=found.largest_share,
        fewest_values=found.fewest_values,
        entropy_l=finite(found.entropy_l),
        recursive_c=finite(found.recursive_c),
        t_equal=finite(found.t_equal),
        t_ordered=finite(found.t_ordered),
        t_hierarchical=finite(found.t_hierarchical),
        beta=finite(found.beta),
        delta=finite(found.delta),
    )


def homogeneity_of(facts: Facts) -> doc.Homogeneity | None:
    found = facts.homogeneity
    if found is None:
        return None
    return doc.Homogeneity(columns=found.columns, accept=found.reason)


def journalist_of(audit: Audit) -> doc.Journalist | None:
    """The risks within a population; None without one."""
    found, uniques = audit.journalist, audit.uniques
    if found is None:
        return None
    return doc.Journalist(
        k_map=found.k,
        unmatched=found.unmatched,
        highest=found.highest,
        average=found.average,
        above=found.above,
        marketer=found.marketer,
        population=None if uniques is None else uniques.population_size,
        estimated_uniques=None if uniques is None else uniques.estimated,
    )
