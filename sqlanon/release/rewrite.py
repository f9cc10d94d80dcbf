"""A database file written anew, without the rows that its unused space still holds."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from sqlanon.audit import table_hash
from sqlanon.engines import UNCHANGED, DatabaseCopy, Source, copied_database
from sqlanon.errors import EngineError, PublishError
from sqlanon.files import PrivateFolder, finish_file, remove_dead_folders
from sqlanon.release.stage import Stages


@dataclass(frozen=True)
class Rewritten:
    """A database file that was written anew; sizes in bytes."""

    path: Path
    tables: int
    rows: int
    size_before: int
    size_after: int


def rewrite_database(
    path: str | Path,
    address: str | None = None,
    *,
    on_stage: Callable[[str], None] | None = None,
    memory: str | None = None,
) -> Rewritten:
    """Writes a database file anew beside itself and puts the new one in its place.

    `address` says of which engine the file is, unless it is the one of bare paths. The new file
    has the same tables, rows, views, macros, sequences, types, indexes, comments
    and permissions; if anything differs, or another process has the file open, it is refused
    with PublishError or EngineError and the file stays as it is. Close every connection of this
    process to the file first. The disk may keep the blocks of the former file for a while.
    """
    old = Path(path).resolve()
    if not old.is_file():
        raise EngineError(f"Database {path} does not exist.")
    stages = Stages(on_stage)
    stages.enter("preparing")
    remove_dead_folders(old.parent)
    with PrivateFolder(old.parent) as private:
        new = private.path / "rewritten"
        with closing(copied_database(address, old, new, memory)) as copied:
            done = _rewritten(copied, old, new, stages)
    stages.enter("rewritten", f"{done.rows:,} rows in {done.tables:,} tables")
    stages.finish()
    return done


def _rewritten(copied: DatabaseCopy, old: Path, new: Path, stages: Stages) -> Rewritten:
    stages.enter("copying")
    copied.copy()
    stages.enter("comparing")
    pairs = copied.tables()
    rows = sum(_compared_rows(copied, old, *pair) for pair in pairs)
    copied.finish()
    stages.enter("swapping", f"{rows:,} rows in {len(pairs):,} tables")
    _keep_owner(old, new)
    finish_file(new, old)
    return Rewritten(old, len(pairs), rows, copied.size, old.stat().st_size)


def _compared_rows(copied: DatabaseCopy, old: Path, table: exp.Table, other: exp.Table) -> int:
    """The number of rows of a table, after its copy was found to hold the same."""
    engine = copied.engine
    names = [column.name for column in engine.columns(table)]
    counts, hashes = [], []
    for each in (table, other):
        number = exp.select(exp.Count(this=exp.Star()).as_("n")).from_(each)
        counts.append(int(engine.fetch(number)["n"][0].as_py()))
        # Tables of a user may be of any size, with cells of any size: row by row.
        hashes.append(table_hash(Source.of(engine, each), names, grouped=False))
    if counts[0] != counts[1] or hashes[0] != hashes[1]:
        raise PublishError(
            f"The new file differs from {old} in the rows of table {table.name!r}. {UNCHANGED}"
        )
    return counts[0]


def _keep_owner(old: Path, new: Path) -> None:
    before, after = old.stat(), new.stat()
    if (before.st_uid, before.st_gid) != (after.st_uid, after.st_gid):
        try:
            shutil.chown(new, before.st_uid, before.st_gid)
        except OSError as error:
            raise PublishError(
                f"{old} belongs to another user or group, and the new file cannot be "
                f"given to them: {error.strerror}. {UNCHANGED}"
            ) from error
