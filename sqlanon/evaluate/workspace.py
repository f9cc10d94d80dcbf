"""The tables that measurements live in: in memory, or in a workspace file that outlives a run.

`run` has a row per search, `measurement` one per scheme, and the view `evaluation` derives the
scores of both (see sql/workspace). A measurement is found again by what it depends on: the
fingerprints of histogram, label and demands, and the bits of the scheme. The first changes with
the data and the domains, and the bits are of decoded partitions and so change with a hierarchy: a
stale measurement is never found, because it is not asked for again.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import sqlglot
from sqlglot import exp

from sqlanon.domain import Histogram
from sqlanon.engines import Tracer
from sqlanon.engines.duckdb import hide_progress_bar
from sqlanon.engines.duckdb_errors import explain_opening, refuse_other_files
from sqlanon.engines.statements import keeping_interrupts
from sqlanon.errors import EngineError
from sqlanon.metrics import (
    METRICS,
    UNBOUNDED,
    CostModel,
    Detail,
    Measurement,
    Metric,
    Preference,
    Suppression,
    further,
)
from sqlanon.privacy import Model
from sqlanon.render import NATIVE, render

T = TypeVar("T")

FLUSH_EVERY = 2_000
"""Measurements that are written together."""
COMPRESS_EVERY = 2**25
"""Bytes of measurements after which tables in memory are compressed."""
MOST_BYTES = 2**27
"""About so much memory the tables may take, compressed; then the older half of them goes.

A file keeps all.
"""
KEPT_DAYS = 30
"""For so long a file keeps what a run measured, unless the policy says otherwise."""

IGNORES, EVERYTHING = ".gitignore", "*\n"
SIGNS_OF_DAMAGE = ("corrupt", "could not read enough bytes")
"""What DuckDB says of a damaged file; the second of one that was cut short."""
TABLES = ("run", "measurement", "recalled", "solution")
VIEW = "evaluation"
CONTENTS = """
SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal
ORDER BY table_name, column_index
"""
"""Asks a database for all its tables and views, a row for every column."""
FORMER = (
    "histogram", "label", "demands", "scheme", "below", "budget", "loss", "size", "classes", "rows",
    "rows_squared", "minority", "small_loss", "bad", "reached", "ambiguity",
)  # fmt: skip
"""The columns of `evaluation` as it was a table, whose schemes were hashes."""
NEXT_RUN = "SELECT coalesce(max(run), 0) + 1 FROM run"
ADD_RUN = "INSERT INTO run ({}) VALUES ({})"
ADD_MEASUREMENTS = "INSERT INTO measurement BY NAME FROM incoming"
ADD_RECALLED = "INSERT INTO recalled SELECT unnest(?), unnest(?), unnest(?)"
ADD_SOLUTIONS = "INSERT INTO solution SELECT ?, unnest(CAST(? AS BLOB[])), unnest(?)"
STORED = """
FROM measurement JOIN run USING (run)
WHERE run.histogram = ? AND run.label = ? AND run.demands = ?
"""
COUNT = f"SELECT count(*) AS n {STORED}"
ALL = f"SELECT measurement.* {STORED}"
FIND = f"{ALL} AND scheme IN (SELECT unnest(?))"
END = """
UPDATE run SET seconds = ?, stopped = ?, asked = ?, measured = ?, recalled = ? WHERE run = ?
"""
TAKEN = "SELECT sum(memory_usage_bytes) FROM duckdb_memory()"
FORGET = (
    "UPDATE run SET forgotten = forgotten + old.n FROM "
    "(SELECT run, count(*) AS n FROM measurement WHERE rowid < $1 GROUP BY run) AS old "
    "WHERE old.run = run.run",
    "DELETE FROM measurement WHERE rowid < $1",
)
MIDDLE = "SELECT CAST(median(rowid) AS BIGINT) FROM measurement"
OLD = "DELETE FROM run WHERE started < ?"
ORPHANS = "DELETE FROM {} WHERE run NOT IN (SELECT run FROM run)"
# Nothing of what a user's condition says reaches a file or the network.
CONFIG: dict[str, Any] = {"threads": 1, "enable_external_access": False}
LISTS: dict[str, type] = {
    "loss": np.int64, "size": np.int64, "classes": np.int64, "rows": np.int64,
    "rows_squared": np.int64, "minority": np.int64, "bad": np.int64, "small_loss": np.int64,
    "reached": np.float64, "ambiguity": np.float64,
}  # fmt: skip
"""The arrays of a measurement."""


ATOMS = "atoms"
"""The cost that every scheme is measured by."""


@dataclass(frozen=True)
class Search:
    """A search as its run names it.

    `k` is searched for; a scheme is feasible from `required_k` on, None where no privacy is
    required.
    """

    method: str
    seed: int
    settings: Mapping[str, Any]
    k: int
    required_k: int | None
    preference: Preference | None


def account_of(
    search: Search | None,
    rule: Suppression,
    histogram: Histogram,
    label: str | None,
    asked: Sequence[Metric],
    costs: CostModel,
    models: Sequence[Model],
) -> dict[str, Any]:
    """The columns of `run` that are known before it begins; without a search, the scores' alone."""
    columns = histogram.space.columns
    whole = sum(column.weight for column in columns)
    further = [metric for metric in asked if metric.cost is not None]
    wholes = [column.size - 1 for column in columns]
    tuples = math.prod(column.size for column in columns)
    account: dict[str, Any] = {
        "below": rule.below,
        "budget": rule.budget,
        "source_rows": histogram.rows,
        "people": histogram.people,
        "columns": [column.name for column in columns],
        "positions": [column.positions for column in columns],
        "weights": [column.weight / whole for column in columns],
        "costs": [ATOMS, *(metric.key for metric in further)],
        "wholes": [*wholes, *(each for metric in further for each in metric.wholes)],
        "tuples": float(tuples) if costs.tuples else None,
        "asked_for": [metric.key for metric in asked],
        "models": [" ".join(filter(None, (model.key, model.column))) for model in models],
        "limits": [model.limit for model in models],
        "at_least": [model.at_least for model in models],
        "strict": [model.strict for model in models],
    }
    if search is None:
        return account
    account |= {
        "method": search.method,
        "seed": search.seed,
        "settings": json.dumps(search.settings, default=str, sort_keys=True),
        "k": search.k,
        "required_k": search.required_k,
    }
    wish = search.preference
    if wish is not None:
        account |= {
            "loss_by": wish.loss_by,
            "bias_by": wish.bias_by,
            "preferred_loss": wish.loss,
            "preferred_bias": wish.bias,
            "loss_weight": wish.weight,
        }
    return account


