"""POkA, front and optimal on Adult against an exhaustive search of the same lattice.

    python tests/benchmarks/poka.py [--json] [--loss glm|dcn|ce]

DGH lengths 6, 3, 3, 3, 1, 1, 4, 1 and η = 1 % of the rows, as in the POkA paper. Its
hierarchies are not published, so the shape of its Table 3 (GLM) is what compares. CE is
measured on the lattice without its label column. The optima counted are those with k ≥ 2,
the fully generalized node included: that is what POkA looks for. Seconds are of one run
each, on whatever the machine does besides.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable

import numpy as np
from adult import LATTICE, lattice

from sqlanon import datasets, resources
from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import count
from sqlanon.domain.column import Family
from sqlanon.domain.hierarchy_files import read
from sqlanon.domain.histogram import Histogram
from sqlanon.engines.registry import open_source
from sqlanon.evaluate.evaluator import Evaluator
from sqlanon.metrics.preference import Preference
from sqlanon.metrics.suppression import Suppression
from sqlanon.search.lattice.exact import FrontSettings, OptimalSettings, exhaustive, front, optimal
from sqlanon.search.lattice.poka import PokaSettings, poka
from sqlanon.search.outcome import Outcome, Progress, Watch
from sqlanon.search.problem import Problem, exact_loss

LABEL = "salary-class"
DEPTHS = range(1, 7)
PAPER = {
    1: {"nodes": 502, "share": 0.028, "optima": 22},
    2: {"nodes": 1945, "share": 0.109, "optima": 41},
    3: {"nodes": 4033, "share": 0.225, "optima": 45},
    4: {"nodes": 6544, "share": 0.365, "optima": 45},
    5: {"nodes": 9205, "share": 0.514, "optima": 45},
    6: {"nodes": 11751, "share": 0.656, "optima": 45},
}
"""Table 3 of the paper: GLM, 17,920 nodes, 45 true optima."""

Points = set[tuple[int, int]]


class Run:
    """One search with an evaluator of its own, so that nothing is cached for the next."""

    def __init__(
        self,
        search: Callable[..., Outcome],
        settings: object,
        histogram: Histogram,
        loss: str,
        rule: Suppression,
    ) -> None:
        label = LABEL if loss == "ce" else None
        self.nodes, self.size = 0, math.prod(h + 1 for h in histogram.space.heights)
        with Evaluator(histogram, suppression=rule, label=label) as evaluator:
            problem = Problem(
                space=evaluator.space,
                evaluate=evaluator.score,
                column_loss=evaluator.column_loss,
                rows=histogram.rows,
                k=5,
                preference=Preference(0.2, 1.0),
                loss=loss,
                budget=rule.budget,
            )
            start = time.perf_counter()
            watch = Watch(on_progress=self._count)
            self.outcome = search(problem, settings, np.random.default_rng(1), watch)
            self.seconds = time.perf_counter() - start
            losses = exact_loss(problem, self.outcome.scores)
            ks = self.outcome.scores.k
            self.points: Points = {(int(k), int(x)) for k, x in zip(ks, losses, strict=True)}

    def _count(self, progress: Progress) -> None:
        self.nodes = progress.evaluations

    def row(self, optima: Points) -> dict[str, float]:
        found = len(self.points & optima)
        return {
            "nodes": self.nodes,
            "share": self.nodes / self.size,
            "optima": found,
            "optima_share": found / len(optima),
            "listed": len(self.points),
            "seconds": self.seconds,
        }


def compare(histogram: Histogram, loss: str) -> dict[str, object]:
    """All searches with one loss."""
    eta = Suppression.up_to(0.01, histogram.rows)
    given = Suppression.given_k(5, 0.01, histogram.rows)
    whole = Run(exhaustive, FrontSettings(), histogram, loss, eta)
    optima = {(k, x) for k, x in whole.points if k >= 2}
    result: dict[str, object] = {
        "nodes": whole.size,
        "optima": len(optima),
        "exhaustive": whole.row(optima),
        "poka": {d: Run(poka, PokaSettings(d), histogram, loss, eta).row(optima) for d in DEPTHS},
        "front": Run(front, FrontSettings(), histogram, loss, eta).row(optima),
    }
    if loss == "ce":
        result["poka past plateaus"] = {
            d: Run(poka, PokaSettings(d, past_plateaus=True), histogram, loss, eta).row(optima)
            for d in DEPTHS
        }
    whole = Run(exhaustive, FrontSettings(), histogram, loss, given)
    result["front, k = 5"] = Run(front, FrontSettings(), histogram, loss, given).row(whole.points)
    best = min((p for p in whole.points if p[0] >= 5), key=lambda point: point[1])
    result["optimal, k = 5"] = Run(optimal, OptimalSettings(), histogram, loss, given).row({best})
    return result


def without_label() -> Histogram:
    """The lattice of `lattice()` without the label column, which is counted beside it."""
    names = [name for name in LATTICE if name != LABEL]
    quasis = [
        Quasi(
            name,
            hierarchy=read(resources.path("hierarchies", "adult", f"{name}.csv")),
            family=Family.FULL_DOMAIN,
        )
        for name in names
    ]
    return count(open_source(file=datasets.adult_path()), quasis, facets=[LABEL])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    parser.add_argument("--loss", choices=("glm", "dcn", "ce"), help="this one only")
    options = parser.parse_args()
    plain, labelled = lattice(), without_label()
    histograms = {"glm": plain, "dcn": plain, "ce": labelled}
    result = {
        loss: compare(histogram, loss)
        for loss, histogram in histograms.items()
        if options.loss in (None, loss)
    }
    if options.json:
        print(json.dumps({"paper": PAPER, "measured": result}, indent=2))
        return
    for loss, found in result.items():
        print(f"{loss}: {found['nodes']:,} nodes, {found['optima']} optima")
        for name, row in found.items():
            if not isinstance(row, dict):
                continue
            if name.startswith("poka"):
                for d, each in row.items():
                    paper = ""
                    if loss == "glm":
                        there = PAPER[d]
                        paper = f"   paper: {there['share']:6.1%}, {there['optima']} of 45"
                    print(f"  {name + f', d = {d}':<28}{_line(each)}{paper}")
            else:
                print(f"  {name:<28}{_line(row)}")


def _line(row: dict[str, float]) -> str:
    return (
        f"{row['nodes']:>7,} nodes ({row['share']:6.1%}), "
        f"{row['optima']:>2} optima ({row['optima_share']:4.0%}), {row['seconds']:5.2f} s"
    )


if __name__ == "__main__":
    main()
