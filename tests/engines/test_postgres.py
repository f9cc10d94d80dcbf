"""PostgreSQL as an engine: sources, names, types, errors, connections of a caller."""

from __future__ import annotations

import datetime as dt
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from postgres_server import Database, Server
from source_cases import WEIRD, kinds, rows
from sqlglot import exp

import sqlanon
from sqlanon.engines import Engine, Kind, Source, open_engine, open_source
from sqlanon.errors import DomainError, EngineError


@contextmanager
def opened(database: Database, **place: Any) -> Iterator[Source]:
    source = open_source(connection=database.address, **place)
    with closing(source.engine):
        yield source


@contextmanager
def engine_of(database: Database, user: str = "postgres") -> Iterator[Engine]:
    with closing(open_engine(database.server.address(database.name, user))) as engine:
        yield engine


def test_a_server_is_started_and_its_databases_are_apart(server: Server) -> None:
    one, other = server.new_database(), server.new_database()
    one.run("CREATE TABLE t (a int)")
    assert other.rows("SELECT COUNT(*) FROM pg_class WHERE relname = 't'") == [(0,)]
    for each in (one, other):
        server.drop(each)


def test_tables_views_queries_and_all_that_can_be_read(postgres: Database) -> None:
    postgres.run(
        "CREATE TABLE people (name text NOT NULL, age int)",
        "INSERT INTO people VALUES ('Ann', 30), ('Bob', NULL)",
        "CREATE VIEW seen AS SELECT * FROM people",
        "CREATE MATERIALIZED VIEW kept AS SELECT * FROM people",
        "CREATE TABLE parts (name text, age int) PARTITION BY RANGE (age)",
        "CREATE TABLE parts_1 PARTITION OF parts DEFAULT",
        "INSERT INTO parts SELECT * FROM people",
        "CREATE EXTENSION file_fdw",
        "CREATE SERVER files FOREIGN DATA WRAPPER file_fdw",
        "CREATE FOREIGN TABLE foreign_people (name text, age int) SERVER files "
        "OPTIONS (program 'printf \"Ann,30\\nBob,\\n\"', format 'csv')",
    )
    expected = [("Ann", 30), ("Bob", None)]
    for name in ("people", "public.people", "seen", "kept", "parts", "foreign_people"):
        with opened(postgres, table=name) as source:
            assert sorted(rows(source)) == expected, name
            assert kinds(source) == {"name": Kind.TEXT, "age": Kind.INTEGER}
    query = (
        "WITH p AS (SELECT * FROM people) SELECT p.name, people.age FROM p JOIN people USING (name)"
    )
    with opened(postgres, query=query) as source:
        assert sorted(rows(source)) == expected
    with opened(postgres, table="people") as source:
        assert [each.nullable for each in source.columns] == [False, True]


def test_names_lead_where_the_search_path_of_the_role_says(postgres: Database) -> None:
    postgres.run(
        "CREATE SCHEMA ward",
        'CREATE SCHEMA "Odd "" one"',
        "CREATE TABLE ward.people AS SELECT 'ward' AS place",
        "CREATE TABLE public.people AS SELECT 'public' AS place",
        'CREATE TABLE "Odd "" one"."select" AS SELECT \'odd\' AS "group"',
        f"ALTER DATABASE {postgres.name} SET search_path = ward, public",
    )
    for place, expected in (
        ({"table": "people"}, "ward"),
        ({"table": "public.people"}, "public"),
        ({"table": f"{postgres.name}.public.people"}, "public"),
        ({"query": "SELECT PEOPLE.place FROM People"}, "ward"),
        ({"query": "SELECT place FROM public.people"}, "public"),
        ({"table": '"Odd "" one"."select"'}, "odd"),
    ):
        with opened(postgres, **place) as source:
            assert rows(source) == [(expected,)]
    with pytest.raises(EngineError, match=r"There is no table '.*peopl'.*Did you mean"):
        open_source(connection=postgres.address, table="public.peopl")
    with pytest.raises(EngineError, match="There is no schema 'wards'"):
        open_source(connection=postgres.address, table="wards.people")
    with pytest.raises(EngineError, match=r"Give the address of that one"):
        open_source(connection=postgres.address, table="other.public.people")


