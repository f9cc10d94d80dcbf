"""A SQLite engine, defined here alone: searched, released and checked like DuckDB.

The same rows and the same policy give the same histogram, scheme and release on both.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

import duckdb
import pyarrow as pa
import pytest
from sqlglot import exp

import sqlanon
from sqlanon.audit import table_hash
from sqlanon.domain import Histogram, Mode, Partition, Scheme
from sqlanon.engines import (
    ENGINES,
    Capabilities,
    ColumnDetails,
    ColumnInfo,
    Connection,
    Data,
    DatabaseCopy,
    EngineEntry,
    Kind,
    Opened,
    Reads,
    Source,
    SqlText,
    TableDetails,
    Tracer,
    insert_rows,
    open_engine,
    open_source,
    parse_table,
    render_statement,
    source_folders,
)
from sqlanon.errors import EngineError, PublishError, VerificationError
from sqlanon.policy.variables import expand
from sqlanon.release import Order, Verbatim
from sqlanon.release.pending import remove_leftovers
from sqlanon.release.plan import make_plan

KINDS = {"integer": Kind.INTEGER, "real": Kind.FLOAT, "text": Kind.TEXT, "": Kind.TEXT}
TYPES = {Kind.INTEGER: "INTEGER", Kind.FLOAT: "REAL", Kind.TEXT: "TEXT"}
ABOUT_NAMES = {"SQLITE_ERROR", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_BUSY"}


def number_from(text: str, second: int) -> int:
    """62 bits from one half of a hash."""
    digest = hashlib.sha256(text.encode()).digest()
    return int.from_bytes(digest[8 * second :][:8], "big") >> 2


def hashed(name: str, text: str | None) -> str | None:
    return None if text is None else hashlib.new(name, text.encode()).hexdigest()


def bits_of(number: float | None) -> str | None:
    """A double's bits as a number; SQLite keeps NaN as NULL."""
    return None if number is None else str(*struct.unpack(">q", struct.pack(">d", number)))


