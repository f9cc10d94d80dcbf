"""How often the searches reach the optimum, on small random tables where it is known.

    python tests/benchmarks/optimum.py [--json] [--instances 100]

A table has three or four columns of random families, with NULLs in some, and at most some
thousand schemes, all of which are scored to know the optimum. k, the suppression limit (0,
5 % or none) and the preference are random too. NSGA-II and auto aim at the solution to OP,
GENITOR at the least GLM. auto, which would try all schemes of such tables, is measured with
that switched off as well. Everything is scored before the searches begin, so seconds say
nothing and are not shown.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from runs import Search, answer, problem_of, rank

from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import count
from sqlanon.domain.column import Bits, Column, Family
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.histogram import Histogram
from sqlanon.domain.space import Batch, Space
from sqlanon.engines.registry import open_source
from sqlanon.evaluate.evaluator import Evaluator
from sqlanon.metrics.preference import Preference
from sqlanon.metrics.suppression import Suppression
from sqlanon.search.auto import AutoSettings, auto
from sqlanon.search.genitor import GenitorSettings, genitor
from sqlanon.search.nsga2 import Nsga2Settings, nsga2
from sqlanon.search.outcome import Watch
from sqlanon.search.problem import Problem, exact_loss

LARGEST = 20_000
"""Schemes of an instance at most."""
BRED = GenitorSettings(population=50, evaluations=3_000, brood=10)
THOROUGH = AutoSettings(exact=0, evaluations=20_000, effort="thorough")
SEARCHES: dict[str, tuple[Search, Any, str]] = {
    "nsga2 as published": (nsga2, Nsga2Settings(), "nwp"),
    "nsga2, mutation 0.03": (nsga2, Nsga2Settings(evaluations=5_000, mutation=0.03), "nwp"),
    "auto": (auto, AutoSettings(), "nwp"),
    "auto in rounds": (auto, THOROUGH, "nwp"),
    "genitor NEW": (genitor, BRED, "glm"),
    "genitor NEW, strangers": (genitor, replace(BRED, crossover="new_strangers"), "glm"),
    "genitor TRAD": (genitor, replace(BRED, crossover="trad"), "glm"),
}


@dataclass(frozen=True)
class Instance:
    seed: int
    histogram: Histogram
    k: int
    limit: float
    preference: Preference


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    parser.add_argument("--instances", type=int, default=100)
    options = parser.parse_args()
    result = measure(options.instances)
    if options.json:
        print(json.dumps(result, indent=2))
        return
    print(f"{result['instances']} tables, {result['schemes']:,.0f} schemes in the median")
    for name, row in result["searches"].items():
        missed = f", missed: {row['missed']}" if row["missed"] else ""
        print(f"  {name:<22}{row['share']:>5.0%} reached, {row['gap']:.1%} off at worst{missed}")


def measure(number: int) -> dict[str, Any]:
    gaps: dict[str, dict[int, float]] = {name: {} for name in SEARCHES}
    sizes = []
    for instance in instances(number):
        rule = Suppression.given_k(instance.k, instance.limit, instance.histogram.rows)
        with Evaluator(instance.histogram, suppression=rule) as evaluator:
            schemes = every_scheme(evaluator.space)
            sizes.append(len(schemes))
            for name, (search, settings, loss) in SEARCHES.items():
                problem = problem_of(evaluator, instance.k, instance.preference, loss)
                gaps[name][instance.seed] = gap(problem, schemes, search, settings, instance.seed)
    return {
        "instances": number,
        "schemes": float(np.median(sizes)),
        "searches": {
            name: {
                "share": sum(g == 0 for g in found.values()) / number,
                "gap": max(found.values()),
                "missed": [seed for seed, g in found.items() if g],
            }
            for name, found in gaps.items()
        },
    }


def gap(problem: Problem, schemes: Batch, search: Search, settings: Any, seed: int) -> float:
    """How far the answer is from the optimum, as a share of it; 0 only for an optimum.

    For NSGA-II and auto ach decides, then k, then pref_dev: where only these differ, the gap
    is tiny but not 0.
    """
    outcome = search(problem, settings, np.random.default_rng(seed), Watch())
    scores = problem.evaluate(schemes)
    feasible = problem.feasible(scores)
    if outcome.chosen is None:
        return float("inf") if feasible.any() else 0.0
    if problem.loss == "glm":
        best = exact_loss(problem, scores)[feasible].min()
        found = exact_loss(problem, outcome.scores)[outcome.chosen]
        return float((found - best) / max(best, 1))
    keys = (problem.f1(scores), -scores.k, problem.pref_dev(scores))
    first = np.flatnonzero(feasible)[np.lexsort([key[feasible] for key in keys[::-1]])[0]]
    best_rank = (0, *(float(key[first]) for key in keys))
    reached = rank(answer(problem, outcome))
    assert reached >= best_rank, "better than the best of all schemes"
    if reached == best_rank:
        return 0.0
    return max(reached[1] / best_rank[1] - 1, 1e-12)


def instances(number: int) -> Iterator[Instance]:
    for seed in range(number):
        rng = np.random.default_rng(seed)
        histogram = random_histogram(rng)
        while schemes_of(histogram.space) > LARGEST:
            histogram = random_histogram(rng)
        nwp, necd = rng.choice([0.1, 0.3, 0.6]), rng.choice([0.05, 0.3, 1.0])
        point = Preference(loss=float(nwp), bias=float(necd))
        limit = float(rng.choice([0.0, 0.05, 1.0]))
        yield Instance(seed, histogram, int(rng.integers(2, 9)), limit, point)


def random_histogram(rng: np.random.Generator) -> Histogram:
    """A table of up to 200 rows with skewed, loosely related columns."""
    rows = int(rng.integers(40, 200))
    common = rng.exponential(1.0, rows)
    quasis, cells = [], {}
    for name in "abcd"[: rng.integers(3, 5)]:
        width = int(rng.integers(3, 8))
        drawn = (common * rng.random() + rng.exponential(1.5, rows)).astype(int)
        values = [str(v) for v in np.minimum(drawn, width - 1)]
        lacking = rng.random() < 0.25
        cells[name] = pa.array([None if lacking and rng.random() < 0.1 else v for v in values])
        family = list(Family)[rng.integers(3)]
        weight = float(rng.choice([0.5, 1.0, 2.0]))
        quasis.append(Quasi(name, family, weight, hierarchy=random_hierarchy(rng, width)))
    return count(open_source(data=pa.table(cells)), quasis)


def random_hierarchy(rng: np.random.Generator, width: int) -> Hierarchy:
    """Neighbouring groups are joined at random, level by level, until one is left."""
    levels = [np.arange(width)]
    while levels[-1][-1] > 0:
        starts = np.diff(levels[-1]) & (rng.random(width - 1) < 0.5)
        levels.append(np.concatenate([[0], np.cumsum(starts)]))
    named = [[f"{depth}: {g}" for g in groups] for depth, groups in enumerate(levels[1:], 1)]
    return Hierarchy.from_rows([[str(i), *(n[i] for n in named)] for i in range(width)], "random")


def allowed(column: Column) -> Bits:
    """Every partition of a column's family, by trying all bit strings.

    It follows the definitions in docs/schemes.md and shares no code with the searches.
    """
    strings = itertools.product([False, True], repeat=column.positions)
    found = [string for string in strings if is_allowed(column, string)]
    return np.array(found, dtype=bool).reshape(-1, column.positions)


def is_allowed(column: Column, cuts: Sequence[bool]) -> bool:
    """Whether a column may be cut so: NULL, its last atom, stays alone until all are one group."""
    assert column.hierarchy is not None
    null, whole = column.domain.has_null, (0, column.size)
    groups = {*runs(cuts)}
    if null and groups != {whole} and not cuts[-1]:
        return False
    if column.family is Family.CONTIGUOUS:
        return True
    levels = []
    for labels in column.hierarchy.levels[:-1]:
        changes = [one != other for one, other in pairwise(labels)]
        levels.append({*runs([*changes, True] if null else changes)})
    if column.family is Family.FULL_DOMAIN:
        return groups in [*levels, {whole}]
    return groups <= {whole, (0, len(column.hierarchy.leaves))}.union(*levels)


def runs(cuts: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """The groups between cuts, each from its first atom to that after its last."""
    places = [place for place, cut in enumerate(cuts, 1) if cut]
    return pairwise([0, *places, len(cuts) + 1])


def schemes_of(space: Space) -> int:
    return int(np.prod([len(allowed(column)) for column in space.columns]))


def every_scheme(space: Space) -> Batch:
    parts = [allowed(column) for column in space.columns]
    grid = np.indices([len(part) for part in parts]).reshape(len(parts), -1)
    rows = [part[i] for part, i in zip(parts, grid, strict=True)]
    return space.batch_of_bits(np.concatenate(rows, axis=1))


if __name__ == "__main__":
    main()
