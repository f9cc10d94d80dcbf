"""The engines by the scheme of an address and by the driver of a connection, imported late."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import cast
from urllib.parse import unquote

from sqlglot import exp

from sqlanon.engines.protocol import Connection, Data, DatabaseCopy, Engine, Kind, Opened, Source
from sqlanon.errors import EngineError
from sqlanon.files import folder_of
from sqlanon.render import COLLATIONS


@dataclass(frozen=True)
class EngineEntry:
    """An engine: its class or where that is, the type of its connections, its addresses."""

    engine: str | type[Engine]
    connection: str
    addresses: str

    def load(self) -> type[Engine]:
        engine = self._imported()
        if engine.can.collation is not None:
            COLLATIONS[engine.dialect] = engine.can.collation
        return engine

    def _imported(self) -> type[Engine]:
        if not isinstance(self.engine, str):
            return self.engine
        module, name = self.engine.split(":")
        return cast(type[Engine], getattr(import_module(module), name))


ENGINES = {
    "duckdb": EngineEntry(
        "sqlanon.engines.duckdb:DuckDBEngine",
        "duckdb.DuckDBPyConnection",
        "duckdb:///relative.duckdb, duckdb:////absolute/path.duckdb or duckdb:// for a database "
        "in memory",
    ),
    **dict.fromkeys(
        ("postgresql", "postgres"),
        EngineEntry(
            "sqlanon.engines.postgres:PostgresEngine",
            "adbc_driver_manager.dbapi.Connection",
            "postgresql://USER@HOST:PORT/NAME or postgres://USER@HOST:PORT/NAME",
        ),
    ),
}
"""By the scheme of an address."""

EMBEDDED = "duckdb"
"""The engine of files, of data of this process, and of a database file by its bare path."""

DATABASE_FILES = (".duckdb", ".ddb", ".db")
"""How names of database files usually end."""

SUFFIXES = (".csv", ".csv.gz", ".tsv", ".parquet")
"""Files that can be a source."""

LOST_IN_PARQUET = {"HUGEINT": "DOUBLE", "UHUGEINT": "DOUBLE"}
"""Types that Parquet lacks, and the types, with other values, that it returns instead. Further
such types are found when the file is read back."""


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")


def is_csv(path: str | Path) -> bool:
    """Whether a file holds values as texts, by its suffix."""
    return str(path).lower().endswith(tuple(each for each in SUFFIXES if each != ".parquet"))


def file_pattern(path: Path) -> str:
    """The pattern that matches this one file: the engine of files expands *, ? and [ in names."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in str(path))


def is_connection(value: object) -> bool:
    """Whether a value is an open connection of a known driver."""
    return _of_connection(value) is not None


def _of_connection(value: object) -> EngineEntry | None:
    # The modules of drivers that are written in C have names with a _.
    types = {f"{each.__module__.lstrip('_')}.{each.__name__}" for each in type(value).__mro__}
    return next((each for each in ENGINES.values() if each.connection in types), None)


def _of_address(address: str) -> EngineEntry:
    known = "; ".join(dict.fromkeys(each.addresses for each in ENGINES.values()))
    scheme, separator, _ = address.partition("://")
    if not separator:
        meant = ""
        is_path = Path(address).suffix in DATABASE_FILES and not may_hold_password(address)
        if is_path or Path(address).is_file():
            meant = f" Did you mean {file_address(address)}?"
        shown = "The connection" if not meant and may_hold_password(address) else repr(address)
        raise EngineError(f"{shown} is not the address of a database.{meant} Use {known}.")
    if scheme not in ENGINES:
        shown = repr(scheme) if _SCHEME.fullmatch(scheme) else "The beginning of the address"
        raise EngineError(f"{shown} is not a known engine. Use {known}.")
    return ENGINES[scheme]


def engine_class(connection: str | Connection | None) -> type[Engine]:
    """The class of an address or of a caller's open connection; None is the one of files."""
    if connection is None:
        return ENGINES[EMBEDDED].load()
    if isinstance(connection, str):
        return _of_address(connection).load()
    entry = _of_connection(connection)
    if entry is None:
        raise EngineError(
            "A connection is an address or an open connection of a known database, "
            f"not {type(connection).__name__}."
        )
    return entry.load()


def open_engine(
    connection: str | Connection | None,
    *,
    read_only: bool = True,
    folders: Iterable[Path] = (),
    spill: Path | None = None,
    memory: str | None = None,
) -> Engine:
    """The engine of an address or of a caller's open connection; None is a new one in memory.

    `read_only` applies to databases that are opened here, and what is opened here reads files in
    `folders` and the database's own folder only. What a database in memory has no room for goes
    to the folder `spill`. `memory` limits an embedded database that is opened here, 2GB for
    example. A caller's connection stays as it is; functions of it that hide built-in ones are
    refused.
    """
    engine = engine_class(connection)
    if connection is not None and not isinstance(connection, str):
        return engine.adopt(connection)
    address = connection or f"{EMBEDDED}://"
    return engine.open(address, read_only=read_only, folders=folders, spill=spill, memory=memory)


def file_address(path: str | Path) -> str:
    """The address of a database file."""
    return f"{EMBEDDED}:///{path}"


def database_path(address: str) -> Path | None:
    """The file that an address names; None for a database in memory or on a server."""
    return _of_address(address).load().database_path(address)


def copied_database(
    address: str | None, old: Path, new: Path, memory: str | None = None
) -> DatabaseCopy:
    """A database file with a new one beside it, to be filled; None is an address of a bare path."""
    return engine_class(address).copied(old, new, memory)


def same_database(one: str, other: str) -> bool:
    """Whether two addresses lead to one database; two in memory are two."""
    if one == other:
        return True
    try:
        paths = database_path(one), database_path(other)
    except EngineError:
        return False  # of no engine that is known here
    first, second = paths
    if first is None or second is None:
        return False
    return first.exists() and second.exists() and first.samefile(second)


def open_source(
    *,
    connection: str | Connection | None = None,
    table: str | None = None,
    query: str | None = None,
    file: str | Path | None = None,
    data: Data | None = None,
    read_only: bool = True,
    folders: Iterable[Path] = (),
    memory: str | None = None,
) -> Source:
    """Opens exactly one of a table, a query, a file, or data in this process.

    `connection` is an address (see open_engine) or an open connection of the caller; without
    one, a database in memory reads the file, the data or the query. What is opened here reads
    the folders of the database, of the file or of the files that the query names, and `folders`,
    and takes `memory` at most. Close the source's engine when done; a caller's connection stays
    open.
    """
    given = {"table": table, "query": query, "file": file, "data": data}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        raise EngineError(
            "A source is exactly one of table, query, file or data; "
            f"given: {', '.join(named) or 'none'}."
        )
    if table is not None and connection is None:
        raise EngineError(f"Table {table!r} needs a connection: {ENGINES[EMBEDDED].addresses}.")
    engine = open_engine(
        connection,
        read_only=read_only,
        folders=[*folders, *source_folders(query, file, connection)],
        memory=memory,
    )
    try:
        return engine.source(table=table, query=query, file=file, data=data)
    except BaseException:
        engine.close()
        raise


def open_table(engine: Engine, name: str) -> Source:
    """A further table or view on an engine that is open; messages go on to name the source."""
    relation = engine.table(name)
    return Source(engine, relation, name, engine.columns(relation))


def open_for_publishing(
    source: str | Connection | None,
    *,
    target: str | None = None,
    file: Path | None = None,
    read_only: bool = False,
    folders: Iterable[Path] = (),
    memory: str | None = None,
) -> Opened:
    """The engine that reads a source and writes a release.

    `source` is the source's address or open connection, None for files and data of this
    process. The release goes into the source's own database unless `target` is the address of
    another one (made if it does not exist, for its owner only) or `file` the name of a file.
    Close every other engine of the same database first, then open the source on the new engine
    with its `source`: unqualified names mean what they meant in the source's database.

    With `read_only` nothing can be written, and no database is made: one that does not exist
    is an empty one in memory, of the same name. What is opened here reads and writes the folders
    of both databases and of the file, and `folders`, and takes `memory` at most.
    """
    if file is not None:
        folders = (*folders, folder_of(file))
    elif target is None and source is None:
        raise EngineError("A release needs a place: a database or a file.")
    elif isinstance(source, str) and target is not None and same_database(source, target):
        target = None
    if target is not None and not isinstance(source, str | None):
        raise EngineError(
            "With a connection of your own the release stays in a database of that connection. "
            "Attach the other database there, and name it in the target."
        )
    engine = engine_class(target if source is None else source)
    if target is not None and engine_class(target) is not engine:
        raise EngineError(
            "The source and the place of the release are of two engines, and a release is made by "
            "one. "
            "Publish into the source's database."
        )
    return engine.open_for_publishing(
        source,
        target=target,
        file=file,
        read_only=read_only,
        folders=tuple(folders),
        memory=memory,
    )


def source_folders(
    query: str | None, file: str | Path | None, connection: str | Connection | None = None
) -> list[Path]:
    """The folders of the files that a source names: in a query of its engine, or as its file."""
    named = []
    if query is not None:
        with suppress(EngineError):  # a connection that is wrong is refused where it is opened
            named = engine_class(connection).folders_in(query)
    return named if file is None else [*named, folder_of(Path(file))]


_USER = re.compile(r"(?<=://)([^:@/]*):[^@/]*@")
_KEYED = re.compile(r"[?&]([^=&]*)=[^&]*")


def without_password(address: str) -> str:
    """An address without the password before its host and the passwords among its settings."""
    return _KEYED.sub(_kept, _USER.sub(r"\1@", address))


def _kept(setting: re.Match[str]) -> str:
    return "" if "password" in unquote(setting[1]).lower() else setting[0]


def may_hold_password(text: str) -> bool:
    """Whether a text that is no address could be one whose beginning is wrong."""
    return any(each in text for each in "@=")


def written(opened: Source, source: object, names: Collection[str]) -> Source:
    """Reads some columns of a CSV file as they are written; the quasi-identifiers, above all.

    A reader of the file tells 1.0 from 1.00, so one class must not hold both. People and
    sensitive values are compared by what they mean: counting one value as two would show a
    table safer than it is.
    """
    if not isinstance(source, str | Path) or "://" in str(source) or not is_csv(source):
        return opened
    return _with_dates(opened.engine.as_written(opened, source, names), opened, names)


def _with_dates(texts: Source, opened: Source, names: Collection[str]) -> Source:
    """Dates and times of a CSV file as such, because they have an order."""
    types = {
        each.name: exp.DataType.build(each.type, dialect=opened.engine.dialect)
        for each in opened.columns
        if each.kind in (Kind.DATE, Kind.TIMESTAMP) and each.name not in names
    }
    if not types:
        return texts
    columns = [exp.column(each.name, quoted=True) for each in texts.columns]
    read = [
        exp.cast(each, types[each.name]).as_(each.name, quoted=True) if each.name in types else each
        for each in columns
    ]
    relation = exp.select(*read).from_(texts.relation).subquery("source")
    return Source(texts.engine, relation, texts.name, texts.engine.columns(relation))