TYPED: list[tuple[str, str, Kind | None, Any]] = [
    ("int2", "7", Kind.INTEGER, 7),
    ("int8", "9007199254740993", Kind.INTEGER, 9007199254740993),
    ("numeric(6,2)", "4.50", Kind.DECIMAL, Decimal("4.50")),
    ("numeric", "12345678901234567890.125", Kind.DECIMAL, Decimal("12345678901234567890.125")),
    ("real", "0.5", Kind.FLOAT, 0.5),
    ("float8", "0.1", Kind.FLOAT, 0.1),
    ("text", WEIRD, Kind.TEXT, WEIRD),
    ("varchar(5)", "é", Kind.TEXT, "é"),
    ("char(3)", "x", Kind.TEXT, "x  "),
    ("boolean", "t", Kind.BOOLEAN, True),
    ("date", "2020-02-29", Kind.DATE, dt.date(2020, 2, 29)),
    (
        "timestamp",
        "2020-01-02 03:04:05.5",
        Kind.TIMESTAMP,
        dt.datetime(2020, 1, 2, 3, 4, 5, 500000),
    ),
    ("mood", "sad", Kind.TEXT, "sad"),
    ("posint", "5", Kind.INTEGER, 5),
    ("jsonb", "{}", None, "{}"),
    ("int[]", "{1,2}", None, [1, 2]),
    ("interval", "1 day", None, None),
    ("bytea", "x", None, b"x"),
]


def test_types_have_the_kinds_of_their_values(postgres: Database) -> None:
    columns = ", ".join(f"c{n} {type_}" for n, (type_, *_) in enumerate(TYPED))
    postgres.run(
        "CREATE TYPE mood AS ENUM ('sad', 'ok')",
        "CREATE DOMAIN posint AS int CHECK (VALUE > 0)",
        f"CREATE TABLE typed ({columns})",
    )
    postgres.insert("typed", [[value for _, value, _, _ in TYPED]])
    with opened(postgres, table="typed") as source:
        (found,) = rows(source)
        assert [each.kind for each in source.columns] == [kind for _, _, kind, _ in TYPED]
        for value, (type_, _, _, expected) in zip(found, TYPED, strict=True):
            assert expected is None or value == expected, type_
        assert source.column("c2").type == "DECIMAL(6,2)"
        assert source.column("c12").type == "ENUM('sad', 'ok')"


def test_a_type_made_after_the_connection_is_known_too(postgres: Database) -> None:
    with engine_of(postgres) as engine:
        postgres.run("CREATE TYPE late AS ENUM ('a', 'b')", "CREATE TABLE t (a late)")
        assert engine.columns(engine.table("t"))[0].type == "ENUM('a', 'b')"


def counted(database: Database, column: str, subject: str | None = None) -> Any:
    policy: dict[str, Any] = {
        "source": {"connection": database.address, "table": "t"},
        "columns": {column: {"role": "quasi"}},
        "privacy": {"k": 1},
        "others": "drop",
    }
    policy |= {"one_row_per_person": True} if subject is None else {"subject": subject}
    with sqlanon.load(policy) as anonymizer:
        histogram = anonymizer.histogram
        (found,) = histogram.space.columns
        domain: Any = found.domain
        tally = histogram.tally
        values = [*domain.values, None]
        by_value = {
            values[code]: n
            for (code,), n in zip(tally.codes.tolist(), tally.rows.tolist(), strict=True)
        }
        return by_value, histogram.people


@pytest.mark.parametrize(
    ("type_", "given", "expected"),
    [
        ("mood", ["sad", "ok", "sad"], {"sad": 2, "ok": 1}),
        ("citext", ["Oslo", "oslo", None], {"Oslo": 1, "oslo": 1, None: 1}),
        ("inet", ["10.0.0.1", "10.0.0.1/8"], {"10.0.0.1/32": 1, "10.0.0.1/8": 1}),
        ("uuid", ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"] * 2,
         {"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11": 2}),
        ("char(4)", ["ab", "ab  "], {"ab": 2}),
        ("text", ["ab", "ab ", "", None], {"ab": 1, "ab ": 1, "": 1, None: 1}),
        ("numeric", ["1.50", "1.5", "-0"], {Decimal("1.5"): 2, Decimal(0): 1}),
        ("float8", ["-0", "0", "NaN", "Infinity"], {0.0: 2, "nan": 1, float("inf"): 1}),
    ],
)  # fmt: skip
def test_values_are_told_apart_as_on_every_engine(
    postgres: Database, type_: str, given: list[Any], expected: dict[Any, int]
) -> None:
    postgres.run(
        "CREATE EXTENSION citext",
        "CREATE TYPE mood AS ENUM ('sad', 'ok')",
        f"CREATE TABLE t (a {type_})",
    )
    postgres.insert("t", [[each] for each in given])
    found, _ = counted(postgres, "a")
    assert {"nan" if key != key else key: n for key, n in found.items()} == expected


