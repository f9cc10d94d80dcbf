"""Measurements kept: in memory for the search, in a table for the next run.

The table is keyed by the fingerprints of histogram, demands and scheme. The first changes with
the data and the domains, the last is of decoded partitions and so changes with a hierarchy:
a stale measurement is never found, because its key is not asked for again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sqlanon import resources
from sqlanon.domain import Batch
from sqlanon.engines import Tracer
from sqlanon.engines.duckdb import hide_progress_bar
from sqlanon.engines.duckdb_errors import explain_opening, refuse_other_files
from sqlanon.engines.interrupts import keeping_interrupts
from sqlanon.errors import EngineError
from sqlanon.metrics import Detail, Measurement

FLUSH_EVERY = 2_000
MOST_BYTES = 2**27
"""About so much memory measurements may take; then the older half is forgotten.

A search seldom asks for a scheme again that it left long ago. The oldest go first, whenever they
were last asked for: the measurements of a query share their arrays, and only together do they
make room.
"""
TABLE = "evaluation"
"""The only table of a workspace."""
KEYS = ("histogram", "label", "demands", "scheme", "below", "budget")
CONTENTS = """
SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal
ORDER BY table_name, column_index
"""
"""Asks a database for all its tables and views, a row for every column."""
SELECT = "SELECT * FROM evaluation WHERE histogram = ? AND label = ? AND demands = ?"
INSERT = "INSERT OR REPLACE INTO evaluation BY NAME FROM incoming"
ARRAYS = ("loss", "size", "classes", "rows", "rows_squared", "minority", "small_loss", "bad")
REALS = ("reached", "ambiguity")


class Cache:
    """The measurements of one histogram, label and demands, kept in memory and, if one is given,
    in a workspace."""

    def __init__(
        self, histogram: str, label: str | None, demands: str, workspace: str | Path | None
    ) -> None:
        self._by_key: dict[bytes, Measurement] = {}
        self._bytes = 0
        keys = {"histogram": histogram, "label": label or "", "demands": demands}
        self._table = None if workspace is None else _Table(keys, workspace)

    def known(
        self, batch: Batch, rows: Mapping[bytes, int], detail: Detail
    ) -> dict[bytes, Measurement]:
        """The measurements that are known in enough detail, of schemes given by key and row."""
        found = {key: self._by_key[key] for key in rows if key in self._by_key}
        if self._table is not None and len(found) < len(rows):
            names = {batch.fingerprint(row): key for key, row in rows.items() if key not in found}
            for name, measured in self._table.find(list(names)).items():
                found[names[name]] = measured
                self._remember(names[name], measured)
        return {key: known for key, known in found.items() if known.detail.covers(detail)}

    def put(self, batch: Batch, row: int, measured: Measurement) -> None:
        self._remember(batch.keys[row], measured)
        if self._table is not None:
            self._table.put(batch.fingerprint(row), measured)

    def _remember(self, key: bytes, measured: Measurement) -> None:
        """Keeps a measurement in memory; what is forgotten for it would be measured again."""
        known = self._by_key.pop(key, None)
        self._by_key[key] = measured
        self._bytes += measured.nbytes - (0 if known is None else known.nbytes)
        if self._bytes > MOST_BYTES:
            for old in list(self._by_key)[: len(self._by_key) // 2]:
                del self._by_key[old]
            self._bytes = sum(kept.nbytes for kept in self._by_key.values())

    def flush(self) -> None:
        """Writes what is new to the workspace."""
        if self._table is not None:
            self._table.flush()

    def close(self) -> None:
        """Writes what is new to the workspace and closes it."""
        if self._table is not None:
            self._table.close()


class _Table:
    """The table `evaluation` of a workspace file, as far as it is about these keys."""

    def __init__(self, keys: dict[str, str], workspace: str | Path) -> None:
        self._keys = keys
        self._pending: dict[str, Measurement] = {}
        self._tracer = Tracer()
        self._connection = _open(Path(workspace))
        create = resources.path("sql", "evaluation_table.sql").read_text(encoding="utf-8")
        try:
            with _private_files(), self._tracer.running(create):
                self._connection.execute(create)
            with keeping_interrupts():
                self._stored = bool(self._rows("LIMIT 1"))
        except duckdb.Error as error:
            self._connection.close()
            raise EngineError(
                f"Workspace {workspace} was not made by this version of sqlanon. Give another "
                f"file, or delete this one. {str(error).splitlines()[0]}"
            ) from error

    def find(self, schemes: list[str]) -> dict[str, Measurement]:
        """What the table has of some schemes.

        A table that had nothing when it was opened is not asked: what has been written to it
        since then was in memory.
        """
        if not self._stored:
            return {}
        with keeping_interrupts():
            return self._rows("AND scheme IN (SELECT UNNEST(?))", schemes)

    def put(self, scheme: str, measured: Measurement) -> None:
        """Keeps a measurement; it is written behind, together with others."""
        self._pending[scheme] = measured
        if len(self._pending) >= FLUSH_EVERY:
            self.flush()

    def flush(self) -> None:
        """Writes what is new to the table."""
        if not self._pending:
            return
        count = len(self._pending)
        measured = list(self._pending.values())
        columns: dict[str, Any] = {
            **{name: pa.repeat(value, count) for name, value in self._keys.items()},
            "scheme": pa.array(list(self._pending)),
            "below": pa.array([m.detail.below for m in measured], pa.int64()),
            "budget": pa.array([m.detail.budget for m in measured], pa.int64()),
        }
        kinds = [(ARRAYS, pa.int64()), (REALS, pa.float64())]
        for name, kind in ((name, kind) for names, kind in kinds for name in names):
            lists = [getattr(m, name) for m in measured]
            columns[name] = pa.array(
                [None if a is None else a.ravel() for a in lists], pa.list_(kind)
            )
        self._connection.register("incoming", pa.table(columns))
        with keeping_interrupts(), _private_files(), self._tracer.running(INSERT):
            self._connection.execute(INSERT)
        self._connection.unregister("incoming")
        self._pending.clear()

    def close(self) -> None:
        self.flush()
        with _private_files():
            self._connection.close()

    def _rows(self, which: str, *arguments: object) -> dict[str, Measurement]:
        statement = f"{SELECT} {which}"
        with self._tracer.running(statement) as running:
            found = self._connection.execute(
                statement, [*self._keys.values(), *arguments]
            ).fetchall()
            running.rows = len(found)
        names = [d[0] for d in self._connection.description or ()]
        return {
            row["scheme"]: _measurement(row)
            for row in (dict(zip(names, r, strict=True)) for r in found)
        }


def _measurement(row: dict[str, Any]) -> Measurement:
    arrays = {name: _array(row[name], np.int64) for name in ARRAYS}
    arrays |= {name: _array(row[name], np.float64) for name in REALS}
    small, reached, sizes = arrays["small_loss"], arrays["reached"], len(row["size"])
    assert small is not None
    assert reached is not None
    arrays["small_loss"] = small.reshape(-1, len(row["loss"]))
    arrays["reached"] = reached.reshape(sizes, len(reached) // sizes)
    return Measurement(**arrays, detail=Detail(row["below"], row["budget"]))  # type: ignore[arg-type]


def _array(values: list[Any] | None, kind: type) -> npt.NDArray[Any] | None:
    return None if values is None else np.array(values, dtype=kind)


def refuse_other_database(path: Path) -> None:
    """Refuses a file that is there and no workspace; it is only read, so it stays as it is."""
    if path.is_dir():
        raise EngineError(f"Workspace {path} is a folder; name a file in it.")
    if not path.absolute().parent.is_dir():
        raise EngineError(f"Workspace {path}: there is no folder {path.parent} to make it in.")
    refuse_other_files(path)
    if not path.is_file() or not path.stat().st_size:
        return
    try:
        with duckdb.connect(path, read_only=True) as connection:
            tables = {name for name, _ in connection.execute(CONTENTS).fetchall()}
    except duckdb.ConnectionException:
        return  # this process has it open for writing; only another workspace can share that
    except duckdb.Error as error:
        if "corrupt" in str(error).lower():
            raise EngineError(
                f"Workspace {path} is damaged. It only keeps measurements: delete it, and they "
                "are made anew."
            ) from error
        raise explain_opening(error, path) from error
    if tables - {TABLE}:
        raise EngineError(
            f"Workspace {path} is a database with tables of its own, and no workspace; it is left "
            "as it is. Name a file that does not exist yet."
        )


def is_workspace(contents: Sequence[tuple[str, str]]) -> bool:
    """Whether a database with these `CONTENTS` holds measurements and nothing else."""
    return list(contents) == [(TABLE, name) for name in (*KEYS, *ARRAYS, *REALS)]


def _open(path: Path) -> duckdb.DuckDBPyConnection:
    refuse_other_database(path)
    if path.is_file() and not path.stat().st_size:
        path.unlink()  # as mktemp makes it; DuckDB takes no such file for a database
    try:
        with _private_files():
            connection = hide_progress_bar(duckdb.connect(path, config={"threads": 1}))
    except duckdb.Error as error:
        raise explain_opening(error, path) from error
    path.chmod(0o600)  # an older file may be open to others
    return connection


@contextmanager
def _private_files() -> Iterator[None]:
    """Makes the files of DuckDB, its log too, readable for their owner only.

    They hold class sizes of a table that may be private.
    """
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)
