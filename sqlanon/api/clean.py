"""What sqlanon may have left on the disk, found and removed: it tells about people."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from sqlanon.engines import DuckDBEngine, remove_dead_folders
from sqlanon.engines.duckdb import open_database
from sqlanon.errors import EngineError
from sqlanon.evaluate.cache import ARRAYS, KEYS, TABLE
from sqlanon.publish import remove_leftovers

_SECONDS_TO_WRITE = 60.0
_COLUMNS = """
SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal
ORDER BY table_name, column_index
"""


def clean(paths: Iterable[str | Path]) -> list[str]:
    """Removes what killed runs and workspaces left behind; answers with what was removed.

    A folder loses the private folders and half-written certificates of processes that have
    died. A workspace, which is a DuckDB file with nothing but measurements, is removed. Any
    other DuckDB file loses the spill files and private folders beside it, and no table.
    """
    removed: list[str] = []
    for path in map(Path, paths):
        if path.is_dir():
            removed += _from_folder(path)
        elif path.is_file():
            removed += _from_database(path)
        else:
            raise EngineError(f"{path} is neither a folder nor a file.")
    return removed


def _from_folder(folder: Path) -> list[str]:
    removed = [str(path) for path in remove_dead_folders(folder)]
    for path in sorted(folder.glob(".sqlanon-*.tmp")):
        # A certificate is written in a moment; what is older was left by a killed process.
        if path.is_file() and time.time() - path.stat().st_mtime > _SECONDS_TO_WRITE:
            path.unlink(missing_ok=True)
            removed.append(str(path))
    return removed


def _from_database(path: Path) -> list[str]:
    engine = open_database(path, read_only=False)
    try:
        workspace = _is_workspace(engine)
        removed = [] if workspace else remove_leftovers(engine)
    finally:
        engine.close()
    if workspace:
        for file in (path, Path(f"{path}.wal")):
            if file.exists():
                file.unlink()
                removed.append(str(file))
    return removed


def _is_workspace(engine: DuckDBEngine) -> bool:
    """Whether the database holds measurements and nothing else, to the name of every column."""
    found = engine.fetch(_COLUMNS)
    tables, columns = (column.to_pylist() for column in found.columns)
    return set(tables) == {TABLE} and columns == [*KEYS, *ARRAYS]