class Basis(NamedTuple):
    """What measurements depend on beside the scheme, as fingerprints; no label is ''."""

    histogram: str
    label: str
    demands: str


class Stored(NamedTuple):
    """A measurement in the tables: the run that made it, and which one of that run it is."""

    run: int
    number: int
    scheme: bytes
    measured: Measurement

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        return self.measured.nbytes + len(self.scheme)


class Workspace:
    """The tables of measurements.

    In memory, or in the file `path`, which forgets runs that are older than `days`. The file is
    opened when it is first needed; where it cannot be written, the tables are in memory,
    `failure` says why, and `note` what follows for a search.
    """

    def __init__(self, path: str | Path | None = None, days: float = KEPT_DAYS) -> None:
        self.path = None if path is None else Path(path)
        self.note: str | None = None
        self.failure: str | None = None
        self._days = days
        self._lock = threading.RLock()
        self._asking = threading.RLock()  # taken before the other, which it leaves to a search
        self._tracer = Tracer()
        self._runs: dict[int, dict[str, Any]] = {}
        self._pending: list[Stored] = []
        self._recalled: list[tuple[int, int, int]] = []
        self._uncompressed = 0
        self._has_view = False
        self._opened: duckdb.DuckDBPyConnection | None = None

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @property
    def is_file(self) -> bool:
        """Whether the tables outlive the process."""
        return self.path is not None

    @property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        if self._opened is None and self.path is not None:
            self._opened = self._open(self.path)
        if self._opened is None:
            self._opened = _in_memory()
        return self._opened

    def begin(self, basis: Basis, account: Mapping[str, Any]) -> int:
        """Adds a run, and returns its number; `account` has columns of `run`."""
        now = dt.datetime.now(dt.UTC).replace(tzinfo=None)
        row = {**basis._asdict(), **account, "started": now, "forgotten": 0}
        with self._lock:
            run = self._in_file_or_memory(lambda: self._begin(row))
            self._runs[run] = row
            return run

    def _begin(self, row: Mapping[str, Any]) -> int:
        taken = None
        while True:
            ((run,),) = self._connection.execute(NEXT_RUN).fetchall()
            try:
                self._add_run(run, row)
            except duckdb.ConstraintException:
                if run == taken:
                    raise  # something else is wrong with the row
                taken = run  # by another workspace of this process
                continue
            return int(run)

    def _add_run(self, run: int, row: Mapping[str, Any]) -> None:
        values = {"run": run, **row}
        statement = ADD_RUN.format(", ".join(values), ", ".join("?" * len(values)))
        self._change(statement, *values.values())

    def end(
        self,
        run: int,
        seconds: float,
        stopped: str,
        effort: Mapping[str, int],
        solutions: Collection[tuple[bytes, int]],
    ) -> None:
        """Says how a run ended, and which schemes it lists, each with the k it is scored for."""
        counts = (effort["asked"], effort["distinct"], effort["recalled"])

        def write() -> None:
            self._change(END, seconds, stopped, *counts, run)
            if solutions:
                schemes, belows = map(list, zip(*solutions, strict=True))
                self._change(ADD_SOLUTIONS, run, schemes, belows)

        with self._lock:
            self.flush()
            if run in self._runs:
                self._in_file_or_memory(write)

    def put(self, stored: Stored) -> None:
        """Keeps a measurement; it is written together with others."""
        with self._lock:
            self._pending.append(stored)
            if len(self._pending) >= FLUSH_EVERY:
                self.flush()

    def recall(self, run: int, measured_by: int, number: int) -> None:
        """Keeps that a run used the measurement of another one."""
        with self._lock:
            self._recalled.append((run, measured_by, number))
            if len(self._recalled) >= FLUSH_EVERY:
                self.flush()

    def flush(self) -> None:
        """Writes what is new to the tables."""
        with self._lock:
            if self._pending or self._recalled:
                self._in_file_or_memory(self._flush)

    def _flush(self) -> None:
        if self._pending:
            table = _table(self._pending)
            self._connection.register("incoming", table)
            try:
                self._change(ADD_MEASUREMENTS)
            finally:
                self._connection.unregister("incoming")
            self._uncompressed += table.nbytes
            self._pending.clear()
        if self._recalled:
            self._change(ADD_RECALLED, *map(list, zip(*self._recalled, strict=True)))
            self._recalled.clear()
        if not self.is_file and self._uncompressed > COMPRESS_EVERY:
            self._make_room()

    def _make_room(self) -> None:
        """Compresses the tables in memory, and removes the older half where they are too large."""
        self._uncompressed = 0
        self._change("CHECKPOINT")
        ((taken,),) = self._connection.execute(TAKEN).fetchall()
        if taken > MOST_BYTES:
            ((middle,),) = self._connection.execute(MIDDLE).fetchall()
            for statement in FORGET:
                self._change(statement, middle)
            self._change("CHECKPOINT")

    def count(self, basis: Basis) -> int:
        """How many measurements of these histogram, label and demands the file holds."""
        if not self.is_file:
            return 0
        with self._lock:
            return int(self._in_file_or_memory(lambda: self._rows(COUNT, *basis))[0]["n"])

    def read(self, basis: Basis) -> list[Stored]:
        """All measurements of these histogram, label and demands."""
        with self._lock:
            return list(map(_stored, self._in_file_or_memory(lambda: self._rows(ALL, *basis))))

    def find(self, basis: Basis, schemes: Sequence[bytes]) -> list[Stored]:
        """The measurements of some schemes; one may have several, in different detail."""
        with self._lock:
            rows = self._in_file_or_memory(lambda: self._rows(FIND, *basis, schemes))
            return list(map(_stored, rows))

    def query(self, sql: str) -> pa.Table:
        """What a SELECT over the tables yields, also while a search runs.

        The SQL is the user's. It can read these tables alone: files, network and Python's
        variables are out of its reach, and the transaction is for reading only.
        """
        with self._asking:
            with self._lock:
                self.flush()
                cursor = self._cursor()
            return self._answer(cursor, sql)

    def _answer(self, cursor: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
        try:
            with cursor:
                statements = cursor.extract_statements(sql)
                if [each.type for each in statements] != [duckdb.StatementType.SELECT]:
                    raise EngineError("A query of evaluations is one SELECT, nothing else.")
                cursor.execute("BEGIN TRANSACTION READ ONLY")
                with keeping_interrupts(), self._tracer.running(sql) as running:
                    found: pa.Table = cursor.sql(sql).to_arrow_table()
                    running.rows = len(found)
                return found
        except duckdb.Error as error:
            raise self._refusal(error) from error

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        """A connection of its own to the tables and the view, for the SQL of the user."""
        try:
            cursor = _closed_in(self._connection.cursor())
            if not self._has_view:
                cursor.execute(view_sql())
                self._has_view = True
        except duckdb.Error as error:
            raise self._refusal(error) from error
        return cursor

    def _refusal(self, error: duckdb.Error) -> EngineError:
        """What is wrong with a query of the user, or with the file that it reads."""
        if self.path is not None and _is_damage(error):
            return _damage(self.path)
        said = str(error).strip().split("\n\n")[0]
        return EngineError(f"The query of evaluations fails. {said}")

    def close(self) -> None:
        """Writes what is new and closes the tables, after a query that still runs.

        Those in memory are gone.
        """
        with self._asking, self._lock:
            try:
                self.flush()
            finally:
                if self._opened is not None:
                    self._opened.close()

    def _rows(self, statement: str, *arguments: object) -> list[dict[str, Any]]:
        with keeping_interrupts(), self._tracer.running(statement) as running:
            found = self._connection.execute(statement, list(arguments)).fetchall()
            running.rows = len(found)
        names = [column[0] for column in self._connection.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found]

    def _change(self, statement: str, *arguments: object) -> None:
        with keeping_interrupts(), self._tracer.running(statement):
            connection = self._connection
            if self.path is not None:
                _make_log(self.path)
            connection.execute(statement, list(arguments))

    def _in_file_or_memory(self, work: Callable[[], T]) -> T:
        """Reads or writes; where the file fails, the tables go on in memory."""
        try:
            return work()
        except duckdb.Error as error:
            if self.path is None:
                raise
            self._fall_back(_reason(error))
            return work()

    def _fall_back(self, reason: str) -> None:
        """Goes on in memory, with the runs that have begun and without what they measured."""
        self._note(reason)
        if self._opened is not None:
            with suppress(duckdb.Error):
                self._opened.close()
        self._opened, self._has_view = _in_memory(), False
        for run, row in self._runs.items():
            self._add_run(run, row)

    def _note(self, reason: str) -> None:
        self.failure = f"workspace {self.path}: {reason}"
        self.note = f"{self.failure}; measurements are kept in memory until the end"
        self.path = None

    def _open(self, path: Path) -> duckdb.DuckDBPyConnection | None:
        """The file with its tables; None, and a note, where it cannot be used now."""
        try:
            refuse_other_database(path)
            _make_folder(path)
            connection = _connected(path)
            path.chmod(0o600)  # before anything is in a new one; an older one may be open to others
        except (duckdb.IOException, duckdb.ConnectionException, OSError) as error:
            self._note(_reason(error))
            return None
        except duckdb.Error as error:
            raise explain_opening(error, path) from error
        contents = connection.execute(CONTENTS).fetchall()
        _make_log(path)
        if contents == [(VIEW, name) for name in FORMER]:
            self.note = (
                f"workspace {path}: was made by an older version of sqlanon, whose measurements "
                "cannot be read; they are removed, and made anew"
            )
            connection.execute(f"DROP TABLE {VIEW}")
        elif any(each not in layout() for each in contents if each[0] != VIEW) or (
            contents and not set(layout()) <= set(contents)
        ):
            connection.close()
            raise EngineError(
                f"Workspace {path} was not made by this version of sqlanon; it is left as it is. "
                "Name a file that does not exist yet, or delete this one if another version of "
                "sqlanon made it."
            )
        _create(connection)
        connection.execute(view_sql())
        self._has_view = True
        self._forget_old(connection, path)
        return connection

    def _forget_old(self, connection: duckdb.DuckDBPyConnection, path: Path) -> None:
        """Removes the runs that are too old, and what they measured."""
        limit = dt.datetime.now(dt.UTC).replace(tzinfo=None) - dt.timedelta(days=self._days)
        ((removed,),) = connection.execute(OLD, [limit]).fetchall()
        if removed:
            for table in TABLES[1:]:
                _make_log(path)
                connection.execute(ORPHANS.format(table))
            connection.execute("CHECKPOINT")


def _connected(path: Path) -> duckdb.DuckDBPyConnection:
    if path.is_file() and not path.stat().st_size:
        path.unlink()  # as mktemp makes it; DuckDB takes no such file for a database
    return _closed_in(duckdb.connect(path, config=CONFIG))


def _in_memory() -> duckdb.DuckDBPyConnection:
    # Without a folder for spilled data nothing of it touches the disk.
    connection = _closed_in(duckdb.connect(":memory:", config={**CONFIG, "temp_directory": ""}))
    _create(connection)
    return connection


def _closed_in(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Takes the variables of Python out of a connection's reach."""
    connection.execute("SET python_enable_replacements = false")
    return hide_progress_bar(connection)


def _create(connection: duckdb.DuckDBPyConnection) -> None:
    for table in TABLES:
        connection.execute(render(f"workspace/{table}.sql"))


@cache
def layout() -> list[tuple[str, str]]:
    """The tables and columns of a workspace."""
    with duckdb.connect(":memory:") as connection:
        _create(connection)
        return [(str(table), str(name)) for table, name in connection.execute(CONTENTS).fetchall()]


def view_sql() -> str:
    """The statement that makes the view `evaluation`, with a column for every registered score."""
    scores = {
        name: _if_asked(key, _parsed(cell)) if key in further() else _parsed(cell)
        for key, metric in METRICS.items()
        for name, cell in metric.evaluation_columns().items()
    }
    return render(
        "workspace/evaluation.sql",
        scores=scores,
        names=list(scores),
        loss=_measure_named("loss"),
        bias=_measure_named("bias"),
        unbounded=UNBOUNDED,
    )


def _parsed(cell: str) -> exp.Expr:
    return sqlglot.parse_one(cell, read=NATIVE)


def _if_asked(key: str, cell: exp.Expr) -> exp.Expr:
    """A measure that only some runs ask for."""
    asked = exp.Anonymous(
        this="list_contains", expressions=[exp.column("asked_for"), exp.Literal.string(key)]
    )
    return exp.Case(ifs=[exp.If(this=asked, true=cell)])


def _measure_named(kind: str) -> exp.Expr:
    """The measure that the preference of a run names, on the scale from 0 to 1."""
    chosen = exp.Case(this=exp.column(f"{kind}_by"))
    for key, metric in METRICS.items():
        if metric.kind == kind:
            chosen = chosen.when(
                exp.Literal.string(key), _parsed(metric.scaled_evaluation_sql or key)
            )
    return chosen


def _table(stored: Sequence[Stored]) -> pa.Table:
    """The rows of `measurement` for some measurements."""
    measured = [each.measured for each in stored]
    flat, lengths = {}, {}
    for name in LISTS:
        arrays = [getattr(m, name) for m in measured]
        lengths[name] = np.array([0 if a is None else a.size for a in arrays], dtype=np.int32)
        if lengths[name].any():
            flat[name] = np.concatenate([a.ravel() for a in arrays if a is not None])
    derived = {
        "rows": np.array_equal(flat["rows"], flat["size"] * flat["classes"]),
        "rows_squared": np.array_equal(flat["rows_squared"], flat["size"] * flat["rows"]),
        "bad": not flat["bad"].any(),
    }
    missing = {name for name, is_derived in derived.items() if is_derived}
    columns = {
        "run": _numbers(np.array([each.run for each in stored], dtype=np.int32)),
        "number": _numbers(np.array([each.number for each in stored], dtype=np.int32)),
        "scheme": _binary([each.scheme for each in stored]),
        "below": _numbers(np.array([m.detail.below for m in measured], dtype=np.int64)),
        "budget": _numbers(np.array([m.detail.budget for m in measured], dtype=np.int64)),
        **{name: _lists(flat[name], lengths[name]) for name in flat if name not in missing},
    }
    return pa.Table.from_arrays(list(columns.values()), list(columns))


# The arrays are made from buffers: pa.array() imports pandas, which takes longer than a search
# that writes them may wait.


def _numbers(values: npt.NDArray[Any]) -> pa.Array:
    values = np.ascontiguousarray(values)
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def _offsets(lengths: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def _binary(texts: Sequence[bytes]) -> pa.Array:
    offsets = _offsets(np.array([len(each) for each in texts], dtype=np.int32))
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(texts))]
    return pa.Array.from_buffers(pa.binary(), len(texts), buffers)


def _lists(values: npt.NDArray[Any], lengths: npt.NDArray[np.int32]) -> pa.Array:
    """A column of lists, which stand end to end in `values`; NULL for those without an entry."""
    is_there = None
    if not lengths.all():
        is_there = pa.py_buffer(np.packbits(lengths > 0, bitorder="little"))
    kind = pa.list_(pa.from_numpy_dtype(values.dtype))
    buffers = [is_there, pa.py_buffer(_offsets(lengths))]
    return pa.Array.from_buffers(kind, len(lengths), buffers, children=[_numbers(values)])


def _stored(row: Mapping[str, Any]) -> Stored:
    known: dict[str, npt.NDArray[Any]] = {
        name: np.array(row[name], dtype=kind)
        for name, kind in LISTS.items()
        if row[name] is not None
    }
    size, width = known["size"], len(known["loss"])
    rows = known.get("rows", size * known["classes"])
    small, reached = known.get("small_loss"), known.get("reached")
    derived: dict[str, Any] = {
        "rows": rows,
        "rows_squared": size * rows,
        "minority": None,
        "bad": np.zeros_like(size),
        "ambiguity": None,
    }
    shaped = {
        "small_loss": np.zeros((0, width), np.int64) if small is None else small.reshape(-1, width),
        "reached": np.zeros((len(size), 0)) if reached is None else reached.reshape(len(size), -1),
    }
    measured = Measurement(**derived | known | shaped, detail=Detail(row["below"], row["budget"]))
    return Stored(row["run"], row["number"], row["scheme"], measured)


def refuse_other_database(path: Path) -> None:
    """Refuses a file that is there and no workspace; it is only read, so it stays as it is."""
    if path.is_dir():
        raise EngineError(f"Workspace {path} is a folder; name a file in it.")
    folder = path.absolute().parent
    if not folder.is_dir() and not folder.parent.is_dir():
        raise EngineError(f"Workspace {path}: there is no folder {folder.parent} to make it in.")
    with suppress(PermissionError):  # a note says so where it is opened
        refuse_other_files(path)
        if not path.is_file() or not path.stat().st_size:
            return
    try:
        with duckdb.connect(path, read_only=True) as connection:
            tables = {name for name, _ in connection.execute(CONTENTS).fetchall()}
    except duckdb.ConnectionException:
        return  # this process has it open for writing; only another workspace can share that
    except duckdb.Error as error:
        if _is_damage(error):
            raise _damage(path) from error
        if isinstance(error, duckdb.IOException) and "not a valid" not in str(error):
            return  # in use or unreadable: a note says so where it is opened
        raise explain_opening(error, path) from error
    if tables - {*TABLES, VIEW}:
        raise EngineError(
            f"Workspace {path} is a database with tables of its own, and no workspace; it is left "
            "as it is. Name a file that does not exist yet."
        )


def is_workspace(contents: Sequence[tuple[str, str]]) -> bool:
    """Whether a database with these `CONTENTS` holds measurements and nothing else."""
    of_tables = [each for each in contents if each[0] != VIEW]
    return of_tables == layout() or list(contents) == [(VIEW, name) for name in FORMER]


def _make_folder(path: Path) -> None:
    """Makes the folder of a workspace, for its owner only and out of Git's sight."""
    folder = path.absolute().parent
    if not folder.is_dir():
        folder.mkdir(mode=0o700)
        (folder / IGNORES).write_text(EVERYTHING, encoding="utf-8")


def remove_own_folder(path: Path) -> list[Path]:
    """Removes the folder that was made for a workspace, if nothing else is in it."""
    folder = path.absolute().parent
    ignores = folder / IGNORES
    if [each.name for each in folder.iterdir()] != [IGNORES]:
        return []
    if ignores.read_text(encoding="utf-8", errors="replace") != EVERYTHING:
        return []
    ignores.unlink()
    folder.rmdir()
    return [folder]


def _is_damage(error: Exception) -> bool:
    """Whether an error says that a file is not as DuckDB left it."""
    return any(sign in str(error).lower() for sign in SIGNS_OF_DAMAGE)


def _damage(path: Path) -> EngineError:
    return EngineError(
        f"Workspace {path} is damaged. It only keeps measurements: delete it, and they are made "
        "anew."
    )


def _reason(error: Exception) -> str:
    """Why a file cannot be used, in a few words."""
    if "Could not set lock" in str(error):
        return "is open in another process"
    if _is_damage(error):
        return "is damaged; delete it, and measurements are made anew"
    if isinstance(error, OSError):
        return f"cannot be written ({error.strerror})"
    return f"cannot be written ({str(error).strip().splitlines()[0]})"


def _make_log(path: Path) -> None:
    """Makes the log of a file before DuckDB does, readable for its owner only.

    It holds class sizes of a table that may be private. DuckDB removes it with each checkpoint,
    and makes it anew as the process's umask says, which belongs to the caller and all threads.
    """
    with suppress(OSError):  # it is there, or DuckDB says what is wrong
        os.close(os.open(f"{path}.wal", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
