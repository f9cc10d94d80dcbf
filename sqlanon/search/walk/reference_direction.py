"""The reference direction approach (Dewri et al., TKDE, section 6): exploring step by step.

From a point q_t towards the preference point q̄ of the publisher, n reference points
q̄_m = q_t + (m/n)(q̄ − q_t) each ask for the solution with least ach. The publisher looks at
the solutions, takes one, or chooses one as q_{t+1} and goes on from there.

Here ach is minimized plainly, ties broken by least pref_dev: Example 5 of the paper answers
G_2. (NSGA-II by itself prefers the higher k at equal ach: Example 7 answers G_8.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from numbers import Integral
from typing import Annotated, Any

import numpy as np
from pydantic.dataclasses import dataclass as checked

from sqlanon.arguments import refusal, whole_number
from sqlanon.domain import Batch, Bits
from sqlanon.errors import SearchError
from sqlanon.evaluate import Part, Unfinished
from sqlanon.keys import Whole, about
from sqlanon.metrics import Ints, Preference, PreferenceSection, Scores
from sqlanon.search.fronts import Front, MoopFront, bits_of, objectives_of, take
from sqlanon.search.local.polish import place_of, polish
from sqlanon.search.method import MANY, METHODS, SETTINGS, register
from sqlanon.search.nsga2 import Nsga2Settings, nsga2
from sqlanon.search.outcome import UNREPEATABLE, Limits, Outcome, Progress, Watch, coarsest_scored
from sqlanon.search.problem import Problem
from sqlanon.search.walk.saved_walk import (
    Columns,
    SavedStep,
    SavedWalk,
    ScoredPart,
    batch_of,
    check_found,
    check_point,
    check_saved,
    other_walk,
    read_point,
    read_walk,
    write_found,
    write_models,
    write_point,
    write_schemes,
)
from sqlanon.wording import counted

Minimizer = Callable[[Problem], Outcome]
"""Minimizes ach for the preference of the problem it is given."""

METHOD = "reference-direction"
MOST_POINTS = 100_000
"""Reference points of a step at most."""
FAR = Preference(loss=1.0, bias=0.0)
"""Everything lost and no bias at all, so that the way to the preference leads along the
trade-off of the two."""
POLISHING = 20_000
"""Schemes that polishing may ask for; it ends much earlier by itself."""


@checked(frozen=True, config=SETTINGS)
class WalkSettings(Nsga2Settings):
    """How far a step goes, and how each reference point is searched for."""

    # One minimization of several that build on each other needs less than one alone.
    evaluations: Annotated[
        Whole,
        about("Schemes to score for each reference point, repeated ones included.", ge=1, le=MANY),
    ] = 5_000
    start: Annotated[PreferenceSection | None, about("Where the walk starts.")] = None
    points: Annotated[Whole, about("Reference points of a step.", ge=1, le=MOST_POINTS)] = 10

    def start_towards(self, preference: Preference) -> Preference:
        """Where the walk to a preference starts, in its measures."""
        start = FAR if self.start is None else self.start.point
        return replace(preference, loss=start.loss, bias=start.bias)


class Memory:
    """The efficient solutions met so far; until there are any, those that come closest.

    Whatever the preference, the solution with least ach and then least pref_dev is strongly
    efficient: these are all that has to be kept of everything evaluated.
    """

    def __init__(self, problem: Problem) -> None:
        self.efficient = Front(problem.space)
        self.closest = MoopFront(problem)
        self._problem = problem

    def keep(self, batch: Batch, scores: Scores) -> None:
        rows = np.flatnonzero(self._problem.feasible(scores))
        kept = take(scores, rows)
        points = np.column_stack(self._problem.loss_and_bias(kept))
        self.efficient.offer(batch.take(rows), kept, points, -kept.k[:, None].astype(np.float64))
        if not len(self.efficient):
            self.closest.meet(batch, scores)

    def best_known(self, reference: Preference, most: int) -> Bits | None:
        """The bit strings of the best efficient solutions for a reference point."""
        if not len(self.efficient):
            return None
        return bits_of(self.efficient.solutions.take(self._by_ach(reference)[:most]))

    def answer(self, origin: Preference, references: tuple[Preference, ...], stopped: str) -> Step:
        """The best of everything known for each reference, found for it or for another."""
        known = len(self.efficient)
        rows = [int(self._by_ach(r)[0]) for r in references] if known else []
        distinct = list(dict.fromkeys(rows))
        scores = take(self.efficient.scores, np.array(distinct, dtype=np.intp))
        return Step(
            origin=origin,
            references=references,
            solutions=self.efficient.solutions.take(distinct),
            scores=scores,
            points=points_of(self._problem, scores),
            reached=tuple(distinct.index(row) for row in rows),
            stopped=stopped,
        )

    def _by_ach(self, reference: Preference) -> Ints:
        """The rows of the efficient solutions by ach, ties by pref_dev."""
        point = self._problem.loss_and_bias(self.efficient.scores)
        return np.lexsort((reference.pref_dev(*point), reference.ach(*point)))


@dataclass(frozen=True, repr=False)
class Step:
    """What one step found; it prints as a table.

    origin       q_t
    references   q̄_1 … q̄_n
    solutions    Q_eff, the distinct efficient solutions, in the order of their references;
                 none when nothing feasible was found
    scores       what the solutions measure to
    points       where the solutions lie, in the measures of the preference
    reached      for each reference the row of its solution; empty without solutions
    stopped      why the step ended: "finished", "time" or "interrupted"; "patience" where that
                 ended the search for a reference point
    """

    origin: Preference
    references: tuple[Preference, ...]
    solutions: Batch
    scores: Scores
    points: tuple[Preference, ...]
    reached: tuple[int, ...]
    stopped: str = "finished"

    def references_of(self, row: int) -> tuple[Preference, ...]:
        """The reference points that led to a solution."""
        return tuple(self.references[m] for m, reached in enumerate(self.reached) if reached == row)

    def point(self, row: int) -> Preference:
        """Where a solution lies."""
        return self.points[row]

    def __repr__(self) -> str:
        return f"<Step {self._account()}>"

    def __str__(self) -> str:
        loss, bias = self.origin.loss_by, self.origin.bias_by
        titles = ("#", "k", "classes", "suppressed", loss, bias, "references")
        lines = [self._account()]
        if len(self.solutions):
            lines.append(_line(titles))
        for row, point in enumerate(self.points):
            counts = [each[row] for each in (self.scores.k, self.scores.classes)]
            counts.append(self.scores.suppressed[row])
            numbers = [f"{point.loss:.4f}", f"{point.bias:.4f}", f"{self.reached.count(row)}"]
            lines.append(_line([str(row), *(f"{each:,}" for each in counts), *numbers]))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{self}</pre>"

    def _account(self) -> str:
        found = counted(len(self.solutions), "solution")
        asked = counted(len(self.references), "reference point")
        return f"from {written(self.origin)}: {found} for {asked}, {self.stopped}"


@dataclass(frozen=True)
class Visit:
    """A step of the history, and the solution that the publisher chose in it."""

    step: Step
    chosen: int | None = None


class Scorer:
    """Scores the batches of one step and remembers what is efficient.

    `until` ends a step that is taken again where it was ended: after some whole batches, and
    some rows of the next one.
    """

    def __init__(
        self, problem: Problem, memory: Memory, watch: Watch, until: ScoredPart | None = None
    ) -> None:
        self._problem = problem
        self._memory = memory
        self._watch = watch
        self._until = until
        self.scored = ScoredPart(batches=0)

    def __call__(self, batch: Batch) -> Scores:
        batches = self.scored.batches
        try:
            if self._until is not None and batches == self._until.batches:
                raise Unfinished(self._part(batch, self._until.rows))
            scores = self._problem.evaluate(batch)
        except Unfinished as ended:
            if ended.part is not None:
                self._memory.keep(ended.part.batch, ended.part.scores)
                rows = [int(row) for row in ended.part.rows]
                self.scored = ScoredPart(batches=batches, rows=rows)
            raise
        self._memory.keep(batch, scores)
        self.scored = ScoredPart(batches=batches + 1)
        return scores

    def _part(self, batch: Batch, rows: Sequence[int]) -> Part | None:
        """The rows of the last batch that were scored before a step was ended."""
        self._watch.interrupt()
        self._watch.within_step()
        if any(row >= len(batch) for row in rows):
            raise other_walk("the schemes that it scores")
        part = batch.take(rows)
        return Part(rows, part, self._problem.evaluate(part)) if rows else None


def directed(origin: Preference, preference: Preference, n: int) -> tuple[Preference, ...]:
    """q̄_m = q_t + (m/n)(q̄ − q_t) for m = 1 … n; the last one is q̄ itself."""
    return tuple(
        replace(
            preference,
            loss=(1 - share) * origin.loss + share * preference.loss,
            bias=(1 - share) * origin.bias + share * preference.bias,
        )
        for share in (m / n for m in range(1, n + 1))
    )


def points_of(problem: Problem, scores: Scores) -> tuple[Preference, ...]:
    """Where schemes lie, in the measures of the problem's preference."""
    loss, bias = problem.loss_and_bias(scores)
    pairs = zip(loss.tolist(), bias.tolist(), strict=True)
    return tuple(replace(problem.preference, loss=x, bias=y) for x, y in pairs)


