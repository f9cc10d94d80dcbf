"""Long answers of a server: read in parts, stored in a file, fetched as numbers of their values."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from sqlanon.engines.protocol import Engine, Streams
from sqlanon.files import PrivateFolder, remove_dead_folders
from sqlanon.render import render

if TYPE_CHECKING:
    from sqlanon.engines.duckdb import DuckDBEngine

LARGE = 100_000
"""Rows up to which an answer stays in memory."""


def fetch_streamed(engine: Engine, query: str, memory: str | None = None) -> pa.Table:
    """The result of one query. Where it is long, columns other than integers are dictionaries.

    A long answer is stored in a temporary DuckDB file that only its owner can read. It takes up to
    `memory` while it is coded there, and what does not fit is spilled beside the file.
    """
    if not isinstance(engine, Streams):
        return engine.fetch(query)
    with closing(engine.batches(query)) as batches:
        held, rows = [], 0
        for batch in batches:
            held.append(batch)
            rows += len(batch)
            if rows > LARGE:
                return _coded(engine, chain(held, batches), memory)
        return engine.finished(pa.concat_tables(held))


def _coded(engine: Streams, batches: Iterable[pa.Table], memory: str | None) -> pa.Table:
    from sqlanon.engines.duckdb import open_database

    beside = Path(tempfile.gettempdir())
    remove_dead_folders(beside)
    with PrivateFolder(beside) as private:
        path = private.path / "answer.duckdb"
        with closing(open_database(path, read_only=False, create=True, memory=memory)) as store:
            store.run("SET preserve_insertion_order = false")
            return _numbered(engine, store, _stored(store, batches))


def _table(store: DuckDBEngine, name: str) -> exp.Table:
    return exp.table_(name, "main", store.home, quoted=True)


def _stored(store: DuckDBEngine, batches: Iterable[pa.Table]) -> pa.Schema:
    """Stores the parts of an answer, and returns its columns."""
    answer, schema = _table(store, "answer"), None
    for batch in batches:
        if schema is None:
            schema = pa.schema([_plain(field) for field in batch.schema])
            store.create(answer, schema.empty_table())
        if len(batch):
            store.append(answer, batch.cast(schema))
    assert schema is not None
    return schema


def _plain(field: pa.Field) -> pa.Field:
    """The field without a type of its own, such as that of numbers without a limit."""
    type_ = field.type
    return field.with_type(type_.storage_type) if isinstance(type_, pa.BaseExtensionType) else field


def _numbered(engine: Streams, store: DuckDBEngine, schema: pa.Schema) -> pa.Table:
    answer, values, tables = _table(store, "answer"), {}, {}
    for j, field in enumerate(schema):
        if pa.types.is_integer(field.type):
            continue
        made = tables[field.name] = _table(store, f"values_{j}")
        store.run(
            render("engines/distinct_values.sql", made=made, column=field.name, answer=answer)
        )
        found = store.fetch(exp.select("value").from_(made).order_by("number"))
        column = found["value"].cast(field.type)
        finished = engine.finished(pa.table([column], schema=pa.schema([field])))
        # Once more: 1.0 and 1.00 were different texts and are one number.
        values[field.name] = finished.column(0).combine_chunks().dictionary_encode()
    cells = {
        name: exp.column("number", tables[name].name)
        if name in tables
        else exp.column(name, "answer")
        for name in schema.names
    }
    table = store.fetch(render("engines/numbered.sql", answer=answer, cells=cells, tables=tables))
    for place, name in enumerate(schema.names):
        if name in values:
            table = table.set_column(place, name, _dictionaries(table[name], values[name]))
    return table


def _dictionaries(numbers: pa.ChunkedArray, values: pa.DictionaryArray) -> pa.ChunkedArray:
    """The values that the numbers stand for, each of them held once."""
    chunks = [
        pa.DictionaryArray.from_arrays(values.indices.take(chunk), values.dictionary)
        for chunk in numbers.chunks
    ]
    return pa.chunked_array(chunks, values.type)
