"""The population of a certificate is everybody in it, whether they fit a group or not.

Three people are released, one of Oslo and two of Rome, of a population of ten; seven live in towns
that the scheme does not know. By hand, after the formula of Zayatz in docs/check.md, with n = 3,
u₁ = u₂ = 1 and the common factor n / N left out:

    N = 10   P(1 | 1) = 1, P(1 | 2) = 2 · 7 / 9     P = 1 / (1 + 14 / 9) = 9 / 23
             estimate = 1 · 9 / 23 · 10 / 3 = 30 / 23
    N =  3   everyone is in the table: the number of classes of one, 1
"""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

import sqlanon
from sqlanon.errors import VerificationError

SCHEME = {"columns": {"town": {"groups": [["Oslo"], ["Rome"]]}}}
OTHERS = ["Lima", "Bonn", "Kiel", "Genf", "Ulm", "Hof", "Prag"]


def journalist(connection: duckdb.DuckDBPyConnection, **population: Any) -> dict[str, Any]:
    policy = {
        "source": {"table": "source"},
        "columns": {"town": {"role": "quasi"}},
        "one_row_per_person": True,
        "privacy": {"k": 1},
        "population": {"table": "everybody", **population},
        "publish": {"to": "released"},
    }
    with sqlanon.load(policy, connection=connection) as anonymizer:
        document = anonymizer.publish(SCHEME).certificate.to_dict()
    found: dict[str, Any] = document["privacy"]["journalist"]
    return found


@pytest.fixture
def connection() -> Any:
    with duckdb.connect() as opened:
        opened.execute("CREATE TABLE source AS SELECT UNNEST(['Oslo', 'Rome', 'Rome']) AS town")
        opened.execute("CREATE TABLE everybody (town VARCHAR, who INTEGER)")
        yield opened


def fill(connection: duckdb.DuckDBPyConnection, towns: list[str], times: int = 1) -> None:
    rows = [(town, who) for who, town in enumerate(towns) for _ in range(times)]
    connection.executemany("INSERT INTO everybody VALUES (?, ?)", rows)


def test_people_who_fit_no_group_are_of_the_population(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    fill(connection, ["Oslo", "Rome", "Rome", *OTHERS])
    found = journalist(connection)
    assert (found["population"], found["k_map"], found["unmatched"]) == (10, 1, 0)
    assert found["estimated_uniques"] == pytest.approx(30 / 23)


def test_everyone_in_the_table(connection: duckdb.DuckDBPyConnection) -> None:
    fill(connection, ["Oslo", "Rome", "Rome"])
    found = journalist(connection)
    assert (found["population"], found["estimated_uniques"]) == (3, 1.0)


def test_by_subject(connection: duckdb.DuckDBPyConnection) -> None:
    fill(connection, ["Oslo", "Rome", "Rome", *OTHERS], times=3)
    found = journalist(connection, subject="who")
    assert (found["population"], found["k_map"]) == (10, 1)
    assert found["estimated_uniques"] == pytest.approx(30 / 23)
    assert journalist(connection)["population"] == 30


def test_few_who_fit_are_no_small_population(connection: duckdb.DuckDBPyConnection) -> None:
    fill(connection, ["Oslo", *OTHERS])
    found = journalist(connection)
    assert (found["population"], found["unmatched"]) == (8, 1)
    assert found["estimated_uniques"] is not None


def test_a_population_that_is_smaller_than_the_table(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    fill(connection, ["Oslo", "Lima"])
    found = journalist(connection)
    assert (found["population"], found["estimated_uniques"]) == (None, None)


def test_nobody_of_the_population_is_nameless(connection: duckdb.DuckDBPyConnection) -> None:
    fill(connection, ["Oslo", "Rome", "Rome"])
    connection.execute("INSERT INTO everybody VALUES ('Lima', NULL)")
    with pytest.raises(VerificationError, match="subject column 'who' is NULL in 1 row"):
        journalist(connection, subject="who")
