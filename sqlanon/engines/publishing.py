"""Databases opened for a publish: only then, and only the target is open for writing."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from duckdb import DuckDBPyConnection
from sqlglot import exp

from sqlanon.engines import duckdb_sources
from sqlanon.engines.addresses import database_path, open_engine
from sqlanon.engines.duckdb import DuckDBEngine, folder_of, open_database, open_memory
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
            self.engine.complete(table)
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
    folders: Iterable[Path] = (),
) -> Opened:
    """The engine that reads a source and writes a release.

    `source` is the source's address or open connection, None for files and data of this
    process. The release goes into the source's own database unless `target` is the address of
    another one (made if it does not exist, for its owner only) or `file` the name of a file.
    Close every other engine of the same database first, then open the source on the new engine
    with `source_on`: unqualified names mean what they meant in the source's database.

    With `read_only` nothing can be written, and no database is made: one that does not exist
    is an empty one in memory, of the same name. What is opened here reads and writes the folders
    of both databases and of the file, and `folders`.
    """
    folders = tuple(folders)
    if file is not None:
        folders = (*folders, folder_of(file))
        if source is not None:
            return Opened(open_engine(source, folders=folders))
        return Opened(_open_beside(file.parent, folders))
    if target is None or (isinstance(source, str) and _same_file(source, target)):
        if source is None:
            raise EngineError("A release needs a place: a database or a file.")
        return Opened(open_engine(source, read_only=read_only, folders=folders))
    if not isinstance(source, str | None):
        raise EngineError(
            "With a connection of your own the release stays in a database of that connection. "
            "Attach the other database there, and name it in the target."
        )
    return _open_two(source, target, read_only, folders)


def _open_two(
    source: str | None, target: str, read_only: bool, folders: tuple[Path, ...]
) -> Opened:
    path = database_path(target)
    if path is None:
        raise EngineError(f"{target!r} is a database in memory: nobody would see the release.")
    made = not read_only and _make(path)
    source_path = None if source is None else database_path(source)
    databases = [each for each in (path, source_path) if each is not None]
    folders = (*folders, *map(folder_of, databases))
    engine = open_memory(folders=folders) if read_only else _open_beside(path.parent, folders)
    if made:
        engine.on_close(lambda: _remove_if_empty(path))
    try:
        if source_path is not None:
            if not source_path.exists():
                raise EngineError(f"Database {source_path} does not exist.")
            engine.attach_home(source_path, read_only=True)
        free = _free_name(path, engine.home)
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


def _open_beside(folder: Path, folders: Iterable[Path]) -> DuckDBEngine:
    """A database in memory whose spill files lie in a private folder."""
    private = PrivateFolder(folder)
    try:
        engine = open_memory(private.path, folders)
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
        engine = open_database(path)
    except EngineError:
        return
    try:
        empty = not engine.fetch("SELECT 1 FROM duckdb_tables()").num_rows
    finally:
        engine.close()
    if empty:
        path.unlink(missing_ok=True)


def _free_name(path: Path, home: str | None) -> str | None:
    """None where DuckDB's own choice of a name for the target's file is free."""
    own = path.name.split(".")[0].lower()
    is_free = own not in _TAKEN and home not in (own, f"{own}_db")
    return None if is_free else f"{own}_target"


def _same_file(source: str, target: str) -> bool:
    one, other = database_path(source), database_path(target)
    if one is None or other is None:
        return source == target
    return one.exists() and other.exists() and one.samefile(other)
