"""Nodes per second: every node of the Adult lattice of the POkA paper, evaluated.

    python tests/benchmarks/lattice.py [--json]

17,920 nodes, eight columns, 74 ages; k, loss and a suppression limit of 1 % included.
"""

from __future__ import annotations

import argparse
import json

from adult import lattice, lattice_nodes, median_seconds

from sqlanon.evaluate.evaluator import Evaluator
from sqlanon.metrics.suppression import Suppression


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    options = parser.parse_args()
    histogram = lattice()
    nodes = lattice_nodes(histogram)
    rules = {
        "without suppression": Suppression(),
        "suppression of 1 %": Suppression.up_to(0.01, histogram.rows),
    }
    rates: dict[str, float] = {}
    result = {"nodes": len(nodes), "nodes_per_second": rates}
    for name, rule in rules.items():

        def evaluate(rule: Suppression = rule) -> None:
            with Evaluator(histogram, suppression=rule) as evaluator:
                evaluator.score(histogram.space.batch_of_levels(nodes))

        rates[name] = len(nodes) / median_seconds(evaluate, repeats=3)
    if options.json:
        print(json.dumps(result, indent=2))
        return
    for name, rate in rates.items():
        print(f"{len(nodes):,} nodes, {name}: {rate:,.0f} a second")


if __name__ == "__main__":
    main()
