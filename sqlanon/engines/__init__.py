"""Databases and files behind one small protocol; the only room that knows an engine."""

from __future__ import annotations

from sqlanon.engines.loading import insert_rows
from sqlanon.engines.protocol import (
    UNCHANGED,
    Capabilities,
    ColumnDetails,
    ColumnInfo,
    Connection,
    Data,
    Engine,
    Kind,
    Opened,
    Reads,
    Source,
    SqlText,
    TableDetails,
    as_given,
    is_dataframe,
    numbers_of,
    parse_table,
    render_statement,
    spelled,
    transaction,
)
from sqlanon.engines.registry import (
    ENGINES,
    SUFFIXES,
    Entry,
    database_path,
    file_address,
    is_connection,
    is_csv,
    open_engine,
    open_for_publishing,
    open_source,
    open_table,
    same_database,
    source_folders,
)
from sqlanon.engines.tracer import LITERALS_LOG, Tracer
