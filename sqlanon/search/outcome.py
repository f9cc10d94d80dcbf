"""What a search answers, and how callers follow it and end it early."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from sqlanon.arguments import function, number_from, optional, whole_number
from sqlanon.domain import Batch
from sqlanon.metrics import Scores
from sqlanon.search.problem import Problem

NOT_SEARCHED = "nothing was searched: no scheme can reach what the policy requires"
NOTHING_SCORED = (
    "the search ended before any scheme was scored: this is the coarsest one; give it more seconds"
)


def coarsest(
    problem: Problem, method: str, objectives: tuple[str, ...], *, certain: bool
) -> Outcome | None:
    """The scheme with the largest classes, for lack of a feasible one; None if there may be one.

    `certain` says that it is known already; else the scheme that all others refine decides.
    """
    batch, scores = coarsest_scored(problem)
    if problem.feasible(scores).any() or not (certain or problem.hopeless(scores).all()):
        return None
    return Outcome(method, batch, scores, None, objectives, notes=(NOT_SEARCHED,))


def unscored(problem: Problem, method: str, objectives: tuple[str, ...], stopped: str) -> Outcome:
    """The coarsest scheme, scored, as the answer of a search that ended before it scored any."""
    batch, scores = coarsest_scored(problem)
    chosen = 0 if problem.feasible(scores).all() else None
    return Outcome(method, batch, scores, chosen, objectives, stopped, (NOTHING_SCORED,))


def coarsest_scored(problem: Problem) -> tuple[Batch, Scores]:
    """The scheme that every other one refines, and its scores."""
    batch = problem.space.batch_of_bits(problem.space.demanded[None])
    return batch, problem.evaluate(batch)


UNREPEATABLE = ("interrupted", "time")
"""Ends of a search that the same seed does not bring about again."""
SILENCE = 1.0
"""A step that takes longer is reported on while it goes on, so many seconds apart."""


@dataclass(frozen=True)
class Outcome:
    """Solutions that do not dominate each other, and the one to take.

    chosen        the row of the answer, None when nothing feasible was found
    objectives    what the solutions trade off, for reports
    stopped       why the search ended: "finished", "evaluations", "patience", "time" or
                  "interrupted"
    trajectory    (evaluations, best loss of a feasible solution) wherever the best improved,
                  for searches that minimize a single loss
    """

    method: str
    solutions: Batch
    scores: Scores
    chosen: int | None
    objectives: tuple[str, ...]
    stopped: str = "finished"
    notes: tuple[str, ...] = ()
    trajectory: tuple[tuple[int, float], ...] = ()

    @property
    def reproducible(self) -> bool:
        """Whether the same seed brings about the same end."""
        return self.stopped not in UNREPEATABLE


@dataclass
class Progress:
    """Where a search stands; handed to the watcher after every step.

    best    the ach or loss of the best feasible solution so far, by which it is the best
    best_k  its k
    lost    the share of the information that it loses: its NWP
    """

    evaluations: int = 0
    limit: int | None = None
    best: float | None = None
    best_k: int | None = None
    lost: float | None = None


@dataclass(frozen=True)
class Limits:
    """What may end a search early by itself, as a Watch reads it."""

    seconds: float | None = None
    patience: int | None = None


@dataclass
class Watch:
    """Lets callers follow a search and end it early with the best so far.

    A search calls `step` after every batch; True means: stop now. While a long batch is scored,
    `within_step` is called. Ctrl-C during the search has the same effect when the caller calls
    `interrupt` from a signal handler. The seconds count from the start of the search.
    """

    on_progress: Callable[[Progress], None] | None = None
    seconds: float | None = None
    patience: int | None = None
    _started: float | None = None
    _last: Progress = field(default_factory=Progress)
    _reported: float = 0.0
    _best: float = np.inf
    _unchanged: int = 0
    stopped: str = "finished"
    _interrupted: bool = False

    def __post_init__(self) -> None:
        optional(function, "on_progress", self.on_progress)
        optional(number_from, "seconds", self.seconds, 0)
        optional(whole_number, "patience", self.patience, 1)

    def interrupt(self) -> None:
        """Ends the search as soon as it can end with the best so far."""
        self._interrupted = True

    def start(self) -> None:
        """Starts the clock, unless it runs already."""
        if self._started is None:
            self._started = self._reported = time.monotonic()

    def begin_again(self) -> None:
        """For another search after one: its solutions need not be better to count."""
        self._best, self._unchanged, self.stopped = np.inf, 0, "finished"

    def step(self, progress: Progress, *, whole: bool = True) -> bool:
        """Reports a step, or a part of one, and returns whether to stop; patience counts steps."""
        self._last = progress
        self._report(progress)
        if whole:
            self._count(np.inf if progress.best is None else progress.best)
        if not self._ended() and self.patience is not None and self._unchanged >= self.patience:
            self.stopped = "patience"
        return self.stopped != "finished"

    def within_step(self, scored: int = 0) -> bool:
        """Reports that a step goes on, with so many schemes scored since the last report.

        Returns whether the clock or an interrupt ends the search now.
        """
        if time.monotonic() - self._reported >= SILENCE:
            self._report(replace(self._last, evaluations=self._last.evaluations + scored))
        return self._ended()

    def _report(self, progress: Progress) -> None:
        self._reported = time.monotonic()
        if self.on_progress is not None:
            self.on_progress(progress)

    def _ended(self) -> bool:
        """Whether something ended the search that does not wait for the end of a step."""
        self.start()
        assert self._started is not None
        if self._interrupted:
            self.stopped = "interrupted"
        elif self.seconds is not None and time.monotonic() - self._started >= self.seconds:
            self.stopped = "time"
        return self.stopped in UNREPEATABLE

    def _count(self, best: float) -> None:
        # Patience is for improving a solution, not for finding a first one.
        self._unchanged = 0 if best < self._best or best == np.inf else self._unchanged + 1
        self._best = min(best, self._best)
