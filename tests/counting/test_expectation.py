"""A large count of a server is announced with its time and the tuples to expect."""

from __future__ import annotations

import json
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest
from command_line import Run
from postgres_server import Database

from sqlanon.counting import expectation
from sqlanon.counting.expectation import expected_tuples
from sqlanon.engines import Estimates, open_source

POLICY = """
source: {{connection: "{address}", table: {table}}}
columns:
  sex: {{role: quasi}}
  age: {{role: quasi, range: [0, 100], granularity: 10}}
others: drop
one_row_per_person: true
privacy: {{k: 2}}
"""
PEOPLE = (
    "CREATE TABLE people AS SELECT CASE n % 3 WHEN 0 THEN 'F' WHEN 1 THEN 'M' END AS sex, "
    "n % 90 AS age, n AS id FROM generate_series(1, 9000) AS s (n)"
)


@pytest.mark.parametrize(("rows", "sizes"), [(1, [2, 3]), (4, [2, 2]), (5, [3]), (3, [1])])
def test_the_mean_over_all_tables(rows: int, sizes: list[float]) -> None:
    """Brute force: the mean number of distinct tuples over all tables of so many rows."""
    cells = list(product(*(range(int(size)) for size in sizes)))
    found = [len(set(table)) for table in product(cells, repeat=rows)]
    assert expected_tuples(rows, sizes) == round(sum(found) / len(found))


def test_many_cells_and_rows() -> None:
    # docs/postgresql.md: 93,230 of 96,000 tuples were counted in 500,000 rows, nearly uniform.
    assert 93_230 <= expected_tuples(500_000, [16, 100, 30, 2]) <= 96_000
    assert expected_tuples(300_000, [10.0**30]) == 300_000
    assert expected_tuples(0, [5]) == 0


def test_statistics_are_those_of_analyze(postgres: Database) -> None:
    postgres.run(
        PEOPLE,
        "CREATE VIEW seen AS SELECT * FROM people",
        "CREATE TABLE parts (sex text, age int, id int) PARTITION BY RANGE (id)",
        "CREATE TABLE parts_1 PARTITION OF parts DEFAULT",
        "INSERT INTO parts SELECT * FROM people",
        "ANALYZE parts",
        "CREATE TABLE nothing (sex text)",
        "ANALYZE nothing",
    )
    source = open_source(connection=postgres.address, table="people")
    with closing(source.engine) as engine:
        assert isinstance(engine, Estimates)
        assert engine.statistics(source.relation) is None  # it was never analyzed
        postgres.run("ANALYZE people")
        for name in ("people", "parts"):
            found = engine.statistics(engine.table(name))
            assert found is not None
            # ANALYZE reads a table of up to 30,000 rows as a whole.
            assert (found.rows, dict(found.distinct)) == (9000, {"sex": 3, "age": 90, "id": 9000})
            assert found.seconds == pytest.approx(0.5 + 9000 * 1.2e-6)
        for name in ("seen", "nothing"):
            assert engine.statistics(engine.table(name)) is None
        query = engine.source(query="SELECT * FROM people")
        assert engine.statistics(query.relation) is None


def test_the_command_says_it(
    postgres: Database, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres.run(PEOPLE, "ANALYZE people", "CREATE VIEW seen AS SELECT * FROM people")

    def said(table: str, *options: str) -> list[str]:
        policy = POLICY.format(address=postgres.address, table=table)
        (tmp_path / "policy.yaml").write_text(policy)
        done = run("search", "policy.yaml", "--json", "--seconds", "1", *options)
        assert done.status == 0, done.err
        json.loads(done.out)
        return [line for line in done.err.splitlines() if line.startswith("counting")]

    assert said("people") == []  # a small one
    monkeypatch.setattr(expectation, "LONG", 0.1)
    # 10 intervals, NULL, and 2 values with NULL: 33 tuples of at most 11 * 3 occur.
    assert said("people") == [
        "counting about 9,000 rows of people takes about 1 s; at most about 33 different tuples "
        "are expected"
    ]
    assert said("people", "--quiet") == said("seen") == []