class SQLite:
    """A SQLite file as an Engine."""

    dialect: ClassVar[str] = "sqlite"
    can: ClassVar[Capabilities] = Capabilities()

    def __init__(self, path: Path, read_only: bool) -> None:
        self.tracer, self.owned, self.reading = Tracer(self.dialect), True, "the database"
        self._path, self._read_only = path, read_only
        mode = "ro" if read_only else "rw"
        with self._errors():
            self._connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode={mode}",
                uri=True,
                isolation_level=None,
                check_same_thread=False,
            )
        define = self._connection.create_function
        define("MD5", 1, lambda text: hashed("md5", text), deterministic=True)
        define("SHA2", 2, lambda text, bits: hashed(f"sha{bits}", text), deterministic=True)
        define("NUMBER_FROM", 2, number_from, deterministic=True)
        define("REGEXP", 2, lambda regex, text: text and re.search(regex, text) is not None)
        define("CONCAT", -1, lambda *texts: "".join(t for t in texts if t is not None))
        define("NUMBER_OF", 1, lambda digits: int(digits, 16), deterministic=True)
        define("BITS_OF", 1, bits_of, deterministic=True)

    @classmethod
    def open(
        cls,
        address: str,
        *,
        read_only: bool,
        folders: Iterable[Path],
        spill: Path | None = None,
        memory: str | None = None,
    ) -> SQLite:
        path = cls.database_path(address)
        if path is None:
            raise EngineError("A SQLite database is a file.")
        return cls(path, read_only)

    @classmethod
    def adopt(cls, connection: Connection) -> SQLite:
        raise EngineError("Give the address of a SQLite database: a connection lacks functions.")

    @classmethod
    def database_path(cls, address: str) -> Path | None:
        path = address.removeprefix("sqlite:///")
        return Path(path) if path else None

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
        if file is not None or target is not None:
            raise PublishError("a release of a SQLite database is a table of it")
        return Opened(cls.open(source, read_only=read_only, folders=folders))

    @classmethod
    def folders_in(cls, query: str) -> list[Path]:
        return []

    @classmethod
    def copied(cls, old: Path, new: Path) -> DatabaseCopy:
        raise NotImplementedError

    @property
    def versions(self) -> Mapping[str, str]:
        return {"sqlite": sqlite3.sqlite_version}

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorname", "")
            known = code in ABOUT_NAMES  # others quote values
            raise EngineError(f"SQLite refused: {error if known else code}") from error

    def _execute(self, text: SqlText, parameters: Mapping[str, str] | None) -> sqlite3.Cursor:
        statement = render_statement(text, self.dialect)
        with self._errors(), self.tracer.running(statement):
            return self._connection.execute(statement, dict(parameters or {}))

    def fetch(self, query: SqlText, parameters: Mapping[str, str] | None = None) -> pa.Table:
        cursor = self._execute(query, parameters)
        with self._errors():
            rows = cursor.fetchall()
        names = [each[0] for each in cursor.description]
        columns = [pa.array([row[j] for row in rows]) for j in range(len(names))]
        if rows:  # without rows nothing says what a column would hold
            columns = [c.cast(pa.string()) if pa.types.is_null(c.type) else c for c in columns]
        return pa.Table.from_arrays(columns, names)

    def run(self, statement: SqlText, parameters: Mapping[str, str] | None = None) -> None:
        self._execute(statement, parameters)

    def append(self, table: exp.Table, rows: pa.Table) -> None:
        insert_rows(self, table, rows)

    def columns(self, relation: exp.Expr) -> tuple[ColumnInfo, ...]:
        """By the values: a column of SQLite holds any type, and results of expressions none."""
        one = exp.select("*").from_(relation).limit(0)
        names = [each[0] for each in self._execute(one, None).description]
        types = [
            exp.Max(this=exp.Anonymous(this="TYPEOF", expressions=[_column(n)])).as_(f"t{j}")
            for j, n in enumerate(names)
        ]
        (found,) = self.fetch(exp.select(*types).from_(relation)).to_pylist()
        kinds = [KINDS.get((found[f"t{j}"] or "").replace("null", "")) for j in range(len(names))]
        return tuple(
            ColumnInfo(name, kind, TYPES.get(kind, "BLOB") if kind else "BLOB", nullable=True)
            for name, kind in zip(names, kinds, strict=True)
        )

    def close(self) -> None:
        self._connection.close()

    def source(
        self,
        *,
        table: str | None = None,
        query: str | None = None,
        file: str | Path | None = None,
        data: Data | None = None,
    ) -> Source:
        if table is None:
            raise EngineError("A source in SQLite is a table.")
        relation = self.table(table)
        return Source(self, relation, table, self.columns(relation))

    def as_written(self, source: Source, path: str | Path, columns: Collection[str]) -> Source:
        raise NotImplementedError

    def attach(self, path: Path, *, read_only: bool, name: str | None = None) -> str:
        raise NotImplementedError

    def table(self, name: str) -> exp.Table:
        return parse_table(name)

    def number_of(self, digits: exp.Expr) -> exp.Expr:
        return exp.Anonymous(this="NUMBER_OF", expressions=[digits])  # 2^31 rows at most

    def text_of_float(self, value: exp.Expr) -> exp.Expr:
        return exp.Anonymous(this="BITS_OF", expressions=[value])

    def number_from(self, text: exp.Expr, *, second: bool = False) -> exp.Expr:
        return exp.Anonymous(this="NUMBER_FROM", expressions=[text, exp.convert(int(second))])

    def begin(self) -> None:
        self.run("BEGIN IMMEDIATE")

    def commit(self) -> None:
        self.run("COMMIT")

    def roll_back(self) -> None:
        with suppress(EngineError):
            self.run("ROLLBACK")

    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    def locate(self, table: exp.Table, *, to_create: bool = False) -> exp.Table:
        return exp.table_(table.name, db=table.db or "main", quoted=True)

    def details(self, table: exp.Table) -> TableDetails | None:
        schema = exp.table_("sqlite_master", db=table.db, quoted=True)
        named = exp.column("name").eq(exp.Literal.string(table.name))
        found = self.fetch(exp.select("type").from_(schema).where(named)).to_pylist()
        if not found:
            return None
        columns = [ColumnDetails(c.name, c.type, c.nullable) for c in self.columns(table)]
        return TableDetails(table, found[0]["type"] == "view", columns=tuple(columns))

    def tables_like(self, prefix: str, comment: str) -> tuple[exp.Table, ...]:
        return ()

    def reads(self, relation: exp.Expr) -> Reads:
        tables = tuple(self.locate(each) for each in relation.find_all(exp.Table))
        return Reads(tables, only_tables=True, named=tables)

    def may_read(self, relation: exp.Expr, file: Path) -> bool | None:
        return None

    def temporary(self, name: str) -> exp.Table:
        return exp.table_(name, db="temp", quoted=True)

    def is_temporary(self, table: exp.Table) -> bool:
        return table.db == "temp"

    def refuse_hidden_functions(self) -> None:
        return

    def refuse_changed(self, former: TableDetails) -> None:
        return

    def database_files(self) -> tuple[Path, ...]:
        return () if self._read_only else (self._path,)

    def file_of(self, table: exp.Table) -> Path | None:
        return self._path

    def logs_of(self, file: Path) -> tuple[Path, ...]:
        return tuple(Path(f"{file}{end}") for end in ("-wal", "-journal"))

    def stale_spill_files(self) -> tuple[Path, ...]:
        return ()


