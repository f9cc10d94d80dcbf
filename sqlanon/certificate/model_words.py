"""The privacy models of a certificate in sentences, made from its shareable fields alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlanon.certificate.document import Shareable, SharedModel
from sqlanon.certificate.spelling import figure, percent
from sqlanon.privacy import Measure


def beyond_k(document: Shareable) -> Iterator[str]:
    """What the policy requires beyond k, and what the recount of the release found."""
    models = document.privacy.models
    if not models:
        return
    told = [
        model.required
        + (f" (reached: {figure(model.reached)})" if model.reached is not None else "")
        for model in models
    ]
    holds = "it holds" if len(models) == 1 else "all of them hold"
    yield (
        f"Beyond that the policy requires of every group: {'; '.join(told)}. Counted anew on the "
        f"release, {holds}."
    )


def inference_promises(document: Shareable) -> Iterator[str]:
    """What every group satisfies about sensitive columns, a sentence a model."""
    for model in document.privacy.models:
        if model.column is not None and model.measure in _PROMISES:
            yield _PROMISES[model.measure](model)


def population_promise(document: Shareable) -> Iterator[str]:
    """What is known from a population: candidates outside the release count too."""
    found = document.privacy.journalist
    if found is None:
        return
    if found.unmatched:
        groups = "group" if found.unmatched == 1 else "groups"
        yield f"Nobody of the given population fits {found.unmatched:,} {groups} of this release."
    people = "person" if found.k_map == 1 else "people"
    if found.k_map:
        yield (
            f"In the given population at least {found.k_map:,} {people} fit every group: whoever "
            "does not know who is in the release finds the right person with a probability of at "
            f"most {percent(found.highest)}."
        )
    if found.estimated_uniques is not None and found.population is not None:
        yield (
            f"Of its {found.population:,} people an estimated {figure(found.estimated_uniques)} "
            "are alone with their values (Zayatz)."
        )


def _found(model: SharedModel, words: str, spell: Callable[[float], str] = figure) -> str:
    """What was reached, behind a sentence; "" where the shareable form must not tell."""
    return "" if model.reached is None else f"; {words.format(spell(model.reached))}"


def _distinct(model: SharedModel) -> str:
    return (
        f"Every group has at least {figure(model.bound)} different values of {model.column}"
        f"{_found(model, 'the fewest are {}')}."
    )


def _entropy(model: SharedModel) -> str:
    return (
        f"The values of {model.column} are as mixed in every group as {figure(model.bound)} "
        f"equally frequent ones or more, by their entropy{_found(model, 'the least is {}')}."
    )


def _recursive(model: SharedModel) -> str:
    return (
        f"In every group the most frequent value of {model.column} occurs less than "
        f"{figure(model.bound)} times as often as those from number {model.top:,} on together"
        f"{_found(model, 'the most is {} times')}."
    )


def _share(model: SharedModel) -> str:
    return (
        f"In no group do more than {percent(model.bound)} of the people share one value of "
        f"{model.column}{_found(model, 'the most are {}', percent)}."
    )


def _distance(model: SharedModel) -> str:
    return (
        f"The values of {model.column} are distributed in every group as in the whole source, up "
        f"to a distance of {figure(model.bound)} ({model.measure} distance)"
        f"{_found(model, 'the farthest group is {} away')}."
    )


def _gain(model: SharedModel) -> str:
    return (
        f"No group makes a value of {model.column} likelier than in the whole source by more than "
        f"{figure(model.bound)} times its share there{_found(model, 'the most is {}')}."
    )


def _ratio(model: SharedModel) -> str:
    return (
        f"Every value of {model.column} occurs in every group, with a share that differs from that "
        f"in the whole source by a factor below e to the power of {figure(model.bound)}"
        f"{_found(model, 'the most is a power of {}')}."
    )


_PROMISES: dict[Measure, Callable[[SharedModel], str]] = {
    Measure.DISTINCT: _distinct,
    Measure.PERPLEXITY: _entropy,
    Measure.RECURSIVE: _recursive,
    Measure.SHARE: _share,
    Measure.EQUAL_DISTANCE: _distance,
    Measure.ORDERED_DISTANCE: _distance,
    Measure.HIERARCHICAL_DISTANCE: _distance,
    Measure.GAIN: _gain,
    Measure.RATIO: _ratio,
}
