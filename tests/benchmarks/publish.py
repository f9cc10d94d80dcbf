"""Publishing a large table: 10 million people, six quasi-identifiers, into a DuckDB file.

    python tests/benchmarks/publish.py [--json] [--rows 10000000] [--memory 2GB]

The yardstick, in the same process and database: a bare CREATE TABLE AS SELECT … ORDER BY of
the columns that are released, ungeneralized. Releasing alone is at most 1.4 times that, with
verification, hash and certificate at most 2 times, on a quiet machine; the ratios of processor
time depend less on others. DuckDB works within a memory limit and spills beyond it.
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
from sqlanon.datasets import create_people
from sqlanon.domain.column import Column, Partition

RELEASED = ("sex", "birth_date", "zip", "city", "income", "last_name", "diagnosis")
POLICY: dict[str, Any] = {
    "source": {"table": "people"},
    "columns": {
        "person_id": {"role": "identifying"},
        "first_name": {"role": "identifying"},
        "last_name": {"role": "quasi"},
        "sex": {"role": "quasi"},
        "birth_date": {
            "role": "quasi",
            "range": ["1920-01-01", "2030-01-01"],
            "granularity": "year",
        },
        "zip": {"role": "quasi", "hierarchy": {"mask": {}}, "family": "full-domain"},
        "city": {"role": "quasi"},
        "income": {"role": "quasi", "range": [0, 10_000_000], "granularity": 10_000},
        "diagnosis": {"role": "sensitive"},
    },
    "one_row_per_person": True,
    "privacy": {"k": 5, "homogeneity": {"accept": "the benchmark measures k alone"}},
    "suppression": {"limit": 0.01},
    "publish": {"to": "people_anon"},
}
STAGING = ("preparing", "counting", "staging", "swapping", "committing")
"""The stages of a publish that make the release; the others verify it."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--memory", default="2GB", help="DuckDB's memory limit")
    options = parser.parse_args()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply(measure, (options.rows, options.memory))
    if options.json:
        print(json.dumps(found, indent=2))
        return
    stages = ", ".join(f"{name} {seconds:.1f}" for name, seconds in found["stages"].items())
    print(
        f"{found['rows']:,} rows: bare CREATE TABLE … ORDER BY {found['bare_s']:.1f} s; "
        f"releasing {found['release_s']:.1f} s ({found['release_ratio']:.2f} x), with "
        f"verification {found['total_s']:.1f} s ({found['total_ratio']:.2f} x, of processor time "
        f"{found['total_cpu_ratio']:.2f} x)\n"
        f"seconds by stage: {stages}\n"
        f"k {found['k']}, {found['left_out']:,} rows left out; memory limit {found['memory']}, "
        f"peak of the process {found['peak_mb']:,} MB"
    )


def measure(rows: int, memory: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        connection = duckdb.connect(Path(folder) / "people.duckdb")
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"SET memory_limit = '{memory}'")
        create_people(connection, "people", rows)
        connection.execute("CHECKPOINT")
        columns = ", ".join(RELEASED)
        start, used = time.perf_counter(), time.process_time()
        connection.execute(f"CREATE TABLE bare AS SELECT {columns} FROM people ORDER BY {columns}")
        connection.execute("CHECKPOINT")
        bare, bare_cpu = time.perf_counter() - start, time.process_time() - used
        connection.execute("DROP TABLE bare")
        with sqlanon.load(POLICY, connection=connection) as anonymizer:
            scheme = coarse(anonymizer)
            start, used = time.perf_counter(), time.process_time()
            release = anonymizer.publish(scheme)
            connection.execute("CHECKPOINT")
            total, total_cpu = time.perf_counter() - start, time.process_time() - used
        connection.close()
    stages = dict(release.seconds)
    made = sum(stages.get(name, 0.0) for name in STAGING)
    return {
        "rows": rows,
        "memory": memory,
        "bare_s": bare,
        "release_s": made,
        "release_ratio": made / bare,
        "total_s": total,
        "total_ratio": total / bare,
        "bare_cpu_s": bare_cpu,
        "total_cpu_ratio": total_cpu / bare_cpu,
        "stages": stages,
        "k": release.k,
        "left_out": release.left_out,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def coarse(anonymizer: sqlanon.Anonymizer) -> sqlanon.Scheme:
    """A scheme as a publisher may choose it: twenty years, one digit, broad incomes."""
    columns = anonymizer.space.columns
    return sqlanon.Scheme(columns, tuple(map(_partition, columns)))


def _partition(column: Column) -> Partition:
    if column.name == "zip":
        return column.levels[-2]
    starts = {
        "birth_date": range(20, column.domain.width, 20),
        "income": (2, 4, 6, 10),
        "sex": (1,),
    }.get(column.name, ())
    cuts = [start - 1 for start in starts]
    if column.domain.has_null and cuts:
        cuts.append(column.positions - 1)
    return Partition(column.size, tuple(cuts))


if __name__ == "__main__":
    main()
