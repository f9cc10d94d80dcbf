"""Milliseconds per scheme: one CASE query each, numpy, and sqlanon's batched SQL.

    python tests/benchmarks/evaluate.py [--json]

Adult with nine columns and 5-year ages. A ratio above 1 means that batched SQL is faster.
All three must give the same k, largest class and number of classes.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np
from adult import (
    Bits,
    CaseYardstick,
    NumpyYardstick,
    converging_schemes,
    nine_columns,
    random_schemes,
)

from sqlanon.domain.histogram import Histogram
from sqlanon.evaluate.evaluator import Evaluator
from sqlanon.metrics.suppression import Suppression

BATCHES = (1, 10, 30, 100, 300)
SAMPLE = 100
"""Schemes that the slow yardsticks are timed on."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    options = parser.parse_args()
    histogram = nine_columns()
    trace = np.concatenate(converging_schemes(histogram)[3:])
    result: dict[str, dict[str, Any]] = {
        "converging": compare(histogram, trace[:1800]),
        "random": compare(histogram, random_schemes(histogram, 600)),
    }
    if options.json:
        print(json.dumps(result, indent=2))
        return
    for name, row in result.items():
        print(
            f"{name:<11} SQL {row['sql_ms']:.3f} ms, numpy {row['numpy_ms']:.3f} ms "
            f"({row['numpy_ratio']:.1f} x), CASE {row['case_ms']:.2f} ms "
            f"({row['case_ratio']:.0f} x)"
        )
        for size, ms in row["sql_ms_by_batch"].items():
            print(f"    batches of {size:>3}: {ms:.3f} ms per scheme")
        print(f"    with suppression, batches of 100: {row['sql_suppression_ms']:.3f} ms")


def compare(histogram: Histogram, bits: Bits) -> dict[str, Any]:
    """The three ways on the same schemes, interleaved so that noise hits all alike."""
    numpy_yardstick, case_yardstick = NumpyYardstick(histogram), CaseYardstick(histogram)
    sample = bits[np.linspace(0, len(bits) - 1, SAMPLE).astype(int)]
    seconds: dict[str, list[float]] = {"numpy": [], "case": [], "sql": []}
    for part in np.array_split(sample, 4):
        expected = _timed(seconds["numpy"], lambda p=part: [numpy_yardstick(b) for b in p])
        assert expected == _timed(seconds["case"], lambda p=part: [case_yardstick(b) for b in p])
        seconds["sql"].append(batched(histogram, bits, 100) / len(bits))
    check(histogram, sample, numpy_yardstick)
    numpy_ms, case_ms = (sum(seconds[k]) / SAMPLE * 1e3 for k in ("numpy", "case"))
    sql_ms = float(np.median(seconds["sql"])) * 1e3
    limited = Suppression.given_k(5, 0.01, histogram.rows)
    return {
        "sql_ms": sql_ms,
        "numpy_ms": numpy_ms,
        "case_ms": case_ms,
        "numpy_ratio": numpy_ms / sql_ms,
        "case_ratio": case_ms / sql_ms,
        "sql_ms_by_batch": {
            str(size): batched(histogram, bits[: size * 60], size) / min(len(bits), size * 60) * 1e3
            for size in BATCHES
        },
        "sql_suppression_ms": batched(histogram, bits, 100, limited) / len(bits) * 1e3,
    }


def batched(
    histogram: Histogram, bits: Bits, size: int, suppression: Suppression | None = None
) -> float:
    """Seconds to score all schemes in batches of a size, nothing cached."""
    with Evaluator(histogram, suppression=suppression) as evaluator:
        evaluator.score(histogram.space.batch_of_bits(~bits[:2]))  # tables and statements made
        start = time.perf_counter()
        for first in range(0, len(bits), size):
            evaluator.score(histogram.space.batch_of_bits(bits[first : first + size]))
        return time.perf_counter() - start


def check(histogram: Histogram, bits: Bits, yardstick: NumpyYardstick) -> None:
    with Evaluator(histogram) as evaluator:
        scores = evaluator.score(histogram.space.batch_of_bits(bits))
    found = list(
        zip(scores.k.tolist(), scores.k_max.tolist(), scores.classes.tolist(), strict=True)
    )
    assert found == [yardstick(b) for b in bits], "batched SQL disagrees with numpy"


def _timed(into: list[float], work):  # type: ignore[no-untyped-def]
    start = time.perf_counter()
    result = work()
    into.append(time.perf_counter() - start)
    return result


if __name__ == "__main__":
    main()
