"""What a walk along reference directions keeps of everything that its steps evaluate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlanon.domain import Batch, Bits
from sqlanon.errors import SearchError
from sqlanon.metrics import Preference, Scores
from sqlanon.search.fronts import Front, MoopFront, bits_of, take
from sqlanon.search.problem import Ints, Problem
from sqlanon.wording import counted


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
    reached      for each reference the row of its solution; empty when there is none
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


def check_point(name: str, point: Preference) -> None:
    for coordinate, value in ((point.loss_by, point.loss), (point.bias_by, point.bias)):
        if not (math.isfinite(value) and value >= 0):
            raise SearchError(f"{name}: {coordinate} {value} is not a number of at least 0")
