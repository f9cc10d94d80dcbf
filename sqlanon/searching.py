"""Runs the searches of a policy: for one k or several, for cut trees, and walks."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from typing import Any, Self

import numpy as np

from sqlanon.arguments import refusal, whole_number
from sqlanon.counting import DEFAULT_PREFERENCE, NO_PREFERENCE, sensitive_hierarchies
from sqlanon.domain import Batch, Column, Recoding, Scheme, ValueDomain
from sqlanon.engines import Kind
from sqlanon.errors import ArgumentError, SqlanonError
from sqlanon.evaluate import Effort, Evaluator, Search
from sqlanon.measuring import Measurer
from sqlanon.metrics import EachForItsK, Ints, Rule, Suppression, further
from sqlanon.policy import Policy
from sqlanon.release import refuse_with_tree
from sqlanon.search import (
    MARKED_AND_ENDED,
    MARKED_FALL_SHORT,
    METHODS,
    UNREPEATABLE,
    WALK,
    EveryK,
    Limits,
    Method,
    Outcome,
    Problem,
    SearchResult,
    Solution,
    TreeSettings,
    Walk,
    WalkSettings,
    Watch,
    better_of,
    coarsest,
    cut_tree,
    together,
    uncut,
    with_publishable_choice,
)

OTHER_K = (
    "searched for k = {k}; solutions for another k were met on the way and are scored with the "
    "rows left out for their own k; `--k` (k=[…] in Python) searches for several"
)
MOST_CELLS, MOST_CELLS_WITH_MODELS = 200_000, 100_000
"""A quick tree is searched beside another search for so many values of distinct rows at most."""
NO_PRIVACY = (
    "the policy requires no privacy, so nothing here is called feasible, and publish will refuse it"
)


def _alphabetical(columns: Sequence[Column]) -> list[str]:
    """A note on text columns that nothing but the alphabet orders, so that groups mean little."""
    names = [
        repr(column.name)
        for column in columns
        if column.hierarchy is None
        and isinstance(column.domain, ValueDomain)
        and column.domain.is_observed
        and column.domain.kind is Kind.TEXT
        and column.domain.width > 2
    ]
    if not names:
        return []
    return [
        f"without a hierarchy the values of {', '.join(names)} are in alphabetical order, and "
        "neighbours share a group; give a hierarchy, or `values` in an order that means something"
    ]


def wanted_k(policy: Policy, required: int, given: int | Sequence[int] | None) -> tuple[int, ...]:
    """The k to search for, ascending; `required` is the policy's."""
    if given is None:
        return (required,)
    several = [given] if isinstance(given, int | str) else given
    wanted = sorted({whole_number("k", each, 1) for each in several})
    if not wanted:
        raise refusal("k", given, "a whole number, or several")
    if policy.section.privacy is None:
        raise ArgumentError(
            f"`k` is {wanted[0]}, but {policy.origin} requires no privacy; write there "
            f"`privacy: {{k: {wanted[0]}}}`"
        )
    if wanted[0] < required:
        raise ArgumentError(
            f"`k` is {wanted[0]}, but {policy.origin} requires {required}: a "
            "release of less would be refused; make privacy.k there smaller"
        )
    return tuple(wanted)


def _out_of_reach(measurer: Measurer, problem: Problem, method: Method) -> Outcome | None:
    """The answer without a search, where it is certain that nothing is feasible.

    Where everything may be suppressed, that is left to the search. So it is for every k:
    some k is always reached.
    """
    certain = measurer.histogram.people < problem.k or bool(measurer.unreachable)
    limited = method.given_k and any(c.coarsest.cuts for c in problem.space.columns)
    if problem.budget >= problem.rows or not (certain or limited):
        return None
    return coarsest(problem, method.key, method.aims(problem), certain=certain)


