"""The Adult table has its known shape; the people table is repeatable and lifelike."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterator

import duckdb
import pytest

from sqlanon import datasets, resources
from sqlanon.errors import ResourceError, SqlanonError

ADULT_DISTINCT = {
    "age": 72,
    "workclass": 7,
    "education": 16,
    "marital-status": 7,
    "occupation": 14,
    "race": 5,
    "sex": 2,
    "native-country": 41,
    "salary-class": 2,
}
PEOPLE_COLUMNS = {
    "person_id": "BIGINT",
    "first_name": "VARCHAR",
    "last_name": "VARCHAR",
    "sex": "VARCHAR",
    "birth_date": "DATE",
    "zip": "VARCHAR",
    "city": "VARCHAR",
    "income": "INTEGER",
    "diagnosis": "VARCHAR",
}
ROWS = 200_000
# Of the first hundred people of seed 1: a new value here breaks "same on every machine".
GOLDEN_SHA256 = "0bb62768ca8ffda6c27363a83fa0589902d5c30d7d64b4a3cf586e580c03131b"


@pytest.fixture(scope="module")
def people() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        datasets.create_people(connection, "people", ROWS)
        yield connection


def one(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[object, ...]:
    (row,) = connection.execute(query).fetchall()
    return row


def number(connection: duckdb.DuckDBPyConnection, query: str) -> float:
    (value,) = one(connection, query)
    assert isinstance(value, int | float)
    return float(value)


def checksum(rows: int, seed: int, threads: int) -> tuple[object, ...]:
    """Return a sum over all rows that does not depend on their order."""
    with duckdb.connect(config={"threads": threads}) as connection:
        datasets.create_people(connection, "people", rows, seed)
        return one(
            connection,
            "SELECT count(*), sum((md5_number(people::VARCHAR) >> 72)::BIGINT) FROM people",
        )


def test_adult_columns_and_rows() -> None:
    adult = duckdb.read_parquet(str(datasets.adult_path()))
    assert adult.columns == list(ADULT_DISTINCT)
    assert [str(kind) for kind in adult.types] == ["INTEGER"] + ["VARCHAR"] * 8
    assert len(adult) == 30_162


@pytest.mark.parametrize(("column", "distinct"), ADULT_DISTINCT.items())
def test_adult_domains(column: str, distinct: int) -> None:
    adult = duckdb.read_parquet(str(datasets.adult_path()))
    values = {value for (value,) in adult.select(duckdb.ColumnExpression(column)).fetchall()}
    assert len(values) == distinct
    assert not values & {None, "?", ""}
    assert all(value == value.strip() for value in values if isinstance(value, str))


def test_adult_ages_and_salaries() -> None:
    with duckdb.connect() as connection:
        adult = connection.read_parquet(str(datasets.adult_path()))
        assert adult.aggregate("min(age), max(age)").fetchall() == [(17, 90)]
        rich = adult.filter("\"salary-class\" = '>50K'")
        assert len(rich) == 7_508


def test_people_columns(people: duckdb.DuckDBPyConnection) -> None:
    table = people.table("people")
    assert dict(zip(table.columns, map(str, table.types), strict=True)) == PEOPLE_COLUMNS


def test_people_are_numbered(people: duckdb.DuckDBPyConnection) -> None:
    query = "SELECT count(*), count(DISTINCT person_id), min(person_id), max(person_id) FROM people"
    assert one(people, query) == (ROWS, ROWS, 1, ROWS)


def test_same_seed_same_people() -> None:
    assert checksum(20_000, seed=7, threads=2) == checksum(20_000, seed=7, threads=2)
    assert checksum(20_000, seed=7, threads=2) == checksum(20_000, seed=7, threads=1)


def test_another_seed_other_people() -> None:
    assert checksum(20_000, seed=7, threads=2) != checksum(20_000, seed=8, threads=2)


def test_people_are_the_same_on_every_machine(people: duckdb.DuckDBPyConnection) -> None:
    rows = people.execute("FROM people WHERE person_id <= 100 ORDER BY person_id").fetchall()
    text = "\n".join(";".join(map(str, row)) for row in rows)
    assert hashlib.sha256(text.encode()).hexdigest() == GOLDEN_SHA256


def test_a_smaller_table_is_the_beginning_of_a_larger(people: duckdb.DuckDBPyConnection) -> None:
    small = people.execute(datasets.people_sql(), {"rows": 50, "seed": 1}).fetchall()
    large = people.execute("FROM people WHERE person_id <= 50 ORDER BY person_id").fetchall()
    assert sorted(small) == large


@pytest.mark.parametrize(
    ("column", "share"), [("zip", 0.005), ("birth_date", 0.002), ("diagnosis", 0.01)]
)
def test_shares_of_null(people: duckdb.DuckDBPyConnection, column: str, share: float) -> None:
    found = number(people, f"SELECT count(*) - count({column}) FROM people") / ROWS
    assert found == pytest.approx(share, rel=0.2)


def test_other_columns_have_no_null(people: duckdb.DuckDBPyConnection) -> None:
    query = "SELECT count(first_name), count(last_name), count(sex), count(city) FROM people"
    assert one(people, query) == (ROWS,) * 4


def test_income_by_age(people: duckdb.DuckDBPyConnection) -> None:
    child = "birth_date > DATE '2009-01-01'"
    adult = "birth_date < DATE '2008-12-31'"
    assert number(people, f"SELECT count(income) FROM people WHERE {child}") == 0
    missing = number(people, f"SELECT 1 - count(income) / count(*) FROM people WHERE {adult}")
    assert missing == pytest.approx(0.02, rel=0.2)
    low, high, odd = one(
        people, "SELECT min(income), max(income), count_if(income % 100 != 0) FROM people"
    )
    assert isinstance(low, int)
    assert isinstance(high, int)
    assert (low >= 0, high > 300_000, odd) == (True, True, 0)
    assert number(people, "SELECT avg(income) / median(income) FROM people") > 1.3
    young = number(people, "SELECT avg(income) FROM people WHERE year(birth_date) >= 2000")
    middle = number(people, "SELECT avg(income) FROM people WHERE year(birth_date) = 1975")
    assert middle > 2 * young


def test_birth_dates(people: duckdb.DuckDBPyConnection) -> None:
    first, last = one(people, "SELECT min(birth_date), max(birth_date) FROM people")
    assert isinstance(first, datetime.date)
    assert isinstance(last, datetime.date)
    assert (first.year, last.year) == (1925, 2024)
    old = number(people, "SELECT count_if(year(birth_date) < 1940) / count(*) FROM people")
    assert 0.02 < old < 0.06


def test_zip_prefix_determines_city(people: duckdb.DuckDBPyConnection) -> None:
    assert number(people, "SELECT count(DISTINCT city) FROM people") == 60
    pairs = """
        SELECT count(DISTINCT zip[:3]), count(DISTINCT city), count(DISTINCT (zip[:3], city))
        FROM people WHERE zip IS NOT NULL
    """
    assert one(people, pairs) == (60, 60, 60)


def test_zips_are_five_digits_and_skewed(people: duckdb.DuckDBPyConnection) -> None:
    malformed = "SELECT count_if(NOT regexp_full_match(zip, '[0-9]{5}')) FROM people"
    assert number(people, malformed) == 0
    assert 2_000 < number(people, "SELECT count(DISTINCT zip) FROM people") < 6_000
    sizes = [n for (n,) in people.execute("SELECT count(*) FROM people GROUP BY zip").fetchall()]
    largest_tenth = sorted(sizes, reverse=True)[: len(sizes) // 10]
    assert sum(largest_tenth) > 0.4 * ROWS


def test_sexes(people: duckdb.DuckDBPyConnection) -> None:
    shares = dict(
        people.execute(
            "SELECT sex, count(*) / sum(count(*)) OVER () FROM people GROUP BY sex"
        ).fetchall()
    )
    assert set(shares) == {"F", "M", "X"}
    assert 0.45 < shares["M"] < shares["F"] < 0.55
    assert 0.001 < shares["X"] < 0.01


def test_diagnoses_depend_on_age_and_sex(people: duckdb.DuckDBPyConnection) -> None:
    assert 28 <= number(people, "SELECT count(DISTINCT diagnosis) FROM people") <= 40
    pregnant = people.execute(
        "SELECT DISTINCT sex FROM people WHERE diagnosis = 'Pregnancy'"
    ).fetchall()
    assert pregnant == [("F",)]
    demented = "SELECT max(year(birth_date)) FROM people WHERE diagnosis = 'Dementia'"
    assert number(people, demented) < 1976


@pytest.mark.parametrize("name", ["order", 'odd "name"', "a.b", "people; DROP TABLE x"])
def test_any_table_name(name: str) -> None:
    with duckdb.connect() as connection:
        datasets.create_people(connection, name, 3)
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [(name,)]


def test_no_people_and_too_few() -> None:
    with duckdb.connect() as connection:
        datasets.create_people(connection, "nobody", 0)
        assert number(connection, "SELECT count(*) FROM nobody") == 0
        with pytest.raises(ValueError, match="-1"):
            datasets.create_people(connection, "fewer", -1)


def test_missing_resource_is_named() -> None:
    with pytest.raises(ResourceError, match=r"sql/nothing\.sql.*incomplete") as caught:
        resources.path("sql", "nothing.sql")
    assert isinstance(caught.value, SqlanonError)
