"""Counting and publishing on PostgreSQL, beside the bare statements that they contain.

    python tests/benchmarks/engines.py [--json] [--rows 5000000]

On a private server (see tests/shared/postgres_server.py), synthetic people of a million
households. The count is at most 1.3 times its bare GROUP BY; stage, recount and swap are at most
2.5 times a bare CREATE TABLE AS of the same expressions, with hash and certificate at most 4
times. With 100,000 rows that are nearly all unique, the SELECT that suppresses is at most 3 times
its bare GROUP BY. Each figure is the best of three runs. The bytes that are fetched follow the
distinct tuples.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))
import postgres_server

import sqlanon
from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import Counter
from sqlanon.domain import Partition, Scheme
from sqlanon.engines import open_engine, open_source
from sqlanon.render import render

MAKE = """
CREATE TABLE people AS
SELECT
  n AS id,
  18 + CAST(hashint4(n) & 2147483647 AS int) % 73 AS age,
  'p' || CAST(hashint4(n * 3 + 1) & 2147483647 AS int) % 100 AS town,
  'j' || CAST(hashint4(n * 5 + 2) & 2147483647 AS int) % 30 AS job,
  CASE WHEN hashint4(n * 7 + 3) % 2 = 0 THEN 'F' ELSE 'M' END AS sex,
  'd' || CAST(hashint4(n * 11 + 4) & 2147483647 AS int) % 40 AS diagnosis
