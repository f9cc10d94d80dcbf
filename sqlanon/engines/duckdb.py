"""DuckDB: connections, types, the forms of data that it reads, and databases opened to publish."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import ClassVar, TypeAlias

import duckdb
import pyarrow as pa
import sqlglot
from sqlglot import exp

from sqlanon.engines import duckdb_catalog
from sqlanon.engines.duckdb_catalog import REMOTE, AttachedFile, fold
from sqlanon.engines.duckdb_errors import explain, explain_opening, refuse_other_files
from sqlanon.engines.protocol import (
    COMPLETED,
    UNCHANGED,
    Capabilities,
    ColumnInfo,
    Data,
    Engine,
    Kind,
    Opened,
    Row,
    Source,
    SqlText,
    TableDetails,
    Transactions,
    held,
    is_dataframe,
    parse_table,
    render_statement,
)
from sqlanon.engines.registry import SUFFIXES, file_pattern
from sqlanon.engines.statements import Running, Tracer, interruptible
from sqlanon.errors import EngineError, PublishError
from sqlanon.files import PrivateFolder, folder_of, refuse_impossible
from sqlanon.render import render, render_text
from sqlanon.wording import looked_in


def counting_memory(*, threads: int) -> duckdb.DuckDBPyConnection:
    """A new database in memory for counts of people: it writes nothing to the disk."""
    connection = duckdb.connect(":memory:", config={"temp_directory": ""})
    connection.execute(f"SET threads = {threads}")
    return hide_progress_bar(connection)


def hide_progress_bar(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Turns DuckDB's progress bar of a connection of our own off, and returns the connection.

    DuckDB draws it on standard output, also where that is a file of JSON, and in a notebook
    below the cell; sqlanon has one of its own. The setting is read first: in a notebook without
    ipywidgets the bar is off, and DuckDB refuses every statement that sets it, to whatever value.
    """
    shown = connection.execute("SELECT current_setting('enable_progress_bar')").fetchall()
    if shown == [(True,)]:
        connection.execute("SET enable_progress_bar = false")
    return connection


_KINDS = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"), Kind.INTEGER),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"), Kind.INTEGER),
    **dict.fromkeys(("FLOAT", "DOUBLE"), Kind.FLOAT),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), Kind.TIMESTAMP),
    # UHUGEINT is left out: Arrow has no type for it, and large values arrive wrapped.
    "TIMESTAMP WITH TIME ZONE": Kind.TIMESTAMP,
    "DATE": Kind.DATE,
    "BOOLEAN": Kind.BOOLEAN,
    "VARCHAR": Kind.TEXT,
    # Text only after a cast to VARCHAR: an ENUM sorts by its declaration, a UUID as a number.
    "UUID": Kind.TEXT,
}
_DECIMAL = re.compile(r"DECIMAL\(\d+,\d+\)")
_ENUM = re.compile(r"ENUM\(.*\)", re.DOTALL)

_HERE = "SELECT current_database(), current_schema()"
_TABLES = """
SELECT database_name, schema_name, table_name AS name FROM duckdb_tables() WHERE NOT internal
UNION ALL
SELECT database_name, schema_name, view_name FROM duckdb_views() WHERE NOT internal
ORDER BY ALL
"""


