"""Seconds for one NSGA-II run: sqlanon's evaluator against numpy, one scheme at a time.

    python tests/benchmarks/nsga2.py [--json] [--evaluations 50000] [--repeats 3]

Adult, nine contiguous columns, k_pref 5, preference NWP 0.2, NECD 1.0, the paper's settings
(about 15 minutes in the paper). Both runs remember every scheme they have scored, and must end
with identical solutions. Runs alternate, the best of each counts. The goal is a ratio of 2.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt
from adult import NumpyYardstick, nine_columns
from runs import problem_of

from sqlanon.domain.histogram import Histogram
from sqlanon.domain.space import Batch
from sqlanon.evaluate.evaluator import Evaluator
from sqlanon.metrics.measurement import DIGITS
from sqlanon.metrics.preference import Preference
from sqlanon.metrics.scores import Scores
from sqlanon.search.fronts import bits_of
from sqlanon.search.nsga2 import Nsga2Settings, nsga2
from sqlanon.search.outcome import Outcome, Watch
from sqlanon.search.problem import Problem

K = 5
PREFERENCE = Preference(loss=0.2, bias=1.0)
SEED = 1

Score = tuple[int, int, int, float, float]


class NumpyScores:
    """Scores by the numpy yardstick, in a dictionary once computed.

    NWP comes from one-column counts, remembered for every partition, as it does in sqlanon.
    What NSGA-II does not look at is zero.
    """

    def __init__(self, histogram: Histogram) -> None:
        self._histogram = histogram
        self._classes = NumpyYardstick(histogram)
        self._known: dict[bytes, Score] = {}
        self._penalties: dict[tuple[int, int], float] = {}
        self.asked = 0

    @property
    def distinct(self) -> int:
        return len(self._known)

    def __call__(self, batch: Batch) -> Scores:
        self.asked += len(batch)
        keys = batch.keys
        missing = list({key: i for i, key in enumerate(keys) if key not in self._known}.values())
        if missing:
            fresh = batch.take(missing)
            for i, (bits, ids) in enumerate(zip(bits_of(fresh), fresh.ids, strict=True)):
                self._known[fresh.keys[i]] = self._score(bits, ids.tolist())
        k, k_max, classes, nwp, necd = zip(*(self._known[key] for key in keys), strict=True)
        none, nothing = np.zeros(len(keys), dtype=np.int64), np.zeros(len(keys))
        return Scores(
            k=np.array(k), k_max=np.array(k_max), classes=np.array(classes), suppressed=none,
            nwp=np.array(nwp), necd=np.array(necd), glm=nothing, glm_share=nothing, dcn=none,
            ce=nothing, glm_units=none, rows_below=none, violating=none,
            reached=np.zeros((len(keys), 0)), k_most=none, further=np.zeros((len(keys), 0)),
        )  # fmt: skip

    def _score(self, bits: npt.NDArray[np.bool_], ids: list[int]) -> Score:
        histogram = self._histogram
        k, k_max, classes = self._classes(bits)
        whole = sum(c.weight for c in histogram.space.columns)
        total = 0.0
        for j, column in enumerate(histogram.space.columns):
            penalty = self._penalties.get((j, ids[j]))
            if penalty is None:
                loss = self._loss(j, bits[histogram.space.segment(j)])
                penalty = self._penalties[j, ids[j]] = loss / max(column.size - 1, 1)
            total += penalty * (column.weight / whole)
        necd = (k_max - k) / max(histogram.people - 1, 1)
        return k, k_max, classes, round(total / histogram.rows, DIGITS), necd

    def _loss(self, column: int, cuts: npt.NDArray[np.bool_]) -> int:
        """Σ over rows of (atoms in the row's group − 1)."""
        groups = np.concatenate([[0], np.cumsum(cuts)])
        return int((self._histogram.marginals[column] * (np.bincount(groups)[groups] - 1)).sum())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    parser.add_argument("--evaluations", type=int, default=Nsga2Settings.evaluations)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    result = compare(Nsga2Settings(evaluations=options.evaluations), options.repeats)
    if options.json:
        print(json.dumps(result, indent=2))
        return
    effort = result["evaluations"]
    print(
        f"{effort['asked']:,} evaluations, {effort['distinct']:,} distinct, "
        f"{effort['queries']:,} queries: SQL {result['sql_s']:.2f} s, "
        f"numpy {result['numpy_s']:.2f} s, ratio {result['ratio']:.2f}; "
        f"ach {result['ach']:.5f}, k = {result['k']}"
    )


def compare(settings: Nsga2Settings, repeats: int) -> dict[str, Any]:
    histogram = nine_columns()
    sql_s, numpy_s = [], []
    result: dict[str, Any] = {}
    for _ in range(repeats):
        # A histogram numbers the partitions it meets: a fresh space for every run.
        histogram = nine_columns()
        with Evaluator(histogram) as evaluator:
            problem = problem_of(evaluator, K, PREFERENCE)
            outcome, seconds = timed(problem, settings)
            sql_s.append(seconds)
            effort = asdict(evaluator.effort)
        histogram = nine_columns()
        scores = NumpyScores(histogram)
        problem = Problem(histogram.space, scores, _no_loss, histogram.rows, K, PREFERENCE)
        other, seconds = timed(problem, settings)
        numpy_s.append(seconds)
        assert answers(outcome) == answers(other), "SQL and numpy end with different solutions"
        assert (effort["asked"], effort["distinct"]) == (scores.asked, scores.distinct)
        assert outcome.chosen is not None, "nothing feasible: more evaluations are needed"
        result = {
            "evaluations": effort,
            "ach": float(problem.f1(outcome.scores)[outcome.chosen]),
            "k": int(outcome.scores.k[outcome.chosen]),
        }
    return {
        "sql_s": min(sql_s),
        "numpy_s": min(numpy_s),
        "ratio": min(numpy_s) / min(sql_s),
        "all_sql_s": sql_s,
        "all_numpy_s": numpy_s,
        "load": os.getloadavg() if hasattr(os, "getloadavg") else None,
        **result,
    }


def timed(problem: Problem, settings: Nsga2Settings) -> tuple[Outcome, float]:
    start = time.perf_counter()
    outcome = nsga2(problem, settings, np.random.default_rng(SEED), Watch())
    return outcome, time.perf_counter() - start


def answers(outcome: Outcome) -> tuple[object, ...]:
    """Everything that must not depend on who scored, to the last bit."""
    scores = outcome.scores
    names = [outcome.solutions.fingerprint(i) for i in range(len(outcome.solutions))]
    numbers = [getattr(scores, key).tolist() for key in ("k", "k_max", "classes", "nwp", "necd")]
    return names, numbers, outcome.chosen


def _no_loss(batch: Batch) -> npt.NDArray[np.int64]:
    raise AssertionError("NSGA-II asks for no column losses")


if __name__ == "__main__":
    main()
