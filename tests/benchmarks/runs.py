"""One search on one problem, timed, with what it answered as plain numbers."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sqlanon.domain.histogram import Histogram
from sqlanon.evaluate.evaluator import Evaluator
from sqlanon.metrics.preference import Preference
from sqlanon.metrics.suppression import Suppression
from sqlanon.search.outcome import Outcome, Progress, Watch
from sqlanon.search.problem import Problem

Search = Callable[[Problem, Any, np.random.Generator, Watch], Outcome]
Row = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """A search from a seed on one problem; `table` names the histogram that it is run on.

    `enough` is the ach with which it ends; without one it goes on to its own end.
    """

    table: str
    search: Search
    settings: object
    seed: int
    k: int
    preference: Preference
    loss: str = "nwp"
    limit: float = 0.0
    enough: float | None = None

    @property
    def key(self) -> str:
        """What tells a run from every other one, in words."""
        aim = f"k {self.k}, NWP {self.preference.loss}, NECD {self.preference.bias}"
        return (
            f"{self.table}, {aim}, {self.loss}, limit {self.limit}: "
            f"{self.search.__name__} {self.settings} from {self.seed}"
            + ("" if self.enough is None else f" until {self.enough}")
        )

    def watch(self) -> Watch:
        """Ends the search where its best answer is good enough."""

        def look(progress: Progress) -> None:
            if self.enough is not None and (progress.best or np.inf) <= self.enough:
                watch.interrupt()

        watch = Watch(on_progress=look)
        return watch


class Kept:
    """Answers of finished runs in a file, so that a benchmark of hours can be continued.

    One JSON document a line, under the key of its run; benchmarks may share a file. The file
    is for one version of the code: delete it when a search has changed.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        lines = file.read_text("utf-8").splitlines() if file and file.exists() else []
        self._known: dict[str, Row] = dict(json.loads(line) for line in lines)

    def answer(self, run: Run, histogram: Histogram, workers: int | None = None) -> Row:
        """The answer of a run, which is done if it is not in the file."""
        if run.key not in self._known:
            self._known[run.key] = solve(run, histogram, workers)
            if self._file is not None:
                with self._file.open("a", encoding="utf-8") as out:
                    out.write(json.dumps([run.key, self._known[run.key]]) + "\n")
        return self._known[run.key]


NO_BIAS = Preference(loss=0.2, bias=1e9)
"""A preference under which bias does not count: ach is NWP times a number close to 1."""
BEST_KNOWN = {
    ("wv1", 2, 0.2, 1.0): 0.294025131,
    ("wv1", 5, 0.2, 1.0): 0.343574744,
    ("wv1", 10, 0.2, 1.0): 0.388718591,
    ("wv1", 25, 0.2, 1.0): 0.423489022,
    ("wv1", 50, 0.2, 1.0): 0.448944730,
    ("wv1", 100, 0.2, 1.0): 0.499903611,
    ("wv1", 5, 0.2, 0.1): 0.142645922,
    ("wv2", 5, 0.2, 0.1): 0.088415042,
    ("wv3", 5, 0.2, 0.1): 0.084845003,
    ("wv4", 5, 0.2, 0.1): 0.104046523,
    ("wv5", 5, 0.2, 0.1): 0.098245879,
    ("wv2", 5, 0.2, 1.0): 0.221036721,
    ("wv2", 5, 0.2, 0.5): 0.189460010,
    ("wv2", 5, 0.2, 0.05): 0.053049484,
    ("wv2", 5, 0.2, 0.01): 0.025736,
    ("taxonomic, 15,000 rows", 15, 0.2, NO_BIAS.bias): 0.278321887,
}
"""The least ach that any run of any search has found, by table, k_pref, and preferred NWP and
NECD."""


def good_enough(table: str, k: int, preference: Preference, gap: float) -> float | None:
    """The ach that is so far above the best known one of a problem, if one is known."""
    known = best_known(table, k, preference)
    return None if np.isinf(known) else known * (1 + gap)


def best_known(table: str, k: int, preference: Preference) -> float:
    """The best known ach of a problem; infinite if none is known."""
    return BEST_KNOWN.get((table, k, preference.loss, preference.bias), np.inf)


def problem_of(evaluator: Evaluator, k: int, preference: Preference, loss: str = "nwp") -> Problem:
    return Problem(
        space=evaluator.space,
        evaluate=evaluator.score,
        column_loss=evaluator.column_loss,
        rows=evaluator.histogram.rows,
        k=k,
        preference=preference,
        loss=loss,
        budget=evaluator.suppression.budget,
    )


def solve(run: Run, histogram: Histogram, workers: int | None = None) -> Row:
    """The answer of a search with an evaluator of its own, so that nothing is cached before."""
    rule = Suppression.given_k(run.k, run.limit, histogram.rows)
    with Evaluator(histogram, suppression=rule, workers=workers) as evaluator:
        problem = problem_of(evaluator, run.k, run.preference, run.loss)
        start, processor = time.perf_counter(), time.process_time()
        outcome = run.search(problem, run.settings, np.random.default_rng(run.seed), run.watch())
        seconds, processor = time.perf_counter() - start, time.process_time() - processor
        effort = asdict(evaluator.effort)
        row = answer(problem, outcome)
    return {
        "seed": run.seed,
        **row,
        "evaluations": effort,
        "seconds": seconds,
        "processor": processor,
        "trajectory": outcome.trajectory,
        "feasible_points": _feasible_points(problem, outcome),
    }


def answer(problem: Problem, outcome: Outcome) -> Row:
    """The chosen solution; where there is none, only that."""
    listed = {"listed": len(outcome.solutions), "feasible": outcome.chosen is not None}
    if outcome.chosen is None:
        return listed
    i, scores = outcome.chosen, outcome.scores
    scheme = outcome.solutions.scheme(i)
    groups = [len(p.runs) for p in scheme.partitions]
    return {
        **listed,
        "k": int(scores.k[i]),
        "nwp": float(scores.nwp[i]),
        "necd": float(scores.necd[i]),
        "ach": float(problem.f1(scores)[i]),
        "pref_dev": float(problem.pref_dev(scores)[i]),
        "glm": float(scores.glm[i]),
        "suppressed": int(scores.suppressed[i]),
        "groups": dict(zip((c.name for c in problem.space.columns), groups, strict=True)),
        "scheme": scheme.fingerprint,
    }


def rank(row: Row) -> tuple[float, ...]:
    """By what the solution to OP is chosen: least ach, then highest k, then least pref_dev."""
    if not row["feasible"]:
        return (1, 0.0, 0.0, 0.0)
    return (0, row["ach"], -row["k"], row["pref_dev"])


def at_least_as_good(row: Row, others: list[Row]) -> bool:
    return all(rank(row) <= rank(other) for other in others)


def all_the_same(rows: list[Row]) -> bool:
    """Whether all answers are equally good; equally good schemes may differ."""
    return len({rank(row) for row in rows}) == 1


def _feasible_points(problem: Problem, outcome: Outcome) -> list[tuple[float, float, int]]:
    """(NWP, NECD, k) of the feasible solutions."""
    scores, feasible = outcome.scores, problem.feasible(outcome.scores)
    columns = (scores.nwp[feasible], scores.necd[feasible], scores.k[feasible])
    return list(zip(*(column.tolist() for column in columns), strict=True))
