"""Processor seconds of a search that writes its measurements to tables, and what writing takes.

    python tests/benchmarks/tables.py [--json] [--evaluations 50000] [--repeats 3]

NSGA-II on Adult, nine contiguous columns, as in nsga2.py. What keeps measurements in tables is
replaced by nothing in every other run; the best run of each counts. The goal is a share of 5 %.
The memory of the tables is that of all schemes, before and after compression.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
from adult import nine_columns
from nsga2 import PREFERENCE, SEED, K
from runs import problem_of

from sqlanon.evaluate import Workspace
from sqlanon.evaluate.evaluator import Evaluator
from sqlanon.evaluate.workspace import TAKEN
from sqlanon.search.nsga2 import Nsga2Settings, nsga2
from sqlanon.search.outcome import Watch


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
    print(
        f"{result['distinct']:,} schemes: {result['with_s']:.2f} s with tables, "
        f"{result['without_s']:.2f} s without, {result['share']:.1%} more; "
        f"{result['bytes']:,} bytes a scheme, {result['compressed']:,} compressed"
    )


def compare(settings: Nsga2Settings, repeats: int) -> dict[str, Any]:
    with_s, without_s = [], []
    result: dict[str, Any] = {}
    for _ in range(repeats):
        with nothing_written():
            without_s.append(searched(settings)[0])
        seconds, result = searched(settings)
        with_s.append(seconds)
    return {
        "with_s": min(with_s),
        "without_s": min(without_s),
        "share": min(with_s) / min(without_s) - 1,
        "all_with_s": with_s,
        "all_without_s": without_s,
        **result,
    }


@contextmanager
def nothing_written() -> Iterator[None]:
    """Keeps measurements in the dictionary of the evaluator alone."""
    with (
        mock.patch.object(Workspace, "begin", return_value=1),
        mock.patch.object(Workspace, "put"),
    ):
        yield


def searched(settings: Nsga2Settings) -> tuple[float, dict[str, Any]]:
    """The processor seconds of a search, opening and closing the tables included."""
    histogram = nine_columns()
    start = time.process_time()
    with Evaluator(histogram) as evaluator:
        problem = problem_of(evaluator, K, PREFERENCE)
        nsga2(problem, settings, np.random.default_rng(SEED), Watch())
        distinct = evaluator.effort.distinct
        evaluator.workspace.flush()
        seconds = time.process_time() - start
        connection = evaluator.workspace._connection
        taken = []
        for statement in ("SELECT 1", "CHECKPOINT"):
            connection.execute(statement)
            ((number,),) = connection.execute(TAKEN).fetchall()
            taken.append(int(number) // distinct)
    return seconds, {"distinct": distinct, "bytes": taken[0], "compressed": taken[1]}


if __name__ == "__main__":
    main()