def result_of(
    measurer: Measurer,
    outcome: Outcome,
    seed: int,
    effort: dict[str, int],
    seconds: float,
    *,
    released: Sequence[Sequence[Ints]],
    k: int | None = None,
    scored_for: Sequence[int | None] | None = None,
) -> SearchResult:
    """An outcome as a result.

    It was searched for `k`, and each solution was scored for a k of its own; None is the
    policy's. `released` has the released rows of every group, by solution and column.
    """
    preference, notes = measurer.preference, outcome.notes
    if preference is None and "ach" in outcome.objectives:
        preference, notes = DEFAULT_PREFERENCE, (*notes, NO_PREFERENCE)
    # A search may have seen fewer cuts than the columns have.
    found = Batch(measurer.space, outcome.solutions.ids)
    scored_for = scored_for or [None] * len(found)
    schemes = [replace(found.scheme(i), required_k=own) for i, own in enumerate(scored_for)]
    solutions = measurer.solutions(schemes, outcome.scores, preference, released)
    return _result(
        measurer,
        solutions,
        outcome.chosen,
        notes,
        k or measurer.required_k,
        method=outcome.method,
        objectives=outcome.objectives,
        seed=seed,
        evaluations=effort,
        seconds=seconds,
        stopped=outcome.stopped,
    )


def _result(
    measurer: Measurer,
    solutions: Sequence[Solution],
    chosen: int | None,
    notes: Sequence[str],
    k: int,
    **search: Any,
) -> SearchResult:
    """What was found for a k, with what the policy and its source say about it."""
    policy = measurer.policy
    if policy.section.privacy is None:
        notes = (*notes, NO_PRIVACY)
    return SearchResult(
        solutions=tuple(solutions),
        chosen=chosen,
        notes=(*measurer.cautions, *notes, *_alphabetical(measurer.space.columns)),
        policy=policy.fingerprint,
        source=measurer.account_of_source(),
        required_k=k,
        choices={k: chosen},
        required=tuple(model.describe() for model in measurer.models),
        unreachable=measurer.unreachable if chosen is None else (),
        policy_parts=policy.parts,
        **search,
    )


def start_walk(measurer: Measurer, document: object, given: int | None) -> Walk:
    """A walk from the policy's start to its preference, or the saved walk of a document."""
    section = measurer.policy.section.search
    settings = WalkSettings(**(section.given if section.method == WALK else {}))
    aim = measurer.preference or DEFAULT_PREFERENCE
    problem = Problem.over(measurer.walker, measurer.required_k, aim, "nwp")
    problem, notes = problem.with_cuts(measurer.histogram.marginals, settings.cuts)
    nothing = _out_of_reach(measurer, problem, METHODS["auto"])
    seed = section.seed if given is None else given
    measurer.walker.begin(_search_of(measurer, METHODS[WALK], settings, seed, measurer.required_k))
    walk = Walk(
        problem,
        start=settings.start_towards(aim),
        n=settings.points,
        minimizer=None if nothing is None else lambda _: nothing,
        settings=settings,
        seed=seed,
        limits=Limits(section.seconds, section.patience),
        notes=notes,
    )
    return walk if document is None else walk.resume(document, given)


def walked(measurer: Measurer, walk: Walk, chosen: bytes | None, seconds: float) -> SearchResult:
    """The efficient solutions of a walk as a result."""
    outcome, walker = walk.outcome(chosen), measurer.walker
    effort = asdict(walker.effort)
    released = walker.released_rows(Batch(measurer.space, outcome.solutions.ids))
    found = result_of(measurer, outcome, walk.seed, effort, seconds, released=released)
    _end(measurer, walker, found, effort, walker.suppression)
    return found


def _search_of(
    measurer: Measurer,
    method: Method,
    settings: Any,
    seed: int,
    k: int,
) -> Search:
    """A search as the workspace names it."""
    required = None if measurer.policy.section.privacy is None else measurer.required_k
    preference = measurer.preference
    if preference is None and method.default_loss is None:
        preference = DEFAULT_PREFERENCE
    return Search(method.key, seed, asdict(settings), k, required, preference)


