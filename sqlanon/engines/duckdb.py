"""DuckDB, the engine that needs nothing else.

Everything goes through `connection.sql`, never `connection.execute`. On a connection that a
caller lends us this matters: `execute` throws away a result that the caller has not fetched
yet, and its errors abort the caller's transaction even when a name is merely misspelt. `sql`
refuses in the first case and leaves the transaction alone in the second.

A database that sqlanon opens is attached to an empty one in memory, and built-in functions stand
before its schema on the search path: DuckDB takes a macro for the function or operator of the
same name where it finds it first. Views still use the macros beside them. Nothing outside the
folders that the caller names can be read or written, and no extension is loaded.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa
from sqlglot import exp

from sqlanon.engines import duckdb_catalog, duckdb_functions, duckdb_reads
from sqlanon.engines.base import (
    ColumnInfo,
    Reads,
    Running,
    SqlText,
    TableDetails,
    Tracer,
    looked_in,
    refuse_impossible,
    render_statement,
)
from sqlanon.engines.duckdb_catalog import fold
from sqlanon.engines.duckdb_errors import explain, explain_opening, refuse_other_files
from sqlanon.engines.interrupt import interruptible
from sqlanon.engines.progress_bar import hide_progress_bar
from sqlanon.errors import EngineError
from sqlanon.model import Kind

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

_COMPLETED = "sqlanon_completed"  # marks a name in a syntax tree
_HERE = "SELECT current_database(), current_schema()"
_TABLES = """
SELECT database_name, schema_name, table_name AS name FROM duckdb_tables() WHERE NOT internal
UNION ALL
SELECT database_name, schema_name, view_name FROM duckdb_views() WHERE NOT internal
ORDER BY ALL
"""


class DuckDBEngine:
    """A DuckDB connection as an Engine.

    An `owned` connection is closed with the engine. A caller's connection is never closed, and
    its settings, temporary objects and transaction stay as they are; statements run inside
    that transaction and see what it sees. A statement that fails while it runs still aborts an
    open transaction, as DuckDB does for every statement.
    """

    dialect = "duckdb"

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
        self._registered: list[str] = []
        self._on_close: list[Callable[[], object]] = []

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
        with self._secretly(parameters), self._running(self._text(statement)) as running:
            result = self._execute(running.sql, parameters)
            if result.column_names == ["Count"] and result.num_rows == 1:
                running.rows = result.column(0)[0].as_py()

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
        described = self.fetch(exp.Describe(this=exp.select("*").from_(relation)))
        return tuple(_column_info(row) for row in described.to_pylist())

    def in_transaction(self) -> bool:
        # Outside a transaction every statement has one of its own. A BEGIN would tell too, but
        # inside a transaction its error aborts that.
        first, second = (self.fetch("SELECT txid_current() AS id") for _ in range(2))
        return bool(first.equals(second))

    def locate(self, table: exp.Table, *, to_create: bool = False) -> exp.Table:
        return duckdb_catalog.locate(self, table, to_create=to_create)

    def details(self, table: exp.Table) -> TableDetails | None:
        return duckdb_catalog.details(self, table)

    def tables_like(self, prefix: str, comment: str) -> tuple[exp.Table, ...]:
        return duckdb_catalog.tables_like(self, prefix, comment)

    def reads(self, relation: exp.Expr) -> Reads:
        return duckdb_reads.reads(self, relation)

    def may_read(self, relation: exp.Expr, file: Path) -> bool | None:
        return duckdb_reads.may_read(self, relation, file)

    def temporary(self, name: str) -> exp.Table:
        return exp.table_(name, db="main", catalog="temp", quoted=True)

    def refuse_hidden_functions(self) -> None:
        found = duckdb_functions.hiding(self)
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

    def database_files(self) -> tuple[Path, ...]:
        return duckdb_catalog.database_files(self)

    def file_of(self, table: exp.Table) -> Path | None:
        return duckdb_catalog.file_of(self, table)

    def stale_spill_files(self) -> tuple[Path, ...]:
        return duckdb_catalog.stale_spill_files(self)

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
        """What remains to be done once an owned connection is closed."""
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
                table.meta[_COMPLETED] = True

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
        return duckdb_catalog.name_of_file(self, path)

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


def open_memory(spill: Path | None = None, folders: Iterable[Path] = ()) -> DuckDBEngine:
    """A new database in memory, for files and data that belong to no database.

    It reads and writes files in `folders` only, and below them; it has no network and installs
    and loads no extension. What does not fit into memory goes to the folder `spill`, by default
    to `.tmp` here.
    """
    # Nobody shares this database, so its settings are ours: no table name may find a variable.
    config: dict[str, str | bool | int | float | list[str]] = {
        "python_enable_replacements": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    if spill is not None:
        config["temp_directory"] = str(spill)
    allowed = tuple(dict.fromkeys(Path(os.path.realpath(folder)) for folder in folders))
    connection = hide_progress_bar(duckdb.connect(":memory:", config=config))
    listed = exp.convert([str(folder) for folder in allowed]).sql(DuckDBEngine.dialect)
    connection.sql(f"SET allowed_directories = {listed}")
    connection.sql("SET enable_external_access = false")  # DuckDB cannot switch it on again
    return DuckDBEngine(connection, owned=True, folders=allowed)


def open_database(
    path: str | Path, read_only: bool = True, create: bool = False, folders: Iterable[Path] = ()
) -> DuckDBEngine:
    """The database in a file, which must exist unless `create` is set.

    Its own folder and `folders` can be read. What does not fit into memory goes where DuckDB
    itself writes it, to a folder beside the file.
    """
    path = Path(path)
    refuse_impossible(path)
    if path.is_dir():
        raise EngineError(f"Database {path} is a folder, not a file.")
    if not path.exists() and not create:
        raise EngineError(f"Database {path} does not exist{looked_in(path)}.")
    engine = open_memory(Path(f"{os.path.realpath(path)}.tmp"), [folder_of(path), *folders])
    try:
        engine.attach_home(path, read_only=read_only)
    except BaseException:
        engine.close()
        raise
    return engine


def folder_of(path: Path) -> Path:
    """The folder of a file; where that is a link, of what it leads to."""
    return Path(os.path.realpath(path)).parent


def as_given(relation: exp.Expr) -> exp.Expr:
    """A relation to show: its names as they were before `complete`."""
    given = relation.copy()
    for table in given.find_all(exp.Table):
        if table.meta.pop(_COMPLETED, False):
            table.set("catalog", None)
    return given


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


def _column_info(row: dict[str, str]) -> ColumnInfo:
    type_ = row["column_type"]
    return ColumnInfo(row["column_name"], _kind(type_), type_, nullable=row["null"] != "NO")


def _kind(type_: str) -> Kind | None:
    if _DECIMAL.fullmatch(type_):
        return Kind.DECIMAL
    if _ENUM.fullmatch(type_):
        return Kind.TEXT
    return _KINDS.get(type_)
