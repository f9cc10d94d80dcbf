"""Engines by the scheme of an address and by the type of a connection; no other room knows one."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import duckdb
import pytest

import sqlanon
from sqlanon.engines.registry import (
    ENGINES,
    file_address,
    is_connection,
    open_engine,
    same_database,
)
from sqlanon.errors import EngineError

PACKAGE = Path(sqlanon.__file__).parent
NAMED = re.compile(r"import duckdb|from duckdb|DuckDBEngine|DuckDBPyConnection|engines\.duckdb")


def test_only_engines_and_the_evaluator_name_duckdb() -> None:
    rooms = {PACKAGE / "engines", PACKAGE / "evaluate"}
    files = [p for p in PACKAGE.rglob("*.py") if not rooms & set(p.parents)]
    assert len(files) > 50
    assert [p for p in files if NAMED.search(p.read_text(encoding="utf-8"))] == []


def test_every_entry_leads_to_an_engine_of_its_scheme() -> None:
    for scheme, entry in ENGINES.items():
        assert entry.load().dialect
        assert f"{scheme}://" in entry.addresses


def test_a_connection_is_known_by_its_type() -> None:
    with duckdb.connect() as connection:
        assert is_connection(connection)
        assert not is_connection(connection.sql("SELECT 1"))
    assert not is_connection("duckdb://")
    with pytest.raises(EngineError, match="known database, not Connection"):
        open_engine(sqlite3.connect(":memory:"))


def test_addresses_of_one_file_are_one_database(tmp_path: Path) -> None:
    path, link = tmp_path / "a.duckdb", tmp_path / "b.duckdb"
    duckdb.connect(path).close()
    link.symlink_to(path)
    assert same_database(file_address(path), file_address(link))
    assert not same_database(file_address(path), "duckdb://")
    assert not same_database(file_address(path), "mysql://host/db")
