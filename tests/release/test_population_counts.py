"""A search counts those people of a population whom the labels of the release will fit.

What is expected comes from the SQL of the release, executed: it shares nothing with the masks that
searches count by, and tests/reference has a twin of it in plain Python.
"""

from __future__ import annotations

import datetime as dt
import math
import random
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sqlanon.anonymizer import Anonymizer, load
from sqlanon.release.compile import compile_release
from sqlanon.release.order import order_of
from sqlanon.release.rows import compile_population
from sqlanon.search.nsga2 import random_population

AGES = [20, 21, 25, 30, 31, 40, 41, 60, None]
PAY = [0.5, 1.0, 2.5, 7.25, math.nan, None]
TOWNS = ["Oslo", "Rome", "", "Bonn", "o'Lima", None]
DAYS = [dt.date(1980, 1, 1), dt.date(1980, 1, 9), dt.date(1980, 5, 2), dt.date(1983, 7, 1),
        dt.date(1983, 7, 30), dt.date(1991, 2, 3), dt.date(2001, 1, 1)]  # fmt: skip
FURTHER = {
    "age": [19, 22, 28, 35, 50, 59, 61, 99],
    "pay": [-3.0, 0.75, 2.0, 5.0, 99.5, math.inf, -math.inf],
    "town": ["Lima", "rome", " "],
    "day": [dt.date(1979, 1, 1), dt.date(1980, 1, 5), dt.date(1983, 2, 2), dt.date(2030, 1, 1)],
}
COLUMNS: dict[str, list[dict[str, Any]]] = {
    "age": [
        {}, {"open_ends": False}, {"range": [20, 61], "granularity": 4, "output": "bounds"},
        {"range": [0, 100], "granularity": 7}, {"range": [20, 61], "granularity": 4},
        {"range": [20, 61], "granularity": 5, "open_ends": True}, {"form": "join"},
        {"hierarchy": {"intervals": [10, 50]}},
    ],
    "pay": [{}, {"open_ends": False}, {"form": "join"}, {"family": "full-domain"}],
    "town": [
        {}, {"family": "full-domain"}, {"hierarchy": {"mask": {}}},
        {"hierarchy": {"mask": {"from": "left"}}, "family": "full-domain"},
        {"hierarchy": {"mask": {"character": "x"}}, "min_level": 1},
    ],
    "day": [
        {}, {"hierarchy": {"date": ["month", "year", "decade"]}},
        {"hierarchy": {"date": ["year"]}, "family": "full-domain"},
    ],
}  # fmt: skip


def random_table(rng: random.Random, rows: int, further: bool) -> pd.DataFrame:
    columns: dict[str, Any] = {}
    for name, values in {"age": AGES, "pay": PAY, "town": TOWNS, "day": DAYS}.items():
        known = rng.sample(values, rng.randint(1, len(values)))
        known = values + FURTHER[name] if further else known
        columns[name] = [rng.choice(known) for _ in range(rows)]
    columns["who"] = [rng.randrange(2 * rows) for _ in range(rows)]
    return pd.DataFrame({name: pd.Series(v, dtype=object) for name, v in columns.items()})


def in_duckdb(source: pd.DataFrame, population: pd.DataFrame) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    for name, frame in {"source": source, "population": population}.items():
        connection.execute(
            f"CREATE TABLE {name} (age INTEGER, pay DOUBLE, town VARCHAR, day DATE, who INTEGER)"
        )
        rows = [tuple(row) for row in frame.itertuples(index=False)]
        connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?, ?)", rows)
    return connection


def policy(
    rng: random.Random, names: list[str], by_subject: bool, unseen: str = "error"
) -> dict[str, Any]:
    people: dict[str, Any] = {"subject": "who"} if by_subject else {"one_row_per_person": True}
    return {
        "source": {"table": "source"},
        "population": {"table": "population"} | ({"subject": "who"} if by_subject else {}),
        "columns": {
            **{name: {"role": "quasi", **rng.choice(COLUMNS[name])} for name in names},
            "who": {"role": "identifying"},
        },
        "others": "drop",
        "privacy": {"k": 1, "k_map": 1},
        "publish": {"unseen": unseen},
        **people,
    }