def written(point: Preference) -> str:
    """A point for people."""
    return f"{point.loss_by} {point.loss:.4g}, {point.bias_by} {point.bias:.4g}"


def _line(cells: Sequence[str]) -> str:
    """A line of a table; the number of the solution needs less room than its scores."""
    return f"{cells[0]:>3}" + "".join(f"{cell:>12}" for cell in cells[1:])


NO_SETTINGS, NO_LIMITS = WalkSettings(), Limits()


@register(METHOD, WalkSettings, interactive=True)
class Walk:
    """A publisher's walk over the efficient solutions of a problem.

    `start` is q_1, the preference of the problem q̄ and `n` the number of reference points of a
    step, unless a step says otherwise. All minimizations share what they evaluate: a solution
    that a step returns is never dominated, in NWP and NECD, by a feasible one met so far.

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
        n: int = 10,
        minimizer: Minimizer | None = None,
        settings: Nsga2Settings = NO_SETTINGS,
        seed: int = 0,
        limits: Limits = NO_LIMITS,
        notes: tuple[str, ...] = (),
    ) -> None:
        check_point("the start", start)
        check_point("the preference", problem.preference)
        self.problem = problem
        self.start = start
        self.preference = problem.preference
        self.n = n
        self.seed = seed
        self.limits = limits
        self.notes = notes
        self.history: list[Visit] = []
        self._minimizer = minimizer
        self._settings = settings
        self._memory = Memory(problem)
        # What a document holds: schemes remembered since the last step, and how steps were taken.
        self._own: list[Columns] = []
        self._taken: list[SavedStep] = []

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
            objectives=objectives_of(self.problem)
            if front is closest
            else (aim.loss_by, aim.bias_by),
            stopped=self.stopped,
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
        return self._take(number, watch)

    def _take(self, n: int, watch: Watch, again: SavedStep | None = None) -> Step:
        """Takes a step, or one of a saved walk again."""
        origin = self.origin
        references = directed(origin, self.preference, n)
        until = None if again is None else again.scored
        scorer = Scorer(self.problem, self._memory, watch, until)
        problem = replace(self.problem, evaluate=scorer)
        watch.start()
        with self.problem.pulse.heard_by(watch.within_step):
            stopped = self._minimized(problem, references, watch)
        stopped = stopped if again is None else again.stopped
        if not len(self.archive) and not len(self._memory.closest):
            self._memory.keep(*coarsest_scored(self.problem))
        found = self._memory.answer(origin, references, stopped)
        self.history.append(Visit(found))
        settings = {f.name: getattr(self._settings, f.name) for f in fields(Nsga2Settings)}
        self._taken.append(
            SavedStep.model_construct(
                n=n,
                settings=settings,
                patience=watch.patience,
                stopped=stopped,
                scored=scorer.scored if stopped in UNREPEATABLE else None,
                own=self._own,
                found=write_found(found.scores, found.points),
                chosen=None,
            )
        )
        self._own = []
        return found

    def _minimized(self, problem: Problem, references: tuple[Preference, ...], watch: Watch) -> str:
        """Searches for each reference point and returns why that ended."""
        stopped = "finished"
        for m, reference in enumerate(references):
            aimed = replace(problem, preference=reference)
            try:
                outcome = self._minimize(aimed, m, len(references), watch)
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
        """All that is needed to take the steps again, and to go on."""
        pairs = zip(self._taken, self.history, strict=True)
        return SavedWalk.model_construct(
            k=self.problem.k,
            budget=self.problem.budget,
            models=write_models(self.problem),
            start=write_point(self.start),
            preference=write_point(self.preference),
            n=self.n,
            seed=self.seed,
            steps=[taken.model_copy(update={"chosen": visit.chosen}) for taken, visit in pairs],
            own=self._own,
        ).model_dump()

    def resume(self, document: object, seed: int | None = None) -> Walk:
        """Takes the steps of a saved walk again, in place of a start of its own.

        A SearchError says when the data or the policy are not those that it was saved with, when
        its seed is another one, or which key of the document is damaged. Of a walk of
        version 1 the solutions are kept, and the last choice is where this one starts.
        """
        saved = read_walk(document)
        check_saved(saved, self.problem, seed)
        self.start = read_point("the start", saved.start, self.preference)
        self.n, self.seed = saved.n, saved.seed
        for step in saved.steps:
            self._take_again(step)
        self._remember_saved(saved.own)
        return self

    def _take_again(self, saved: SavedStep) -> None:
        """Takes a step of a saved walk with the settings it had, and refuses another answer."""
        settings, own = self._settings, METHODS["nsga2"].configured(saved.settings)
        if own.cuts != settings.cuts:
            raise SearchError(
                f"the walk was saved with cuts {own.cuts:,}, not {settings.cuts:,}; put the "
                "former into the policy as search.cuts, or start a new one"
            )
        self._remember_saved(saved.own)
        self._settings = own
        step = self._take(saved.n, Watch(patience=saved.patience), saved)
        self._settings = settings
        check_found(saved.found, step.scores, step.points, f"step {len(self.history)}")
        if saved.chosen is not None:
            self.choose(saved.chosen)

    def _remember_saved(self, schemes: Sequence[Columns]) -> None:
        if schemes:
            self.remember(batch_of(schemes, self.problem.space))

    def remember(self, batch: Batch) -> Scores:
        """Evaluates schemes and keeps the efficient ones for all later steps."""
        scores = self.problem.evaluate(batch)
        self._memory.keep(batch, scores)
        self._own += write_schemes(batch)
        return scores

    def _progress(self, m: int, number: int) -> Progress:
        """Where a step stands that is done with m of its reference points."""
        each = self._settings.evaluations
        return Progress(evaluations=m * each, limit=number * each)

    def _minimize(self, problem: Problem, m: int, number: int, watch: Watch) -> Outcome:
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
        known = self._memory.best_known(problem.preference, self._settings.population // 2)
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
            f"<Walk from {written(self.start)} towards {written(self.preference)}: {steps}, "
            f"{counted(found, 'efficient solution')}>"
        )


def _row(given: Any) -> int:
    """A number as JSON can hold it, whether there is such a solution or not."""
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise refusal("row", given, "the number of a solution of the last step, from 0")
    return int(given)
