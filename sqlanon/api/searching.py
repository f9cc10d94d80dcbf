"""The searches of a policy over its source, and walks along reference directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cached_property

import numpy as np

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
    preference_of,
    problem_for,
    resumed,
    run_method,
    walk_settings,
)
from sqlanon.api.utility import Assessing
from sqlanon.arguments import number_from, optional, refusal, whole_number
from sqlanon.domain import ValueDomain
from sqlanon.model import Kind, LossName
from sqlanon.scheme import Batch, Column
from sqlanon.search.candidates import MOST
from sqlanon.search.coarsest import coarsest
from sqlanon.search.outcome import UNREPEATABLE, Limits, Outcome, Watch
from sqlanon.search.problem import Problem, exact_loss
from sqlanon.search.reference_direction import Exploration
from sqlanon.suppression import Suppression

LEFT_OUT_FOR_EVERY_K = (
    "for every k the smallest classes are left out up to the limit; a release leaves out only what "
    "falls short of the policy, so measure may tell another k and fewer rows left out. Chosen is "
    "what loses least as a release; search.given_k, or optimal, searches for that alone"
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
        method: str | None = None,
        seed: int | None = None,
        watch: Watch | None = None,
    ) -> SearchResult:
        """Searches as the policy says; `method` and `seed` replace the policy's.

        Another method than the policy's runs with its default settings. A `watch` follows the
        search and can end it early; without one the policy's seconds and patience apply.
        """
        section = self.policy.section.search
        chosen, settings = method_of(self.policy, method)
        given = optional(whole_number, "seed", seed, 0)
        number = section.seed if given is None else given
        if not isinstance(watch, Watch | None):
            raise refusal("watch", watch, "a sqlanon.Watch")
        watch = watch or Watch(seconds=section.seconds, patience=section.patience)
        loss = chosen.loss(section)
        check_values(self.policy, self.source, self.space)

        def run(rule: Suppression) -> SearchResult:
            with self._evaluator_for(chosen, rule) as evaluator:
                problem = problem_for(evaluator, self.required_k, self.preference, loss)
                problem, notes = bounded(problem, self.histogram, chosen.cuts)
                outcome, seconds = self._out_of_reach(problem, chosen), 0.0
                if outcome is None:
                    outcome, seconds = run_method(chosen, problem, settings, number, watch)
                    outcome = replace(outcome, notes=(*outcome.notes, *notes))
                effort = asdict(evaluator.effort)
            return self._result(outcome, number, effort, seconds)

        found = run(self._rule_of(chosen))
        if not chosen.given_k and self.suppression.budget:
            best = self._best_released(found, chosen, loss)
            found = replace(found, chosen=best, notes=(*found.notes, LEFT_OUT_FOR_EVERY_K))
        if found.solution is None or found.solution.marked_hold is not False:
            return found
        if found.stopped in UNREPEATABLE:  # nobody waits for a second search
            return with_publishable_choice(found, MARKED_AND_ENDED)
        watch.begin_again()
        found = with_publishable_choice(found, MARKED_FALL_SHORT)
        return better_of(found, run(replace(self._rule_of(chosen), budget=0)))

    def _best_released(self, found: SearchResult, method: Method, loss: LossName) -> int | None:
        """Of solutions for every k the one that loses least when it is released, if any may be."""
        batch = self.space.batch([solution.scheme for solution in found.solutions])
        with self._evaluator_for(method, self.suppression) as evaluator:
            problem = problem_for(evaluator, self.required_k, self.preference, loss)
            scores = evaluator.score(batch)
        losses = exact_loss(problem, scores).tolist()
        fit = np.flatnonzero(problem.feasible(scores)).tolist()
        return min(fit, key=lambda i: (losses[i], -int(scores.k[i])), default=None)

    def _out_of_reach(self, problem: Problem, method: Method) -> Outcome | None:
        """The answer without a search, where it is certain that nothing is feasible.

        Where everything may be suppressed, that is left to the search. So it is for every k:
        some k is always reached.
        """
        certain = self.histogram.people < self.required_k or bool(self._unreachable())
        limited = method.given_k and any(c.coarsest.cuts for c in problem.space.columns)
        if problem.budget >= problem.rows or not (certain or limited):
            return None
        aim = "ach" if method.default_loss is None else problem.loss.value
        return coarsest(problem, method.run.__name__, (aim, "k"), certain=certain)

    def _result(
        self, outcome: Outcome, seed: int, effort: dict[str, int], seconds: float
    ) -> SearchResult:
        preference, notes = self.preference, outcome.notes
        if preference is None and "ach" in outcome.objectives:
            preference, notes = DEFAULT_PREFERENCE, (*notes, NO_PREFERENCE)
        if self.policy.section.privacy is None:
            notes = (*notes, NO_PRIVACY)
        notes = (*self.cautions, *notes, *alphabetical(self.space.columns))
        # A search may have seen fewer cuts than the columns have.
        found = Batch(self.space, outcome.solutions.ids)
        solutions = self._solutions(found, outcome.scores, preference)
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
            required_k=self.required_k,
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
        return self._result(outcome, exploration.seed, asdict(self._walker.effort), seconds)
