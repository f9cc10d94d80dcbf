"""What privacy models cost: milliseconds per scheme, with k alone and with one sensitive column.

    python tests/benchmarks/models.py [--json]

Adult with eight quasi-identifiers and 5-year ages, in batches of 100 schemes: the schemes of a
converging search, and random fine ones. Sensitive is the salary class (2 values) or the
occupation (14); both have distinct l = 2 and t = 0.2 by equal distance. The goal is at most 2.5
times the cost of k alone for one sensitive column, the salary class.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
from adult import Bits, converging_schemes, random_schemes, with_sensitive

from sqlanon.domain.histogram import Histogram
from sqlanon.evaluate.evaluator import Evaluator
from sqlanon.privacy.l_diversity import DistinctDiversity
from sqlanon.privacy.model import Model
from sqlanon.privacy.t_closeness import Closeness, Distance

BATCH = 100
REPEATS = 7


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    options = parser.parse_args()
    result = {name: compare(name) for name in ("salary-class", "occupation")}
    if options.json:
        print(json.dumps(result, indent=2))
        return
    for name, by_schemes in result.items():
        for schemes, row in by_schemes.items():
            print(
                f"{name:<13} {schemes:<11} k alone {row['k_ms']:.3f} ms, "
                f"with models {row['models_ms']:.3f} ms ({row['ratio']:.2f} x)"
            )


def compare(sensitive: str) -> dict[str, dict[str, float]]:
    histogram = with_sensitive(sensitive)
    models: list[Model] = [
        DistinctDiversity(sensitive, 2),
        Closeness(sensitive, 0.2, Distance.EQUAL),
    ]
    schemes = {
        "converging": np.concatenate(converging_schemes(histogram)[3:])[:1_000],
        "random": random_schemes(histogram, 500),
    }
    return {name: timed(histogram, bits, models) for name, bits in schemes.items()}


def timed(histogram: Histogram, bits: Bits, models: list[Model]) -> dict[str, float]:
    """Both ways in turn, so that noise hits them alike; the medians count."""
    alone, judged = [], []
    for _ in range(REPEATS):
        alone.append(seconds(histogram, bits, []))
        judged.append(seconds(histogram, bits, models))
    k_ms, models_ms = (float(np.median(each)) / len(bits) * 1e3 for each in (alone, judged))
    ratio = float(np.median(np.array(judged) / np.array(alone)))
    return {"k_ms": k_ms, "models_ms": models_ms, "ratio": ratio}


def seconds(histogram: Histogram, bits: Bits, models: list[Model]) -> float:
    """To score all schemes, nothing cached."""
    with Evaluator(histogram, models=models) as evaluator:
        evaluator.score(histogram.space.batch_of_bits(~bits[:2]))  # tables and statements made
        start = time.perf_counter()
        for first in range(0, len(bits), BATCH):
            evaluator.score(histogram.space.batch_of_bits(bits[first : first + BATCH]))
        return time.perf_counter() - start


if __name__ == "__main__":
    main()