@pytest.mark.parametrize("type_", ["jsonb", "int[]", "interval", "bytea", "mood[]"])
def test_other_types_are_refused_by_name(postgres: Database, type_: str) -> None:
    postgres.run("CREATE TYPE mood AS ENUM ('sad')", f"CREATE TABLE t (a {type_})")
    postgres.run("INSERT INTO t VALUES (NULL)")
    with pytest.raises(DomainError, match=r"column 'a' has type .* cast it to text or a number"):
        counted(postgres, "a")


def test_people_are_those_that_the_database_tells_apart(postgres: Database) -> None:
    """A citext and a collation that ignores case join spellings; by hand: two people."""
    postgres.run(
        "CREATE EXTENSION citext",
        "CREATE COLLATION anycase (provider = icu, locale = 'und-u-ks-level2', "
        "deterministic = false)",
        "CREATE TABLE t (who citext, whom text COLLATE anycase, a int)",
    )
    postgres.insert("t", [["Ann", "Ann", 1], ["ann", "ann", 1], ["Bob", "Bob", 1]])
    for subject in ("who", "whom"):
        by_value, people = counted(postgres, "a", subject)
        assert (by_value, people) == ({1: 3}, 2), subject
        found = sqlanon.check(postgres.address, "a", table="t", subject=subject)
        assert (found.k, found.people) == (2, 2)


def test_the_order_of_atoms_is_not_that_of_the_server(server: Server) -> None:
    name = "collated"
    Database(server, "postgres").run(
        f"CREATE DATABASE {name} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US' "
        "LOCALE 'C.UTF-8'"
    )
    database = Database(server, name)
    database.run("CREATE TABLE t (a text)", "INSERT INTO t VALUES ('b'), ('a'), ('B'), ('é')")
    assert database.rows("SELECT a FROM t ORDER BY a")[0] == ("a",)
    found, _ = counted(database, "a")
    assert sorted(found) == ["B", "a", "b", "é"]
    with sqlanon.load(
        {
            "source": {"connection": database.address, "table": "t"},
            "columns": {"a": {"role": "quasi"}},
            "one_row_per_person": True,
            "privacy": {"k": 1},
        }
    ) as anonymizer:
        domain: Any = anonymizer.space.columns[0].domain
        assert list(domain.values) == ["B", "a", "b", "é"]
    server.drop(database)


SECRET = "Hildegard von Bingen"


@pytest.mark.parametrize(
    ("query", "said", "state"),
    [
        ("SELECT CAST(a AS int) FROM t", "no value of the type", "22P02"),
        ("SELECT 1 / (length(a) - 20) FROM t", "divided by zero", "22012"),
        ("SELECT boom(a) FROM public.t", "Write functions and types of your own", "42883"),
        ("SELECT public.boom(a) FROM t", "a function of the database raised an error", "P0001"),
        ("SELECT b FROM t", 'column "b" does not exist', "42703"),
        ("SELECT a + 1 FROM t", "operator does not exist: text + integer", "42883"),
        ("SELECT public.boom(a, '42501') FROM t", "a function of the database raised", "42501"),
        ("SELECT CAST('\"' || a || '\"' AS REGCLASS) FROM t", 'relation "…" does not', "42P01"),
        ("SELECT CAST('\"' || a || '\"' AS REGROLE) FROM t", 'role "…" does not exist', "42704"),
        ("SELECT CAST('\"a\".' || a AS REGCLASS) FROM t", "invalid name syntax", "42602"),
        ("SELECT current_setting(a) FROM t", 'parameter "…"', "42704"),
        ("SELECT current_setting('\"' || a || '\" x \"t') FROM t", 'parameter "…"', "42704"),
        ("SELECT pg_read_file(a) FROM t", 'could not open file "…"', "58P01"),
        ("SELECT CAST('a.a.a.a.' || split_part(a, ' ', 1) AS REGCLASS) FROM t", ": …", "42601"),
        ("SELECT CAST(split_part(a, ' ', 1) AS REGOPER) FROM t", "does not exist: …", "42883"),
    ],
)
def test_errors_say_what_to_do_and_never_quote_a_value(
    postgres: Database, query: str, said: str, state: str
) -> None:
    postgres.run(
        "CREATE TABLE t (a text)",
        f"INSERT INTO t VALUES ('{SECRET}')",
        "CREATE FUNCTION public.boom(t text, code text = 'P0001') RETURNS int LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'bad: %', t USING ERRCODE = code; END $$",
    )
    with engine_of(postgres) as engine, pytest.raises(EngineError) as caught:
        rows(engine.source(query=query))
    assert said in str(caught.value)
    assert state in str(caught.value)
    assert not any(name in str(caught.value).lower() for name in SECRET.lower().split())