def _column(name: str) -> exp.Column:
    return exp.column(name, quoted=True)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EngineEntry(SQLite, "sqlite3.Connection", "sqlite:///relative.sqlite")
    monkeypatch.setitem(ENGINES, "sqlite", entry)


# Two people without a town, one age that is alone, and texts that differ in case only.
PEOPLE: list[tuple[Any, ...]] = [
    (1, 21, "Oslo", "flu"), (2, 22, "Oslo", "cold"), (3, 24, "Oslo", "flu"),
    (4, 31, "oslo", "cold"), (5, 33, "oslo", "gout"), (6, 38, "oslo", "flu"),
    (7, 34, None, "flu"), (8, 36, None, "cold"), (9, 35, None, "gout"),
    (10, 61, "Bergen", "scurvy"), (11, 23, "Oslo", None), (12, 32, "oslo", "flu"),
]  # fmt: skip


def make(folder: Path, engine: str) -> str:
    path = folder / f"people.{engine}"
    connect: Any = sqlite3.connect if engine == "sqlite" else duckdb.connect
    connection = connect(str(path))
    connection.execute("CREATE TABLE people (id INTEGER, age INTEGER, town TEXT, ill TEXT)")
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", PEOPLE)
    connection.commit()
    connection.close()
    return f"{engine}:///{path}"


def policy(address: str, **changes: Any) -> dict[str, Any]:
    return {
        "source": {"connection": address, "table": "people"},
        "columns": {
            "id": {"role": "identifying"},
            "age": {"role": "quasi", "range": [20, 70], "granularity": 10},
            "town": {"role": "quasi"},
            "ill": {"role": "sensitive"},
        },
        "one_row_per_person": True,
        "privacy": {"k": 3, "l_diversity": {"l": 2}},
        "suppression": {"limit": 0.1},
        "publish": {"to": "anon", "order": "sorted"},
    } | changes


def counted(histogram: Histogram) -> dict[tuple[Any, ...], int]:
    """The rows of every tuple of atoms."""
    return dict(zip(map(tuple, histogram.tally.codes.tolist()), histogram.tally.rows, strict=True))


CASES: list[dict[str, Any]] = [
    {"privacy": {"k": 3, "homogeneity": {"accept": "k alone"}}},
    {},
    {"suppression": {"limit": 0.1, "rows": "mark"}},
    {"privacy": {"k": 3, "beta_likeness": {"beta": 3}}},
    {"privacy": {"k": 3, "t_closeness": {"t": 0.5}}},
    {"subject": "id", "one_row_per_person": False},
]


@pytest.mark.parametrize("changes", CASES)
def test_the_same_release_as_on_duckdb(tmp_path: Path, changes: dict[str, Any]) -> None:
    found = []
    for engine in ("duckdb", "sqlite"):
        address, folder = make(tmp_path, engine), tmp_path / f"{engine} certificates"
        folder.mkdir()
        with sqlanon.load(policy(address, **changes)) as anonymizer:
            result = anonymizer.search(seed=1)
            release = anonymizer.publish(result, certificates=folder)
            rows = sorted(map(repr, release.to_arrow().to_pylist()))
            found.append((counted(anonymizer.histogram), result.solution.scheme, rows))
        checked = sqlanon.check(address, ["age", "town"], k=3, table="anon", sensitive="ill", l=1)
        assert checked.holds
        assert sqlanon.checking.recheck(
            address, folder / "anon.certificate.json", table="anon"
        ).holds
    assert found[0] == found[1]
    assert len(found[0][2]) == (12 if "mark" in str(changes) else 11)  # Bergen is left out


