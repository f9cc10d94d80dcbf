"""The searches of a policy over its source, and walks along reference directions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from sqlanon.api.every_k import EveryK
from sqlanon.api.marked import (
    MARKED_AND_ENDED,
    MARKED_FALL_SHORT,
    better_of,
    with_publishable_choice,
)
from sqlanon.api.publishable import cautions, check_values
from sqlanon.api.result import SearchResult
from sqlanon.api.search import (
    DEFAULT_PREFERENCE,
    METHODS,
    NO_PREFERENCE,
    WALK,
    WALK_START,
    Method,
    bounded,
    method_of,
    objectives_of,
    preference_of,
    problem_for,
    resumed,
    run_method,
    walk_settings,
)
from sqlanon.api.several_k import together
from sqlanon.api.utility import Assessing
from sqlanon.arguments import number_from, optional, refusal, whole_number
from sqlanon.domain import ValueDomain
from sqlanon.errors import ArgumentError
from sqlanon.evaluate import Effort, Evaluator
from sqlanon.measurement import Ints
from sqlanon.model import Kind, LossName
from sqlanon.scheme import Batch, Column
from sqlanon.search.candidates import MOST
from sqlanon.search.coarsest import coarsest
from sqlanon.search.outcome import UNREPEATABLE, Limits, Outcome, Watch
from sqlanon.search.problem import Problem
from sqlanon.search.reference_direction import Exploration
from sqlanon.suppression import EachForItsK, Rule, Suppression

OTHER_K = (
    "searched for k = {k}; solutions for another k were met on the way and are scored with the "
    "rows left out for their own k; `--k` (k=[…] in Python) searches for several"
)
NO_PRIVACY = (
    "the policy requires no privacy, so nothing here is called feasible, and publish will refuse it"
)


def alphabetical(columns: Sequence[Column]) -> list[str]:
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


class Searching(Assessing):
    """What finds solutions."""

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """What publish will refuse whatever a search finds; a result has it in its notes."""
        return tuple(cautions(self.policy, self.source, self.histogram.rows))

    def search(
        self,
        *,
        k: int | Sequence[int] | None = None,
        method: str | None = None,
        seed: int | None = None,
        effort: str | None = None,
        watch: Watch | None = None,
    ) -> SearchResult:
        """Searches as the policy says; `method`, `seed` and `effort` replace the policy's.

        `k` is searched for instead of the policy's k, which is the least that it may be; of
        several k each has an answer in the result. `effort` is "default" or "thorough", for auto
        only. Another method than the policy's runs with its default settings. A `watch` follows
        the search and can end it early; without one the policy's seconds and patience apply.
        """
        section = self.policy.section.search
        wanted = self._wanted_k(k)
        chosen, settings = method_of(self.policy, method, effort)
        given = optional(whole_number, "seed", seed, 0)
        number = section.seed if given is None else given
        if not isinstance(watch, Watch | None):
            raise refusal("watch", watch, "a sqlanon.Watch")
        watch = watch or Watch(seconds=section.seconds, patience=section.patience)
        check_values(self.policy, self.source, self.space)
        with _Run(self, chosen, settings, number, watch, several=len(wanted) > 1) as run:
            found = run.search_for_each(wanted)
        return found[0] if len(found) == 1 else together(found, self.required_k)

    def _wanted_k(self, given: int | Sequence[int] | None) -> tuple[int, ...]:
        """The k to search for, ascending."""
        if given is None:
            return (self.required_k,)
        several = [given] if isinstance(given, int | str) else given
        wanted = sorted({whole_number("k", each, 1) for each in several})
        if not wanted:
            raise refusal("k", given, "a whole number, or several")
        if self.policy.section.privacy is None:
            raise ArgumentError(
                f"`k` is {wanted[0]}, but {self.policy.origin} requires no privacy; write there "
                f"`privacy: {{k: {wanted[0]}}}`"
            )
        if wanted[0] < self.required_k:
            raise ArgumentError(
                f"`k` is {wanted[0]}, but {self.policy.origin} requires {self.required_k}: a "
                "release of less would be refused; make privacy.k there smaller"
            )
        return tuple(wanted)

    def _out_of_reach(self, problem: Problem, method: Method) -> Outcome | None:
        """The answer without a search, where it is certain that nothing is feasible.

        Where everything may be suppressed, that is left to the search. So it is for every k:
        some k is always reached.
        """
        certain = self.histogram.people < problem.k or bool(self._unreachable())
        limited = method.given_k and any(c.coarsest.cuts for c in problem.space.columns)
        if problem.budget >= problem.rows or not (certain or limited):
            return None
        aims = objectives_of(method, problem)
        return coarsest(problem, method.run.__name__, aims, certain=certain)

    def _result(
        self,
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
        k = k or self.required_k
        preference, notes = self.preference, outcome.notes
        if preference is None and "ach" in outcome.objectives:
            preference, notes = DEFAULT_PREFERENCE, (*notes, NO_PREFERENCE)
        if self.policy.section.privacy is None:
            notes = (*notes, NO_PRIVACY)
        notes = (*self.cautions, *notes, *alphabetical(self.space.columns))
        # A search may have seen fewer cuts than the columns have.
        found = Batch(self.space, outcome.solutions.ids)
        scored_for = scored_for or [None] * len(found)
        solutions = self._solutions(found, outcome.scores, preference, scored_for, released)
        return SearchResult(
            method=outcome.method,
            objectives=outcome.objectives,
            seed=seed,
            solutions=tuple(solutions),
            chosen=outcome.chosen,
            evaluations=effort,
            seconds=seconds,
            stopped=outcome.stopped,
            reproducible=outcome.reproducible,
            notes=notes,
            policy=self.policy.fingerprint,
            source=self._account_of_source(),
            required_k=k,
            choices={k: outcome.chosen},
            required=tuple(model.describe() for model in self.models),
            unreachable=self._unreachable() if outcome.chosen is None else (),
            policy_parts=self.policy.parts,
        )

    def explore(self, document: object = None, *, seed: int | None = None) -> Exploration:
        """A walk along reference directions, from the policy's start to its preference.

        `document` resumes a walk that `to_json` wrote, with the seed, start and points of that
        walk; another `seed` or another preference is refused. The policy's seconds and patience
        are for every step. The walk scores schemes with this object, which must stay open.
        """
        section = self.policy.section.search
        seed = optional(whole_number, "seed", seed, 0)
        check_values(self.policy, self.source, self.space)
        cuts = MOST if section.cuts is None or section.method != WALK else section.cuts
        problem = problem_for(self._walker, self.required_k, self.preference, LossName.NWP)
        problem, notes = bounded(problem, self.histogram, cuts)
        limits, settings = Limits(section.seconds, section.patience), walk_settings(section)
        if document is not None:
            return resumed(document, problem, seed, limits, settings, notes)
        aim, nothing = problem.preference, self._out_of_reach(problem, METHODS["auto"])
        start = WALK_START if section.start is None else preference_of(section.start)
        return Exploration(
            problem,
            start=replace(aim, loss=start.loss, bias=start.bias),
            preference=aim,
            n=section.points or 10,
            minimizer=None if nothing is None else lambda _: nothing,
            settings=settings,
            seed=section.seed if seed is None else seed,
            limits=limits,
            notes=notes,
        )

    def explored(
        self, exploration: Exploration, chosen: bytes | None = None, seconds: float = 0.0
    ) -> SearchResult:
        """The efficient solutions of a walk as a result; `chosen` is the key of the one taken.

        Where no step met a feasible solution, those that come closest.
        """
        if not isinstance(exploration, Exploration):
            raise refusal("exploration", exploration, "the walk that explore() returned")
        seconds = number_from("seconds", seconds, 0)
        outcome = exploration.outcome(chosen)
        effort = asdict(self._walker.effort)
        released = self._walker.released_rows(Batch(self.space, outcome.solutions.ids))
        return self._result(outcome, exploration.seed, effort, seconds, released=released)


class _Run:
    """The searches of one call: for one k or several, on one histogram.

    Without models beyond k one evaluator serves all of them, so nothing is measured twice. With
    models it depends on k which classes are bad, and so does every measurement.
    """

    def __init__(
        self,
        of: Searching,
        method: Method,
        settings: Any,
        seed: int,
        watch: Watch,
        *,
        several: bool,
    ) -> None:
        self._of = of
        self._method, self._settings = method, settings
        self._seed, self._watch = seed, watch
        self._several = several
        self._loss = method.loss(of.policy.section.search)
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
        rule = self._of._rule_of(self._method, k)
        found = self._searched(k, rule)
        if found.solution is None or found.solution.marked_hold is not False:
            return found
        if found.stopped in UNREPEATABLE:  # nobody waits for a second search
            return with_publishable_choice(found, MARKED_AND_ENDED)
        self._watch.begin_again()
        found = with_publishable_choice(found, MARKED_FALL_SHORT)
        return better_of(found, self._searched(k, replace(rule, budget=0)))

    def _searched(self, k: int, rule: Suppression) -> SearchResult:
        of, method = self._of, self._method
        evaluator = self._evaluator(rule)
        before = replace(evaluator.effort)
        problem = problem_for(evaluator, k, of.preference, self._loss, rule)
        problem, notes = bounded(problem, of.histogram, method.cuts)
        outcome, seconds = of._out_of_reach(problem, method), 0.0
        scored_for: list[int | None] | None = None
        own: Rule = rule
        effort = _since(before, evaluator)
        if outcome is None:
            every_k = self._every_k if rule.budget else None
            if every_k is not None:
                start = every_k.starts(problem)
                problem = replace(problem, start=start if len(start) else None)
                problem = every_k.watching(problem, rule, by_levels=method.cuts is None)
            outcome, seconds = run_method(method, problem, self._settings, self._seed, self._watch)
            outcome = replace(outcome, notes=(*outcome.notes, *notes))
            effort = _since(before, evaluator)
            if every_k is not None:
                outcome = every_k.listed(problem, outcome)
                scored_for = self._scored_for(evaluator, outcome, k)
                own = EachForItsK(outcome.scores.k, rule.budget)
                if not any(note.startswith("exact") for note in outcome.notes):
                    outcome = replace(outcome, notes=(*outcome.notes, OTHER_K.format(k=k)))
            elif rule.budget and method.given_k and k != of.required_k:
                scored_for = [k] * len(outcome.solutions)
        released = evaluator.released_rows(Batch(of.space, outcome.solutions.ids), own)
        found = of._result(
            outcome, self._seed, effort, seconds, released=released, k=k, scored_for=scored_for
        )
        if method.given_k or not rule.budget or scored_for is not None:
            return found
        return self._with_released(found, outcome, k)

    def _evaluator(self, rule: Suppression) -> Evaluator:
        of, method = self._of, self._method
        if self._shared is not None:
            return self._shared
        alone = bool(of.models)
        every_k = not alone and rule.budget > 0 and (method.lists_every_k or self._several)
        made = of._evaluator_for(method, rule, every_k=every_k)
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
        of, own = self._of, outcome.scores
        batch = Batch(of.space, outcome.solutions.ids)
        found: list[int | None] = own.k.tolist()
        for known, name in ((k, k), (of.required_k, None)):
            scores = evaluator.score(batch, of._suppression_for(known))
            for i in np.flatnonzero(scores.suppressed == own.suppressed).tolist():
                found[i] = name
        return found

    def _with_released(self, found: SearchResult, outcome: Outcome, k: int) -> SearchResult:
        """Solutions for every k under models beyond k, with those that a release for k has.

        The search left out as much as it may: a node that satisfies the models then leaves out
        the same for its own k. For k itself it may leave out less.
        """
        of = self._of
        with of._evaluator_for(self._method, of._suppression_for(k)) as evaluator:
            batch = Batch(of.space, outcome.solutions.ids)
            scores, released = evaluator.score(batch), evaluator.released_rows(batch)
        for_k = None if k == of.required_k else k
        as_released = of._result(
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
        found = together([replace(found, solutions=listed)], of.required_k)
        # One whose marked rows fall short is the best too: what follows looks for another.
        fit = [i for i, s in enumerate(found.solutions) if s.feasible or s.marked_hold is False]
        best = min(fit, key=lambda i: found.aim(found.solutions[i]), default=None)
        return replace(found, chosen=best, choices={k: best})


def _since(before: Effort, evaluator: Evaluator) -> dict[str, int]:
    """What was evaluated since then."""
    then = asdict(before)
    return {name: number - then[name] for name, number in asdict(evaluator.effort).items()}
