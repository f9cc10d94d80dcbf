"""Counting and scoring as the table grows: 100 thousand, 1 million and 10 million people.

    python tests/benchmarks/scale.py [--json] [--rows 100000 1000000]

Counting is compared with a bare GROUP BY of the same columns into a table, in the same
process. Scoring 1,000 schemes should follow the distinct tuples, not the rows. Every size
runs in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import time

import duckdb
import numpy as np
from adult import median_seconds

from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import count
from sqlanon.datasets import create_people
from sqlanon.domain.column import Family
from sqlanon.domain.histogram import Histogram
from sqlanon.engines.registry import open_source
from sqlanon.evaluate.evaluator import Evaluator

SIZES = (100_000, 1_000_000, 10_000_000)
SCHEMES = 1_000
COLUMNS = ("sex", "birth_date", "city", "income", "diagnosis")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    parser.add_argument("--rows", type=int, nargs="+", default=SIZES)
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    results = []
    for rows in options.rows:
        with context.Pool(1) as pool:
            results.append(pool.apply(measure, (rows,)))
    if options.json:
        print(json.dumps(results, indent=2))
        return
    for r in results:
        print(
            f"{r['rows']:>10,} rows, {r['tuples']:>9,} tuples: counting {r['count_s']:.2f} s, "
            f"bare GROUP BY {r['group_by_s']:.2f} s ({r['count_ratio']:.2f} x); "
            f"{r['schemes']:,} schemes {r['score_s']:.2f} s "
            f"({r['score_us_per_tuple']:.2f} µs a tuple); peak {r['peak_mb']:,} MB"
        )


def measure(rows: int) -> dict[str, float]:
    connection = duckdb.connect()
    create_people(connection, "people", rows)
    columns = ", ".join(COLUMNS)
    bare = (
        f"CREATE OR REPLACE TABLE bare AS SELECT {columns}, COUNT(*) AS n FROM people GROUP BY ALL"
    )
    histograms: list[Histogram] = []

    def counting() -> None:
        source = open_source(connection=connection, table="people")
        histograms[:] = [count(source, quasis())]

    repeats = 3 if rows < 5_000_000 else 1
    group_by_s = median_seconds(lambda: connection.execute(bare), repeats)
    count_s = median_seconds(counting, repeats)
    histogram = histograms[0]
    score_s = scoring_seconds(histogram)
    return {
        "rows": rows,
        "tuples": len(histogram.tally),
        "group_by_s": group_by_s,
        "count_s": count_s,
        "count_ratio": count_s / group_by_s,
        "schemes": SCHEMES,
        "score_s": score_s,
        "score_us_per_tuple": score_s / len(histogram.tally) * 1e6,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def quasis() -> list[Quasi]:
    """Five quasi-identifiers at a granularity a publisher would start from."""
    return [
        Quasi("sex"),
        Quasi("birth_date", range=("1920-01-01", "2030-01-01"), granularity="year"),
        Quasi("city"),
        Quasi("income", range=(0, 10_000_000), granularity=10_000),
        Quasi("diagnosis", family=Family.FULL_DOMAIN),
    ]


def scoring_seconds(histogram: Histogram) -> float:
    """Seconds for schemes of many kinds, from coarse to fine, in batches of 100."""
    rng = np.random.default_rng(1)
    density = rng.random((SCHEMES, 1)) ** 3 * 0.2
    bits = rng.random((SCHEMES, histogram.space.positions)) < density
    with Evaluator(histogram) as evaluator:
        start = time.perf_counter()
        for first in range(0, SCHEMES, 100):
            evaluator.score(histogram.space.batch_of_bits(bits[first : first + 100]))
        return time.perf_counter() - start


if __name__ == "__main__":
    main()
