"""A database file written anew, without the rows that its unused space still holds."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon.audit import table_hash
from sqlanon.engines import UNCHANGED, Engine, Source, open_engine
from sqlanon.errors import EngineError, PublishError
from sqlanon.files import PrivateFolder, finish_file, remove_dead_folders
from sqlanon.release.stage import Stages
from sqlanon.render import NATIVE, render, render_text

_OLD, _NEW = "sqlanon_old", "sqlanon_new"


@dataclass(frozen=True)
class Rewritten:
    """A database file that was written anew; sizes in bytes."""

    path: Path
    tables: int
    rows: int
    size_before: int
    size_after: int


def rewrite_database(
    path: str | Path, *, on_stage: Callable[[str], None] | None = None
) -> Rewritten:
    """Writes a DuckDB file anew beside itself and puts the new one in its place.

    The new file has the same tables, rows, views, macros, sequences, types, indexes, comments
    and permissions; if anything differs, or another process has the file open, it is refused
    with PublishError or EngineError and the file stays as it is. Close every connection of this
    process to the file first. The disk may keep the blocks of the former file for a while.
    """
    target = Path(path).resolve()
    if not target.is_file():
        raise EngineError(f"Database {path} does not exist.")
    stages = Stages(on_stage)
    stages.enter("preparing")
    remove_dead_folders(target.parent)
    with PrivateFolder(target.parent) as private:
        engine = open_engine(None, folders=[target.parent], spill=private.path)
        try:
            done = _Rewriting(engine, target, private.path / "rewritten", stages).rewrite()
        finally:
            engine.close()
    stages.enter("rewritten", f"{done.rows:,} rows in {done.tables:,} tables")
    stages.finish()
    return done


class _Rewriting:
    def __init__(self, engine: Engine, old: Path, new: Path, stages: Stages) -> None:
        self._engine, self._old, self._new, self._stages = engine, old, new, stages

    def rewrite(self) -> Rewritten:
        engine = self._engine
        # Open for writing although nothing is written: then no other process has it open, and
        # none can change it until the new one is in its place.
        engine.attach(self._old, read_only=False, name=_OLD)
        self._run("CHECKPOINT {{ old | identifier }}")
        size = self._old.stat().st_size
        (settings,) = self._fetch(render("release/block_size.sql", database=_OLD))
        self._run(
            "ATTACH {{ path | literal }} AS {{ new | identifier }} (BLOCK_SIZE {{ block_size }})",
            path=str(self._new),
            block_size=settings["block_size"],
        )
        self._stages.enter("copying")
        self._run("COPY FROM DATABASE {{ old | identifier }} TO {{ new | identifier }}")
        self._stages.enter("comparing")
        tables, rows = self._compare()
        self._run("DETACH {{ new | identifier }}")
        self._stages.enter("swapping", f"{rows:,} rows in {tables:,} tables")
        self._keep_owner()
        finish_file(self._new, self._old)
        return Rewritten(self._old, tables, rows, size, self._old.stat().st_size)

    def _compare(self) -> tuple[int, int]:
        """The number of tables and rows, after both databases were found the same."""
        listed = [
            self._fetch(render("release/objects.sql", database=name)) for name in (_OLD, _NEW)
        ]
        if listed[0] != listed[1]:
            differing = {
                f"{row['kind']} {row['name']}"
                for one, other in (listed, listed[::-1])
                for row in one
                if row not in other
            }
            raise PublishError(
                f"The new file differs from {self._old} in: {', '.join(sorted(differing))}. "
                f"{UNCHANGED}"
            )
        tables = [row for row in listed[0] if row["kind"] == "table"]
        return len(tables), sum(self._compare_rows(row) for row in tables)

    def _compare_rows(self, row: dict[str, Any]) -> int:
        old, new = (
            exp.table_(row["name"], row["schema_name"], name, quoted=True) for name in (_OLD, _NEW)
        )
        names = [column.name for column in self._engine.columns(old)]
        counts = [
            self._fetch(exp.select(exp.Count(this=exp.Star()).as_("n")).from_(table))[0]["n"]
            for table in (old, new)
        ]
        # Tables of a user may be of any size, with cells of any size: row by row.
        hashes = [
            table_hash(Source.of(self._engine, table), names, grouped=False) for table in (old, new)
        ]
        if counts[0] != counts[1] or hashes[0] != hashes[1]:
            raise PublishError(
                f"The new file differs from {self._old} in the rows of table {row['name']!r}. "
                f"{UNCHANGED}"
            )
        return int(counts[0])

    def _keep_owner(self) -> None:
        before, after = self._old.stat(), self._new.stat()
        if (before.st_uid, before.st_gid) != (after.st_uid, after.st_gid):
            try:
                shutil.chown(self._new, before.st_uid, before.st_gid)
            except OSError as error:
                raise PublishError(
                    f"{self._old} belongs to another user or group, and the new file cannot be "
                    f"given to them: {error.strerror}. {UNCHANGED}"
                ) from error

    def _run(self, template: str, **context: str | int) -> None:
        text = render_text(template, dialect=NATIVE, old=_OLD, new=_NEW, **dict(context))
        self._engine.run(text)

    def _fetch(self, query: exp.Expr | str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self._engine.fetch(query).to_pylist()
        return rows