class DuckDBEngine(Transactions):
    """A DuckDB connection as an Engine.

    An `owned` connection is closed with the engine. A caller's connection is never closed, and
    its settings, temporary objects and transaction stay as they are; statements run inside
    that transaction and see what it sees. A statement that fails while it runs still aborts an
    open transaction, as DuckDB does for every statement.
    """

    dialect: ClassVar[str] = "duckdb"
    can: ClassVar[Capabilities] = Capabilities(
        asof_join=True, comments=True, guarded_views=True, files=True, rewrites=True
    )

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        owned: bool,
        tracer: Tracer | None = None,
        folders: tuple[Path, ...] | None = None,
    ) -> None:
        self.tracer = tracer or Tracer()
        self.owned = owned
        self.folders = folders  # all that can be read and written; None is anything
        self.home: str | None = None  # the attached database that names without one mean
        self.reading = "the database"  # in messages: the source that was opened here last
        self._connection = connection
        self._files: list[AttachedFile] | None = None  # None where others may attach some
        self._spill = ""
        self._registered: list[str] = []
        self._on_close: list[Callable[[], object]] = []

    @classmethod
    def open(
        cls,
        address: str,
        *,
        read_only: bool,
        folders: Iterable[Path],
        spill: Path | None = None,
        memory: str | None = None,
    ) -> DuckDBEngine:
        path = cls.database_path(address)
        if path is None:
            return open_memory(spill, folders, memory)
        return open_database(path, read_only=read_only, folders=folders, memory=memory)

    @classmethod
    def adopt(cls, connection: duckdb.DuckDBPyConnection) -> DuckDBEngine:
        engine = cls(connection, owned=False)
        engine.refuse_hidden_functions()
        return engine

    @classmethod
    def database_path(cls, address: str) -> Path | None:
        """The path is taken as it stands, without %-escapes or parameters."""
        path = address.partition("://")[2]
        if path in ("", "/", "/:memory:"):
            return None
        if not path.startswith("/"):
            raise EngineError(
                f"{address!r} lacks a slash: three before a relative path, four before an "
                "absolute one, as in duckdb:///relative.duckdb."
            )
        return Path(path[1:])

    @classmethod
    def open_for_publishing(
        cls,
        source: str | duckdb.DuckDBPyConnection | None,
        *,
        target: str | None,
        file: Path | None,
        read_only: bool,
        folders: Iterable[Path],
        memory: str | None = None,
    ) -> Opened:
        if target is not None:
            assert source is None or isinstance(source, str)
            return _open_two(source, target, read_only, tuple(folders), memory)
        if source is None:
            assert file is not None
            return Opened(_open_beside(file.parent, folders, memory))
        if not isinstance(source, str):
            return Opened(cls.adopt(source))
        read_only = read_only or file is not None
        return Opened(cls.open(source, read_only=read_only, folders=folders, memory=memory))

    @classmethod
    def folders_in(cls, query: str) -> list[Path]:
        return folders_in(query)

    @classmethod
    def copied(cls, old: Path, new: Path, memory: str | None = None) -> CopiedFile:
        engine = open_memory(new.parent, [old.parent], memory)
        try:
            return CopiedFile(engine, old, new)
        except BaseException:
            engine.close()
            raise

    def vacuum(self, table: exp.Table) -> None:
        raise EngineError("DuckDB frees nothing of a file that is open.")

    @property
    def versions(self) -> dict[str, str]:
        return {"duckdb": duckdb.__version__}

    def source(
        self,
        *,
        table: str | None = None,
        query: str | None = None,
        file: str | Path | None = None,
        data: Data | None = None,
    ) -> Source:
        if table is not None:
            self.reading = f"table {table!r}"
            relation = self.table(table)
            return Source(self, relation, table, self.columns(relation))
        if query is not None:
            return _of_query(self, query)
        if file is not None:
            return _of_file(self, file)
        assert data is not None
        # The name of registered data would be visible on a caller's connection.
        return _of_data(self if self.owned else self.private(), data)

    def as_written(self, source: Source, path: str | Path, columns: Collection[str]) -> Source:
        return _as_written(source, path, columns)

    def table(self, name: str) -> exp.Table:
        relation = parse_table(name)
        self.complete(relation)
        return relation

    def number_of(self, digits: exp.Expr) -> exp.Expr:
        written = exp.DPipe(this=exp.Literal.string("0x"), expression=digits)
        number = exp.cast(written, exp.DataType.Type.UINT)
        return exp.cast(number, exp.DataType.Type.INT128)

    def text_of_float(self, value: exp.Expr) -> exp.Expr:
        bits = exp.cast(exp.cast(value, exp.DataType.Type.DOUBLE), exp.DataType.Type.BIT)
        whole = exp.cast(bits, exp.DataType.Type.BIGINT)
        # NaN have many forms, with a sign too.
        nan = exp.If(this=exp.IsNan(this=value.copy()), true=exp.Literal.string("nan"))
        return exp.Case(ifs=[nan], default=exp.cast(whole, "text"))

    def number_from(self, text: exp.Expr, *, second: bool = False) -> exp.Expr:
        half = "MD5_NUMBER_UPPER" if second else "MD5_NUMBER_LOWER"
        return exp.Anonymous(this=half, expressions=[text])

    def fetch(self, query: SqlText, parameters: Mapping[str, str] | None = None) -> pa.Table:
        """The whole result. HUGEINT, the type of a sum of integers, comes as decimal(38, 0):
        cast in SQL where another type is wanted.
        """
        with self._secretly(parameters), self._running(self._text(query)) as running:
            result = self._execute(running.sql, parameters)
            running.rows = result.num_rows
        return result

    def run(self, statement: SqlText, parameters: Mapping[str, str] | None = None) -> None:
        """Executes one statement; one that changes rows reports their number to the tracer."""
        if self._known:
            self._known.clear()
        with self._secretly(parameters), self._running(self._text(statement)) as running:
            result = self._execute(running.sql, parameters)
            if result.column_names == ["Count"] and result.num_rows == 1:
                running.rows = result.column(0)[0].as_py()

    def append(self, table: exp.Table, rows: pa.Table) -> None:
        """From Arrow, by a name that is there for this one statement."""
        with self._readable(rows) as read:
            self.run(exp.insert(read, table.copy()))

    def create(self, table: exp.Table, rows: pa.Table) -> None:
        """Makes a table of rows of this process."""
        with self._readable(rows) as read:
            self.run(exp.Create(this=table.copy(), kind="TABLE", expression=read))

    @contextmanager
    def _readable(self, rows: pa.Table) -> Iterator[exp.Select]:
        name = f"sqlanon_rows_{secrets.token_hex(8)}"
        read = exp.table_(name, db="main", catalog="temp", quoted=True)
        with self._errors():
            self._connection.register(name, rows)
        try:
            yield exp.select("*").from_(read)
        finally:
            with suppress(duckdb.Error):  # it goes with a transaction that has failed
                self._connection.unregister(name)

    def _text(self, statement: SqlText) -> str:
        return render_statement(statement, self.dialect)

    @contextmanager
    def _secretly(self, parameters: Mapping[str, str] | None) -> Iterator[None]:
        try:
            yield
        except EngineError as error:
            if not parameters:
                raise
            # The cause goes too: what DuckDB said may quote a parameter.
            raise EngineError(_without(str(error), parameters)) from None

    def columns(self, relation: exp.Expr) -> tuple[ColumnInfo, ...]:
        described = self.known(self._text(exp.Describe(this=exp.select("*").from_(relation))))
        return tuple(
            ColumnInfo(
                row["column_name"],
                _kind(row["column_type"]),
                row["column_type"],
                nullable=row["null"] != "NO",
            )
            for row in described
        )

    def begin(self) -> None:
        self.run("BEGIN TRANSACTION")
        self._begun = True
        self._known = {} if self.owned else None

    def commit(self) -> None:
        self.run("COMMIT")
        self._begun, self._known = False, None

    def in_transaction(self) -> bool:
        if self._begun or self.owned:
            return self._begun
        # Outside a transaction every statement has one of its own. A BEGIN would tell too, but
        # inside a transaction its error aborts that.
        first, second = (self.fetch("SELECT txid_current() AS id") for _ in range(2))
        return bool(first.equals(second))

    locate = duckdb_catalog.locate
    details = duckdb_catalog.details
    reads = duckdb_catalog.reads
    may_read = duckdb_catalog.may_read

    def tables_like(self, prefix: str, comment: str) -> tuple[exp.Table, ...]:
        if self._files == []:  # nothing is left over in memory
            return ()
        return duckdb_catalog.tables_like(self, prefix, comment)

    def temporary(self, name: str) -> exp.Table:
        return exp.table_(name, db="main", catalog="temp", quoted=True)

    def is_temporary(self, table: exp.Table) -> bool:
        return table.catalog == "temp"

    def refuse_hidden_functions(self) -> None:
        found = duckdb_catalog.hiding(self)
        if not found:
            return
        listed = "; ".join([*found[:5], *(["…"] if found[5:] else [])])
        instead = (
            "take mode table, which does not use them"
            if self.owned
            else "give sqlanon the address of the database, where it does not use them"
        )
        raise EngineError(
            "Macros of the database have names of built-in functions or operators, and DuckDB "
            "calls them instead: no count could be trusted. Drop or rename them "
            f"({listed}), or {instead}."
        )

    def refuse_changed(self, former: TableDetails) -> None:
        """DuckDB itself refuses a transaction whose tables others have changed."""

    def files(self) -> list[AttachedFile]:
        """The files of all databases, also of those that are open for reading only."""
        return duckdb_catalog.files(self) if self._files is None else self._files

    def database_files(self) -> tuple[Path, ...]:
        return tuple(each.path for each in self.files() if not each.read_only)

    def file_of(self, table: exp.Table) -> Path | None:
        return next((each.path for each in self.files() if each.name == table.catalog), None)

    def logs_of(self, file: Path) -> tuple[Path, ...]:
        return (Path(f"{file}.wal"),)

    def stale_spill_files(self) -> tuple[Path, ...]:
        folder = duckdb_catalog.spill_folder(self) if self._files is None else self._spill
        return duckdb_catalog.stale_spill_files(self.database_files(), folder)

    def close(self) -> None:
        if not self.owned:
            return
        for name in self._registered:
            self._connection.unregister(name)
        self._registered.clear()
        self._connection.close()
        while self._on_close:
            self._on_close.pop()()

    def on_close(self, call: Callable[[], object]) -> None:
        """Runs `call` once an owned connection is closed."""
        self._on_close.append(call)

    def attach_home(self, path: Path, *, read_only: bool) -> None:
        """Attaches the database whose tables need no database in their names, as if opened.

        Only on a new database in memory, which goes: the file has the name that it has when it
        is opened by itself, be it `memory`.
        """
        self._set_search_path()
        self.run("DETACH memory")
        self.home = self.attach(path, read_only=read_only)
        self._set_search_path()

    def _set_search_path(self, schemas: Iterable[str] = ("main",)) -> None:
        """Built-in functions first, then the schemas of the home database."""
        found = [(self.home, each) for each in schemas] if self.home is not None else []
        places = [exp.table_("main", "system"), *(exp.table_(s, d, quoted=True) for d, s in found)]
        listed = exp.Literal.string(",".join(each.sql(self.dialect) for each in places))
        self.run(f"SET search_path = {listed.sql(self.dialect)}")

    @contextmanager
    def _all_schemas(self) -> Iterator[None]:
        """Finds schema.table in text that cannot be completed; see complete."""
        if self.home is None:
            yield
            return
        self._set_search_path(duckdb_catalog.schemas_of(self, self.home))
        try:
            yield
        finally:
            self._set_search_path()

    def describe(self, text: str) -> list[tuple[str, str]]:
        """Names and types of the columns of a query, as its author wrote it."""
        with self._all_schemas():
            described = self.fetch(f"DESCRIBE {text}").to_pylist()
        return [(row["column_name"], row["column_type"]) for row in described]

    def complete(self, relation: exp.Expr) -> None:
        """Adds the home database to names of the form schema.table, in place; see as_given.

        DuckDB looks for their schemas in the first database of the search path alone, which is
        that of the built-in functions.
        """
        partly = [each for each in relation.find_all(exp.Table) if each.db and not each.catalog]
        if self.home is None or not partly:
            return
        known = {fold(each) for each in duckdb_catalog.schemas_of(self, self.home)} - {"main"}
        for table in partly:
            if fold(table.db) in known:
                table.set("catalog", exp.to_identifier(self.home, quoted=True))
                table.meta[COMPLETED] = True

    def attach(self, path: Path, *, read_only: bool, name: str | None = None) -> str:
        """Attaches a database file that exists and answers with its name here.

        Without a name it gets the one that it has when it is opened by itself.
        """
        refuse_other_files(path)
        # Where the path is a link, DuckDB names a database after it that is attached, and after
        # the file that it leads to if that is opened.
        file = exp.Literal.string(os.path.realpath(path))
        statement = exp.Attach(
            this=file if name is None else exp.alias_(file, name, quoted=True),
            expressions=[exp.AttachOption(this=exp.var("READ_ONLY"))] if read_only else [],
        )
        try:
            with self.tracer.running(render_statement(statement, self.dialect)) as running:
                self._execute(running.sql)
        except duckdb.Error as error:
            raise explain_opening(error, path) from error
        if name is None:
            name = duckdb_catalog.name_of_file(self, path)
        if self._files is not None:
            self._files.append(AttachedFile(name, Path(file.this), read_only))
        return name

    def register(self, data: pa.Table) -> exp.Table:
        """Makes an Arrow table readable under a name of its own, for as long as the engine is.

        Only on an owned connection: the name would be visible on a caller's.
        """
        if not self.owned:
            raise ValueError("data are registered on a connection of our own")
        name = f"sqlanon_data_{len(self._registered) + 1}"
        with self._errors():
            self._connection.register(name, data)
        self._registered.append(name)
        # With its full name, so that no table, view or Python variable can stand in for it.
        return exp.table_(name, db="main", catalog="temp", quoted=True)

    def private(self) -> DuckDBEngine:
        """A second connection to the same database, with temporary objects of its own."""
        with self._errors():
            return DuckDBEngine(self._connection.cursor(), owned=True, tracer=self.tracer)

    def is_one_select(self, text: str) -> bool:
        """Whether DuckDB's own parser reads the text as exactly one SELECT."""
        with self._errors():
            statements = self._connection.extract_statements(text)
        return [each.type for each in statements] == [duckdb.StatementType.SELECT]

    def _execute(self, text: str, parameters: Mapping[str, str] | None = None) -> pa.Table:
        return interruptible(
            lambda: _fetch(self._connection, text, parameters), self._connection.interrupt
        )

    @contextmanager
    def _running(self, text: str) -> Iterator[Running]:
        with self._errors(text), self.tracer.running(text) as running:
            yield running

    @contextmanager
    def _errors(self, statement: str = "") -> Iterator[None]:
        try:
            yield
        except duckdb.Error as error:
            raise explain(
                error, self._tables, self.reading, statement, folders=self.folders
            ) from error

    def _tables(self) -> list[str]:
        """Every table and view, spelled the way `table` of the sources reads it."""
        try:
            (current,) = self._connection.sql(_HERE).fetchall()
            rows = self._connection.sql(_TABLES).fetchall()
        except duckdb.Error:
            return []  # they only serve a hint in the message of another error
        here = current if self.home is None else (self.home, "main")
        spelled = []
        for row in rows:
            if row[:2] in (here, ("temp", "main")):
                parts = row[2:]
            else:
                parts = row[1:] if row[0] == here[0] else row
            spelled.append(".".join(exp.to_identifier(part).sql("duckdb") for part in parts))
        return spelled


