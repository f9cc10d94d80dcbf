"""What a killed run leaves behind, found and removed."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path

from sqlanon.engines import PublishingEngine, remove_dead_folders
from sqlanon.publish.place import STAGE_COMMENT, STAGE_PREFIX
from sqlanon.render import render_text

_log = logging.getLogger("sqlanon.publish")


def remove_leftovers(engine: PublishingEngine, folders: Iterable[Path] = ()) -> list[str]:
    """Removes what killed runs have left; answers with its names.

    That is: private folders beside the engine's databases and in `folders`, spill files of a
    database that only this process has open, and staged tables that carry our mark (DuckDB
    leaves none, since they come and go in one transaction). What a living process uses stays.
    """
    removed: list[str] = []
    places = {path.parent for path in engine.database_files()} | set(folders)
    for folder in sorted(places):
        removed += [str(path) for path in remove_dead_folders(folder)]
    removed += _remove_files(engine.stale_spill_files())
    if not engine.in_transaction():
        for table in engine.tables_like(STAGE_PREFIX, STAGE_COMMENT):
            engine.run(render_text("DROP TABLE {{ table | sql }}", table=table))
            removed.append(".".join((table.catalog, table.db, table.name)))
    if removed:
        _log.info("removed %d leftovers of killed runs", len(removed))
    return removed


def _remove_files(paths: Iterable[Path]) -> list[str]:
    removed = []
    for path in paths:
        try:
            path.unlink()
        except OSError as error:
            _log.warning("the leftover %s cannot be removed: %s", path, error.strerror)
        else:
            removed.append(str(path))
    return removed
