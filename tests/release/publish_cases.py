"""A small table, its releases, and what tests look at afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
from sqlglot import exp

from sqlanon.domain import Generalized
from sqlanon.domain.atoms import IntervalDomain, ValueDomain
from sqlanon.domain.column import Column, Partition
from sqlanon.domain.presentation import Mode
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.protocol import Kind
from sqlanon.release import pipeline
from sqlanon.release.order import Item, Order, Pseudonym, Verbatim
from sqlanon.release.pipeline import Release
from sqlanon.release.plan import RELEASE_COMMENT
from sqlanon.release.stage import Stages

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


def recipe(*items: Item, source: exp.Expr | None = None, **keys: Any) -> Order:
    """Ages below and from 40, towns in pairs: four classes of 50."""
    return Order(source or named("people"), items or ITEMS, **{"k": 5, **keys})


def release(
    *items: Item,
    mode: Mode = Mode.TABLE,
    target: exp.Table | None = None,
    file: Path | None = None,
    **order_keys: Any,
) -> Order:
    if target is None and file is None and mode is not Mode.REPLACE:
        target = named("people_anon")
    checks = {"accepted": {"disease": None}, "audited": ("disease",)}
    return recipe(*items, **checks | order_keys, mode=mode, target=target, file=file)


def publish(
    engine: DuckDBEngine, order: Order, on_stage: Callable[[str], None] | None = None
) -> Release:
    return pipeline.publish(order, engine, Stages(on_stage), replace_file=True)


def statements(engine: DuckDBEngine, order: Order) -> list[str]:
    return pipeline.statements(order, engine)


def pseudonym() -> Pseudonym:
    return Pseudonym("name", "key_1")


@contextmanager
def opened(path: Path, **keys: Any) -> Iterator[DuckDBEngine]:
    """An engine that writes to a database file."""
    from sqlanon.engines.registry import open_engine

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