def _end(
    measurer: Measurer,
    evaluator: Evaluator,
    found: SearchResult,
    effort: dict[str, int],
    rule: Suppression,
) -> None:
    """Says in the workspace how a search ended, and what its result lists."""
    solutions = measurer.space.batch([each.scheme for each in found.solutions])
    belows = [
        each.scheme.required_k or measurer.required_k if rule.budget else rule.below
        for each in found.solutions
    ]
    evaluator.end(found.seconds, found.stopped, effort, solutions, belows)


class SearchRun:
    """The searches of one call: for one k or several, on one histogram.

    Without models beyond k one evaluator serves all of them, so nothing is measured twice. With
    models it depends on k which classes are bad, and so does every measurement.
    """

    def __init__(
        self,
        measurer: Measurer,
        method: Method,
        settings: Any,
        seed: int,
        watch: Watch,
        *,
        several: bool,
    ) -> None:
        self._measurer = measurer
        self._method, self._settings = method, settings
        self._seed, self._watch = seed, watch
        self._several = several
        self._loss = method.loss(measurer.policy.section.search.loss)
        self._stack = ExitStack()
        self._shared: Evaluator | None = None
        self._every_k: EveryK | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()

    def search_for_each(self, wanted: Sequence[int]) -> list[SearchResult]:
        """What the method finds for every k; what one does not use of its seconds, others may."""
        watch, seconds, found = self._watch, self._watch.seconds, list[SearchResult]()
        try:
            for number, k in enumerate(wanted, 1):
                if number > 1:
                    watch.begin_again()
                if seconds is not None:
                    watch.seconds = seconds * number / len(wanted)
                found.append(self._search_for(k))
        finally:
            watch.seconds = seconds
        return found

    def _search_for(self, k: int) -> SearchResult:
        rule = self._rule(k)
        found = self._searched(k, rule)
        if found.solution is None or found.solution.marked_hold is not False:
            return found
        if found.stopped in UNREPEATABLE:  # nobody waits for a second search
            return with_publishable_choice(found, MARKED_AND_ENDED)
        self._watch.begin_again()
        found = with_publishable_choice(found, MARKED_FALL_SHORT)
        return better_of(found, self._searched(k, replace(rule, budget=0)))

    def _searched(self, k: int, rule: Suppression) -> SearchResult:
        measurer, method = self._measurer, self._method
        evaluator = self._evaluator(rule)
        before = replace(evaluator.effort)
        evaluator.begin(_search_of(measurer, method, self._settings, self._seed, k), rule)
        wish = measurer.preference or DEFAULT_PREFERENCE
        problem = Problem.over(evaluator, k, wish, self._loss, rule)
        cuts = getattr(self._settings, "cuts", None)
        problem, notes = problem.with_cuts(measurer.histogram.marginals, cuts)
        outcome, seconds = _out_of_reach(measurer, problem, method), 0.0
        scored_for: list[int | None] | None = None
        own: Rule = rule
        effort = _since(before, evaluator)
        if outcome is None:
            every_k = self._every_k if rule.budget else None
            if every_k is not None:
                start = every_k.starts(problem)
                problem = replace(problem, start=start if len(start) else None)
                problem = every_k.watching(problem, rule, by_levels=method.by_levels)
            outcome, seconds = method.solve(problem, self._settings, self._seed, self._watch)
            outcome = replace(outcome, notes=(*outcome.notes, *notes))
            effort = _since(before, evaluator)
            if every_k is not None:
                outcome = every_k.listed(problem, outcome)
                scored_for = self._scored_for(evaluator, outcome, k)
                own = EachForItsK(outcome.scores.k, rule.budget)
                if not any(note.startswith("exact") for note in outcome.notes):
                    outcome = replace(outcome, notes=(*outcome.notes, OTHER_K.format(k=k)))
            elif rule.budget and method.given_k and k != measurer.required_k:
                scored_for = [k] * len(outcome.solutions)
        released = evaluator.released_rows(Batch(measurer.space, outcome.solutions.ids), own)
        found = result_of(
            measurer,
            outcome,
            self._seed,
            effort,
            seconds,
            released=released,
            k=k,
            scored_for=scored_for,
        )
        if not (method.given_k or not rule.budget or scored_for is not None):
            found = self._with_released(found, outcome, k)
        _end(measurer, evaluator, found, effort, rule)
        return found

    def _rule(self, k: int) -> Suppression:
        """The suppression rule of the method in a search for a k."""
        if self._method.given_k:
            return self._measurer.suppression_for(k)
        limit = self._measurer.policy.section.suppression.limit
        return Suppression.up_to(limit, self._measurer.histogram.rows)

    def _evaluator(self, rule: Suppression) -> Evaluator:
        measurer, method = self._measurer, self._method
        if self._shared is not None:
            return self._shared
        alone = bool(measurer.models)
        every_k = not alone and rule.budget > 0 and (method.lists_every_k or self._several)
        made = measurer.evaluator_for(rule, self._loss, every_k=every_k)
        self._stack.enter_context(made)
        if not alone:
            self._shared = made
        if every_k and method.lists_every_k:
            self._every_k = EveryK(made, by_ach=method.default_loss is None)
        return made

    def _scored_for(self, evaluator: Evaluator, outcome: Outcome, k: int) -> list[int | None]:
        """The k that each solution was scored for; None where the policy's k leaves out the same.

        A higher k leaves out the same classes and more, so that as many rows are the same rows.
        """
        measurer, own = self._measurer, outcome.scores
        batch = Batch(measurer.space, outcome.solutions.ids)
        found: list[int | None] = own.k.tolist()
        for known, name in ((k, k), (measurer.required_k, None)):
            scores = evaluator.score(batch, measurer.suppression_for(known))
            for i in np.flatnonzero(scores.suppressed == own.suppressed).tolist():
                found[i] = name
        return found

    def _with_released(self, found: SearchResult, outcome: Outcome, k: int) -> SearchResult:
        """Solutions for every k under models beyond k, with those that a release for k has.

        The search left out as much as it may: a node that satisfies the models then leaves out
        the same for its own k. For k itself it may leave out less.
        """
        measurer = self._measurer
        with measurer.evaluator_for(measurer.suppression_for(k), self._loss) as evaluator:
            batch = Batch(measurer.space, outcome.solutions.ids)
            scores, released = evaluator.score(batch), evaluator.released_rows(batch)
        for_k = None if k == measurer.required_k else k
        as_released = result_of(
            measurer,
            replace(outcome, scores=scores),
            self._seed,
            found.evaluations,
            found.seconds,
            released=released,
            k=k,
            scored_for=[for_k] * len(scores),
        )
        own = [
            replace(each, scheme=replace(each.scheme, required_k=k))
            for each, k in zip(found.solutions, outcome.scores.k.tolist(), strict=True)
            if k
        ]
        listed = (*as_released.solutions, *own)
        found = together([replace(found, solutions=listed)], measurer.required_k)
        # One whose marked rows fall short is the best too: what follows looks for another.
        fit = [i for i, s in enumerate(found.solutions) if s.feasible or s.marked_hold is False]
        best = min(fit, key=lambda i: found.aim(found.solutions[i]), default=None)
        return replace(found, chosen=best, choices={k: best})


