"""Whether the class of marked rows holds, which scores of schemes do not speak of."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlanon.api.release import recipe_of
from sqlanon.api.result import SearchResult
from sqlanon.compile import Pseudonym, compile_population, compile_release
from sqlanon.compile.population import population_subject
from sqlanon.engines import Source
from sqlanon.policy import Policy
from sqlanon.scheme import Scheme
from sqlanon.verify import Population, audit, reference_of

_FALL_SHORT = (
    "the best solution marks rows that are too few or too alike to be a class of the release; "
)
MARKED_FALL_SHORT = (
    f"{_FALL_SHORT}chosen is the best of the others found, a search that marks nothing included"
)
MARKED_AND_ENDED = (
    f"{_FALL_SHORT}chosen is the best of the others found; the search ended before one that marks "
    "nothing, which may find better"
)


def holds_with_marked(policy: Policy, source: Source, scheme: Scheme) -> bool:
    """Whether k and every model hold in a release that marks rows, the marked ones being a class.

    The release is counted as its verification counts it, without being made.
    """
    recipe = recipe_of(policy, source, scheme)
    items = tuple(item for item in recipe.items if not isinstance(item, Pseudonym))
    compiled = compile_release(replace(recipe, items=items), keep_subject=True)
    compiled.select.set("order", None)
    population = None
    if recipe.population is not None:
        people = _on(source, compile_population(recipe))
        population = Population(people, population_subject(recipe))
    audited = audit(
        _on(source, compiled.select),
        recipe.class_names,
        subject=compiled.subject,
        models=recipe.models,
        hierarchies=recipe.hierarchies,
        reference={
            each.name: reference_of(source, each.name, recipe.subject) for each in recipe.sensitive
        },
        population=population,
    )
    return audited.k >= recipe.k and all(each.holds for each in audited.models)


def with_publishable_choice(result: SearchResult, note: str) -> SearchResult:
    """A result whose choice falls short by its marked rows, with the best on its list instead."""
    left = [i for i, each in enumerate(result.solutions) if each.feasible]
    chosen = min(left, key=lambda i: _aim(result, i), default=None)
    choices = {result.required_k: chosen}
    return replace(result, chosen=chosen, choices=choices, notes=(*result.notes, note))


def better_of(marking: SearchResult, plain: SearchResult) -> SearchResult:
    """Of a search that marks rows and one that marks none the better, at the cost of both."""
    better = plain
    if marking.chosen is not None and (
        plain.chosen is None or _aim(marking, marking.chosen) <= _aim(plain, plain.chosen)
    ):
        better = marking
    effort = {name: marking.evaluations[name] + n for name, n in plain.evaluations.items()}
    return replace(
        better,
        evaluations=effort,
        seconds=marking.seconds + plain.seconds,
        stopped=plain.stopped,
        reproducible=marking.reproducible and plain.reproducible,
        notes=(*better.notes, *([MARKED_FALL_SHORT] if better is plain else [])),
    )


def _aim(result: SearchResult, i: int) -> float:
    return result.aim(result.solutions[i])


def _on(source: Source, query: exp.Query) -> Source:
    relation = query.subquery("release")
    return Source(source.engine, relation, "the release", source.engine.columns(relation))
