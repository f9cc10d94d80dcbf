"""Counting columns with a collation: texts are told apart, people are those of the database."""

from __future__ import annotations

import duckdb
import pytest

from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import count
from sqlanon.domain.histogram import Histogram
from sqlanon.engines.registry import open_source

ROWS = [  # who, town, illness
    ("p1", "Bonn", "flu"),
    ("P1", "bonn", "Flu"),
    ("p2", "Bonn", "flu"),
    ("P2", "Bonn", "FLU"),
    ("P3", "bonn", "flu"),
    ("p3", "Oslo", "flu"),
    ("p3", "Oslo", "cold"),
    ("p4", "bonn", "cold"),
]


@pytest.fixture(params=["column", "session"])
def connection(request: pytest.FixtureRequest) -> duckdb.DuckDBPyConnection:
    made = duckdb.connect()
    by_column = request.param == "column"
    if not by_column:
        made.execute("SET default_collation = 'nocase'")
    type_ = "VARCHAR COLLATE NOCASE" if by_column else "VARCHAR"
    made.execute(f"CREATE TABLE t (who {type_}, town {type_}, illness {type_})")
    made.executemany("INSERT INTO t VALUES (?, ?, ?)", ROWS)
    return made


def counted(connection: duckdb.DuckDBPyConnection, subject: str | None) -> Histogram:
    source = open_source(connection=connection, table="t")
    return count(source, [Quasi("town")], subject=subject, facets=["illness"])


def entries(histogram: Histogram, *, facet: bool = False) -> list[tuple]:
    towns = histogram.space.columns[0].domain.left_ends
    tally = histogram.facets["illness"].tally if facet else histogram.tally
    values = histogram.facets["illness"].domain.values
    return sorted(
        (
            towns[tally.codes[i, 0]],
            *([values[tally.values[i]]] if tally.values is not None else []),
            tally.rows[i],
            tally.people[i],
            tally.mover[i],
        )
        for i in range(len(tally))
    )


def test_rows(connection: duckdb.DuckDBPyConnection) -> None:
    histogram = counted(connection, None)
    assert histogram.facets["illness"].domain.values == ("FLU", "Flu", "cold", "flu")
    assert entries(histogram) == [("Bonn", 3, 3, -1), ("Oslo", 2, 2, -1), ("bonn", 3, 3, -1)]


def test_people_move_under_any_spelling(connection: duckdb.DuckDBPyConnection) -> None:
    histogram = counted(connection, "who")
    assert histogram.people == 4
    assert entries(histogram) == [
        ("Bonn", 1, 0, 0), ("Bonn", 2, 1, -1), ("Oslo", 2, 0, 1),
        ("bonn", 1, 0, 0), ("bonn", 1, 0, 1), ("bonn", 1, 1, -1),
    ]  # fmt: skip
    assert entries(histogram, facet=True) == [
        ("Bonn", "FLU", 1, 1, -1), ("Bonn", "flu", 1, 0, 0), ("Bonn", "flu", 1, 1, -1),
        ("Oslo", "cold", 1, 0, 1), ("Oslo", "flu", 1, 0, 1),
        ("bonn", "Flu", 1, 0, 0), ("bonn", "cold", 1, 1, -1), ("bonn", "flu", 1, 0, 1),
    ]  # fmt: skip
