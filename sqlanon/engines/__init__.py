"""Databases and files behind one small protocol; the only room that knows an engine."""

from __future__ import annotations

from sqlanon.engines.addresses import without_password
from sqlanon.engines.column_types import (
    decimal_places,
    folds_case,
    has_nanoseconds,
    has_time_zone,
    is_text_once_released,
    is_text_type,
    released_type,
)
from sqlanon.engines.loading import insert_rows
from sqlanon.engines.protocol import (
    UNCHANGED,
    ArrowStream,
    Bound,
    Capabilities,
    ColumnDetails,
    ColumnInfo,
    Connection,
    Data,
    DatabaseCopy,
    Engine,
    Kind,
    Opened,
    Reads,
    Rebuilt,
    Source,
    SqlText,
    TableDetails,
    as_given,
    held,
    is_dataframe,
    numbers_of,
    parse_table,
    render_statement,
    spelled,
    transaction,
)
from sqlanon.engines.registry import (
    DATABASE_FILES,
    EMBEDDED,
    ENGINES,
    LOST_IN_PARQUET,
    SUFFIXES,
    EngineEntry,
    copied_database,
    database_path,
    engine_class,
    file_address,
    file_pattern,
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
from sqlanon.engines.written import written
