"""Publishing a table with a wide hierarchy: 200,000 leaves on four levels.

    python tests/benchmarks/wide.py [--json] [--leaves 200000] [--quick]

Half of the column is generalized to the first level above the values and half to the second, as
a search may choose; a second release keeps every value. Each is timed from the open policy to the
committed table, counting not included, in a process of its own, whose peak of memory includes it.
`--quick` takes 12,000 leaves.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb

import sqlanon
from sqlanon.domain.column import Column, Partition
from sqlanon.domain.scheme_json import to_document, write_document

ROWS_OF_A_LEAF = 5
DISTRICT, COUNTY = 100, 4_000
"""Leaves under a node of the first level, and of the second."""
MOST_SECONDS, MOST_MB = 20, 1_000


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    parser.add_argument("--leaves", type=int, default=200_000)
    parser.add_argument("--quick", action="store_true", help="12,000 leaves")
    options = parser.parse_args()
    leaves = 12_000 if options.quick else options.leaves
    found = []
    for kept in (False, True):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            found.append(pool.apply(measure, (leaves, kept)))
    if options.json:
        print(json.dumps({"goal": [MOST_SECONDS, MOST_MB], "releases": found}, indent=2))
        return
    for row in found:
        stages = ", ".join(f"{name} {seconds:.1f}" for name, seconds in row["stages"].items())
        print(
            f"{row['leaves']:,} leaves in {row['groups']:,} groups, {row['rows']:,} rows: counted "
            f"in {row['count_s']:.1f} s, published in {row['publish_s']:.1f} s ({stages}); "
            f"peak {row['peak_mb']:,} MB; scheme file {row['scheme_bytes']:,} bytes"
        )


def measure(leaves: int, kept: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_hierarchy(folder / "places.csv", leaves)
        connection = duckdb.connect(folder / "people.duckdb")
        connection.execute("SET enable_progress_bar = false")
        create_people(connection, leaves)
        with sqlanon.load(policy_of(folder), connection=connection) as anonymizer:
            start = time.perf_counter()
            columns = anonymizer.space.columns
            counted = time.perf_counter() - start
            scheme = sqlanon.Scheme(columns, tuple(_partition(each, kept) for each in columns))
            write_document(to_document(scheme), folder / "scheme.json")
            start = time.perf_counter()
            release = anonymizer.publish(scheme)
            seconds = time.perf_counter() - start
        connection.close()
        size = (folder / "scheme.json").stat().st_size
    return {
        "leaves": leaves,
        "groups": len(scheme["place"]),
        "rows": release.rows,
        "k": release.k,
        "count_s": counted,
        "publish_s": seconds,
        "stages": dict(release.seconds),
        "longest_statement": max(map(len, release.statements)),
        "scheme_bytes": size,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def write_hierarchy(path: Path, leaves: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for leaf in range(leaves):
            district, county = leaf // DISTRICT, leaf // COUNTY
            file.write(f"place {leaf:07},district {district:05},county {county:03},*\n")


def create_people(connection: duckdb.DuckDBPyConnection, leaves: int) -> None:
    """Every place has people, each of them one of four ages."""
    connection.execute(
        "CREATE TABLE people AS SELECT 'place ' || format('{:07d}', i % $leaves) AS place, "
        "20 + i % 4 AS age, 'illness ' || (i % 7) AS illness FROM range($rows) AS r(i)",
        {"leaves": leaves, "rows": leaves * ROWS_OF_A_LEAF},
    )


def policy_of(folder: Path) -> dict[str, Any]:
    return {
        "source": {"table": "people"},
        "columns": {
            "place": {"role": "quasi", "hierarchy": str(folder / "places.csv")},
            "age": {"role": "quasi", "range": [20, 30], "granularity": 10},
            "illness": {"role": "sensitive"},
        },
        "one_row_per_person": True,
        "privacy": {"k": 5, "homogeneity": {"accept": "the benchmark measures k alone"}},
        "publish": {"to": "anon"},
    }


def _partition(column: Column, kept: bool) -> Partition:
    if column.name != "place":
        return Partition.whole(column.size)
    if kept:
        return Partition.atoms(column.size)
    middle = column.size // 2 // COUNTY * COUNTY
    districts = [cut for cut in column.levels[1].cuts if cut < middle]
    counties = [cut for cut in column.levels[2].cuts if cut >= middle]
    return Partition(column.size, (*districts, *counties))


if __name__ == "__main__":
    main()
