"""The interface of a database for the rest of the code: statements in, Arrow tables out.

No other module interprets the names of column types. Engines must report these names: a text type
begins with VARCHAR, TEXT or STRING, a type that lists its values is ENUM('a', 'b'), an instant
ends with WITH TIME ZONE, and a time that is finer than microseconds is TIMESTAMP_NS. Values of all
other types are compared and hashed by a cast.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Protocol,
    Self,
    TypeAlias,
    TypeGuard,
    runtime_checkable,
)

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import sqlglot
from sqlglot import exp

from sqlanon.engines.statements import Tracer
from sqlanon.errors import EngineError, PublishError
from sqlanon.render import NATIVE, in_dialect, render_text
from sqlanon.wording import brief_list, suggest

if TYPE_CHECKING:
    import pandas as pd


_TEXTS = ("VARCHAR", "TEXT", "STRING")
_SPELLED_ONCE = re.compile(
    r"BOOLEAN|DATE|U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|TIMESTAMP|DECIMAL\(.*\)|ENUM\(.*\)|VARCHAR",
    re.IGNORECASE | re.DOTALL,
)
_DECIMAL = re.compile(r"DECIMAL\(\d+,\s*(\d+)\)", re.IGNORECASE)


def is_text_type(type_: str) -> bool:
    """Whether values are texts without a cast."""
    return type_.upper().startswith(_TEXTS)


def is_spelled_once(type_: str) -> bool:
    """Whether equal values are the same, as 0.0 and -0.0, or a month and thirty days, are not."""
    return _SPELLED_ONCE.fullmatch(type_) is not None


def folds_case(type_: str) -> bool:
    """Whether texts are equal that differ in case, which a cast to text would tell apart."""
    return type_ == "CITEXT"


def is_text_once_released(type_: str) -> bool:
    """The same in a release, where a type that lists its values becomes text."""
    return is_text_type(type_) or type_.upper().startswith("ENUM")


def released_type(type_: str, dialect: str) -> exp.DataType | None:
    """Replaces a type that lists every value, even those that no row holds.

    None for other types, including those that only have the word in a name.
    """
    if "ENUM(" not in type_.upper():
        return None
    plain = exp.DataType.build(type_, dialect=dialect)
    listed = [each for each in plain.find_all(exp.DataType) if each.is_type("enum")]
    for each in listed:
        text = exp.DataType.build("text")
        if each is plain:
            return text
        each.replace(text)
    return plain if listed else None


def has_time_zone(type_: str) -> bool:
    """Whether values are instants, whose text depends on the time zone of a session."""
    name = type_.upper()
    return name == "TIMESTAMPTZ" or name.endswith("WITH TIME ZONE")


def has_nanoseconds(type_: str) -> bool:
    """Whether times are finer than microseconds, and so cover fewer years."""
    return type_.upper() == "TIMESTAMP_NS"


def decimal_places(type_: str) -> int:
    """Digits after the point of a decimal type; 0 if its name has none."""
    found = _DECIMAL.match(type_)
    return int(found[1]) if found else 0


@runtime_checkable
class ArrowStream(Protocol):
    """Data with Arrow's PyCapsule interface: frames of Polars, relations of DuckDB, readers."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


Data: TypeAlias = "pd.DataFrame | pa.Table | ArrowStream"
"""Rows in this process."""

Row: TypeAlias = dict[str, Any]
"""A row of the catalog, by column."""

Connection: TypeAlias = Any
"""An open connection of the caller: of the driver of any engine in the registry."""