def expected(
    anonymizer: Anonymizer, connection: duckdb.DuckDBPyConnection, scheme: Any, by_subject: bool
) -> int:
    """The people of the population in the class that has the fewest of them."""
    recipe = order_of(anonymizer.policy, anonymizer.source, scheme)
    width = len(recipe.class_names)
    released = connection.sql(compile_release(recipe).select.sql("duckdb")).fetchall()
    people = connection.sql(compile_population(recipe).sql("duckdb")).fetchall()
    # As text NULL, NaN and the text "" stay apart, and NaN equals NaN.
    found = [tuple(map(repr, row)) for row in people]
    counts = Counter(row[:width] for row in (set(found) if by_subject else found))
    return min(counts[tuple(map(repr, row))] for row in released)


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    by_subject=st.booleans(),
    unseen=st.sampled_from(["error", "top", "leave_out"]),
)
def test_a_search_counts_whom_the_labels_fit(seed: int, by_subject: bool, unseen: str) -> None:
    rng = random.Random(seed)
    names = rng.sample(list(COLUMNS), rng.randint(1, 3))
    source = random_table(rng, rng.randint(1, 12), further=False)
    assume(all(source[name].notna().any() for name in names))  # no hierarchy of NULL alone
    population = pd.concat([source, random_table(rng, 60, further=True)], ignore_index=True)
    with in_duckdb(source, population) as connection:
        document = policy(rng, names, by_subject, unseen)
        with load(document, connection=connection) as anonymizer:
            compare(anonymizer, connection, rng, by_subject)


def compare(
    anonymizer: Anonymizer,
    connection: duckdb.DuckDBPyConnection,
    rng: random.Random,
    by_subject: bool,
) -> None:
    """Random schemes and random nodes of the lattice: both have a coding of their own."""
    space, numbers = anonymizer.space, np.random.default_rng(rng.randrange(10**6))
    nodes = [[rng.randint(*column.limits) for column in space.columns] for _ in range(4)]
    for batch in (
        space.batch_of_bits(random_population(space, 8, numbers)),
        space.batch_of_levels(np.array(nodes)),
    ):
        schemes = [batch.scheme(i) for i in range(len(batch))]
        reached = anonymizer.evaluator.score(batch).reached[:, 0]
        for scheme, found in zip(schemes, reached, strict=True):
            wanted = expected(anonymizer, connection, scheme, by_subject)
            # A single date of a step may be written as the step, which depends on the others.
            assert found == wanted or (found < wanted and by_steps(anonymizer))


def by_steps(anonymizer: Anonymizer) -> bool:
    return any(c.hierarchy and c.hierarchy.extent for c in anonymizer.space.columns)


@pytest.mark.parametrize("seed", range(6))
def test_columns_that_take_several_words(seed: int) -> None:
    rng = random.Random(seed)
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE source AS SELECT 2 * range AS age FROM range(150)")
        connection.execute("CREATE TABLE population AS SELECT range - 3 AS age FROM range(400)")
        document = {
            "source": {"table": "source"},
            "population": {"table": "population"},
            "columns": {"age": {"role": "quasi"}},
            "one_row_per_person": True,
            "privacy": {"k": 1, "k_map": 1},
        }
        with load(document, connection=connection) as anonymizer:
            compare(anonymizer, connection, rng, by_subject=False)