def test_queries_that_change_something_are_refused(postgres: Database) -> None:
    postgres.run("CREATE TABLE t (a int)")
    for query in (
        "DELETE FROM t",
        "SELECT 1; SELECT 2",
        "WITH d AS (DELETE FROM t RETURNING a) SELECT * FROM d",
        "SELECT * FROM t FOR UPDATE",
    ):
        with pytest.raises(EngineError, match="must be one SELECT that changes nothing"):
            open_source(connection=postgres.address, query=query)
    with pytest.raises(EngineError, match="several columns 'a'"):
        open_source(connection=postgres.address, query="SELECT a, a FROM t")
    with engine_of(postgres) as engine, pytest.raises(EngineError, match="read-only"):
        engine.run("INSERT INTO public.t VALUES (1)")


def test_ctrl_c_stops_a_statement_and_leaves_the_connection(postgres: Database) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with engine_of(postgres) as engine:
        begun = time.perf_counter()
        threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            with pytest.raises(KeyboardInterrupt):
                engine.run("SELECT pg_sleep(60)")
        finally:
            signal.signal(signal.SIGINT, before)
        assert time.perf_counter() - begun < 10
        assert engine.fetch("SELECT 1 AS one").to_pylist() == [{"one": 1}]


def test_functions_of_users_replace_none_of_those_of_postgresql(postgres: Database) -> None:
    """An exact match in a later schema wins in PostgreSQL, unless that schema is not looked at."""
    postgres.run(
        "CREATE FUNCTION public.md5(varchar) RETURNS text LANGUAGE sql AS $$ SELECT 'same' $$",
        "CREATE TABLE t AS SELECT CAST('a' AS varchar) AS a",
    )
    query = exp.select(exp.MD5(this=exp.column("a", quoted=True)).as_("h")).from_("public.t")
    assert postgres.rows("SELECT md5(a) FROM t") == [("same",)]
    with engine_of(postgres) as engine:
        assert engine.fetch(query).to_pylist() == [{"h": "0cc175b9c0f1b6a831c399e269772661"}]
    with (
        closing(postgres.connect()) as connection,
        pytest.raises(EngineError, match=r"function .*md5\(character varying\)"),
    ):
        sqlanon.check(connection, "a", table="t")


def test_a_connection_of_the_caller_stays_as_it_is(postgres: Database) -> None:
    postgres.run("CREATE TABLE t AS SELECT 1 AS a FROM generate_series(1, 4)")
    with closing(postgres.connect()) as connection, closing(connection.cursor()) as cursor:
        cursor.execute("SET search_path = public")
        cursor.execute("CREATE TEMPORARY TABLE mine AS SELECT 2 AS a FROM generate_series(1, 3)")
        assert sqlanon.check(connection, "a", table="t").k == 4
        assert sqlanon.check(connection, "a", table="mine").k == 3
        cursor.execute("SELECT current_setting('search_path') AS path")
        assert cursor.fetch_arrow_table().to_pylist() == [{"path": "public"}]
        cursor.execute("SET DateStyle = 'German, DMY'")
        with pytest.raises(EngineError, match="SET DateStyle = 'ISO, YMD'"):
            sqlanon.check(connection, "a", table="t")


def test_other_things_are_no_source(postgres: Database, tmp_path: Path) -> None:
    for place in ({"file": tmp_path / "a.csv"}, {"data": pa.table({"a": [1]})}):
        with pytest.raises(EngineError, match="Load data into a table first"):
            open_source(connection=postgres.address, **place)


def test_no_error_on_opening_shows_the_password(server: Server) -> None:
    place = f"127.0.0.1:{server.port}/postgres"
    for address in (
        f"postgresql://ann:s3cr3t@{place}",
        "postgresql://ann:s3cr3t@127.0.0.1:1/postgres",
        f"postgresql://ann:s3cr3t p@ss/word@{place}",
        f"postgresql://ann:s3cr3t@[{place}",
        f"postgresql://ann:p@s3cr3t/x@{place}",
        f"postgres://ann@{place}?password=s3cr3t&pasword=s3cr3t",
    ):
        with pytest.raises(EngineError) as caught:
            open_engine(address)
        assert "s3cr3t" not in str(caught.value), str(caught.value)
        assert caught.value.__cause__ is None
        assert "PostgreSQL database cannot be" in str(caught.value)
