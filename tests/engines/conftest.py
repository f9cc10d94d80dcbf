"""A caller's connection and a database file, each with a small table of people."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """A caller's own connection, with a small table."""
    connection = duckdb.connect()
    connection.sql("CREATE TABLE people (name VARCHAR NOT NULL, age INTEGER)")
    connection.sql("INSERT INTO people VALUES ('Ann', 30), ('Bob', NULL)")
    yield connection
    connection.close()


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "warehouse.duckdb"
    with duckdb.connect(path) as connection:
        connection.sql("CREATE TABLE people (name VARCHAR, age INTEGER)")
        connection.sql("INSERT INTO people VALUES ('Ann', 30)")
    return path
