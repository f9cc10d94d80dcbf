"""Databases and files behind one small protocol; the only package that knows an engine."""

from __future__ import annotations

from pathlib import Path

from duckdb import DuckDBPyConnection

from sqlanon.engines import duckdb_sources
from sqlanon.engines.base import ColumnInfo, Engine, Source, Statement, Tracer
from sqlanon.engines.duckdb import DuckDBEngine, open_database, open_memory
from sqlanon.errors import EngineError

__all__ = [
    "ColumnInfo",
    "DuckDBEngine",
    "Engine",
    "Source",
    "Statement",
    "Tracer",
    "open_engine",
    "open_source",
    "open_table",
]

_ADDRESSES = (
    "duckdb:///relative.duckdb, duckdb:////absolute/path.duckdb or duckdb:// for a database "
    "in memory"
)


def open_source(
    *,
    connection: str | DuckDBPyConnection | None = None,
    table: str | None = None,
    query: str | None = None,
    file: str | Path | None = None,
    data: duckdb_sources.Data | None = None,
    read_only: bool = True,
) -> Source:
    """Opens exactly one of a table, a query, a file, or data in this process.

    `connection` is an address (see open_engine) or an open connection of the caller; without
    one, a database in memory reads the file, the data or the query. Close the source's engine
    when done; a caller's connection stays open.
    """
    given = {"table": table, "query": query, "file": file, "data": data}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        raise EngineError(
            "A source is exactly one of table, query, file or data; "
            f"given: {', '.join(named) or 'none'}."
        )
    if table is not None and connection is None:
        raise EngineError(f"Table {table!r} needs a connection: {_ADDRESSES}.")
    engine = open_engine(connection, read_only=read_only)
    try:
        if table is not None:
            return duckdb_sources.table(engine, table)
        if query is not None:
            return duckdb_sources.query(engine, query)
        if file is not None:
            return duckdb_sources.file(engine, file)
        if not isinstance(connection, str | None):
            engine = engine.private()
        return duckdb_sources.data(engine, data)
    except BaseException:
        engine.close()
        raise


def open_table(engine: Engine, name: str) -> Source:
    """A further table or view on an engine that is open already."""
    relation = duckdb_sources.parse_table(name)
    return Source(engine, relation, name, engine.columns(relation))


def open_engine(
    connection: str | DuckDBPyConnection | None, *, read_only: bool = True
) -> DuckDBEngine:
    """The engine of an address or of a caller's open connection; None is a new one in memory.

    Addresses: duckdb:///relative.duckdb (to the current folder), duckdb:////absolute.duckdb,
    duckdb:// (in memory). The path is taken as it stands, without %-escapes or parameters.
    `read_only` applies to files that are opened here.
    """
    if connection is None:
        return open_memory()
    if isinstance(connection, DuckDBPyConnection):
        return DuckDBEngine(connection, owned=False)
    if not isinstance(connection, str):
        raise EngineError(
            f"A connection is an address or an open DuckDB connection, "
            f"not {type(connection).__name__}."
        )
    scheme, separator, path = connection.partition("://")
    if not separator:
        raise EngineError(f"{connection!r} is not the address of a database. Use {_ADDRESSES}.")
    if scheme != "duckdb":
        raise EngineError(f"{scheme!r} in {connection!r} is not a known engine. Use {_ADDRESSES}.")
    if path in ("", "/", "/:memory:"):
        return open_memory()
    if not path.startswith("/"):
        raise EngineError(
            f"{connection!r} lacks a slash: three before a relative path, four before an "
            f"absolute one. Use {_ADDRESSES}."
        )
    return open_database(path[1:], read_only=read_only)
