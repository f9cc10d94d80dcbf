"""The reference direction approach (Dewri et al., TKDE, section 6): exploring step by step.

From a point q_t towards the preference point q̄ of the publisher, n reference points
q̄_m = q_t + (m/n)(q̄ − q_t) each ask for the solution with least ach. The publisher looks at
the solutions, takes one, or chooses one as q_{t+1} and goes on from there.

Here ach is minimized plainly, ties broken by least pref_dev: Example 5 of the paper answers
G_2. (NSGA-II by itself prefers the higher k at equal ach: Example 7 answers G_8.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from sqlanon.arguments import refusal, whole_number
from sqlanon.errors import SearchError
from sqlanon.evaluate.pulse import Unfinished
from sqlanon.metrics import Scores
from sqlanon.model import counted
from sqlanon.preference import Preference
from sqlanon.scheme import Batch
from sqlanon.search.coarsest import coarsest_scored
from sqlanon.search.front import Front, bits_of
from sqlanon.search.nsga2 import Nsga2Settings, nsga2, objectives
from sqlanon.search.outcome import UNREPEATABLE, Limits, Outcome, Progress, Watch
from sqlanon.search.polish import place_of, polish
from sqlanon.search.problem import Problem
from sqlanon.search.reference_step import (
    Step,
    Visit,
    check_point,
    directed,
    points_of,
    written,
)
from sqlanon.search.saved_walk import (
    Catalogue,
    read_history,
    read_point,
    write_models,
    write_point,
    write_visit,
)
from sqlanon.search.walk_document import VERSION, read_walk
from sqlanon.search.walk_memory import Memory

METHOD = "reference-direction"

Minimizer = Callable[[Problem], Outcome]
"""Minimizes ach for the preference of the problem it is given."""

SHORT = Nsga2Settings(evaluations=5_000)
"""One minimization of several that build on each other needs less than one alone."""

MOST_POINTS = 100_000
"""Reference points of a step at most."""
POLISHING = 20_000
"""Schemes that polishing may ask for; it ends much earlier by itself."""

NO_LIMITS = Limits()


class Exploration:
    """A publisher's walk over the efficient solutions of a problem.

    `start` is q_1, `preference` q̄ and `n` the number of reference points of a step, unless a
    step says otherwise. All minimizations share what they evaluate: a solution that a step
    returns is never dominated, in NWP and NECD, by a feasible one met so far.

    A `minimizer` replaces the short run of NSGA-II, which starts beside the best solutions
    known and depends on `seed`, the number of the step and that of the reference point.
    What it found is polished. `limits` are for every step without a watch of its own. `notes`
    are what the outcome is to say besides.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        start: Preference,
        preference: Preference,
        n: int = 10,
        minimizer: Minimizer | None = None,
        settings: Nsga2Settings = SHORT,
        seed: int = 0,
        limits: Limits = NO_LIMITS,
        notes: tuple[str, ...] = (),
    ) -> None:
        check_point("the start", start)
        check_point("the preference", preference)
        self.problem = problem
        self.start = start
        self.preference = preference
        self.n = n
        self.seed = seed
        self.limits = limits
        self.notes = notes
        self.history: list[Visit] = []
        self._minimizer = minimizer
        self._settings = settings
        self._memory = Memory(problem, preference)

    @property
    def n(self) -> int:
        """The number of reference points of a step."""
        return self._n

    @n.setter
    def n(self, number: int) -> None:
        self._n = whole_number("n", number, 1)

    @property
    def origin(self) -> Preference:
        """q_t: the point of the solution chosen last, at first q_1."""
        for visit in reversed(self.history):
            if visit.chosen is not None:
                return visit.step.point(visit.chosen)
        return self.start

    @property
    def archive(self) -> Front:
        """The strongly efficient feasible solutions of everything evaluated, by NWP."""
        return self._memory.efficient

    @property
    def stopped(self) -> str:
        """Why the steps ended; what keeps any of them from being repeated comes first."""
        ended = {visit.step.stopped for visit in self.history}
        return next((why for why in (*UNREPEATABLE, "patience") if why in ended), "finished")

    def outcome(self, chosen: bytes | None = None) -> Outcome:
        """All efficient solutions, `chosen` the key of the one that was taken.

        When nothing feasible was met, those that come closest to the preference and to what
        is required.
        """
        if not isinstance(chosen, bytes | None):
            raise refusal("chosen", chosen, "the key of a solution, as step.solutions.keys[0]")
        closest = self._memory.closest
        front = self.archive if len(self.archive) else closest
        if not len(front):
            raise SearchError("the walk has found nothing yet; take a step first")
        keys, aim = front.solutions.keys, self.preference
        if chosen is not None and chosen not in keys:
            raise SearchError(self._not_listed(chosen))
        return Outcome(
            method=METHOD,
            solutions=front.solutions,
            scores=front.scores,
            chosen=None if chosen is None else keys.index(chosen),
            objectives=objectives(self.problem) if front is closest else (aim.loss_by, aim.bias_by),
            stopped=self.stopped,
            reproducible=self.stopped not in UNREPEATABLE,
            notes=self.notes,
        )

    def _not_listed(self, chosen: bytes) -> str:
        if any(chosen in visit.step.solutions.keys for visit in self.history):
            return (
                "a later step of the walk found a solution with no more loss and no more bias "
                "than the chosen one; choose one of the last step"
            )
        return "no step of the walk found the chosen solution; give a key of Step.solutions"

    def step(self, n: int | None = None, watch: Watch | None = None) -> Step:
        """Goes along the direction from q_t to q̄.

        A watch that says stop ends the step early, with the best of what is known for the
        reference points that are left. Its patience ends the search for one reference point,
        and the next one follows: the best ach of different ones cannot be compared.
        """
        number = self.n if n is None else whole_number("n", n, 1)
        if not isinstance(watch, Watch | None):
            raise refusal("watch", watch, "a sqlanon.Watch")
        watch = watch or Watch(seconds=self.limits.seconds, patience=self.limits.patience)
        origin = self.origin
        references = directed(origin, self.preference, number)
        watch.start()
        with self.problem.pulse.heard_by(watch.within_step):
            stopped = self._minimized(references, watch)
        if not len(self.archive) and not len(self._memory.closest):
            self._memory.keep(*coarsest_scored(self.problem))
        found = self._memory.answer(origin, references, stopped)
        self.history.append(Visit(found))
        return found

    def _minimized(self, references: tuple[Preference, ...], watch: Watch) -> str:
        """Searches for each reference point and returns why that ended."""
        stopped = "finished"
        for m, reference in enumerate(references):
            try:
                outcome = self._minimize(reference, m, len(references), watch)
            except Unfinished:
                return watch.stopped
            self._memory.keep(outcome.solutions, outcome.scores)
            if outcome.stopped == "patience":
                stopped = "patience"
            # NSGA-II has reported its own steps; an interrupt may come between two of them.
            done = self._progress(m + 1, len(references))
            if watch.stopped != "finished" or watch.step(done, whole=False):
                return watch.stopped
        return stopped

    def choose(self, row: int) -> Preference:
        """Makes a solution of the last step the next q_t, and returns its point."""
        row = _row(row)
        if not self.history:
            raise SearchError("there is nothing to choose from yet; take a step first")
        last = self.history[-1].step
        if not 0 <= row < len(last.solutions):
            raise SearchError(
                f"there is no solution {row}; the last step has "
                f"{counted(len(last.solutions), 'solution')}, numbered from 0"
            )
        self.history[-1] = Visit(last, row)
        return self.origin

    def to_json(self) -> dict[str, Any]:
        """All that is needed to go on later; the archive stands first among the schemes."""
        catalogue = Catalogue()
        if len(self.archive):
            scores = self.archive.scores
            points = points_of(self.problem, scores)
            catalogue.places(self.archive.solutions, scores, points)
        history = [write_visit(visit, catalogue) for visit in self.history]
        return {
            "version": VERSION,
            "k": self.problem.k,
            "budget": self.problem.budget,
            "models": write_models(self.problem),
            "start": write_point(self.start),
            "preference": write_point(self.preference),
            "n": self.n,
            "seed": self.seed,
            "schemes": catalogue.solutions,
            "history": history,
        }

    @classmethod
    def from_json(
        cls,
        document: Any,
        problem: Problem,
        *,
        minimizer: Minimizer | None = None,
        settings: Nsga2Settings = SHORT,
        limits: Limits = NO_LIMITS,
        notes: tuple[str, ...] = (),
    ) -> Exploration:
        """A saved exploration, ready for its next step.

        Its schemes are measured anew: a SearchError says when the data or the policy are not
        those that it was saved with, or which key of the document is damaged.
        """
        saved = read_walk(document)
        exploration = cls(
            problem,
            start=read_point("the start", saved.start, problem.preference),
            preference=read_point("the preference", saved.preference, problem.preference),
            n=saved.n,
            minimizer=minimizer,
            settings=settings,
            seed=saved.seed,
            limits=limits,
            notes=notes,
        )
        exploration.history = read_history(saved, problem, exploration.remember)
        return exploration

    def remember(self, batch: Batch) -> Scores:
        """Evaluates schemes and keeps the efficient ones for all later steps."""
        try:
            scores = self.problem.evaluate(batch)
        except Unfinished as ended:
            if ended.part is not None:
                self._memory.keep(ended.part.batch, ended.part.scores)
            raise
        self._memory.keep(batch, scores)
        return scores

    def _progress(self, m: int, number: int) -> Progress:
        """Where a step stands that is done with m of its reference points."""
        each = self._settings.evaluations
        return Progress(evaluations=m * each, limit=number * each)

    def _minimize(self, reference: Preference, m: int, number: int, watch: Watch) -> Outcome:
        problem = replace(self.problem, preference=reference, evaluate=self.remember)
        if self._minimizer is not None:
            return self._minimizer(problem)

        def pass_on(progress: Progress) -> None:
            before = self._progress(m, number)
            done = before.evaluations + progress.evaluations
            if watch.step(replace(progress, evaluations=done, limit=before.limit), whole=False):
                inner.interrupt()

        inner = Watch(on_progress=pass_on, patience=watch.patience)
        rng = np.random.default_rng([self.seed, len(self.history), m])
        # Half of a first population; the others keep it diverse.
        known = self._memory.best_known(reference, self._settings.population // 2)
        found = nsga2(problem, self._settings, rng, inner, known)
        if watch.stopped == "finished":
            # Short runs end near the best solution, seldom at it. What polishing scores is
            # remembered like everything else.
            best = place_of(problem, bits_of(found.solutions), found.scores)
            done = self._progress(m + 1, number)
            polish(problem, best, POLISHING, lambda: watch.step(done, whole=False))
        return found

    def __repr__(self) -> str:
        steps, found = counted(len(self.history), "step"), len(self.archive)
        return (
            f"<Exploration from {written(self.start)} towards {written(self.preference)}: {steps}, "
            f"{counted(found, 'efficient solution')}>"
        )


def _row(given: Any) -> int:
    """A number as JSON can hold it, whether there is such a solution or not."""
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise refusal("row", given, "the number of a solution of the last step, from 0")
    return int(given)