def is_dataframe(found: object) -> TypeGuard[pd.DataFrame]:
    """Whether an object is a pandas DataFrame; nothing is one before pandas is imported."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(found, pandas.DataFrame)


def held(data: Data) -> pd.DataFrame | pa.Table:
    """Data that can be read any number of times: a DataFrame, or an Arrow table.

    An Arrow stream, which may end after one reading, is read into a table.
    """
    if is_dataframe(data) or isinstance(data, pa.Table):
        return data
    kind = type(data).__name__
    if not isinstance(data, ArrowStream):
        raise EngineError(
            "Data are a pandas DataFrame, a pyarrow Table, or another object with an Arrow "
            f"stream (`__arrow_c_stream__`), not {kind}."
        )
    try:
        return pa.table(data)
    except Exception as error:  # whatever the code behind the stream raises
        raise EngineError(
            f"The {kind} cannot be read as a table: its Arrow stream ended with "
            f"{type(error).__name__}. Give data with named columns that can still be read."
        ) from error


class Kind(StrEnum):
    """The kind of a column's values; decides their order, spelling and arithmetic."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOAT = "float"
    DATE = "date"
    TIMESTAMP = "timestamp"
    BOOLEAN = "boolean"
    TEXT = "text"

    @property
    def is_ordered(self) -> bool:
        """Whether neighbours have a natural meaning, so that groups read as intervals."""
        return self not in (Kind.BOOLEAN, Kind.TEXT)


SqlText: TypeAlias = exp.Expr | str
"""An expression, or text that is already in the engine's dialect."""


@dataclass(frozen=True)
class ColumnInfo:
    """A column of a relation. `kind` is None for a type that sqlanon cannot work with.

    is_text        whether its values are texts already, see `is_text_type`
    has_time_zone  whether they are instants
    """

    name: str
    kind: Kind | None
    type: str
    nullable: bool
    is_text: bool = field(init=False, compare=False, repr=False)
    has_time_zone: bool = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_text", is_text_type(self.type))
        object.__setattr__(self, "has_time_zone", has_time_zone(self.type))


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
class Rebuilt:
    """A statement that gives a table what the one had whose place and name it takes.

    columns  those that it needs, with the types that they had
    index    the name of the index that it makes, if it makes one
    """

    sql: str
    columns: frozenset[str] = frozenset()
    index: str | None = None


class Effect(StrEnum):
    """What happens to a thing bound to a table when the rows within the table are replaced."""

    STAYS = "stays as it is"
    PAUSED = "stays, but does not run for this change"
    REFRESHED = "is refreshed"


@dataclass(frozen=True)
class Bound:
    """What is bound to a table itself, and not to its name: a view, a trigger, a policy.

    columns  those that it needs as they are; None for what never survives other rows
    """

    text: str
    columns: frozenset[str] | None
    effect: Effect = Effect.STAYS