FROM generate_series(1, {rows}) AS s (n)
"""


def policy(address: str) -> dict[str, Any]:
    return {
        "source": {"connection": address, "table": "people"},
        "columns": {
            "id": {"role": "identifying"},
            "age": {"role": "quasi", "range": [15, 95], "granularity": 5},
            "town": {"role": "quasi"},
            "job": {"role": "quasi"},
            "sex": {"role": "quasi"},
            "diagnosis": {"role": "sensitive"},
        },
        "one_row_per_person": True,
        "privacy": {"k": 5, "homogeneity": {"accept": "the benchmark measures k alone"}},
        "suppression": {"limit": 1.0},
        "publish": {"to": "anon"},
    }


def best(call: Callable[[], object], times: int = 3) -> float:
    found = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return min(found)


def measured(server: postgres_server.Server, rows: int) -> dict[str, Any]:
    """The seconds of counting and publishing a table of so many rows, and of bare statements."""
    database = server.new_database()
    database.run(MAKE.format(rows=rows), "VACUUM ANALYZE people")
    with sqlanon.load(policy(database.address)) as anonymizer:
        columns = anonymizer.space.columns
        tuples = len(anonymizer.histogram.tally.rows)
        scheme = Scheme(columns, tuple(_halved(column.size) for column in columns))
        runs = []
        for _ in range(2):
            start = time.perf_counter()
            release = anonymizer.publish(scheme)
            runs.append((time.perf_counter() - start, release))
        statements = runs[0][1].statements
        created = next(s for s in statements if s.startswith("CREATE TABLE"))
        quasis = [
            Quasi(each.name, range=(15, 95), granularity=5)
            if each.name == "age"
            else Quasi(each.name)
            for each in columns
        ]
    total, release = min(runs, key=lambda each: each[0])
    seconds = dict(release.seconds)
    made = sum(seconds.get(n, 0.0) for n in ("counting", "staging", "verifying", "swapping"))
    source = open_source(connection=database.address, table="people")
    with closing(source.engine) as engine:
        counter = Counter(source, quasis, ())
        text = render(
            "count.sql",
            dialect="postgres",
            source=source.relation,
            tuples=counter._tuple,
            n_rows=counter.n_rows,
        )
        fetched = engine.fetch(text)
        bare_count = best(lambda: database.rows(f"SELECT COUNT(*) FROM ({text}) AS t"))
        count = best(counter.by_row)
    select = created.partition(" AS\n")[2]
    plain = _without_suppression(select)

    def bare() -> None:
        database.run("DROP TABLE IF EXISTS bare", f"CREATE TABLE bare AS {plain}")

    bare_s = best(bare, 2)
    server.drop(database)
    return {
        "rows": rows,
        "tuples": tuples,
        "fetched_bytes": fetched.nbytes,
        "bare_group_by_s": bare_count,
        "count_s": count,
        "count_ratio": count / bare_count,
        "bare_create_s": bare_s,
        "staged_recounted_swapped_s": made,
        "made_ratio": made / bare_s,
        "publish_s": total,
        "publish_ratio": total / bare_s,
        "stages": seconds,
        "k": release.k,
        "left_out": release.left_out,
    }


def _halved(size: int) -> Partition:
    """Groups of two neighbours each, without NULL."""
    return Partition(size, tuple(range(1, size - 1, 2)))


def _without_suppression(select: str) -> str:
    """The generalizing SELECT that the statement of a release begins with."""
    inner = select.partition('WITH "generalized" AS (')[2]
    depth = 1
    for place, sign in enumerate(inner):
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if not depth:
            return inner[:place]
    return select


def suppressed(server: postgres_server.Server, rows: int = 100_000) -> dict[str, Any]:
    """Rows nearly all unique, nearly all left out, against the GROUP BY of their classes."""
    database = server.new_database()
    database.run(
        "CREATE TABLE people AS SELECT n / 317 AS a, 'x' || n % 317 AS b "
        f"FROM generate_series(1, {rows}) AS s (n)",
        "INSERT INTO people SELECT 1, 'x1' FROM generate_series(1, 5)",
        "ANALYZE people",
    )
    document = policy(database.address) | {
        "columns": {"a": {"role": "quasi"}, "b": {"role": "quasi"}},
        "suppression": {"limit": 1.0},
        "privacy": {"k": 2},
    }
    with sqlanon.load(document) as anonymizer:
        columns = anonymizer.space.columns
        parts = (Partition(each.size, tuple(range(each.size - 1))) for each in columns)
        scheme = Scheme(columns, tuple(parts))
        text = anonymizer.sql(scheme, dialect="postgres").rstrip().rstrip(";")
    grouped = "SELECT a, b, COUNT(*) FROM people GROUP BY 1, 2"
    bare = best(lambda: database.rows(f"SELECT COUNT(*) FROM ({grouped}) AS t"))
    with closing(open_engine(database.address)) as engine:
        found = best(lambda: engine.fetch(text))
        kept = engine.fetch(text).num_rows
    server.drop(database)
    assert kept == 6, "six rows share their values"
    return {"rows": rows, "bare_group_by_s": bare, "suppressing_s": found, "ratio": found / bare}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    parser.add_argument("--rows", type=int, default=5_000_000)
    options = parser.parse_args()
    binaries = postgres_server.find_binaries()
    if binaries is None:
        raise SystemExit("there is no PostgreSQL here")
    server = postgres_server.Server(binaries, shared_buffers="1GB", work_mem="256MB")
    try:
        found = {"large": measured(server, options.rows), "suppression": suppressed(server)}
    finally:
        server.stop()
    if options.json:
        print(json.dumps(found, indent=2))
        return
    large, small = found["large"], found["suppression"]
    print(
        f"{large['rows']:,} rows, {large['tuples']:,} tuples, {large['fetched_bytes']:,} bytes "
        f"fetched\ncount {large['count_s']:.2f} s, {large['count_ratio']:.2f} x its GROUP BY\n"
        f"stage, recount and swap {large['staged_recounted_swapped_s']:.1f} s, "
        f"{large['made_ratio']:.2f} x a bare CREATE TABLE AS; in all {large['publish_s']:.1f} s, "
        f"{large['publish_ratio']:.2f} x\nsuppression of {small['rows']:,} rows "
        f"{small['suppressing_s']:.2f} s, {small['ratio']:.2f} x its GROUP BY"
    )


if __name__ == "__main__":
    main()
