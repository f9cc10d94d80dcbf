"""The same answer from every seed: auto, and NSGA-II with the paper's settings beside it.

    python tests/benchmarks/seeds.py [--json] [--seeds 10] [--k 2 5 10 25 50 100]

Adult, nine contiguous columns, preference NWP 0.2, NECD 1.0. Two answers are the same when
ach, k and pref_dev are. The goal is the best answer from 9 of 10 seeds of auto.
"""

from __future__ import annotations

import argparse
import json
import sys

import numpy as np
from adult import nine_columns
from runs import Row, Search, rank, solve

from sqlanon.histogram import Histogram
from sqlanon.preference import Preference
from sqlanon.search.auto import AutoSettings, auto
from sqlanon.search.nsga2 import Nsga2Settings, nsga2

PREFERENCE = Preference(nwp=0.2, necd=1.0)


def main() -> None:
    options = arguments()
    histogram = nine_columns()
    searches: dict[str, tuple[Search, object]] = {
        "auto": (auto, AutoSettings(evaluations=options.auto_evaluations)),
        "nsga2": (nsga2, Nsga2Settings(evaluations=options.nsga2_evaluations)),
    }
    result: dict[str, Row] = {}
    for k in options.k:
        print(f"k_pref {k}", file=sys.stderr, flush=True)
        runs = {
            name: [run(histogram, search, settings, k, 1 + i) for i in range(options.seeds)]
            for name, (search, settings) in searches.items()
        }
        best = min(rank(row) for rows in runs.values() for row in rows)
        result[str(k)] = {name: summary(rows, best) for name, rows in runs.items()}
    if options.json:
        print(json.dumps(result, indent=2))
        return
    print(
        f"{options.seeds} seeds: answers equal to the best of all, and how far off the others are"
    )
    for k, by_search in result.items():
        for name, row in by_search.items():
            print(
                f"k_pref {k:>3}, {name:<6} {row['share_best']:>5.0%} the best, "
                f"ach {row['best_ach']:.5f} to {row['worst_ach']:.5f} "
                f"(+{row['worst_gap']:.2%}), k {row['k']}, "
                f"{row['seconds']:.1f} s, {row['asked']:,.0f} asked, "
                f"{row['distinct']:,.0f} distinct"
            )


def run(histogram: Histogram, search: Search, settings: object, k: int, seed: int) -> Row:
    return solve(histogram, search, settings, seed, k=k, preference=PREFERENCE)


def summary(rows: list[Row], best: tuple[float, ...]) -> Row:
    """Shares are of all seeds; seconds and evaluations are medians."""
    found = [row for row in rows if row["feasible"]]
    ach = [row["ach"] for row in found]
    effort = {
        key: float(np.median([row["evaluations"][key] for row in rows]))
        for key in ("asked", "distinct", "queries")
    }
    return {
        "feasible": len(found),
        "share_best": sum(rank(row) == best for row in rows) / len(rows),
        "best_ach": min(ach, default=None),
        "worst_ach": max(ach, default=None),
        "worst_gap": max(ach) / best[1] - 1 if ach else None,
        "k": sorted({row["k"] for row in found}),
        "seconds": float(np.median([row["seconds"] for row in rows])),
        **effort,
        "seeds": [
            {key: row.get(key) for key in ("seed", "ach", "k", "pref_dev", "seconds", "scheme")}
            for row in rows
        ],
    }


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--k", type=int, nargs="+", default=[2, 5, 10, 25, 50, 100])
    parser.add_argument("--auto-evaluations", type=int, default=AutoSettings.evaluations)
    parser.add_argument("--nsga2-evaluations", type=int, default=Nsga2Settings.evaluations)
    return parser.parse_args()


if __name__ == "__main__":
    main()