MEASURED: list[tuple[Any, ...]] = [
    (-5, 0.1, "Oslo"), (7, -0.0, "oslo"), (7, 0.0, "oslo"), (2**62, 1e300, "é👩‍🚀"),
    (0, None, None), (7, 0.0, "oslo"), (1, -2.5e-300, ""), (1, float("inf"), "NULL"),
    (1, 1 / 3, "1:a"),
]  # fmt: skip


def test_the_same_hash_as_on_duckdb(tmp_path: Path) -> None:
    found = set()
    for name, connect in (("duckdb", duckdb.connect), ("sqlite", sqlite3.connect)):
        path = tmp_path / f"measured.{name}"
        connection: Any = connect(str(path))
        connection.execute("CREATE TABLE measured (n BIGINT, x DOUBLE PRECISION, town TEXT)")
        connection.executemany("INSERT INTO measured VALUES (?, ?, ?)", MEASURED)
        connection.commit()
        connection.close()
        source = open_source(connection=f"{name}:///{path}", table="measured")
        for grouped in (True, False):
            found.add(table_hash(source, ["n", "x", "town"], grouped=grouped))
        source.engine.close()
    assert len(found) == 1


def test_what_the_engine_lacks_is_refused(tmp_path: Path) -> None:
    address = make(tmp_path, "sqlite")
    for publish, said in (
        ({"to": "anon", "mode": "view"}, "take mode table"),
        ({"file": str(tmp_path / "out.csv")}, "a release of a SQLite database is a table of it"),
        ({"to": "main.people"}, "is the source itself"),
        ({"to": "anon", "connection": "duckdb:///other.duckdb"}, "are of two engines"),
    ):
        with sqlanon.load(policy(address, publish=publish)) as anonymizer:
            result = anonymizer.search(seed=1)
            with pytest.raises((PublishError, EngineError), match=said):
                anonymizer.publish(result)
    with pytest.raises(EngineError, match="Give the address"):
        sqlanon.check(sqlite3.connect(":memory:"), "age", table="people")


def test_nothing_changes_where_a_release_does_not_hold(tmp_path: Path) -> None:
    address = make(tmp_path, "sqlite")
    with sqlanon.load(policy(address)) as anonymizer:
        result = anonymizer.search(seed=1)
    strict = policy(address, privacy={"k": 3, "l_diversity": {"l": 4}})
    with sqlanon.load(strict) as anonymizer, pytest.raises(VerificationError):
        anonymizer.publish(result.solution.scheme)
    with sqlite3.connect(tmp_path / "people.sqlite") as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("people",)]


def contents(address: str) -> list[tuple[Any, ...]]:
    """Every table with its rows."""
    with closing(sqlite3.connect(address.removeprefix("sqlite:///"))) as connection:
        names = connection.execute("SELECT name FROM sqlite_master ORDER BY name").fetchall()
        return [(n, *connection.execute(f'SELECT * FROM "{n}"').fetchall()) for (n,) in names]


def test_a_rewrite_is_refused_before_anything_is_published(tmp_path: Path) -> None:
    address = make(tmp_path, "sqlite")
    before = contents(address)
    with sqlanon.load(policy(address, publish={"mode": "replace"})) as anonymizer:
        result = anonymizer.search(seed=1)
        with pytest.raises(PublishError, match="cannot rewrite a database of sqlite"):
            anonymizer.publish(result, rewrite=True)
    assert contents(address) == before


