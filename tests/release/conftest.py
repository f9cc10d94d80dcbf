"""A town of people, and an engine on the connection that holds it."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest
from publish_cases import (
    make,
)

from sqlanon.engines.duckdb import DuckDBEngine


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        make(connection)
        yield connection


@pytest.fixture
def engine(connection: duckdb.DuckDBPyConnection) -> DuckDBEngine:
    return DuckDBEngine(connection, owned=False)
