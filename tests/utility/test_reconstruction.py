"""Releases filled in again: within their groups, in the types of the source, evenly."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from utility_cases import Prepared, prepared

import sqlanon
from sqlanon.engines.registry import open_source
from sqlanon.utility.assessment import order_to_assess
from sqlanon.utility.reconstruction import reconstruction


@settings(max_examples=100, deadline=None)
@given(prepared, st.integers(0, 3))
def test_a_reconstruction_is_one_of_the_release(made: Prepared, seed: int) -> None:
    """Every row of it lies in the groups of a released row, in the types of the source."""
    table = made.source.engine.fetch(reconstruction(made.source.engine, made.recipe, seed))
    names = [f.quasi.name for f in made.case.fields]
    assert table.column_names == [item.name for item in made.recipe.items]
    before = made.source.engine.fetch(
        f"SELECT * FROM {made.source.relation.sql('duckdb')} LIMIT 0"
    ).schema
    assert [table.schema.field(n).type for n in names] == [before.field(n).type for n in names]
    cells = [table.column(name).to_pylist() for name in names]
    released = made.twin.rows()
    assert table.num_rows == len(released)
    groups = []
    for row in zip(*cells, strict=True):
        atoms = [f.atom_of(cell) for f, cell in zip(made.case.fields, row, strict=True)]
        groups.append(
            tuple(
                next(group for group in column.groups if atom in group)
                for column, atom in zip(made.twin.columns, atoms, strict=True)
            )
        )
    if not (made.twin.suppress and made.twin.mark):
        assert Counter(groups) == Counter(released)


@settings(max_examples=25, deadline=None)
@given(prepared, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(made: Prepared, rng: random.Random) -> None:
    order = list(range(made.case.rows))
    rng.shuffle(order)
    table = made.source.engine.fetch(f"SELECT * FROM {made.source.relation.sql('duckdb')}")
    shuffled = open_source(data=table.take(order))
    other = replace(made.recipe, source=shuffled.relation)
    one, two = (
        Counter(repr(row) for row in engine.fetch(reconstruction(engine, recipe, 5)).to_pylist())
        for engine, recipe in ((made.source.engine, made.recipe), (shuffled.engine, other))
    )
    assert one == two


def rebuilt(
    select: str, section: dict[str, Any], entry: dict[str, Any], seed: int = 1, **keys: Any
) -> duckdb.DuckDBPyRelation:
    """The reconstruction of a table with the column x and maybe others."""
    policy = {
        "source": {"table": "people"},
        "columns": {"x": {"role": "quasi", **section}, **keys.pop("columns", {})},
        "one_row_per_person": True,
        "privacy": {"k": 1},
        **keys,
    }
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE people AS {select}")
    with sqlanon.load(policy, connection=connection) as anonymizer:
        scheme = anonymizer.scheme({"columns": {"x": entry}})
        source = anonymizer.source
        recipe = order_to_assess(anonymizer.policy, source, scheme)
        text = reconstruction(source.engine, recipe, seed)
    return connection.sql(text)


ONE_GROUP = {"level": 1}


@pytest.mark.parametrize(
    ("value", "section", "type_", "lowest", "highest"),
    [
        ("5::TINYINT", {"range": [0, 9], "granularity": 2}, "TINYINT", 0, 9),
        ("5::HUGEINT", {"range": [0, 9], "granularity": 5}, "HUGEINT", 0, 9),
        (
            "1.25::DECIMAL(6,2)",
            {"range": [0, 2], "granularity": 0.5},
            "DECIMAL(6,2)",
            Decimal(0),
            Decimal(2),
        ),
        ("1.25::FLOAT", {"range": [0, 2], "granularity": 0.5}, "FLOAT", 0.0, 2.0),
        (
            "DATE '2024-02-29'",
            {"range": ["2024-01-01", "2024-12-31"], "granularity": "month"},
            "DATE",
            dt.date(2024, 1, 1),
            dt.date(2024, 12, 31),
        ),
        (
            "TIMESTAMP '2024-02-29 12:00:00'",
            {"range": ["2024-01-01", "2024-12-31"], "granularity": "month"},
            "TIMESTAMP",
            dt.datetime(2024, 1, 1),
            dt.datetime(2024, 12, 31),
        ),
    ],
)
def test_values_of_a_range(
    value: str, section: dict[str, Any], type_: str, lowest: Any, highest: Any
) -> None:
    made = rebuilt(f"SELECT {value} AS x FROM range(3000)", section, ONE_GROUP)
    assert [str(each) for each in made.types] == [type_]
    values = [row[0] for row in made.fetchall()]
    assert len(values) == 3000
    assert min(values) >= lowest
    assert max(values) <= highest
    # Over 3,000 draws nobody misses both outer twentieths of the range.
    twentieth = (highest - lowest) / 20
    assert min(values) < lowest + twentieth + type(twentieth)(1 if "INT" in type_ else 0)
    assert max(values) > highest - twentieth - type(twentieth)(1 if "INT" in type_ else 0)


def test_atoms_are_drawn_evenly() -> None:
    """8,000 rows in a group of four: 2,000 each, and about four standard deviations (39) apart."""
    select = "SELECT 'a' AS x FROM range(8000)"
    made = rebuilt(select, {"values": ["a", "b", "c", "d"]}, ONE_GROUP)
    counts = Counter(row[0] for row in made.fetchall())
    assert set(counts) == {"a", "b", "c", "d"}
    assert all(abs(n - 2000) < 160 for n in counts.values())


def test_null_is_an_atom() -> None:
    """A third of 6,000 rows: two values and NULL, in one group."""
    made = rebuilt("SELECT nullif('a', 'a') AS x FROM range(6000)", {"values": ["a", "b", None]},
                   ONE_GROUP)  # fmt: skip
    counts = Counter(row[0] for row in made.fetchall())
    assert abs(counts[None] - 2000) < 150


def test_groups_of_one_value_keep_it() -> None:
    select = "SELECT unnest([3, 3, 8, NULL]) AS x"
    made = rebuilt(select, {}, {"level": 0})
    assert sorted(made.fetchall(), key=str) == [(3,), (3,), (8,), (None,)]


def test_other_columns_are_as_they_are_released() -> None:
    """An ENUM is text, a pseudonym is equal where its value is, what identifies is missing."""
    select = """SELECT (i % 2)::INTEGER AS x, 'n' || i AS name, 'p' || (i % 3) AS who,
                       ('s' || (i % 2))::ENUM('s0', 's1') AS state, i * 1.5 AS pay
                FROM range(12) AS t(i)"""
    columns = {
        "name": {"role": "identifying"},
        "who": {"role": "pseudonym", "accept": "it is in the test"},
        "state": {"role": "sensitive"},
        "pay": {"role": "insensitive", "accept": "it is in the test"},
    }
    made = rebuilt(select, {"values": [0, 1]}, ONE_GROUP, columns=columns)
    assert made.columns == ["x", "who", "state", "pay"]
    assert [str(t) for t in made.types][2] == "VARCHAR"
    rows = made.fetchall()
    assert sorted(row[3] for row in rows) == [Decimal(i * 15) / 10 for i in range(12)]
    assert Counter(Counter(row[1] for row in rows).values()) == {4: 3}


def test_two_bounds_are_one_column_again() -> None:
    made = rebuilt("SELECT 7 AS x FROM range(50)",
                   {"range": [0, 20], "granularity": 5, "output": "bounds"},
                   {"cuts": [5, 10]})  # fmt: skip
    assert made.columns == ["x"]
    assert {row[0] for row in made.fetchall()} == {5, 6, 7, 8, 9}


def test_the_seed_decides_what_is_drawn() -> None:
    def sums(seed: int) -> list[Any]:
        made = rebuilt("SELECT 7 AS x FROM range(50)", {"range": [0, 20], "granularity": 5},
                       ONE_GROUP, seed)  # fmt: skip
        return sorted(made.fetchall())

    assert sums(1) == sums(1) != sums(2)
