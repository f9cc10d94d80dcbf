"""A large table with a privacy model: 100,000 patients, ten quasi-identifiers, l = 2.

    python tests/benchmarks/patients.py [--json] [--rows 100000] [--seconds 30] [--limit 0.01]

Hardly any two patients agree in dates, zip code and income, so the histogram has about as many
tuples as the table has rows. `auto` searches for so many seconds; printed is when its answer
improved, and how long the longest pause between two signs of life was.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import duckdb

import sqlanon
from sqlanon.datasets import create_people
from sqlanon.search.outcome import Progress

COLUMNS = (
    "sex", "birth_date", "admitted", "zip", "income",
    "education", "marital", "occupation", "household", "insurer",
)  # fmt: skip

FURTHER = """
CREATE TABLE patients AS
WITH fields AS (
    SELECT *, (md5_number(concat('patients:', person_id)) >> 64)::UBIGINT AS bits
    FROM people
),
drawn AS (
    SELECT
        *,
        (bits & 65535)::BIGINT AS u_admitted,
        ((bits >> 16) & 4095)::BIGINT AS u_education,
        ((bits >> 28) & 4095)::BIGINT AS u_marital,
        ((bits >> 40) & 4095)::BIGINT AS u_occupation,
        ((bits >> 52) & 63)::BIGINT AS u_household,
        (bits >> 58)::BIGINT AS u_insurer,
        coalesce(year(birth_date), 1980) AS born
    FROM fields
)
SELECT
    sex,
    birth_date,
    DATE '2024-01-01' + ((u_admitted * 731) >> 16)::INTEGER AS admitted,
    zip,
    income,
    CASE WHEN born > 2008 THEN 'none'
        ELSE ['primary', 'secondary', 'vocational', 'bachelor', 'master', 'doctorate'
             ][((u_education * u_education * 6) >> 24) + 1] END AS education,
    CASE WHEN born > 2004 THEN 'single'
        WHEN born < 1950 AND u_marital < 1500 THEN 'widowed'
        ELSE ['married', 'single', 'divorced', 'separated'
             ][((u_marital * u_marital * 4) >> 24) + 1] END AS marital,
    'job ' || lpad(((u_occupation * u_occupation * 120) >> 24)::VARCHAR, 3, '0') AS occupation,
    1 + ((u_household * u_household * 8) >> 12) AS household,
    'insurer ' || chr((65 + ((u_insurer * u_insurer * 12) >> 12))::INTEGER) AS insurer,
    diagnosis
FROM drawn
"""


def create_patients(connection: duckdb.DuckDBPyConnection, rows: int) -> None:
    """Creates the table `patients`, the same on every machine."""
    create_people(connection, "people", rows)
    connection.execute(FURTHER)


def policy(limit: float = 0.0, **search: Any) -> dict[str, Any]:
    """k = 5 and distinct l = 2 for the diagnosis."""
    return {
        "source": {"table": "patients"},
        "columns": {name: {"role": "quasi"} for name in COLUMNS}
        | {
            "zip": {"role": "quasi", "hierarchy": {"mask": {}}},
            "diagnosis": {"role": "sensitive"},
        },
        "one_row_per_person": True,
        "privacy": {"k": 5, "l_diversity": {"l": 2}},
        "suppression": {"limit": limit},
        "search": search,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--limit", type=float, default=0.0, help="the suppression limit")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    found = run(options.rows, options.seconds, options.limit, options.seed)
    if options.json:
        print(json.dumps(found, indent=2))
        return
    for second, loss in found["improved"]:
        print(f"{second:7.1f} s: loss {loss:.4f}")
    print(
        f"{found['tuples']:,} tuples: NWP {found['nwp']:.4f}, k = {found['k']} "
        f"after {found['seconds']:.1f} s, {found['distinct']:,} schemes scored; "
        f"longest pause {found['longest_pause']:.1f} s"
    )


def run(rows: int, seconds: float, limit: float, seed: int = 1) -> dict[str, Any]:
    """What a search for so many seconds finds."""
    connection = duckdb.connect()
    create_patients(connection, rows)
    wanted = policy(limit, method="auto", seed=seed)
    with sqlanon.load(wanted, connection=connection) as anonymizer:
        tuples = len(anonymizer.histogram.tally)
        signs = [time.monotonic()]
        improved: list[tuple[float, Any]] = []
        start, busy = signs[0], time.process_time()

        def follow(progress: Progress) -> None:
            signs.append(time.monotonic())
            if progress.best is not None and (not improved or progress.best < improved[-1][1]):
                improved.append((signs[-1] - start, progress.best))

        watch = sqlanon.Watch(on_progress=follow, seconds=seconds)
        found = anonymizer.search(watch=watch)
        ended = time.monotonic()
        busy = time.process_time() - busy
    pauses = [b - a for a, b in zip(signs, [*signs[1:], ended], strict=True)]
    solution = found.solution
    return {
        "rows": rows,
        "tuples": tuples,
        "limit": limit,
        "seconds": ended - start,
        "processor_seconds": busy,
        "stopped": found.stopped,
        "nwp": None if solution is None else solution.scores["nwp"],
        "k": None if solution is None else solution.scores["k"],
        "asked": found.evaluations["asked"],
        "distinct": found.evaluations["distinct"],
        "longest_pause": max(pauses),
        "improved": improved,
    }


if __name__ == "__main__":
    main()