def test_what_remains_is_in_the_log_of_the_engine(tmp_path: Path) -> None:
    """SQLite's log is the file with -wal; it is gone once the last connection is closed."""
    address = make(tmp_path, "sqlite")
    path = tmp_path / "people.sqlite"
    changed = policy(address, publish={"mode": "replace"})
    with sqlanon.load(changed) as anonymizer:
        result = anonymizer.search(seed=1)
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA journal_mode = wal")
        other.execute("SELECT * FROM people").fetchone()
        with sqlanon.load(changed) as anonymizer:
            remains = anonymizer.publish(result.solution.scheme).remains
        assert Path(f"{path}-wal").exists()
    assert remains == (
        f"rows of the source can be read from the unused space of {path} until it is rewritten",
        f"rows of the source may be in {path}-wal until the next checkpoint",
        "rows of the source are in every backup and copy of the database",
    )


def test_leftovers_are_dropped_in_the_dialect_of_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The backticks of MySQL, which SQLite reads too."""
    address = make(tmp_path, "sqlite")
    left = exp.table_("sqlanon_stage_1", db="main", quoted=True)
    monkeypatch.setattr(SQLite, "tables_like", lambda *_: (left,))
    with closing(open_engine(address, read_only=False)) as engine:
        engine.run("CREATE TABLE sqlanon_stage_1 (a)")
        monkeypatch.setattr(SQLite, "dialect", "mysql")
        with engine.tracer.watch() as seen:
            remove_leftovers(engine)
    assert [each.sql for each in seen] == ["DROP TABLE `main`.`sqlanon_stage_1`"]
    assert [name for name, *_ in contents(address)] == ["people"]


def test_own_queries_run_on_source_and_release(tmp_path: Path) -> None:
    """In the engine's SQL. Groups: the decades; Bergen, both spellings of Oslo, and NULL."""
    queries = [
        "SELECT COUNT(*) FROM data WHERE age BETWEEN 20 AND 29",
        "SELECT TOTAL(town GLOB '[Oo]slo') FROM [data]",
        "SELECT COUNT(*) FROM data WHERE town IS NULL",
    ]
    with sqlanon.load(policy(make(tmp_path, "sqlite"), privacy={"k": 1})) as anonymizer:
        columns = anonymizer.space.columns
        scheme = Scheme(columns, (columns[0].finest, Partition(4, (0, 2))))
        found = anonymizer.utility(scheme, sql=queries, queries=1)
    assert [(each.source, each.release) for each in found.queries] == [(4, 4), (8, 8), (3, 3)]


def test_queries_name_files_as_their_engine_says(tmp_path: Path) -> None:
    query = f"SELECT * FROM '{tmp_path}/people.csv'"
    assert source_folders(query, None) == [tmp_path]
    assert source_folders(query, None, make(tmp_path, "sqlite")) == []


def test_a_temporary_table_of_the_engine_cannot_be_replaced(tmp_path: Path) -> None:
    with closing(open_engine(make(tmp_path, "sqlite"), read_only=False)) as engine:
        engine.run("CREATE TEMPORARY TABLE some AS SELECT * FROM people")
        source = exp.table_("some", db="temp", quoted=True)
        order = Order(source, (Verbatim("age", "INTEGER"),), k=1, mode=Mode.REPLACE)
        with pytest.raises(PublishError, match="is a temporary table"):
            make_plan(engine, order)


def test_tables_without_a_schema_are_in_that_of_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SQLite, "can", Capabilities(default_schema="public"))
    with closing(open_engine(make(tmp_path, "sqlite"))) as engine:
        assert Opened(engine, "other").table("anon").sql() == '"other"."public"."anon"'
    place = exp.table_("anon", db="public", quoted=True)
    order = Order(exp.table_("people"), (Verbatim("age", "INTEGER"),), k=1, target=place)
    assert (order.stem("public"), order.stem("main")) == ("anon", "public.anon")


def test_the_name_of_an_engine_is_no_secret() -> None:
    """Also where a variable holds it; before and after ://, and in the suffix of a file."""
    document = {"source": {"connection": "${URL}"}}
    filled, mistakes = expand(document, {"URL": "sqlite:///ward.sqlite"})
    assert mistakes == []
    assert filled.hide("sqlite has no table 'a'") == "sqlite has no table 'a'"
    assert "ward" not in filled.hide("there is no file ward")
    filled, _ = expand(document, {"URL": "sqlite://ann:sqlite@ward/people"})
    assert filled.hide("the password sqlite is wrong").startswith("The database refused.")