def _since(before: Effort, evaluator: Evaluator) -> dict[str, int]:
    """What was evaluated since then."""
    then = asdict(before)
    return {name: number - then[name] for name, number in asdict(evaluator.effort).items()}


def refuse_method(own: str, method: str | None) -> None:
    """Refuses what chooses between searches for one partition per column."""
    if method not in (None, own):
        raise ArgumentError(
            f"`method` is {method!r}, but the policy says recoding: multidimensional, which has "
            "one search; leave it out, or say recoding: global"
        )


def search_trees(
    measurer: Measurer,
    wanted: Sequence[int],
    seed: int,
    watch: Watch,
    settings: TreeSettings,
) -> SearchResult:
    """The best tree that was found for every k; `wanted` is ascending."""
    refuse_with_tree(measurer.policy)
    found = []
    for k in wanted:
        watch.begin_again()
        found.append(_searched_tree(measurer, k, seed, watch, settings))
    return together(found, measurer.required_k) if len(found) > 1 else found[0]


def _searched_tree(
    measurer: Measurer, k: int, seed: int, watch: Watch, settings: TreeSettings
) -> SearchResult:
    begun, policy = time.perf_counter(), measurer.policy
    loss = policy.section.search.loss or "nwp"
    watch.start()
    scheme, queries = cut_tree(
        measurer.histogram,
        k,
        measurer.models,
        sensitive_hierarchies(policy, measurer.source),
        watch,
        labels=policy.section.search.labels,
        effort=settings.effort,
        by_weight=loss != "glm",
        workers=measurer.workers,
    )
    own = None if k == measurer.required_k else k
    preference = measurer.preference or DEFAULT_PREFERENCE
    solution = measurer.measured_tree(replace(scheme, required_k=own), preference)
    # As other searches, it shows only those further measures that it was asked for.
    unasked = {*further()} - {loss, preference.loss_by, preference.bias_by}
    scores = {name: value for name, value in solution.scores.items() if name not in unasked}
    solution = replace(solution, scores=scores)
    return _result(
        measurer,
        [solution],
        None if solution.feasible is False else 0,
        _about_minimality(measurer, scheme, k),
        k,
        method=str(Recoding.MULTIDIMENSIONAL),
        objectives=(loss, "k"),
        seed=seed,
        evaluations=asdict(Effort(asked=1, distinct=1, queries=queries)),
        seconds=time.perf_counter() - begun,
        stopped=watch.stopped,
    )


