"""Cut trees on Adult: loss, bias and seconds by k, beside what must hold.

    python tests/benchmarks/multidimensional.py [--json] [--k 2,5,10,25,50,100] [--quick]

Nine quasi-identifiers with the project's hierarchies, labels by region; counting is not included.
Then distinct l = 3 with the occupation as the sensitive column. Every tree is published, and NWP,
NECD and k are recounted from the released table by GROUP BY; the program fails where they differ
from the search's. `--quick` takes every tenth row, and k = 5.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import duckdb

import sqlanon

ROOT = Path(__file__).resolve().parents[2]
QUASI = [
    "age", "workclass", "education", "marital-status", "occupation", "race", "sex",
    "native-country", "salary-class",
]  # fmt: skip
GOALS = {("k", 5): {"nwp": 0.080, "seconds": 1.0}}
MOST_NECD = 0.005


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    parser.add_argument("--k", default="2,5,10,25,50,100", help="with commas between")
    parser.add_argument("--quick", action="store_true", help="every tenth row, k = 5")
    options = parser.parse_args()
    several = [5] if options.quick else [int(k) for k in options.k.split(",")]
    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar = false")
    every = "USING SAMPLE 10% (system, 1)" if options.quick else ""
    names = ", ".join(f'"{name}"' for name in QUASI)
    file = ROOT / "examples" / "adult" / "adult.parquet"
    connection.execute(f"CREATE TABLE adult AS SELECT {names} FROM '{file}' {every}")
    found = [measured(connection, policy(k), f"k = {k}") for k in several]
    found.append(measured(connection, policy(5, sensitive="occupation"), "k = 5, l = 3"))
    document = {"goals": {"k = 5": GOALS["k", 5], "necd": MOST_NECD}, "trees": found}
    if options.json:
        print(json.dumps(document, indent=2))
        return
    for row in found:
        print(
            f"{row['case']:<14} NWP {row['nwp']:.4f}, NECD {row['necd']:.4f}, "
            f"{row['classes']:,} classes in {row['seconds']:.2f} s ({row['cpu']:.2f} s of CPU), "
            f"published in {row['publish_seconds']:.2f} s"
        )


def policy(k: int, sensitive: str | None = None) -> dict[str, Any]:
    columns: dict[str, Any] = {
        name: {"role": "quasi", "hierarchy": f"adult/{name}.csv"} for name in QUASI
    }
    privacy: dict[str, Any] = {"k": k}
    if sensitive is not None:
        columns[sensitive] = {"role": "sensitive", "accept": "a benchmark"}
        privacy["l_diversity"] = {"l": 3}
    return {
        "source": {"table": "adult"},
        "one_row_per_person": True,
        "columns": columns,
        "privacy": privacy,
        "search": {"recoding": "multidimensional"},
        "publish": {"to": "released"},
    }


def measured(
    connection: duckdb.DuckDBPyConnection, wanted: dict[str, Any], case: str
) -> dict[str, Any]:
    with sqlanon.load(wanted, connection=connection) as anonymizer:
        rows = anonymizer.histogram.rows
        begun, cpu = time.perf_counter(), time.process_time()
        result = anonymizer.search()
        seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
        solution = result.solution
        assert solution is not None
        begun = time.perf_counter()
        released = anonymizer.publish(solution)
        published = time.perf_counter() - begun
        labels = {column: len(set(solution.labels(column))) for column in solution_columns(wanted)}
    recounted = released.certificate.to_dict()["scores"]
    quasi = ", ".join(f'"{name}"' for name in solution_columns(wanted))
    sizes = f"SELECT count(*) AS n FROM released GROUP BY {quasi}"
    smallest, largest, classes = connection.execute(
        f"SELECT min(n), max(n), count(*) FROM ({sizes})"
    ).fetchall()[0]
    necd = (largest - smallest) / (rows - 1)
    # What the search says follows from the released table alone.
    assert abs(recounted["nwp"] - (solution.nwp or 0)) < 1e-9
    assert abs(necd - (solution.necd or 0)) < 1e-12
    assert (smallest, classes) == (solution.k, solution.classes)
    return {
        "case": case,
        "nwp": solution.nwp,
        "necd": solution.necd,
        "k": solution.k,
        "classes": classes,
        "labels": labels,
        "seconds": round(seconds, 3),
        "cpu": round(cpu, 3),
        "publish_seconds": round(published, 3),
        "queries": result.evaluations["queries"],
    }


def solution_columns(wanted: dict[str, Any]) -> list[str]:
    return [name for name, each in wanted["columns"].items() if each["role"] == "quasi"]


if __name__ == "__main__":
    main()
