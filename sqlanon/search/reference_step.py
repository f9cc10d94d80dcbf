"""One step along a reference direction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlanon.errors import SearchError
from sqlanon.metrics import Scores
from sqlanon.model import counted
from sqlanon.preference import Preference
from sqlanon.scheme import Batch
from sqlanon.search.problem import Problem


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
        loss, bias = self.origin.loss_by.value, self.origin.bias_by.value
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