@dataclass(frozen=True)
class TableDetails:
    """A table or view as the catalog knows it.

    table          its full name
    constraints    the SQL of its keys and checks; NOT NULL is said of the columns
    indexes        the names of its indexes
    statistics     the names of its statistics of several columns
    needs          by constraint, index and statistics the columns that they need, where known
    referenced_by  other tables whose foreign keys refer to it
    views          views whose text reads a table of this name
    bound          what would stay with the former rows, or be lost, if another table took the
                   name: views that are bound to the table itself, triggers, policies
    rebuilt        its owner, rights and indexes
    before, after  statements around the replacement of its rows within the table
    """

    table: exp.Table
    is_view: bool
    comment: str | None = None
    columns: tuple[ColumnDetails, ...] = ()
    constraints: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()
    statistics: tuple[str, ...] = ()
    needs: Mapping[str, frozenset[str]] = field(default_factory=dict)
    referenced_by: tuple[str, ...] = ()
    views: tuple[exp.Table, ...] = ()
    bound: tuple[Bound, ...] = ()
    rebuilt: tuple[Rebuilt, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    def kept(self, same: Collection[str]) -> tuple[Rebuilt, ...]:
        """What a table keeps in which these columns have the types that they had."""
        return tuple(each for each in self.rebuilt if each.columns <= set(same))

    def same_columns(self, columns: Iterable[ColumnInfo]) -> frozenset[str]:
        """Those of the columns that the table has too, with the same type."""
        types = {each.name: each.type for each in self.columns}
        return frozenset(each.name for each in columns if types.get(each.name) == each.type)


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
class Capabilities:
    """What a database can do beyond the SQL that all of them share.

    transactional_ddl  CREATE, ALTER and DROP obey transactions, so that a release appears whole
                       or not at all
    renames            ALTER TABLE … RENAME TO works there too; else a verified table is copied
    asof_join          finds the nearest row of a list by an ASOF join
    comments           tables, views and columns have comments
    guarded_views      a window's count in a view is complete before a reader's conditions on it
    files              reads and writes CSV and Parquet files, and reads data of this process
    rewrites           writes a database file anew, so that no dropped rows stay in it
    vacuums            removes from its files what dropped rows left there, while it is open
    collation          under which only the same texts are equal; None where its dialect is known
    default_schema     where a new table goes whose name has no schema
    locks              has LOCK TABLE, and a table is held for the swap alone; else its comment is
                       changed at the start, which holds off other changes of it
    erases_columns     DROP COLUMN leaves nothing of the values in the table's file
    begin              begins a transaction whose statements all see the same rows
    view_options       how a view is made that evaluates no condition of its readers early
    """

    transactional_ddl: bool = True
    renames: bool = True
    asof_join: bool = False
    comments: bool = False
    guarded_views: bool = False
    files: bool = False
    rewrites: bool = False
    vacuums: bool = False
    collation: str | None = None
    default_schema: str = "main"
    locks: bool = False
    erases_columns: bool = True
    view_options: str | None = None
    begin: str = "BEGIN TRANSACTION"


class DatabaseCopy(Protocol):
    """A database file and a new one, open side by side on one engine."""

    @property
    def engine(self) -> Engine:
        """What reads both."""

    def copy(self) -> None:
        """Fills the new file."""

    def tables(self) -> list[tuple[exp.Table, exp.Table]]:
        """The tables of both files, in pairs.

        Raises PublishError where tables, views, indexes or other objects of the two differ.
        """

    def finish(self) -> None:
        """Writes the new file to its end; the former one stays closed to other processes."""

    def close(self) -> None:
        """Closes both."""


class Engine(Protocol):
    """One open database. Every failure of the database is an EngineError."""

    dialect: ClassVar[str]  # sqlglot's name of it
    can: ClassVar[Capabilities]
    tracer: Tracer
    owned: bool  # False for a connection that a caller lends
    reading: str  # in messages: the source that was opened here last

    @classmethod
    def open(
        cls,
        address: str,
        *,
        read_only: bool,
        folders: Iterable[Path],
        spill: Path | None = None,
        memory: str | None = None,
    ) -> Self:
        """The database at an address; where it reads files, those in `folders`.

        A database in memory writes what does not fit there to the folder `spill`. `memory` is how
        much an embedded database may take, such as 2GB.
        """

    @classmethod
    def adopt(cls, connection: Connection) -> Self:
        """The database of a caller's connection, which stays open and as it is."""

    @classmethod
    def database_path(cls, address: str) -> Path | None:
        """The file of an address; None for a database in memory or on a server."""

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
        """See `registry.open_for_publishing`."""

    @classmethod
    def folders_in(cls, query: str) -> list[Path]:
        """The folders of the files that a query names; none where it cannot be parsed."""

    @classmethod
    def copied(cls, old: Path, new: Path, memory: str | None = None) -> DatabaseCopy:
        """Opens a database file with a new one beside it. For engines that rewrite."""

    def vacuum(self, table: exp.Table) -> None:
        """Removes what the rows that a committed publish replaced left in the database's files.

        `table` is the release. For engines that vacuum; raises EngineError where something stays.
        """

    @property
    def versions(self) -> Mapping[str, str]:
        """The version of the database, and of its driver if that has another, by name."""

    def fetch(self, query: SqlText, parameters: Mapping[str, str] | None = None) -> pa.Table:
        """The whole result of one query.

        Parameters are secrets: neither the tracer nor the message of an error shows them. Where a
        dialect numbers them, they are numbered in the order of the mapping.
        """

    def run(self, statement: SqlText, parameters: Mapping[str, str] | None = None) -> None:
        """Executes one statement to its end, with parameters as in `fetch`."""

    def append(self, table: exp.Table, rows: pa.Table) -> None:
        """Adds rows of this process to a table, whose columns they have in the same order.

        `insert_rows` does this by statements that every database has.
        """

    def columns(self, relation: exp.Expr) -> tuple[ColumnInfo, ...]:
        """The columns of a relation that can stand in FROM, in their order."""

    def close(self) -> None:
        """Gives back what the engine opened itself; a second call does nothing."""

    def source(
        self,
        *,
        table: str | None = None,
        query: str | None = None,
        file: str | Path | None = None,
        data: Data | None = None,
    ) -> Source:
        """Exactly one of a table, a query, a file or data as a source."""

    def as_written(self, source: Source, path: str | Path, columns: Collection[str]) -> Source:
        """The CSV file that a source reads, some of its columns as the texts of their fields.

        1.0 and 1.00 differ there, and so do an empty field, which is NULL, and a quoted empty
        one, which is an empty text. The other columns are as in the source, but that dates and
        times are texts, equal ones for equal values. For engines with files.
        """

    def attach(self, path: Path, *, read_only: bool, name: str | None = None) -> str:
        """Opens a further database file; answers with its name here. For engines with files."""

    def table(self, name: str) -> exp.Table:
        """The table that a name of a policy means: table, schema.table or with its catalog."""

    def number_of(self, digits: exp.Expr) -> exp.Expr:
        """Eight hexadecimal digits as a number without a sign.

        It must not overflow when it is multiplied by a number of rows and added up.
        """

    def text_of_float(self, value: exp.Expr) -> exp.Expr:
        """A number with a floating point as text: the 64 bits of its double, read as a whole
        number with a sign. Every NaN is the text nan; NULL stays NULL.
        """

    def number_from(self, text: exp.Expr, *, second: bool = False) -> exp.Expr:
        """A number from 0 to at least 2^62, drawn by a hash of a text: equal texts, equal numbers.

        Every text has a `second` one that does not depend on the first.
        """

    def begin(self) -> None:
        """Begins a transaction; until it ends, what the catalog knows may be asked once."""

    def commit(self) -> None:
        """Ends the transaction; on an error it may still be there.

        Raises UnknownOutcomeError where it may have been committed nonetheless.
        """

    def roll_back(self) -> None:
        """Ends a transaction that has failed, if it is still there after the failure."""

    def in_transaction(self) -> bool:
        """Whether a transaction is open; asking does not disturb it."""

    def locate(self, table: exp.Table, *, to_create: bool = False) -> exp.Table:
        """The full name of a table or view, whether it exists or not.

        `to_create` answers for a permanent table, which temporary ones do not hide.
        """

    def details(self, table: exp.Table) -> TableDetails | None:
        """Looks up a table or view in the catalog by its full name; None if it does not exist."""

    def tables_like(self, prefix: str, comment: str) -> tuple[exp.Table, ...]:
        """Permanent tables whose name starts with `prefix` and whose comment is `comment`."""

    def reads(self, relation: exp.Expr) -> Reads:
        """The tables that a relation reads."""

    def may_read(self, relation: exp.Expr, file: Path) -> bool | None:
        """Whether a relation reads a file that exists; None if that is unknown."""

    def temporary(self, name: str) -> exp.Table:
        """The full name of a temporary table."""

    def is_temporary(self, table: exp.Table) -> bool:
        """Whether a full name is that of a temporary table or view, or of registered data."""

    def refuse_hidden_functions(self) -> None:
        """Raises an EngineError where functions of users hide built-in ones of the same name."""

    def refuse_changed(self, former: TableDetails) -> None:
        """Raises PublishError where a locked table has other rows than this transaction sees.

        So it does where the catalog knows something else of it now. For engines with locks.
        """

    def database_files(self) -> tuple[Path, ...]:
        """The files of all databases that are open here for writing."""

    def file_of(self, table: exp.Table) -> Path | None:
        """The file of the database that a table by its full name is in; None if in none."""

    def logs_of(self, file: Path) -> tuple[Path, ...]:
        """The files beside that of a database that may hold rows of it, whether they exist."""

    def stale_spill_files(self) -> tuple[Path, ...]:
        """What the database wrote for want of memory in processes that have died."""


@runtime_checkable
class Streams(Protocol):
    """An engine that can also yield an answer in parts; `fetch` alone is enough for the others."""

    def batches(self, query: str) -> Generator[pa.Table]:
        """The result of one query in parts with the same columns, at least one.

        Types that only the whole answer decides are still missing.
        """

    def finished(self, table: pa.Table) -> pa.Table:
        """Gives columns of a whole answer the types that they have in `fetch`."""


@dataclass(frozen=True)
class Statistics:
    """Estimates for a table: its rows, the different values by column, seconds to count it."""

    rows: int
    distinct: Mapping[str, int]
    seconds: float


@runtime_checkable
class Estimates(Protocol):
    """An engine that knows the size of a table before it is counted."""

    def statistics(self, relation: exp.Expr) -> Statistics | None:
        """Estimates made without reading the table; None where it has no statistics."""


class Transactions(Engine, Protocol):
    """An engine's own transactions, and what its catalog answered within one."""

    _begun: bool = False
    _known: dict[str, list[Row]] | None = None

    def known(self, query: str) -> list[Row]:
        """The rows of a question to the catalog.

        Within a transaction of our own it is asked once until a statement may have changed it.
        """
        if self._known is None:
            rows: list[Row] = self.fetch(query).to_pylist()
            return rows
        if query not in self._known:
            self._known[query] = self.fetch(query).to_pylist()
        return self._known[query]

    def roll_back(self) -> None:
        self._begun, self._known = False, None
        with suppress(EngineError):
            self.run("ROLLBACK")


@dataclass(frozen=True)
class Opened:
    """An engine to publish with; `catalog` is the database of the target's names, if another."""

    engine: Engine
    catalog: str | None = None

    def table(self, name: str) -> exp.Table:
        """The table that a name of the target means: table or schema.table."""
        if self.catalog is None:
            return self.engine.table(name)
        table = parse_table(name)
        if table.catalog:
            raise EngineError(
                f"{name!r} names a database, but the target's database is given by its address. "
                "Write table or schema.table."
            )
        schema = table.db or self.engine.can.default_schema
        return exp.table_(table.name, schema, self.catalog, quoted=True)


@dataclass(frozen=True, repr=False)
class Source:
    """A relation on an engine: what a policy reads.

    `relation` can stand in FROM: a table, a subquery with an alias, or a call of a table
    function. `name` is for messages and reports, never for SQL. `histogram` is a relation with
    the distinct rows and their number in `sqlanon_rows`, for a source that was counted elsewhere.
    """

    engine: Engine
    relation: exp.Expr
    name: str
    columns: tuple[ColumnInfo, ...]
    histogram: exp.Expr | None = None

    @classmethod
    def of(cls, engine: Engine, relation: exp.Expr, name: str = "the table") -> Source:
        """A relation with its columns, which the engine is asked for."""
        return cls(engine, relation, name, engine.columns(relation))

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


def parse_table(name: str) -> exp.Table:
    """The table that a name with up to three parts means, written alike for every engine.

    A part that contains a dot or a double quote is written in double quotes, "a.b"."c""d".
    """
    try:
        parsed = exp.to_table(name, dialect=NATIVE)
    except (sqlglot.ParseError, sqlglot.TokenError, ValueError):  # ValueError: of "../../x"
        parsed = None
    # A function call and a fourth part are no Identifier.
    if not parsed or not isinstance(parsed.this, exp.Identifier) or not parsed.name:
        raise EngineError(
            f"{name!r} is not the name of a table. Write table, schema.table or "
            'catalog.schema.table, with "double quotes" around unusual parts.'
        )
    return exp.table_(parsed.name, parsed.db or None, parsed.catalog or None, quoted=True)


COMPLETED = "sqlanon_completed"
"""Marks a name in a syntax tree to which an engine has added its database."""


def as_given(relation: exp.Expr) -> exp.Expr:
    """A relation to show: its names as they were before an engine completed them."""
    given = relation.copy()
    for table in given.find_all(exp.Table):
        if table.meta.pop(COMPLETED, False):
            table.set("catalog", None)
    return given


def is_cte(table: exp.Table) -> bool:
    """Whether a name means a part of a WITH: one that stands before the place of the name."""
    if table.db:
        return False
    node: exp.Expr = table
    inside: exp.Expr | None = None
    while node.parent is not None:
        node = node.parent
        if isinstance(node, exp.CTE):
            inside = node
            continue
        parts = node.args.get("with_")
        if not isinstance(parts, exp.With):
            continue
        for part in parts.expressions:
            if part is inside and not parts.recursive:
                break
            if part.alias.lower() == table.name.lower():
                return True
            if part is inside:
                break
    return False


def spelled(table: exp.Table) -> str:
    """A table's full name, with quotes around the parts that need them; `parse_table` reads it."""
    return ".".join(exp.to_identifier(part.name).sql(NATIVE) for part in table.parts)


def render_statement(statement: SqlText, dialect: str) -> str:
    """The text of a statement; identifiers of an expression are quoted, text stays as it is."""
    if isinstance(statement, str):
        return statement
    return in_dialect(statement, dialect).sql(dialect, identify=True)


UNCHANGED = "Nothing was changed."


@contextmanager
def transaction(engine: Engine) -> Iterator[bool]:
    """A transaction around the block; yields whether it is one that the caller has begun.

    A transaction of our own is committed at the end of the block, or rolled back when an
    exception leaves it. One of the caller is neither begun nor ended here.
    """
    if not engine.can.transactional_ddl:
        raise PublishError(
            f"{engine.dialect} makes tables outside transactions, so a release could appear half"
        )
    if not engine.owned and engine.in_transaction():
        with _explained("The transaction is yours: roll it back."):
            yield True
        return
    engine.begin()
    try:
        with _explained(UNCHANGED):
            yield False
            engine.commit()
    except BaseException:
        engine.roll_back()
        raise


@contextmanager
def _explained(outcome: str) -> Iterator[None]:
    try:
        yield
    except EngineError as error:
        raise PublishError(f"{error} {outcome}") from error


def numbers_of(column: pa.ChunkedArray | pa.Array, null: int = 0) -> npt.NDArray[np.int64]:
    """The whole numbers of a fetched column, with `null` in place of NULL.

    Where pandas is installed, pyarrow imports it for its own conversions, which takes longer than
    a small search.
    """
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    parts = [_numbers_in(chunk, null) for chunk in chunks if len(chunk)]
    return np.concatenate(parts).astype(np.int64, copy=False) if parts else np.zeros(0, np.int64)


def _numbers_in(chunk: pa.Array, null: int) -> npt.NDArray[Any]:
    if not pa.types.is_integer(chunk.type):  # a database may add up into decimals
        chunk = chunk.cast(pa.int64())
    valid, data = chunk.buffers()
    dtype, start, size = np.dtype(str(chunk.type)), chunk.offset, len(chunk)
    found = np.frombuffer(data, dtype, size, start * dtype.itemsize)
    if not chunk.null_count:
        return found
    bits = np.unpackbits(np.frombuffer(valid, np.uint8), bitorder="little")[start : start + size]
    return np.where(bits, found, null)


ROWS_AT_ONCE = 500
"""Rows of one INSERT: databases bound the length of a statement."""

_INSERT = """\
INSERT INTO {{ table | sql }} VALUES
{% for row in rows %}
  ({% for value in row %}{{ value | literal }}{% if not loop.last %}, {% endif %}{% endfor %})
{%- if not loop.last %},{% endif %}

{% endfor %}"""


def insert_rows(engine: Engine, table: exp.Table, rows: pa.Table) -> None:
    """Appends rows to a table by INSERT statements, for engines without a faster way."""
    for start in range(0, rows.num_rows, ROWS_AT_ONCE):
        batch = rows.slice(start, ROWS_AT_ONCE).to_pydict()
        listed = list(zip(*batch.values(), strict=True))
        engine.run(render_text(_INSERT, dialect=engine.dialect, table=table, rows=listed))
