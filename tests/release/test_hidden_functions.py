"""Macros named like built-in functions and operators never decide what a release holds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
import town_table
from command_line import Run
from town_table import GOOD, change, rows

import sqlanon
from sqlanon.errors import EngineError, PublishError, VerificationError

KEY = "0123456789abcdef0123456789abcdef"  # as of `openssl rand -hex 16`: it looks like a pseudonym
STABLE = {"role": "pseudonym", "stable": True, "key": "${TEST_KEY}", "accept": "links visits"}
ATTACKS = {
    "sha256": "CREATE MACRO sha256(x) AS x",
    "left": 'CREATE MACRO "left"(a, b) AS a',
    "count": "CREATE MACRO count(x) AS 99",
    "count_star": "CREATE MACRO count_star() AS 99",
    "+": 'CREATE MACRO "+"(a, b) AS 42',
    "||": "CREATE MACRO \"||\"(a, b) AS 'x'",
    "Upper": 'CREATE MACRO "SUM"(x) AS 99',
    "duckdb_functions": "CREATE MACRO duckdb_functions() AS TABLE SELECT 1 AS a",
    "lower": "CREATE MACRO lower(x) AS random()::VARCHAR",
}


def digest(value: str) -> str:
    """The pseudonym as documented: SHA-256 of the key and SHA-256 of key and value."""
    inner = hashlib.sha256((KEY + value).encode()).hexdigest()
    return hashlib.sha256((KEY + inner).encode()).hexdigest()[:32]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    town_table.make(tmp_path, columns={"name": STABLE})
    with duckdb.connect(tmp_path / "people.duckdb") as connection:
        yield connection


def test_macros_of_a_database_file_are_not_used(tmp_path: Path) -> None:
    """Every macro at once: classes, counts and pseudonyms are those of the table."""
    policy = town_table.make(tmp_path, columns={"name": STABLE})
    for statement in ATTACKS.values():
        change(tmp_path, statement)
    with sqlanon.load(policy) as anonymizer:
        release = anonymizer.publish(GOOD)
    assert release.certificate.to_dict()["privacy"]["k"] == 20
    change(tmp_path, "DROP MACRO count; DROP MACRO count_star")
    assert rows(tmp_path, "SELECT age, count(*) FROM released GROUP BY ALL ORDER BY ALL") == [
        ("[20, 40)", 40),
        ("[40, 60]", 20),
    ]
    names = {name for (name,) in rows(tmp_path, "SELECT name FROM released")}
    assert names == {digest(f"Name {n}") for n in range(60)}


@pytest.mark.parametrize("name", ATTACKS)
def test_macros_of_a_callers_connection_are_refused(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, name: str
) -> None:
    connection.execute(ATTACKS[name])
    with pytest.raises(EngineError, match="built-in") as caught:
        sqlanon.load(tmp_path / "policy.yml", connection=connection)
    said = ATTACKS[name].split()[2].split("(")[0].strip('"')
    assert f'"people"."main"."{said}"' in str(caught.value)
    with pytest.raises(EngineError, match="built-in"):
        sqlanon.check(connection, table="people", quasi=["age", "town"])
    with pytest.raises(duckdb.CatalogException):
        connection.sql("FROM released")


def test_the_statement_of_the_message_removes_the_macro(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    for name in ("sha256", "duckdb_functions"):
        connection.execute(ATTACKS[name])
        with pytest.raises(EngineError) as caught:
            sqlanon.load(tmp_path / "policy.yml", connection=connection)
        connection.execute(str(caught.value).split("(")[1].split(")")[0])
    with sqlanon.load(tmp_path / "policy.yml", connection=connection) as anonymizer:
        anonymizer.publish(GOOD)


@pytest.mark.parametrize("kind", ["TEMP MACRO", "MACRO"])
def test_a_macro_that_comes_after_the_search_is_refused(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, kind: str
) -> None:
    with sqlanon.load(tmp_path / "policy.yml", connection=connection) as anonymizer:
        connection.execute(f"CREATE {kind} sha256(x) AS x")
        with pytest.raises(EngineError, match=r"built-in.*\"sha256\""):
            anonymizer.publish(GOOD)
    with pytest.raises(duckdb.CatalogException):
        connection.sql("FROM released")


def test_a_view_would_use_them(tmp_path: Path) -> None:
    """In any schema: who reads the view may have that one on the search path."""
    policy = town_table.make(tmp_path, publish={"to": "released", "mode": "view"})
    change(tmp_path, "CREATE SCHEMA other; CREATE MACRO other.count(x) AS 99")
    with sqlanon.load(policy) as anonymizer:
        for action in (anonymizer.publish, anonymizer.dry_run):
            with pytest.raises((PublishError, EngineError), match=r"\"other\".\"count\".*mode"):
                action(GOOD)
    assert town_table.tables(tmp_path) == ["people"]
    change(tmp_path, "DROP MACRO other.count")
    with sqlanon.load(policy) as anonymizer:
        anonymizer.publish(GOOD)
    assert rows(tmp_path, "SELECT count(*) FROM released") == [(60,)]


def test_views_with_macros_and_names_with_schemas_still_work(tmp_path: Path) -> None:
    """The view means the macros beside it, also one named like a built-in function."""
    town_table.make(tmp_path)
    change(
        tmp_path,
        "CREATE SCHEMA work; CREATE MACRO work.shorter(x) AS substr(x, 1, 4); "
        "CREATE MACRO upper(x) AS 'In ' || x; CREATE MACRO doubled(x) AS x * 2; "
        "CREATE TABLE work.people AS FROM people; "
        "CREATE VIEW work.seen AS SELECT work.shorter(name) AS name, doubled(age) // 2 AS age, "
        "replace(upper(town), 'In ', '') AS town, illness FROM work.people",
    )
    query = "SELECT name, doubled(age) // 2 AS age, town, illness FROM work.people AS p"
    for source in ({"table": "work.seen"}, {"table": "people.work.people"}, {"query": query}):
        policy = town_table.make(
            tmp_path, source={"connection": "duckdb:///people.duckdb", **source}
        )
        with sqlanon.load(policy) as anonymizer:
            assert anonymizer.publish(GOOD).rows == 60
    assert rows(tmp_path, "SELECT count(*) FROM released") == [(60,)]


def test_the_audit_finds_pseudonyms_that_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, connection: duckdb.DuckDBPyConnection
) -> None:
    """The last net, with the refusal of macros taken away."""
    monkeypatch.setattr("sqlanon.engines.duckdb_catalog.hiding", lambda engine: [])
    policy = town_table.make(
        tmp_path, without="one_row_per_person", columns={"name": STABLE}, subject="name"
    )
    hex_of = "md5(random()::VARCHAR)"
    for statement, message in [
        ("CREATE MACRO sha256(x) AS x", "holds a part of its key in 60 rows"),
        ('CREATE MACRO "left"(a, b) AS a', "not 32 hexadecimal digits in 60 rows"),
        ("CREATE MACRO sha256(x) AS NULL", "not 32 hexadecimal digits in 60 rows"),
        ("CREATE MACRO sha256(x) AS md5('x')", "1 pseudonym for 60 values"),
        (f"CREATE MACRO sha256(x) AS upper({hex_of})", "not 32 hexadecimal digits"),
    ]:
        connection.execute(statement)
        with (
            sqlanon.load(policy, connection=connection) as anonymizer,
            pytest.raises(VerificationError, match=message) as caught,
        ):
            anonymizer.publish(GOOD)
        assert KEY not in str(caught.value)
        connection.execute(f"DROP MACRO {statement.split()[2].split('(')[0]}")
    # A person with two rows and two pseudonyms.
    connection.execute("INSERT INTO people FROM people")
    connection.execute(f"CREATE MACRO sha256(x) AS {hex_of}")
    with (
        sqlanon.load(policy, connection=connection) as anonymizer,
        pytest.raises(VerificationError, match="120 pseudonyms for 60 values"),
    ):
        anonymizer.publish(GOOD)


def test_the_command_line_refuses_by_name(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path, publish={"to": "released", "mode": "view"})
    change(tmp_path, 'CREATE MACRO "+"(a, b) AS 42')
    done = run("publish", "policy.yml", "--scheme", "good.json")
    assert done.status == 1
    assert 'DROP MACRO "people"."main"."+"' in done.err


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
def test_the_printed_select_names_tables_as_the_policy_does(tmp_path: Path, dialect: str) -> None:
    """PostgreSQL knows no other database, so none may be added to the name."""
    town_table.make(tmp_path)
    change(tmp_path, "CREATE SCHEMA work; CREATE TABLE work.people AS FROM people")
    for name, written in [
        ("people", 'FROM "people"'),
        ("work.people", 'FROM "work"."people"'),
        ("people.work.people", 'FROM "people"."work"."people"'),
    ]:
        source = {"connection": "duckdb:///people.duckdb", "table": name}
        with sqlanon.load(town_table.make(tmp_path, source=source)) as anonymizer:
            assert f"{written} AS" in anonymizer.sql(GOOD, dialect=dialect)
