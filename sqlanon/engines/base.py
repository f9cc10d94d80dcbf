"""What the rest of the code sees of a database: statements in, Arrow tables out."""

from __future__ import annotations

import difflib
import logging
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

import pyarrow as pa
from sqlglot import exp

from sqlanon.engines.literals import without_literals
from sqlanon.errors import EngineError
from sqlanon.model import Kind, brief_list

SqlText: TypeAlias = exp.Expr | str
"""An expression, or text that is already in the engine's dialect."""

_log = logging.getLogger("sqlanon.sql")

LITERALS_LOG = "sqlanon.sql.literals"
"""The logger whose level decides whether logged statements keep their literals: at DEBUG."""
_literals = logging.getLogger(LITERALS_LOG)
if _literals.level == logging.NOTSET:
    # Set, so that DEBUG for everything does not put values of the data into a log.
    _literals.setLevel(logging.INFO)


@dataclass(frozen=True)
class ColumnInfo:
    """A column of a relation. `kind` is None for a type that sqlanon cannot work with."""

    name: str
    kind: Kind | None
    type: str
    nullable: bool


@dataclass(frozen=True)
class ColumnDetails:
    """A column as the catalog knows it; `default` is the SQL of its default or generation."""

    name: str
    type: str
    nullable: bool
    comment: str | None = None
    default: str | None = None
    is_generated: bool = False


@dataclass(frozen=True)
class TableDetails:
    """A table or view as the catalog knows it.

    table          its full name
    constraints    the SQL of its keys and checks; NOT NULL is said of the columns
    indexes        the names of its indexes
    referenced_by  other tables whose foreign keys refer to it
    views          views whose text reads a table of this name
    """

    table: exp.Table
    is_view: bool
    comment: str | None = None
    columns: tuple[ColumnDetails, ...] = ()
    constraints: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()
    referenced_by: tuple[str, ...] = ()
    views: tuple[exp.Table, ...] = ()


@dataclass(frozen=True)
class Reads:
    """What a relation reads in the end: tables by their full names, through views and queries.

    `only_tables` is False where it also reads something else, such as a file. `named` are the
    tables and views that the relation, or a view or macro that it uses, names anywhere.
    """

    tables: tuple[exp.Table, ...]
    only_tables: bool
    named: tuple[exp.Table, ...] = ()


@dataclass(frozen=True)
class Statement:
    """A statement that ran, or failed. `rows`: fetched or changed; None where unknown."""

    sql: str
    seconds: float
    rows: int | None


@dataclass
class Running:
    """A statement under way; the engine sets `rows` when it knows them."""

    sql: str
    rows: int | None = None


class Tracer:
    """Sees every statement of its engines: counts and times it, and logs it at DEBUG.

    `statements` holds the last `keep`, `count` and `seconds` cover all. Several engines may
    share one tracer, also from several threads. The log holds statements without their literals,
    which may be values of the data, unless the logger LITERALS_LOG is at DEBUG too.
    """

    def __init__(self, keep: int = 1000) -> None:
        self.statements: deque[Statement] = deque(maxlen=keep)
        self.count = 0
        self.seconds = 0.0
        self._watchers: list[list[Statement]] = []
        self._lock = threading.Lock()

    @contextmanager
    def running(self, sql: str) -> Iterator[Running]:
        """For engines: wraps the execution of one statement, which counts even if it fails."""
        state = Running(sql)
        start = time.perf_counter()
        try:
            yield state
        finally:
            self._record(Statement(sql, time.perf_counter() - start, state.rows))

    @contextmanager
    def watch(self) -> Iterator[list[Statement]]:
        """Collects the statements that run inside the block, however many; blocks may nest."""
        seen: list[Statement] = []
        with self._lock:
            self._watchers.append(seen)
        try:
            yield seen
        finally:
            with self._lock:
                # By identity: two lists with the same statements are equal.
                self._watchers = [each for each in self._watchers if each is not seen]

    def _record(self, statement: Statement) -> None:
        with self._lock:
            self.statements.append(statement)
            self.count += 1
            self.seconds += statement.seconds
            for seen in self._watchers:
                seen.append(statement)
        if _log.isEnabledFor(logging.DEBUG):
            rows = "?" if statement.rows is None else statement.rows
            whole = _literals.isEnabledFor(logging.DEBUG)
            text = statement.sql if whole else without_literals(statement.sql)
            _log.debug("%.3f s, %s rows: %s", statement.seconds, rows, text)