def test_other_days_of_a_step_count_once_the_step_holds_two_of_the_source() -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE source AS SELECT UNNEST(['1980-01-01', '1980-05-09', '1991-02-03',"
            " '1991-02-04'])::DATE AS born"
        )
        connection.execute(
            "CREATE TABLE population AS FROM source UNION ALL"
            " SELECT UNNEST(['1980-07-07', '1980-01-30', '1991-02-28', '1999-01-01'])::DATE"
        )
        document = {
            "source": {"table": "source"},
            "population": {"table": "population"},
            "columns": {"born": {"role": "quasi", "hierarchy": {"date": ["month", "year"]}}},
            "one_row_per_person": True,
            "privacy": {"k": 1, "k_map": 1},
        }
        with load(document, connection=connection) as anonymizer:
            nodes = anonymizer.space.batch_of_levels(np.array([[0], [1], [2], [3]]))
            found = anonymizer.evaluator.score(nodes).reached[:, 0].tolist()
    # A day: itself. A month: January 1980 holds one day of the source, so its other day is not
    # counted. A year: 1991 has three people, 1980 four. All: everybody.
    assert found == [1, 1, 3, 8]


def counts(unseen: str, column: dict[str, Any], population: str) -> list[float]:
    """By level of the only column zip the people of the worst class, as a search counts them.

    The source has 10115, 10117 and 80331.
    """
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE source AS SELECT UNNEST(['10115', '10117', '80331']) zip")
        connection.execute(f"CREATE TABLE population AS SELECT UNNEST({population}) AS zip")
        document = {
            "source": {"table": "source"},
            "population": {"table": "population"},
            "columns": {"zip": {"role": "quasi", **column}},
            "one_row_per_person": True,
            "privacy": {"k": 1, "k_map": 1},
            "publish": {"unseen": unseen},
        }
        with load(document, connection=connection) as anonymizer:
            (zips,) = anonymizer.space.columns
            nodes = anonymizer.space.batch_of_levels(np.arange(zips.height + 1)[:, None])
            found = anonymizer.evaluator.score(nodes).reached[:, 0].tolist()
            wanted = [expected(anonymizer, connection, nodes.scheme(i), False)
                      for i in range(len(nodes))]  # fmt: skip
    assert found == wanted
    return found


PEOPLE = "['10115', '10117', '80331', '10116', '80999', '123456', NULL]"


@pytest.mark.parametrize("unseen", ["error", "top"])
def test_a_mask_that_shows_nothing_fits_everybody(unseen: str) -> None:
    """Below the root only zips of the source count: 80331 is alone on levels 0 to 4."""
    assert counts(unseen, {"hierarchy": {"mask": {}}}, PEOPLE) == [1, 1, 1, 1, 1, 7]


def test_the_root_of_a_tree_fits_its_leaves_and_with_the_top_label_everybody() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE source AS SELECT UNNEST(['Oslo', 'Rome']) AS town")
        connection.execute(
            "CREATE TABLE population AS SELECT UNNEST(['Oslo', 'Rome', 'Lima', NULL]) AS town"
        )
        connection.execute("CREATE TABLE tree AS FROM (VALUES ('Oslo', 'Europe'),"
                           " ('Rome', 'Europe')) v (town, continent)")  # fmt: skip
        for unseen, people in (("error", 2), ("leave_out", 2), ("top", 4)):
            document = {
                "source": {"table": "source"},
                "population": {"table": "population"},
                "columns": {"town": {"role": "quasi", "hierarchy": {"table": "tree"}}},
                "one_row_per_person": True,
                "privacy": {"k": 1, "k_map": 1},
                "publish": {"unseen": unseen},
            }
            with load(document, connection=connection) as anonymizer:
                nodes = anonymizer.space.batch_of_levels(np.array([[0], [1]]))
                found = anonymizer.evaluator.score(nodes).reached[:, 0].tolist()
                assert found == [1, people]
                assert expected(anonymizer, connection, nodes.scheme(1), False) == people


def test_a_step_counts_only_where_its_name_is_written() -> None:
    """Both dates of 1983 are of July, so their group is "1983-07" also where the year is one."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE source AS SELECT UNNEST(['1980-01-01', '1983-07-01',"
                           " '1983-07-30'])::DATE AS born")  # fmt: skip
        connection.execute("CREATE TABLE population AS FROM source UNION ALL SELECT"
                           " UNNEST(['1980-01-01', '1980-01-01', '1983-02-02'])::DATE")  # fmt: skip
        document = {
            "source": {"table": "source"},
            "population": {"table": "population"},
            "columns": {"born": {"role": "quasi", "hierarchy": {"date": ["month", "year"]}}},
            "one_row_per_person": True,
            "privacy": {"k": 1, "k_map": 1},
        }
        with load(document, connection=connection) as anonymizer:
            month = anonymizer.space.batch_of_levels(np.array([[1]]))
            # 1980-01 has three people, 1983-07 two: February 1983 is in no group.
            assert anonymizer.evaluator.score(month).reached[0, 0] == 2
            assert expected(anonymizer, connection, month.scheme(0), False) == 2


@pytest.mark.parametrize("to", [None, "anon.csv"])
def test_a_population_file_beside_data_of_this_process(tmp_path: Path, to: str | None) -> None:
    """By hand: two people share a town, and four of the population live there."""
    pd.DataFrame({"town": ["Oslo"] * 4 + ["Rome"]}).to_parquet(tmp_path / "everybody.parquet")
    wanted: dict[str, Any] = {
        "source": {"file": "not read"},
        "columns": {"town": {"role": "quasi"}},
        "one_row_per_person": True,
        "population": {"file": str(tmp_path / "everybody.parquet")},
        "privacy": {"k": 2, "k_map": 4},
    }
    if to is not None:
        wanted["publish"] = {"file": str(tmp_path / to)}
    with load(wanted, data=pd.DataFrame({"town": ["Oslo", "Oslo"]})) as anonymizer:
        result = anonymizer.search()
        assert result.solution is not None
        assert [each.value for each in result.solution.models] == [4]
        assert anonymizer.publish(result).k == 2