def instead_of(measurer: Measurer, result: SearchResult) -> str | None:
    """What multidimensional recoding would lose at the k of a global search, in a line.

    None where it would not lose less, is refused, or may take more than about two seconds. The
    number of cells decides that, so the same table has the same line on every machine.
    """
    policy, chosen = measurer.policy, result.solution
    loss = policy.section.search.loss or "nwp"
    has_more = bool(measurer.models) or measurer.histogram.tally.has_movers
    cells = measurer.histogram.tally.codes.size
    if (
        chosen is None
        or chosen.scheme.tree is not None
        or not result.reproducible
        or policy.section.privacy is None
        or loss not in ("nwp", "glm")
        or cells > (MOST_CELLS_WITH_MODELS if has_more else MOST_CELLS)
    ):
        return None
    try:
        refuse_with_tree(policy)
        found = _searched_tree(
            measurer, result.required_k, result.seed, Watch(), TreeSettings("fast")
        )
    except SqlanonError:
        return None
    tree = found.solution
    if tree is None:
        return None
    names = ("glm_share" if loss == "glm" else "nwp", "necd")
    (own, own_bias), (lost, bias) = (
        [each.scores[name] or 0 for name in names] for each in (chosen, tree)
    )
    if lost >= own:
        return None
    return (
        f"multidimensional recoding would lose {lost:.1%} instead of {own:.1%} at "
        f"k = {result.required_k:,}, with NECD {bias:.4f} instead of {own_bias:.4f}: "
        "search.recoding: multidimensional (docs/multidimensional.md)"
    )


def _about_minimality(measurer: Measurer, scheme: Scheme, k: int) -> tuple[str, ...]:
    """What the regions that stayed whole say."""
    assert scheme.tree is not None
    labels = measurer.policy.section.search.labels
    found = uncut(measurer.histogram, scheme.tree, labels, k)
    if found is None or not found.large:
        return ()
    said = (
        f"{found.large:,} of {found.regions:,} regions have {2 * k:,} people or more and stay whole"
    )
    if measurer.models:
        said += (
            f"; {found.by_k:,} of them would be cut if k = {k} alone were required, which says "
            "something about the sensitive values in them"
        )
    return (said,)
