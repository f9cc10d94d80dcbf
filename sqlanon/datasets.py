"""Tables to try things on: the Adult census sample and a synthetic people table."""

from __future__ import annotations

from pathlib import Path

from sqlglot import exp

from sqlanon import resources
from sqlanon.engines import Connection
from sqlanon.render import NATIVE


def adult_path() -> Path:
    """Return the Parquet file of the UCI Adult table: 30,162 rows, nine columns."""
    return resources.path("examples", "adult", "adult.parquet")


def people_sql() -> str:
    """Return the DuckDB query of the people table, with parameters ``$rows`` and ``$seed``."""
    return resources.path("sql", "datasets", "people.sql").read_text(encoding="utf-8")


def create_people(connection: Connection, table: str, rows: int, seed: int = 1) -> None:
    """Create a table of ``rows`` invented people; the name is one identifier, any text.

    The same seed yields the same people on every machine, and a smaller table is the
    beginning of a larger one.
    """
    if rows < 0:
        raise ValueError(f"rows must not be negative, got {rows}")
    name = exp.to_identifier(table, quoted=True).sql(NATIVE)
    query = f"CREATE TABLE {name} AS\n{people_sql()}"
    connection.execute(query, {"rows": rows, "seed": seed}).fetchall()
