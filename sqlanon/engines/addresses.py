"""Addresses of databases, such as duckdb:///warehouse.duckdb."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from duckdb import DuckDBPyConnection

from sqlanon.engines.duckdb import DuckDBEngine, open_database, open_memory
from sqlanon.errors import EngineError

ADDRESSES = (
    "duckdb:///relative.duckdb, duckdb:////absolute/path.duckdb or duckdb:// for a database "
    "in memory"
)

DATABASE_FILES = (".duckdb", ".ddb", ".db")
"""How names of DuckDB files usually end."""


def open_engine(
    connection: str | DuckDBPyConnection | None,
    *,
    read_only: bool = True,
    folders: Iterable[Path] = (),
) -> DuckDBEngine:
    """The engine of an address or of a caller's open connection; None is a new one in memory.

    Addresses: duckdb:///relative.duckdb (to the current folder), duckdb:////absolute.duckdb,
    duckdb:// (in memory). The path is taken as it stands, without %-escapes or parameters.
    `read_only` applies to files that are opened here, and what is opened here reads files in
    `folders` and the database's own folder only. A caller's connection stays as it is; macros of
    it that hide built-in functions are refused.
    """
    if connection is None:
        return open_memory(folders=folders)
    if isinstance(connection, DuckDBPyConnection):
        engine = DuckDBEngine(connection, owned=False)
        engine.refuse_hidden_functions()
        return engine
    if not isinstance(connection, str):
        raise EngineError(
            f"A connection is an address or an open DuckDB connection, "
            f"not {type(connection).__name__}."
        )
    path = database_path(connection)
    if path is None:
        return open_memory(folders=folders)
    return open_database(path, read_only=read_only, folders=folders)


def database_path(address: str) -> Path | None:
    """The file that an address names; None for a database in memory."""
    scheme, separator, path = address.partition("://")
    if not separator:
        meant = ""
        if Path(address).suffix in DATABASE_FILES or Path(address).is_file():
            meant = f" Did you mean duckdb:///{address}?"
        raise EngineError(f"{address!r} is not the address of a database.{meant} Use {ADDRESSES}.")
    if scheme != "duckdb":
        raise EngineError(f"{scheme!r} in {address!r} is not a known engine. Use {ADDRESSES}.")
    if path in ("", "/", "/:memory:"):
        return None
    if not path.startswith("/"):
        raise EngineError(
            f"{address!r} lacks a slash: three before a relative path, four before an "
            f"absolute one. Use {ADDRESSES}."
        )
    return Path(path[1:])
