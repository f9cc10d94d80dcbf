"""Where a certificate's models, risks and figures of sensitive columns contradict each other."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sqlanon.certificate.document import Model, Shareable, SharedModel, SharedWorst
from sqlanon.certificate.models import FIGURES, model_of
from sqlanon.privacy import DIGITS, Measure

Contradiction = tuple[str, str]
"""A statement, and another one that does not go with it."""


def model_contradictions(document: Shareable) -> Iterator[Contradiction]:
    """Each model holds, says what it is, and agrees with what else is stated of its column."""
    worst = {each.column: each for each in document.privacy.sensitive}
    for section in document.privacy.models:
        model = model_of(section)
        needs_column = section.measure is not Measure.POPULATION
        if needs_column != (section.column is not None) or (
            needs_column and section.column not in worst
        ):
            yield (
                f"privacy.models has {section.required!r} for the column {section.column!r}",
                "that is no sensitive column of the release",
            )
            continue
        if (section.key, section.required) != (model.key, model.describe()):
            yield (
                f"privacy.models has {section.required!r} as {section.key!r}",
                f"its bound and measure make it {model.describe()!r}",
            )
        yield from _reached(section)
        if section.column is not None:
            yield from _figures(section, worst[section.column])
    yield from _covered(document)
    yield from _population(document)


def _reached(section: SharedModel) -> Iterator[Contradiction]:
    model = model_of(section)
    stated = [section.reached] if section.reached is not None else []
    if isinstance(section, Model):
        if section.reached is not None and not _same(section.reached, section.counted):
            yield (
                f"{section.required} was reached with {section.reached:g}",
                f"counted was {section.counted:g}",
            )
        stated.append(section.counted)
    # Stated numbers are rounded, so a model may hold by less than their last digit.
    digit = 10**-DIGITS if model.at_least else -(10**-DIGITS)
    for value in dict.fromkeys(stated):
        if not model.holds(value + digit):
            yield f"{section.required} is required of every class", f"the worst has {value:g}"


def _figures(section: SharedModel, worst: SharedWorst) -> Iterator[Contradiction]:
    """The figures of the sensitive column state the same number."""
    if section.measure is Measure.RECURSIVE and section.top != 2:
        return  # those of the column are for l = 2
    name = FIGURES[section.measure]
    figure = getattr(worst, name, None)
    reached = section.counted if isinstance(section, Model) else section.reached
    if figure is not None and reached is not None and not _same(figure, reached):
        yield (
            f"{section.required} was reached with {reached:g}",
            f"{name} of {section.column!r} is {figure:g}",
        )


def _covered(document: Shareable) -> Iterator[Contradiction]:
    """Columns whose homogeneity is accepted are sensitive, and no model is for them."""
    accepted = document.privacy.homogeneity
    if accepted is None:
        return
    sensitive = {each.column for each in document.privacy.sensitive}
    covered = {model.column for model in document.privacy.models}
    for name in accepted.columns:
        if name not in sensitive:
            yield f"privacy.homogeneity lists {name!r}", "that is no sensitive column"
        elif name in covered:
            yield f"privacy.homogeneity lists {name!r}", "privacy.models has a model for it"


def _population(document: Shareable) -> Iterator[Contradiction]:
    found = document.privacy.journalist
    maps = [each for each in document.privacy.models if each.measure is Measure.POPULATION]
    if found is None:
        for each in maps:
            yield f"{each.required} is required", "there are no figures of a population"
        return
    for each in maps:
        if each.reached is not None and each.reached != found.k_map:
            yield (
                f"{each.required} was reached with {each.reached:g}",
                f"privacy.journalist.k_map is {found.k_map:,}",
            )
    highest = 1 / max(found.k_map, 1)
    if not _same(found.highest, highest):
        yield f"privacy.journalist.highest is {found.highest:g}", f"1 / k_map is {highest:g}"
    if bool(found.unmatched) != (found.k_map == 0):
        yield (
            f"nobody of the population fits {found.unmatched:,} classes",
            f"privacy.journalist.k_map is {found.k_map:,}",
        )
    if found.average > found.highest and not _same(found.average, found.highest):
        yield (
            f"privacy.journalist.average is {found.average:g}",
            f"the highest risk is {found.highest:g}",
        )


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-6, abs_tol=10**-DIGITS)
