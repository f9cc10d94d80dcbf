"""Whether the class of marked rows holds, which scores of schemes do not speak of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.api.release import recipe_of
from sqlanon.api.solution import Solution
from sqlanon.compile import Pseudonym, compile_population, compile_release
from sqlanon.compile.population import population_subject
from sqlanon.engines import Source
from sqlanon.policy import Policy
from sqlanon.scheme import Scheme
from sqlanon.verify import Population, audit, reference_of

MARKED_FALL_SHORT = (
    "the best solution marks rows that are too few or too alike to be a class of the release, so "
    "it was not chosen; solutions that mark none, or others, may be found with another "
    "`suppression.limit` or `suppression.rows: leave_out`"
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


def publishable(
    solutions: Sequence[Solution], chosen: int | None, objectives: Sequence[str]
) -> int | None:
    """The chosen solution, or where its marked rows fall short the best that is feasible."""
    if chosen is None or solutions[chosen].feasible is not False:
        return chosen
    aim = next(name for name in objectives if name != "k")
    left = [i for i, each in enumerate(solutions) if each.feasible]
    return min(left, key=lambda i: solutions[i].scores[aim], default=None)  # type: ignore[arg-type,return-value]


def _on(source: Source, query: exp.Query) -> Source:
    relation = query.subquery("release")
    return Source(source.engine, relation, "the release", source.engine.columns(relation))
