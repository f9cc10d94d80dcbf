"""Databases opened for a publish: only then, and only the target is open for writing."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection
from sqlglot import exp

from sqlanon.engines import duckdb_sources
from sqlanon.engines.addresses import database_path, open_engine
from sqlanon.engines.duckdb import DuckDBEngine, open_database, open_memory
from sqlanon.engines.private_folder import PrivateFolder
from sqlanon.errors import EngineError

_TAKEN = {"memory", "system", "temp"}


@dataclass(frozen=True)
class Opened:
    """An engine to publish with; `catalog` is the database of the target's names, if another."""

    engine: DuckDBEngine
    catalog: str | None = None

    def table(self, name: str) -> exp.Table:
        """The table that a name of the target means: table or schema.table."""
        table = duckdb_sources.parse_table(name)
        if self.catalog is None:
            return table
        if table.catalog:
            raise EngineError(
                f"{name!r} names a database, but the target's database is given by its address. "
                "Write table or schema.table."
            )
        return exp.table_(table.name, table.db or "main", self.catalog, quoted=True)


def open_for_publishing(
    source: str | DuckDBPyConnection | None,
    *,
    target: str | None = None,
    file: Path | None = None,
    read_only: bool = False,
) -> Opened:
    """The engine that reads a source and writes a release.

    `source` is the source's address or open connection, None for files and data of this
    process. The release goes into the source's own database unless `target` is the address of
    another one (made if it does not exist, for its owner only) or `file` the name of a file.
    Close every other engine of the same database first, then open the source on the new engine
    with `source_on`: unqualified names mean what they meant in the source's database.

    With `read_only` nothing can be written, and no database is made: one that does not exist
    is an empty one in memory, of the same name.
    """
    if file is not None:
        if source is not None:
            return Opened(open_engine(source))
        return Opened(_open_beside(file.parent))
    if target is None or (isinstance(source, str) and _same_file(source, target)):
        if source is None:
            raise EngineError("A release needs a place: a database or a file.")
        return Opened(open_engine(source, read_only=read_only))
    if not isinstance(source, str | None):
        raise EngineError(
            "With a connection of your own the release stays in a database of that connection. "
            "Attach the other database there, and name it in the target."
        )
    return _open_two(source, target, read_only)


def _open_two(source: str | None, target: str, read_only: bool) -> Opened:
    path = database_path(target)
    if path is None:
        raise EngineError(f"{target!r} is a database in memory: nobody would see the release.")
    made = not read_only and _make(path)
    engine = open_memory() if read_only else _open_beside(path.parent)
    if made:
        engine.on_close(lambda: _remove_if_empty(path))
    try:
        source_path = None if source is None else database_path(source)
        if source_path is not None:
            if not source_path.exists():
                raise EngineError(f"Database {source_path} does not exist.")
            name = engine.attach(source_path, read_only=True, name=_free_name(source_path))
            engine.run(exp.Use(this=exp.to_identifier(name, quoted=True)))
        free = _free_name(path, source_path)
        if read_only and not path.exists():
            catalog = _stand_in(engine, path, free)
        else:
            catalog = engine.attach(path, read_only=read_only, name=free)
        return Opened(engine, catalog)
    except BaseException:
        engine.close()
        raise


def _stand_in(engine: DuckDBEngine, path: Path, free: str | None) -> str:
    """An empty database in memory with the name of one that is not made yet."""
    _refuse_without_folder(path)
    name = free or path.name.split(".")[0]
    memory = exp.Literal.string(":memory:")
    engine.run(exp.Attach(this=exp.alias_(memory, name, quoted=True)))
    return name


def _open_beside(folder: Path) -> DuckDBEngine:
    """A database in memory whose spill files lie in a private folder."""
    private = PrivateFolder(folder)
    try:
        engine = open_memory(spill=private.path)
    except BaseException:
        private.remove()
        raise
    engine.on_close(private.remove)
    return engine


def _make(path: Path) -> bool:
    """Makes an empty database for its owner only; False if there is one."""
    if path.exists():
        return False
    _refuse_without_folder(path)
    with PrivateFolder(path.parent) as private:
        new = private.path / path.name
        open_database(new, read_only=False, create=True).close()
        new.chmod(0o600)
        try:
            os.link(new, path)  # unlike a rename, never over what another process just made
        except FileExistsError:
            return False
        except OSError as error:
            raise EngineError(f"Database {path} cannot be made: {error.strerror}.") from error
    return True


def _refuse_without_folder(path: Path) -> None:
    if not path.parent.is_dir():
        raise EngineError(f"Database {path} cannot be made: there is no folder {path.parent}.")


def _remove_if_empty(path: Path) -> None:
    """A database that was made for a release that came to nothing."""
    try:
        with duckdb.connect(path, read_only=True) as connection:
            counted = connection.sql("SELECT count(*) FROM duckdb_tables()").fetchall()
    except duckdb.Error:
        return
    if counted == [(0,)]:
        path.unlink(missing_ok=True)


def _free_name(path: Path, other: Path | None = None) -> str | None:
    """None where DuckDB's own choice of a name for a file is free."""
    own = path.name.split(".")[0].lower()
    if own in _TAKEN or (other is not None and own == other.name.split(".")[0].lower()):
        return f"{own}_{'source' if other is None else 'target'}"
    return None


def _same_file(source: str, target: str) -> bool:
    one, other = database_path(source), database_path(target)
    if one is None or other is None:
        return source == target
    return one.exists() and other.exists() and one.samefile(other)