def open_memory(
    spill: Path | None = None, folders: Iterable[Path] = (), memory: str | None = None
) -> DuckDBEngine:
    """A new database in memory, for files and data that belong to no database.

    It reads and writes files in `folders` only, and below them; it has no network and installs
    and loads no extension. `memory` limits it, by default as DuckDB does; what does not fit goes
    to the folder `spill`, by default to `.tmp` here.
    """
    # This database is ours alone, so we may change its settings: no table name finds a variable.
    config: dict[str, str | bool | int | float | list[str]] = {
        "python_enable_replacements": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    if spill is not None:
        config["temp_directory"] = str(spill)
    if memory is not None:
        config["memory_limit"] = memory
    allowed = tuple(dict.fromkeys(Path(os.path.realpath(folder)) for folder in folders))
    connection = hide_progress_bar(duckdb.connect(":memory:", config=config))
    listed = exp.convert([str(folder) for folder in allowed]).sql(DuckDBEngine.dialect)
    connection.sql(f"SET allowed_directories = {listed}")
    connection.sql("SET enable_external_access = false")  # DuckDB cannot switch it on again
    engine = DuckDBEngine(connection, owned=True, folders=allowed)
    engine._files, engine._spill = [], str(spill or "")
    return engine


def open_database(
    path: str | Path,
    read_only: bool = True,
    create: bool = False,
    folders: Iterable[Path] = (),
    memory: str | None = None,
) -> DuckDBEngine:
    """The database in a file, which must exist unless `create` is set.

    Its own folder and `folders` can be read. What does not fit into `memory` goes where DuckDB
    itself writes it, to a folder beside the file.
    """
    path = Path(path)
    refuse_impossible(path)
    if path.is_dir():
        raise EngineError(f"Database {path} is a folder, not a file.")
    if not path.exists() and not create:
        raise EngineError(f"Database {path} does not exist{looked_in(path)}.")
    spill = Path(f"{os.path.realpath(path)}.tmp")
    engine = open_memory(spill, [folder_of(path), *folders], memory)
    try:
        engine.attach_home(path, read_only=read_only)
    except BaseException:
        engine.close()
        raise
    return engine


def _fetch(
    connection: duckdb.DuckDBPyConnection, text: str, parameters: Mapping[str, str] | None
) -> pa.Table:
    # DuckDB looks for Python variables here when it finds no table: keep tables out of this
    # function's names and the module's.
    relation = connection.sql(text, params=dict(parameters) if parameters else None)
    if relation is None:
        raise EngineError("The statement is empty.")
    return relation.to_arrow_table()


def _without(text: str, secrets: Mapping[str, str]) -> str:
    for secret in secrets.values():
        text = text.replace(secret, "…") if secret else text
    return text


def _kind(type_: str) -> Kind | None:
    if _DECIMAL.fullmatch(type_):
        return Kind.DECIMAL
    if _ENUM.fullmatch(type_):
        return Kind.TEXT
    return _KINDS.get(type_)


_TAKEN = {"memory", "system", "temp"}


def _open_two(
    source: str | None,
    target: str,
    read_only: bool,
    folders: tuple[Path, ...],
    memory: str | None,
) -> Opened:
    path = DuckDBEngine.database_path(target)
    if path is None:
        raise EngineError(f"{target!r} is a database in memory: nobody would see the release.")
    made = not read_only and _make(path)
    source_path = None if source is None else DuckDBEngine.database_path(source)
    databases = [each for each in (path, source_path) if each is not None]
    folders = (*folders, *map(folder_of, databases))
    if read_only:
        engine = open_memory(folders=folders, memory=memory)
    else:
        engine = _open_beside(path.parent, folders, memory)
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


def _open_beside(folder: Path, folders: Iterable[Path], memory: str | None) -> DuckDBEngine:
    """A database in memory whose spill files lie in a private folder."""
    private = PrivateFolder(folder)
    try:
        engine = open_memory(private.path, folders, memory)
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


_OLD, _NEW = "sqlanon_old", "sqlanon_new"


class CopiedFile:
    """A database file and its copy, attached to one engine, see `DatabaseCopy`.

    The former file is open for writing although nothing is written: then no other process has
    it open, and none can change it until the new one is in its place.
    """

    def __init__(self, engine: DuckDBEngine, old: Path, new: Path) -> None:
        self.engine, self._old = engine, old
        engine.attach(old, read_only=False, name=_OLD)
        self._run("CHECKPOINT {{ old | identifier }}")
        (settings,) = self._fetch("engines/block_size.sql", _OLD)
        self._run(
            "ATTACH {{ path | literal }} AS {{ new | identifier }} (BLOCK_SIZE {{ block_size }})",
            path=str(new),
            block_size=settings["block_size"],
        )

    def copy(self) -> None:
        self._run("COPY FROM DATABASE {{ old | identifier }} TO {{ new | identifier }}")

    def tables(self) -> list[tuple[exp.Table, exp.Table]]:
        before, after = (self._fetch("engines/objects.sql", name) for name in (_OLD, _NEW))
        if before != after:
            differing = {
                f"{row['kind']} {row['name']}"
                for one, other in ((before, after), (after, before))
                for row in one
                if row not in other
            }
            raise PublishError(
                f"The new file differs from {self._old} in: {', '.join(sorted(differing))}. "
                f"{UNCHANGED}"
            )
        names = [(row["name"], row["schema_name"]) for row in before if row["kind"] == "table"]
        return [
            (exp.table_(*name, _OLD, quoted=True), exp.table_(*name, _NEW, quoted=True))
            for name in names
        ]

    def finish(self) -> None:
        self._run("DETACH {{ new | identifier }}")

    def close(self) -> None:
        self.engine.close()

    def _run(self, template: str, **context: str | int) -> None:
        dialect = self.engine.dialect
        self.engine.run(render_text(template, dialect=dialect, old=_OLD, new=_NEW, **context))

    def _fetch(self, template: str, database: str) -> list[Row]:
        text = render(template, dialect=self.engine.dialect, database=database)
        rows: list[Row] = self.engine.fetch(text).to_pylist()
        return rows


Options: TypeAlias = dict[str, int | str | bool | list[str]]

_QUERIED = (*SUFFIXES, ".json", ".jsonl", ".ndjson", ".gz", ".zst")
"""Names that DuckDB takes for files where it finds no table, in any folder."""

# Parts of a query that would change the database; DuckDB runs an INSERT inside a WITH.
_CHANGES = (exp.DML, exp.DDL, exp.Drop, exp.Command)


_CSV_TYPES = ["NULL", "BIGINT", "DOUBLE", "TIME", "DATE", "TIMESTAMP", "TIMESTAMPTZ", "VARCHAR"]
"""What a column of a CSV file may be taken for: all of DuckDB's own list but BOOLEAN."""
_FORMATS = {"DATE": "DateFormat", "TIMESTAMP": "TimestampFormat"}
"""Types that a CSV file may write in its own way, and where DuckDB says in which."""


def _of_query(engine: DuckDBEngine, text: str) -> Source:
    """The rows of one SELECT, WITH … SELECT or FROM …, in DuckDB's SQL.

    The query becomes part of larger statements, so it is parsed and written anew. Where that
    yields other columns than the text itself does, it is refused: a view does the same.
    """
    engine.reading = "the source's query (source.query of a policy)"
    relation = _parse_query(engine, text)
    originals = engine.describe(text)
    engine.complete(relation)
    _refuse_twins([name for name, _ in originals], "The query")
    source = _source(engine, relation, "query")
    if [(column.name, column.type) for column in source.columns] != originals:
        raise EngineError(
            "The query cannot be used as part of another statement without changing its "
            "columns. Create a view of it and name the view as the table."
        )
    return source


def _of_file(engine: DuckDBEngine, path: str | Path) -> Source:
    """A CSV, TSV or Parquet file, chosen by its suffix; the path is one file, not a pattern.

    DuckDB detects a CSV file's delimiter, header and types, here from the whole file, so that a
    late value cannot contradict a type. Numbers with a leading zero ("01234") stay text, and so
    do yes and no, T and F, true and false, which a release is to show as they are written. An
    empty field is NULL, and so is a quoted empty one (""): a CSV source holds no empty strings.
    Folders such as `year=2026` on the way to the file add no columns.
    """
    path = Path(path)
    suffix = next((each for each in SUFFIXES if path.name.lower().endswith(each)), None)
    if suffix is None:
        raise EngineError(f"File {path} has none of the known suffixes: {', '.join(SUFFIXES)}.")
    refuse_impossible(path)
    if not path.exists():
        raise EngineError(f"File {path} does not exist{looked_in(path)}.")
    if path.is_dir():
        raise EngineError(f"{path} is a folder, not a file.")
    if path.stat().st_size == 0:
        raise EngineError(f"File {path} is empty.")
    options = _file_options(suffix)
    if suffix != ".parquet":
        options["auto_type_candidates"] = _CSV_TYPES
    engine.reading = f"file {path}"
    function = "read_parquet" if suffix == ".parquet" else "read_csv"
    try:
        return _source(engine, _call(function, file_pattern(path), options), str(path))
    except EngineError as error:
        if str(error).startswith(f"File {path}"):
            raise
        raise EngineError(f"File {path} cannot be read. {error}") from error


def folders_in(query: str) -> list[Path]:
    """The folders of the files that a query names; of a pattern, the part without wildcards."""
    try:
        parsed = [each for each in sqlglot.parse(query, dialect="duckdb") if each]
    except (sqlglot.ParseError, sqlglot.TokenError, RecursionError):
        return []  # refused later, with the reason
    tables = [table for each in parsed for table in each.find_all(exp.Table)]
    named = [table for table in tables if isinstance(table.this, exp.Identifier)]
    paths = [".".join(part.name for part in table.parts) for table in named]
    paths = [path for path in paths if "/" in path or path.lower().endswith(_QUERIED)]
    for call in tables:
        if not isinstance(call.this, exp.Identifier):
            texts = [each.this for each in call.find_all(exp.Literal) if each.is_string]
            paths += [text for text in texts if "/" in text or "." in text or _is_file(text)]
    return [_folder(path.removeprefix("file://")) for path in paths if not REMOTE.match(path)]


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a name, or with a NUL
        return False


def _folder(pattern: str) -> Path:
    path = Path(pattern)
    for parent in reversed(path.parents):
        if any(char in parent.name for char in "*?[{"):
            return parent.parent
    return path.parent if any(char in path.name for char in "*?[{") else folder_of(path)


def _as_written(source: Source, path: str | Path, columns: Collection[str]) -> Source:
    """The CSV file that `source` reads, some of its columns as they are written.

    In these every value is the text of its field: 1.0 and 1.00 differ, and so do an empty
    field, which is NULL, and a quoted empty one, which is an empty text. The other columns are
    as in `source`, but that dates and times are texts, equal ones for equal values.
    """
    path = Path(path)
    options = _file_options(path.suffix.lower())
    options |= {"all_varchar": True, "allow_quoted_nulls": False}
    call = _call("read_csv", file_pattern(path), options)
    texts = [info.name for info in source.engine.columns(call)]
    if texts != [info.name for info in source.columns]:
        raise EngineError(
            f"File {path} has no header that is clear: as texts its columns are others. Give it "
            "a first line with their names."
        )
    others = [info for info in source.columns if info.name not in columns]
    formats = _formats(source.engine, path) if any(each.type in _FORMATS for each in others) else {}
    read = [
        (_valued(info, formats) if info in others else exp.column(info.name, quoted=True)).as_(
            info.name, quoted=True
        )
        for info in source.columns
    ]
    relation = exp.select(*read).from_(call).subquery("source")
    return _source(source.engine, relation, source.name)


def _formats(engine: Engine, path: Path) -> dict[str, str]:
    """How the dates and timestamps of a CSV file are written, where that is not as in SQL."""
    options = _file_options(path.suffix.lower()) | {"auto_type_candidates": _CSV_TYPES}
    call = _call("sniff_csv", file_pattern(path), options)
    (found,) = engine.fetch(exp.select(*_FORMATS.values()).from_(call)).to_pylist()
    return {type_: found[name] for type_, name in _FORMATS.items() if found[name]}


def _valued(info: ColumnInfo, formats: Mapping[str, str]) -> exp.Expr:
    """The meaning of a field rather than its spelling; an empty field in quotes is NULL too."""
    text = exp.Nullif(this=exp.column(info.name, quoted=True), expression=exp.Literal.string(""))
    if info.type == "VARCHAR":
        return text
    if info.type in ("BIGINT", "DOUBLE"):
        return exp.cast(text, info.type)
    type_ = exp.DataType.build(info.type, dialect="duckdb")
    value: exp.Expr = exp.TryCast(this=text, to=type_)
    if info.type in formats:
        arguments = [text.copy(), exp.Literal.string(formats[info.type])]
        parsed = exp.Anonymous(this="try_strptime", expressions=arguments)
        value = exp.Coalesce(this=exp.cast(parsed, type_.copy()), expressions=[value])
    return exp.cast(value, "VARCHAR")


def _of_data(engine: DuckDBEngine, content: Data) -> Source:
    """A pandas DataFrame (without its index), an Arrow table, or what has an Arrow stream.

    In a DataFrame NaN, None and NaT are NULL, as pandas means them; in an Arrow table NaN is
    a number and only null is NULL. The data are not copied where that can be avoided: leave
    them unchanged while the source is in use. The engine must own its connection.
    """
    content = held(content)
    if is_dataframe(content):
        name = "DataFrame"
        _refuse_twins([str(column) for column in content.columns], "The DataFrame")
        try:
            arrow = pa.Table.from_pandas(content, preserve_index=False)
        except (pa.ArrowException, ValueError, TypeError) as error:
            # pyarrow quotes the value, and names the column in an argument of its own.
            named = [str(part) for part in error.args if str(part).startswith("Conversion failed")]
            reason = named[0] if named else "Its columns hold what is no value of one type"
            raise EngineError(
                f"The DataFrame cannot be read as a table. {reason}; give the column one type."
            ) from error
    else:
        assert isinstance(content, pa.Table)
        name, arrow = "Arrow table", content
        _refuse_twins(arrow.column_names, "The Arrow table")
    if not arrow.column_names:
        raise EngineError(f"The {name} is empty: a source has at least one column.")
    engine.reading = f"the {name}"
    return _source(engine, engine.register(arrow), name)


def _source(engine: Engine, relation: exp.Expr, name: str) -> Source:
    return Source(engine, relation, name, engine.columns(relation))


def _parse_query(engine: DuckDBEngine, text: str) -> exp.Subquery:
    refusal = EngineError(
        "A query must be one SELECT that changes nothing; for anything else create a view or "
        "a table first, and name that."
    )
    if not engine.is_one_select(text):
        raise refusal
    try:
        statements = [each for each in sqlglot.parse(text, dialect="duckdb") if each]
    except (sqlglot.ParseError, sqlglot.TokenError, RecursionError) as error:
        raise EngineError(
            "The query uses syntax that sqlanon cannot parse. Create a view of it and name the "
            f"view as the table. {str(error).splitlines()[0]}"
        ) from error
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        raise refusal
    if statements[0].find(*_CHANGES):
        raise refusal
    return statements[0].subquery("source")


def _file_options(suffix: str) -> Options:
    """How a file is read, whatever its columns are taken for."""
    options: Options = {"hive_partitioning": False}
    if suffix != ".parquet":
        options["sample_size"] = -1
    if suffix.endswith(".gz"):
        options["compression"] = "gzip"
    return options


def _call(function: str, pattern: str, options: Options) -> exp.Expr:
    arguments = [
        exp.Kwarg(this=exp.var(name), expression=exp.convert(value))
        for name, value in options.items()
    ]
    return exp.Table(
        this=exp.func(function, exp.Literal.string(pattern), *arguments, dialect="duckdb")
    )


def _refuse_twins(names: Sequence[str], what: str) -> None:
    """DuckDB ignores case in names and renames all but the first of equal ones."""
    by_lower: dict[str, list[str]] = {}
    for name in names:
        by_lower.setdefault(name.lower(), []).append(name)
    if twins := next((same for same in by_lower.values() if len(same) > 1), None):
        listed = " and ".join(map(repr, twins))
        raise EngineError(
            f"{what} has columns that DuckDB cannot tell apart: {listed}. Rename all but one."
        )
