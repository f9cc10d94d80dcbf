"""A small table, its releases, and what tests look at afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
from sqlglot import exp

from sqlanon.compile import Generalized, Item, Pseudonym, Recipe, Verbatim
from sqlanon.domain import IntervalDomain, ValueDomain
from sqlanon.engines import DuckDBEngine
from sqlanon.model import Kind, Mode
from sqlanon.publish import Checks, Release
from sqlanon.publish.place import RELEASE_COMMENT
from sqlanon.scheme import Column, Partition

PEOPLE = """
    CREATE TABLE people AS
    SELECT
        'name ' || i AS name,
        20 + i % 40 AS age,
        ['Rome', 'Oslo', 'Bonn', 'Lima'][i % 4 + 1] AS town,
        ['flu', 'cold'][i % 2 + 1] AS disease
    FROM range(200) AS t (i)
"""
OLD_RELEASE = f"""
    CREATE TABLE people_anon AS SELECT 1 AS old, 'former' AS text;
    COMMENT ON TABLE people_anon IS '{RELEASE_COMMENT}'
"""
SECRET = "a very secret key"


def make(connection: duckdb.DuckDBPyConnection) -> None:
    connection.sql(PEOPLE)


def named(name: str, *rest: str) -> exp.Table:
    return exp.table_(name, *rest, quoted=True)


def age(cuts: tuple[int, ...] = (1,), **keys: Any) -> Generalized:
    """Ages from 20 to 60 in steps of ten: four atoms."""
    domain = IntervalDomain("age", Kind.INTEGER, (20, 30, 40, 50, 60))
    return Generalized(Column(domain), Partition(4, cuts), "BIGINT", **keys)


def town(cuts: tuple[int, ...] = (1,), name: str = "town") -> Generalized:
    domain = ValueDomain(name, Kind.TEXT, ("Bonn", "Lima", "Oslo", "Rome"))
    return Generalized(Column(domain), Partition(4, cuts), "VARCHAR")


DISEASE = Verbatim("disease", "VARCHAR")
ITEMS: tuple[Item, ...] = (age(), town(), DISEASE)


def recipe(*items: Item, source: exp.Expr | None = None, **keys: Any) -> Recipe:
    """Ages below and from 40, towns in pairs: four classes of 50."""
    return Recipe(source or named("people"), items or ITEMS, **{"k": 5, **keys})


def release(
    *items: Item,
    mode: Mode = Mode.TABLE,
    target: exp.Table | None = None,
    file: Path | None = None,
    checks: Checks | None = None,
    keys: dict[str, str] | None = None,
    **recipe_keys: Any,
) -> Release:
    if target is None and file is None and mode is not Mode.REPLACE:
        target = named("people_anon")
    return Release(
        recipe(*items, **recipe_keys),
        checks or Checks(verbatim={"disease": None}, sensitive=("disease",)),
        mode,
        target,
        file,
        keys or {},
    )


def pseudonym() -> Pseudonym:
    return Pseudonym("name", "key_1")


@contextmanager
def opened(path: Path, **keys: Any) -> Iterator[DuckDBEngine]:
    """An engine that writes to a database file."""
    from sqlanon.engines import open_engine

    engine = open_engine(f"duckdb:///{path}", read_only=False, **keys)
    try:
        yield engine
    finally:
        engine.close()


def contents(connection: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    return connection.sql(query).fetchall()


def tables(connection: duckdb.DuckDBPyConnection) -> list[str]:
    found = contents(connection, "SELECT table_name FROM duckdb_tables() ORDER BY ALL")
    return [name for (name,) in found]


def listed(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def dump(path: Path) -> dict[str, Any]:
    """Everything that is in a database: definitions, comments and rows."""
    with duckdb.connect(path, read_only=True) as connection:
        objects = contents(
            connection,
            "SELECT schema_name, table_name, sql, comment FROM duckdb_tables() UNION ALL "
            "SELECT schema_name, view_name, sql, comment FROM duckdb_views() WHERE NOT internal",
        )
        rows = {}
        for schema, name, *_ in objects:
            table = named(name, schema).sql("duckdb")
            rows[schema, name] = sorted(contents(connection, f"FROM {table}"), key=repr)
        return {"objects": sorted(objects, key=repr), "rows": rows}
