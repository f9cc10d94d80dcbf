"""Lunacek, Whitley & Ray (GECCO 2006), section 4: GENITOR with NEW and TRAD crossover.

15,000 rows of Adult, eight columns, four of them taxonomic, k = 15, loss GLM, every class below
k suppressed. What is known of the table is in `paper_sample`; the rest is not published, so it
is the shape that compares: NEW ends at nearly the same loss in every trial, TRAD spreads. The
paper shows losses in thousands.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from paper_sample import sampled_rows
from runs import NO_BIAS, Kept, Row, Run

from sqlanon.domain.histogram import Histogram
from sqlanon.search.auto import AutoSettings, auto
from sqlanon.search.genitor import GenitorSettings, genitor
from sqlanon.search.splits import Splits

K = 15
EVERYTHING = 1.0
"""The suppression limit: there is none in the paper."""
VARIANTS: dict[str, dict[str, Any]] = {
    "NEW": {"crossover": "new"},
    "NEW, strangers": {"crossover": "new_strangers"},
    "TRAD": {"crossover": "trad"},
    "NEW with duplicates": {"crossover": "new", "allow_duplicates": True},
    "TRAD with duplicates": {"crossover": "trad", "allow_duplicates": True},
}
POINTS = 60
"""Of a convergence curve."""


@dataclass(frozen=True)
class Plan:
    """How much to run. `brood` is for all settings; NEW, first population, runs at 1 too."""

    rows: int = 15_000
    evaluations: int = 30_000
    populations: tuple[int, ...] = (200, 500, 1_000)
    trials: int = 15
    brood: int = 20
    auto_seeds: tuple[int, ...] = (1, 2)
    auto: AutoSettings = field(default_factory=lambda: AutoSettings(effort="thorough"))


QUICK = Plan(
    rows=1_500,
    evaluations=500,
    populations=(20, 40),
    trials=2,
    auto_seeds=(1,),
    auto=AutoSettings(evaluations=4_000, rounds=1),
)


def run(plan: Plan, note: Callable[[str], None], kept: Kept) -> Row:
    """Every setting from as many seeds as there are trials."""
    settings = {
        (variant, population, plan.brood): GenitorSettings(
            population=population, evaluations=plan.evaluations, brood=plan.brood, **chosen
        )
        for population in plan.populations
        for variant, chosen in VARIANTS.items()
    }
    if plan.brood != 1:
        first = plan.populations[0]
        settings["NEW", first, 1] = GenitorSettings(
            population=first, evaluations=plan.evaluations, brood=1
        )
    trials: dict[tuple[str, int, int], list[Row]] = {}
    for name, chosen in settings.items():
        note(f"{name[0]}, population {name[1]}, brood {name[2]}: {plan.trials} trials")
        trials[name] = [
            # One worker: broods are small.
            kept.answer(_trial(plan, chosen, seed), histogram_of_rows(plan.rows), workers=1)
            for seed in range(1, plan.trials + 1)
        ]
    best = min(row["glm"] for rows in trials.values() for row in rows if row["feasible"])
    note("auto")
    table = histogram_of_rows(plan.rows)
    answers = [kept.answer(_auto(plan, seed), table) for seed in plan.auto_seeds]
    return {
        "rows": plan.rows,
        "k": K,
        "evaluations": plan.evaluations,
        "trials": plan.trials,
        "bits": table.space.positions,
        "valid_strings": math.log2(Splits.of_space(table.space).count),
        "best": best,
        "grid": _grid(plan).tolist(),
        "settings": [
            {"variant": v, "population": p, "brood": b, **_summary(rows, best, plan)}
            for (v, p, b), rows in trials.items()
        ],
        "auto": [_without_course(row) for row in answers],
        "auto_at_least_as_good": all(a["feasible"] and a["glm"] <= best for a in answers),
    }


def table_of(rows: int) -> str:
    """The name of the table with so many rows."""
    return f"taxonomic, {rows:,} rows"


@cache
def histogram_of_rows(rows: int) -> Histogram:
    return sampled_rows(rows)


def _trial(plan: Plan, settings: GenitorSettings, seed: int) -> Run:
    table = table_of(plan.rows)
    return Run(table, genitor, settings, seed, K, NO_BIAS, "glm", EVERYTHING)


def _auto(plan: Plan, seed: int) -> Run:
    """auto minimizes ach, which is GLM but for a factor when weights are equal and bias is free."""
    return Run(table_of(plan.rows), auto, plan.auto, seed, K, NO_BIAS, limit=EVERYTHING)


def _without_course(row: Row) -> Row:
    return {key: row[key] for key in row if key not in ("trajectory", "feasible_points")}


def _grid(plan: Plan) -> np.ndarray:
    return np.linspace(plan.evaluations / POINTS, plan.evaluations, POINTS).astype(int)


def _summary(rows: list[Row], best: float, plan: Plan) -> Row:
    final = np.array([row["glm"] for row in rows if row["feasible"]])
    curves = np.array([_at(row["trajectory"], _grid(plan)) for row in rows])
    near = [_first_below(row["trajectory"], 1.01 * best) for row in rows]
    reached = [n for n in near if n is not None]
    return {
        "feasible": len(final),
        "final": final.tolist(),
        "best": float(final.min()),
        "median": float(np.median(final)),
        "worst": float(final.max()),
        "spread": float(final.max() - final.min()),
        "within_1_percent": len(reached),
        "evaluations_to_1_percent": float(np.median(reached)) if reached else None,
        "distinct": float(np.median([row["evaluations"]["distinct"] for row in rows])),
        "seconds": float(np.median([row["seconds"] for row in rows])),
        # None until every trial has something feasible.
        "curve": [None if np.isnan(x) else float(x) for x in curves.mean(axis=0)],
    }


def _at(trajectory: list[tuple[int, float]], grid: np.ndarray) -> np.ndarray:
    """The best loss so far after so many evaluations."""
    times, losses = np.array(trajectory).T
    last = np.searchsorted(times, grid, side="right") - 1
    return np.where(last >= 0, losses[last], np.nan)


def _first_below(trajectory: list[tuple[int, float]], loss: float) -> int | None:
    return next((at for at, reached in trajectory if reached <= loss), None)


def lines(result: Row) -> list[str]:
    """The figures as text, losses in thousands."""
    header = ("best", "median", "worst", "spread", "near", "after", "distinct", "s")
    text = [
        f"GENITOR, {result['rows']:,} rows, {result['bits']} bits, "
        f"2^{result['valid_strings']:.1f} valid strings (the paper: 92, 2^42), k = {result['k']}, "
        f"{result['evaluations']:,} evaluations, {result['trials']} trials, loss in thousands",
        "near: trials within 1 % of the best of all; after: median evaluations until then",
        f"  {'population, crossover, brood':<38}" + "".join(f"{n:>10}" for n in header),
    ]
    for row in result["settings"]:
        name = f"{row['population']:>5}, {row['variant']}, {row['brood']}"
        numbers = "".join(
            f"{row[key] / 1000:>10.3f}" for key in ("best", "median", "worst", "spread")
        )
        after = row["evaluations_to_1_percent"]
        text.append(
            f"  {name:<38}{numbers}{row['within_1_percent']:>10}"
            f"{'never' if after is None else f'{after:,.0f}':>10}"
            f"{row['distinct']:>10,.0f}{row['seconds']:>10.1f}"
        )
    text += [
        f"  auto, seed {row['seed']}: {row['glm'] / 1000:.3f}, "
        f"{row['evaluations']['distinct']:,} distinct, {row['seconds']:.1f} s"
        for row in result["auto"]
    ]
    verdict = "yes" if result["auto_at_least_as_good"] else "NO"
    return [*text, f"  auto at least as good as every trial: {verdict}"]
