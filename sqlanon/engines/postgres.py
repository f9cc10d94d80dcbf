"""PostgreSQL: connections by ADBC, types, what a name means, transactions and locks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NoReturn, TypeVar

import pyarrow as pa
import sqlglot
from sqlglot import exp

from sqlanon.engines import postgres_catalog as catalog
from sqlanon.engines.postgres_errors import explain, explain_opening
from sqlanon.engines.protocol import (
    Capabilities,
    ColumnInfo,
    Data,
    DatabaseCopy,
    Opened,
    Source,
    SqlText,
    Statistics,
    TableDetails,
    Transactions,
    insert_rows,
    parse_table,
    render_statement,
    spelled,
)
from sqlanon.engines.statements import Running, Tracer, interruptible
from sqlanon.errors import EngineError, PublishError, UnknownOutcomeError

if TYPE_CHECKING:
    from adbc_driver_manager.dbapi import Connection, Cursor

T = TypeVar("T")

OLDEST = 14
"""The oldest version that is supported: EXTRACT, hashes of row places and much else differ."""

BATCH_BYTES = 1 << 20
"""The size of a part of an answer that is read in parts."""

# Measured: the cost model of docs/postgresql.md.
_COUNT_SECONDS = 0.5
_COUNT_SECONDS_PER_ROW = 1.2e-6

_SETTINGS = {
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "bytea_output": "hex",
    "extra_float_digits": "1",
    "standard_conforming_strings": "on",
}
"""What decides how values are written as texts, and so what is counted and hashed."""
_OF_ROLE = ("session_authorization", "role", "search_path")
"""What decides who asks the catalog, and how it writes names."""
_LOCK_TIMEOUT = "55P03"
_WRITTEN_ALIKE = {"DateStyle": "ISO", "extra_float_digits": ("1", "2", "3")}

_CHANGES = (exp.DML, exp.DDL, exp.Drop, exp.Command, exp.Lock)


class PostgresEngine(Transactions):
    """An ADBC connection to PostgreSQL as an Engine.

    On a connection of its own, functions are those of PostgreSQL alone: the search path is pinned
    to pg_catalog, and names of tables are completed by the path that the role has otherwise. A
    caller's connection keeps its settings, its search path and its transaction.
    """

    dialect: ClassVar[str] = "postgres"
    can: ClassVar[Capabilities] = Capabilities(
        comments=True,
        guarded_views=True,
        default_schema="public",
        locks=True,
        vacuums=True,
        erases_columns=False,
        view_options="security_barrier",
        begin="BEGIN ISOLATION LEVEL REPEATABLE READ",
    )

    def __init__(self, connection: Connection, owned: bool) -> None:
        self.tracer = Tracer(self.dialect)
        self.owned = owned
        self.reading = "the database"
        self._connection = connection
        self._versions: dict[str, str] = {}
        self.database, self.path = "", list[str]()

    @classmethod
    def open(
        cls,
        address: str,
        *,
        read_only: bool,
        folders: Iterable[Path],
        spill: Path | None = None,
        memory: str | None = None,
    ) -> PostgresEngine:
        engine = cls(_connect(address), owned=True)
        try:
            engine._look()
            for name, value in (*_SETTINGS.items(), ("search_path", "pg_catalog")):
                engine._set(name, value)
            if read_only:
                engine._set("default_transaction_read_only", "on")
        except BaseException:
            engine.close()
            raise
        return engine

    @classmethod
    def adopt(cls, connection: Connection) -> PostgresEngine:
        """A connection of adbc_driver_postgresql.dbapi."""
        try:
            vendor = connection.adbc_get_info().get("vendor_name")
        except Exception as error:
            raise EngineError("The ADBC connection is closed.") from error
        if vendor != "PostgreSQL":
            raise EngineError(f"The ADBC connection leads to {vendor}, not to PostgreSQL.")
        engine = cls(connection, owned=False)
        engine._look()
        (found,) = engine.fetch(catalog.settings(_SETTINGS)).to_pylist()
        for name, value in _SETTINGS.items():
            if not found[name].startswith(_WRITTEN_ALIKE.get(name, value)):
                raise EngineError(
                    f"The connection writes values in another form: {name} is {found[name]!r}. "
                    f"Run SET {name} = '{value}' on it first, or give the address instead."
                )
        engine.refuse_hidden_functions()
        return engine

    @classmethod
    def database_path(cls, address: str) -> Path | None:
        return None

    @classmethod
    def open_for_publishing(
        cls,
        source: str | Connection | None,
        *,
        target: str | None,
        file: Path | None,
        read_only: bool,
        folders: Iterable[Path],
        memory: str | None = None,
    ) -> Opened:
        if file is not None:
            raise PublishError(
                "a release of a PostgreSQL database is a table or view of it, not a file: publish "
                "`to` a table, and copy that with \\copy of psql"
            )
        if source is None or target is not None:
            raise PublishError(
                "a release of a PostgreSQL database stays in the database of its source: leave "
                "`publish.connection` out, and load data from elsewhere into a table first"
            )
        if not isinstance(source, str):
            return Opened(cls.adopt(source))
        return Opened(cls.open(source, read_only=read_only, folders=folders))

    @classmethod
    def folders_in(cls, query: str) -> list[Path]:
        return []

    @classmethod
    def copied(cls, old: Path, new: Path, memory: str | None = None) -> DatabaseCopy:
        raise EngineError("A PostgreSQL database is no file that could be copied.")

    def vacuum(self, table: exp.Table) -> None:
        """The column statistics are all that dropped rows leave: their tables are written anew.

        Without the right to do so VACUUM only warns, which no driver passes on; so their files are
        compared. A table that has just been filled has no dead rows, and needs statistics.
        """
        name = catalog.regclass(table)
        statistics = f"VACUUM FULL {', '.join(catalog.STATISTICS)}"
        holding = [row["text"] for row in self.known(catalog.holding(table))]
        before = self.fetch(catalog.STATISTICS_FILES)
        self.run(f"VACUUM (ANALYZE) {name}")
        self.run(statistics)
        if any(pair[0] == pair[1] for pair in _pairs(before, self.fetch(catalog.STATISTICS_FILES))):
            raise EngineError(
                "column statistics of the former rows stay in the database, because the role may "
                f"not vacuum them. Have the owner of the database run {statistics}."
            )
        if holding:
            raise EngineError(
                "column statistics of the former rows stay in the database as long as "
                f"{', '.join(holding[:5])} can see them. Once that has ended, run {statistics}."
            )

    @property
    def versions(self) -> Mapping[str, str]:
        return self._versions

    def _look(self) -> None:
        """Reads the version, the name of the database, and where unqualified names lead."""
        (found,) = self.fetch(catalog.HERE).to_pylist()
        self.database, self.path = found["database"], found["path"]
        if found["number"] // 10_000 < OLDEST:
            raise EngineError(
                f"The server is PostgreSQL {found['version']}, and sqlanon needs {OLDEST} or newer."
            )
        driver = str(self._connection.adbc_get_info().get("driver_version", ""))
        self._versions = {"postgresql": found["version"], "adbc_driver_postgresql": driver}

    def _set(self, name: str, value: str) -> None:
        self.fetch(catalog.setting(name, value))

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
            relation: exp.Expr = self.table(table)
            return Source(self, relation, table, self.columns(relation))
        if query is not None:
            return self._query(query)
        raise EngineError(
            "A source in PostgreSQL is a table, a view or a query. Load data into a table first."
        )

    def _query(self, text: str) -> Source:
        """One SELECT in PostgreSQL's SQL, written anew with full names for its tables."""
        self.reading = "the source's query (source.query of a policy)"
        refusal = "A query must be one SELECT that changes nothing"
        instead = "create a view of it, and name the view as the table"
        try:
            parsed = [each for each in sqlglot.parse(text, dialect=self.dialect) if each]
        except (sqlglot.ParseError, sqlglot.TokenError, RecursionError) as error:
            raise EngineError(
                f"The query uses syntax that sqlanon cannot parse; {instead}."
            ) from error
        if len(parsed) != 1 or not isinstance(parsed[0], exp.Query) or parsed[0].find(*_CHANGES):
            raise EngineError(f"{refusal}; for anything else {instead}.")
        relation = catalog.completed(self, parsed[0]).subquery("source")
        with self._usual_path():
            originals = self._described(text)
        source = Source(self, relation, "query", self.columns(relation))
        if [(each.name, each.type) for each in source.columns] != originals:
            raise EngineError(
                "The query cannot be used as part of another statement without changing its "
                f"columns; {instead}."
            )
        names = [name for name, _ in originals]
        if twins := {name for name in names if names.count(name) > 1}:
            raise EngineError(f"The query has several columns {min(twins)!r}. Rename all but one.")
        return source

    @contextmanager
    def _usual_path(self) -> Iterator[None]:
        """Names that mean what they mean to the role, while a query is described."""
        if not self.owned:
            yield
            return
        self._set("search_path", catalog.listed(self.path) or "pg_catalog")
        try:
            yield
        finally:
            self._set("search_path", "pg_catalog")

    def as_written(self, source: Source, path: str | Path, columns: Collection[str]) -> Source:
        self._refuse_files()

    def attach(self, path: Path, *, read_only: bool, name: str | None = None) -> str:
        self._refuse_files()

    def _refuse_files(self) -> NoReturn:
        raise EngineError("PostgreSQL reads no files for sqlanon. Load them into a table first.")

    def table(self, name: str) -> exp.Table:
        return self.locate(parse_table(name))

    def number_of(self, digits: exp.Expr) -> exp.Expr:
        """Multiplied by fewer than 2^31 equal rows it fits; beyond that PostgreSQL refuses."""
        return _whole(digits, 32)

    def text_of_float(self, value: exp.Expr) -> exp.Expr:
        double = exp.cast(value, exp.DataType.Type.DOUBLE)
        sent = exp.Anonymous(this="float8send", expressions=[double])
        digits = exp.Anonymous(this="encode", expressions=[sent, exp.Literal.string("hex")])
        # NaN have many forms, with a sign too.
        nan = exp.If(this=exp.IsNan(this=value.copy()), true=exp.Literal.string("nan"))
        return exp.Case(ifs=[nan], default=exp.cast(_whole(digits, 64), "text"))

    def number_from(self, text: exp.Expr, *, second: bool = False) -> exp.Expr:
        start = exp.convert(17 if second else 1)
        half = exp.Substring(this=exp.MD5(this=text), start=start, length=exp.convert(16))
        most = exp.Literal.number(2**63 - 1)
        return exp.paren(exp.BitwiseAnd(this=_whole(half, 64), expression=most))

    def fetch(self, query: SqlText, parameters: Mapping[str, str] | None = None) -> pa.Table:
        """The whole result; NUMERIC, the type of a sum of BIGINT, comes as a decimal."""
        with self._running(query, parameters) as (cursor, running):
            table = self._call(cursor, lambda: _fetched(cursor, running.sql, parameters))
            running.rows = table.num_rows
        return catalog.with_decimals(table)

    def batches(self, query: str) -> Generator[pa.Table]:
        """The result in parts of about BATCH_BYTES; the first one only has the columns."""
        from adbc_driver_postgresql import StatementOptions

        hint = {StatementOptions.BATCH_SIZE_HINT_BYTES.value: str(BATCH_BYTES)}
        with self._running(query, None) as (cursor, running):
            cursor.adbc_statement.set_options(**hint)
            self._call(cursor, lambda: cursor.execute(running.sql))
            # Not fetch_record_batch(): errors of its reader lack the SQLSTATE.
            assert cursor._results is not None
            reader = cursor._results.reader
            running.rows = 0
            yield reader.schema.empty_table()
            while (batch := self._call(cursor, lambda: next(reader, None))) is not None:
                running.rows += batch.num_rows
                yield pa.Table.from_batches([batch])

    finished = staticmethod(catalog.with_decimals)

    def statistics(self, relation: exp.Expr) -> Statistics | None:
        """What ANALYZE has found; None for queries, views and tables without statistics."""
        if not _is_table(relation):
            return None
        found = self.fetch(catalog.statistics(relation)).to_pylist()
        if not found:
            return None
        rows = int(found[0]["n_rows"])
        distinct = {row["name"]: int(row["n_distinct"]) for row in found}
        return Statistics(rows, distinct, _COUNT_SECONDS + _COUNT_SECONDS_PER_ROW * rows)

    def run(self, statement: SqlText, parameters: Mapping[str, str] | None = None) -> None:
        if self._known:
            self._known.clear()
        with self._running(statement, parameters) as (cursor, running):
            self._call(cursor, lambda: _fetched(cursor, running.sql, parameters))
            running.rows = cursor.rowcount if cursor.rowcount >= 0 else None

    @contextmanager
    def _running(
        self, statement: SqlText, parameters: Mapping[str, str] | None
    ) -> Iterator[tuple[Cursor, Running]]:
        text = str(render_statement(statement, self.dialect))  # the driver takes no subclass
        with (
            self._errors(text, secret=bool(parameters)),
            self.tracer.running(text) as running,
            closing(self._connection.cursor()) as cursor,
        ):
            yield cursor, running

    @staticmethod
    def _call(cursor: Cursor, call: Callable[[], T]) -> T:
        return interruptible(call, cursor.adbc_cancel)

    @contextmanager
    def _errors(self, statement: str = "", *, secret: bool = False) -> Iterator[None]:
        from adbc_driver_manager import Error

        try:
            yield
        except Error as error:
            told = explain(error, self._tables, self.reading, statement)
            raise told from (None if secret else error)

    def _tables(self) -> list[str]:
        """Every table and view, spelled the way `table` of the sources reads it."""
        with suppress(EngineError):  # they only serve a hint in the message of another error
            if self._begun or not self.owned:
                return []  # a transaction that has failed answers nothing
            return catalog.spelled_tables(self)
        return []

    def append(self, table: exp.Table, rows: pa.Table) -> None:
        insert_rows(self, table, rows)

    def columns(self, relation: exp.Expr) -> tuple[ColumnInfo, ...]:
        text = render_statement(exp.select("*").from_(relation.copy()), self.dialect)
        strict = catalog.strict_columns(self, relation) if _is_table(relation) else set()
        return tuple(
            ColumnInfo(name, catalog.kind_of(type_), type_, name not in strict)
            for name, type_ in self._described(text)
        )

    def _described(self, text: str) -> list[tuple[str, str]]:
        """Names and types of the columns of a query."""
        with self._running(text, None) as (cursor, running):
            schema = self._call(cursor, lambda: cursor.adbc_execute_schema(running.sql))
        return catalog.types_of(self, schema)

    def begin(self) -> None:
        """All statements of the transaction see the rows that were there at its first one."""
        self.run(self.can.begin)
        self._begun = True
        self._known = {}

    def commit(self) -> None:
        # A transaction that has failed answers this with an error, and COMMIT with ROLLBACK.
        self.fetch("SELECT 1 AS alive")
        try:
            self.run("COMMIT")
        except (EngineError, KeyboardInterrupt) as error:
            if _was_refused(error):
                raise
            raise UnknownOutcomeError(
                f"{str(error) or 'Interrupted.'} That was at COMMIT, so the release may be "
                "published or not. Look at what its target holds, or publish again: that finishes "
                "the certificate of this release if it is out."
            ) from error
        self._begun, self._known = False, None

    def in_transaction(self) -> bool:
        if self._begun or self.owned:
            return self._begun
        first, second = (self.fetch(catalog.BEGUN) for _ in range(2))
        if not first.equals(second):  # every statement has a transaction of its own
            return False
        (row,) = self.fetch(catalog.ISOLATION).to_pylist()
        if row["isolation"] not in ("repeatable read", "serializable"):
            raise EngineError(
                f"The transaction of the connection is {row['isolation'].upper()}, so every "
                "statement could see other rows. Begin it with SET TRANSACTION ISOLATION LEVEL "
                "REPEATABLE READ, or connect with autocommit=True."
            )
        return True

    locate = catalog.locate
    details = catalog.details
    reads = catalog.reads
    tables_like = catalog.tables_like

    def may_read(self, relation: exp.Expr, file: Path) -> bool | None:
        return False

    def temporary(self, name: str) -> exp.Table:
        return exp.table_(name, db="pg_temp", quoted=True)

    def is_temporary(self, table: exp.Table) -> bool:
        return table.db.startswith("pg_temp")

    def refuse_hidden_functions(self) -> None:
        """Only a caller's connection has other schemas than pg_catalog on its search path."""
        if self.owned:
            return
        found = [row["text"] for row in self.known(catalog.HIDING)]
        if found:
            listed = "; ".join([*found[:5], *(["…"] if found[5:] else [])])
            raise EngineError(
                "Functions of the database have names of built-in ones, and PostgreSQL may call "
                f"them instead: no count could be trusted ({listed}). Take their schema off the "
                "search_path of the connection, or give sqlanon the address of the database."
            )

    def refuse_changed(self, former: TableDetails) -> None:
        """Compares a locked table with what it was in the snapshot of the transaction.

        Another connection reads what is there now. A row version that the snapshot sees keeps its
        place until the transaction ends, so equal places mean equal rows. Rights and the like are
        no matter of the lock.
        """
        query = catalog.row_places(former.table)
        before = self.fetch(query)
        with self._beside() as other:
            try:
                changed = not before.equals(other.fetch(query)) or former != other.details(
                    former.table
                )
            except EngineError as error:
                if getattr(error.__cause__, "sqlstate", None) != _LOCK_TIMEOUT:
                    raise
                changed = True  # whoever waits for the lock is about to
        if changed:
            raise PublishError(
                f"another connection has changed {spelled(former.table)}, its rights or what hangs "
                "on it since this release was begun, or waits to do so; publish again, at a time "
                "when fewer write to it if need be."
            )

    @contextmanager
    def _beside(self) -> Iterator[PostgresEngine]:
        """A second connection to the same database, as the same role and with the same names.

        It waits for no lock: another one that waits for ours would stand before it for ever.
        """
        with self._errors():
            other = PostgresEngine(self._connection.adbc_clone(), owned=True)
        try:
            (found,) = self.fetch(catalog.settings(_OF_ROLE)).to_pylist()
            for name, value in (*found.items(), ("lock_timeout", "1s")):
                other._set(name, value)
            yield other
        finally:
            other.close()

    def database_files(self) -> tuple[Path, ...]:
        return ()

    def file_of(self, table: exp.Table) -> Path | None:
        return None

    def logs_of(self, file: Path) -> tuple[Path, ...]:
        return ()

    def stale_spill_files(self) -> tuple[Path, ...]:
        return ()

    def close(self) -> None:
        if self.owned:
            self._connection.close()


