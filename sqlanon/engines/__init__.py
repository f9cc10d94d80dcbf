"""Databases and files behind one small protocol; the only package that knows an engine."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from duckdb import DuckDBPyConnection

from sqlanon.engines import duckdb_sources
from sqlanon.engines.addresses import ADDRESSES, open_engine
from sqlanon.engines.base import (
    ColumnDetails,
    ColumnInfo,
    Engine,
    PublishingEngine,
    Reads,
    Source,
    Statement,
    TableDetails,
    Tracer,
)
from sqlanon.engines.duckdb import DuckDBEngine, as_given, folder_of, open_memory
from sqlanon.engines.private_folder import (
    PrivateFolder,
    dead_kept_folders,
    finish_file,
    remove_dead_folders,
    young_folders,
)
from sqlanon.engines.publishing import Opened, open_for_publishing
from sqlanon.errors import EngineError

__all__ = [
    "ColumnDetails",
    "ColumnInfo",
    "DuckDBEngine",
    "Engine",
    "Opened",
    "PrivateFolder",
    "PublishingEngine",
    "Reads",
    "Source",
    "Statement",
    "TableDetails",
    "Tracer",
    "as_given",
    "dead_kept_folders",
    "finish_file",
    "open_engine",
    "open_for_publishing",
    "open_memory",
    "open_source",
    "open_table",
    "remove_dead_folders",
    "source_folders",
    "source_on",
    "young_folders",
]


def open_source(
    *,
    connection: str | DuckDBPyConnection | None = None,
    table: str | None = None,
    query: str | None = None,
    file: str | Path | None = None,
    data: duckdb_sources.Data | None = None,
    read_only: bool = True,
    folders: Iterable[Path] = (),
) -> Source:
    """Opens exactly one of a table, a query, a file, or data in this process.

    `connection` is an address (see open_engine) or an open connection of the caller; without
    one, a database in memory reads the file, the data or the query. What is opened here reads
    the folders of the database, of the file or of the files that the query names, and `folders`.
    Close the source's engine when done; a caller's connection stays open.
    """
    given = {"table": table, "query": query, "file": file, "data": data}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        raise EngineError(
            "A source is exactly one of table, query, file or data; "
            f"given: {', '.join(named) or 'none'}."
        )
    if table is not None and connection is None:
        raise EngineError(f"Table {table!r} needs a connection: {ADDRESSES}.")
    engine = open_engine(
        connection, read_only=read_only, folders=[*folders, *source_folders(query, file)]
    )
    try:
        if data is not None and not engine.owned:
            engine = engine.private()
        return source_on(engine, table=table, query=query, file=file, data=data)
    except BaseException:
        engine.close()
        raise


def source_on(
    engine: DuckDBEngine,
    *,
    table: str | None = None,
    query: str | None = None,
    file: str | Path | None = None,
    data: duckdb_sources.Data | None = None,
) -> Source:
    """One of a table, a query, a file or data on an engine that is open already."""
    if table is not None:
        return duckdb_sources.table(engine, table)
    if query is not None:
        return duckdb_sources.query(engine, query)
    if file is not None:
        return duckdb_sources.file(engine, file)
    assert data is not None
    return duckdb_sources.data(engine, data)


def open_table(engine: Engine, name: str) -> Source:
    """A further table or view on an engine that is open already."""
    assert isinstance(engine, DuckDBEngine)
    return duckdb_sources.named(engine, name)


def source_folders(query: str | None, file: str | Path | None) -> list[Path]:
    """The folders that a query or a file of a source names."""
    named = [] if query is None else duckdb_sources.folders_in(query)
    return named if file is None else [*named, folder_of(Path(file))]
