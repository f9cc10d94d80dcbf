"""DuckDB, the engine that needs nothing else.

Everything goes through `connection.sql`, never `connection.execute`. On a connection that a
caller lends us this matters: `execute` throws away a result that the caller has not fetched
yet, and its errors abort the caller's transaction even when a name is merely misspelt. `sql`
refuses in the first case and leaves the transaction alone in the second.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa
from sqlglot import exp

from sqlanon.engines import duckdb_catalog, duckdb_reads
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
        self, connection: duckdb.DuckDBPyConnection, owned: bool, tracer: Tracer | None = None
    ) -> None:
        self.tracer = tracer or Tracer()
        self.owned = owned
        self.reading = "the database"  # in messages: the source that was opened here last
        self._connection = connection
        self._registered: list[str] = []
        self._on_close: list[Callable[[], object]] = []

    def fetch(self, query: SqlText) -> pa.Table:
        """The whole result. HUGEINT, the type of a sum of integers, comes as decimal(38, 0):
        cast in SQL where another type is wanted.
        """
        with self._running(render_statement(query, self.dialect)) as running:
            result = self._execute(running.sql)
            running.rows = result.num_rows
        return result

    def run(self, statement: SqlText, parameters: Mapping[str, str] | None = None) -> None:
        """Executes one statement; one that changes rows reports their number to the tracer."""
        try:
            with self._running(render_statement(statement, self.dialect)) as running:
                result = self._execute(running.sql, parameters)
                if result.column_names == ["Count"] and result.num_rows == 1:
                    running.rows = result.column(0)[0].as_py()
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

    def attach(self, path: Path, *, read_only: bool, name: str | None = None) -> str:
        """Attaches a database file that exists and answers with its name here.

        Without a name it gets the one that it has when it is opened by itself.
        """
        refuse_other_files(path)
        statement = exp.Attach(
            this=exp.Literal.string(str(path))
            if name is None
            else exp.alias_(exp.Literal.string(str(path)), name, quoted=True),
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
            raise explain(error, self._tables, self.reading, statement) from error

    def _tables(self) -> list[str]:
        """Every table and view, spelled the way `table` of the sources reads it."""
        try:
            ((database, schema),) = self._connection.sql(_HERE).fetchall()
            rows = self._connection.sql(_TABLES).fetchall()
        except duckdb.Error:
            return []  # they only serve a hint in the message of another error
        spelled = []
        for row in rows:
            if row[:2] in ((database, schema), ("temp", "main")):
                parts = row[2:]
            else:
                parts = row[1:] if row[0] == database else row
            spelled.append(".".join(exp.to_identifier(part).sql("duckdb") for part in parts))
        return spelled


def open_memory(spill: Path | None = None) -> DuckDBEngine:
    """A new database in memory, for files and data that belong to no database.

    What does not fit into memory goes to the folder `spill`, by default to `.tmp` here.
    """
    # Nobody shares this database, so its settings are ours: no table name may find a variable.
    config: dict[str, str | bool | int | float | list[str]] = {
        "python_enable_replacements": "false"
    }
    if spill is not None:
        config["temp_directory"] = str(spill)
    connection = hide_progress_bar(duckdb.connect(":memory:", config=config))
    return DuckDBEngine(connection, owned=True)


def open_database(path: str | Path, read_only: bool = True, create: bool = False) -> DuckDBEngine:
    """The database in a file, which must exist unless `create` is set.

    No settings are given: DuckDB shares one instance of a file within a process, and refuses
    to open it a second time with other settings.
    """
    path = Path(path)
    refuse_impossible(path)
    if path.is_dir():
        raise EngineError(f"Database {path} is a folder, not a file.")
    if not path.exists() and not create:
        raise EngineError(f"Database {path} does not exist{looked_in(path)}.")
    refuse_other_files(path)
    try:
        connection = hide_progress_bar(duckdb.connect(path, read_only=read_only))
    except duckdb.Error as error:
        raise explain_opening(error, path) from error
    return DuckDBEngine(connection, owned=True)


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