def _pairs(before: pa.Table, after: pa.Table) -> Iterator[tuple[object, object]]:
    for one, other in zip(before.columns, after.columns, strict=True):
        yield one[0].as_py(), other[0].as_py()


def _was_refused(error: BaseException) -> bool:
    """Whether the server answered a COMMIT with an error, as of a deferred constraint.

    The connection may end after the transaction is in the log of the server (classes 08, 57, 58
    and XX, or no code at all).
    """
    state = getattr(error.__cause__, "sqlstate", None) or ""
    return state[:2] not in ("", "08", "57", "58", "XX")


def _connect(address: str) -> Connection:
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise EngineError(
            'PostgreSQL needs a driver: python -m pip install "sqlanon[postgres]"'
        ) from None
    try:
        # Its parts are transactions only where `begin` says so.
        connection: Connection = dbapi.connect(address, autocommit=True)
    except dbapi.Error as error:
        raise explain_opening(error, address) from None
    return connection


def _fetched(cursor: Cursor, text: str, parameters: Mapping[str, str] | None) -> pa.Table:
    cursor.execute(text, tuple(parameters.values()) if parameters else None)
    return cursor.fetch_arrow_table()


def _whole(digits: exp.Expr, bits: int) -> exp.Expr:
    """Hexadecimal digits as a BIGINT; with 64 bits the first one is the sign."""
    written = exp.DPipe(this=exp.Literal.string("x"), expression=digits)
    mask = exp.Cast(this=exp.paren(written), to=exp.DataType.build(f"BIT({bits})", "postgres"))
    return exp.cast(mask, "bigint")


def _is_table(relation: exp.Expr) -> bool:
    return isinstance(relation, exp.Table) and isinstance(relation.this, exp.Identifier)