class Engine(Protocol):
    """One open database. Every failure of the database is an EngineError."""

    dialect: str  # sqlglot's name of it
    tracer: Tracer

    def fetch(self, query: SqlText, parameters: Mapping[str, str] | None = None) -> pa.Table:
        """The whole result of one query.

        Parameters are secrets: neither the tracer nor the message of an error shows them.
        """

    def run(self, statement: SqlText, parameters: Mapping[str, str] | None = None) -> None:
        """Executes one statement to its end, with parameters as in `fetch`."""

    def columns(self, relation: exp.Expr) -> tuple[ColumnInfo, ...]:
        """The columns of a relation that can stand in FROM, in their order."""

    def close(self) -> None:
        """Gives back what the engine opened itself; a second call does nothing."""


class PublishingEngine(Engine, Protocol):
    """A database that releases are built in. CREATE, ALTER and DROP obey transactions there."""

    owned: bool  # False for a connection that a caller lends

    def in_transaction(self) -> bool:
        """Whether a transaction is open; asking does not disturb it."""

    def locate(self, table: exp.Table, *, to_create: bool = False) -> exp.Table:
        """The full name of a table or view, whether it exists or not.

        `to_create` answers for a permanent table, which temporary ones do not hide.
        """

    def details(self, table: exp.Table) -> TableDetails | None:
        """What the catalog knows of a table or view by its full name; None if there is none."""

    def tables_like(self, prefix: str, comment: str) -> tuple[exp.Table, ...]:
        """Permanent tables whose name starts with `prefix` and whose comment is `comment`."""

    def reads(self, relation: exp.Expr) -> Reads:
        """The tables that a relation reads."""

    def may_read(self, relation: exp.Expr, file: Path) -> bool | None:
        """Whether a relation reads a file that exists; None where that cannot be told."""

    def temporary(self, name: str) -> exp.Table:
        """The full name of a temporary table."""

    def refuse_hidden_functions(self) -> None:
        """Raises an EngineError where functions of users hide built-in ones of the same name."""

    def database_files(self) -> tuple[Path, ...]:
        """The files of all databases that are open here for writing."""

    def file_of(self, table: exp.Table) -> Path | None:
        """The file of the database that a table by its full name is in; None if in none."""

    def stale_spill_files(self) -> tuple[Path, ...]:
        """What the database wrote for want of memory in processes that have died."""


@dataclass(frozen=True, repr=False)
class Source:
    """A relation on an engine: what a policy reads.

    `relation` can stand in FROM: a table, a subquery with an alias, or a call of a table
    function. `name` is for messages and reports, never for SQL.
    """

    engine: Engine
    relation: exp.Expr
    name: str
    columns: tuple[ColumnInfo, ...]

    def __repr__(self) -> str:
        names = brief_list([column.name for column in self.columns])
        return f"<Source {brief_list([self.name], width=100)}: {names}>"

    def column(self, name: str) -> ColumnInfo:
        """The column of exactly this name, or an EngineError that proposes others."""
        for column in self.columns:
            if column.name == name:
                return column
        hint = suggest(name, [column.name for column in self.columns], "Its columns:")
        raise EngineError(f"Source {self.name!r} has no column {name!r}. {hint}")


def render_statement(statement: SqlText, dialect: str) -> str:
    """The text of a statement; identifiers of an expression are quoted, text stays as it is."""
    if isinstance(statement, str):
        return statement
    return statement.sql(dialect, identify=True)


def suggest(wrong: str, known: Iterable[str], otherwise: str, limit: int = 20) -> str:
    """A sentence with the names nearest to a wrong one, else `otherwise` and the known ones."""
    names = list(dict.fromkeys(known))
    by_lower: dict[str, list[str]] = {}
    for name in names:
        by_lower.setdefault(name.lower(), []).append(name)
    close = difflib.get_close_matches(wrong.lower(), by_lower, n=3)
    if close:
        near = [repr(name) for lower in close for name in by_lower[lower]]
        return f"Did you mean {' or '.join(near)}?"
    listed = ", ".join(repr(name) for name in names[:limit])
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return f"{otherwise} {listed or 'none'}{more}."


def refuse_impossible(path: Path) -> None:
    """Refuses a path that the system cannot look up, as one with a name that is too long."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise EngineError(f"{path} cannot be read ({error.strerror}).") from None
    except ValueError:  # a NUL
        raise EngineError(f"{str(path)!r} is not the name of a file.") from None


def looked_in(path: Path) -> str:
    """The end of a message about a missing file: the folder that a relative path started from."""
    return "" if path.is_absolute() else f" in {Path.cwd()}"
