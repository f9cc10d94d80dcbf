"""A DuckDB file copied into a new one, without the rows that its unused space still holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.engines.duckdb_catalog import Row
from sqlanon.engines.protocol import UNCHANGED
from sqlanon.errors import PublishError
from sqlanon.render import render, render_text

if TYPE_CHECKING:
    from sqlanon.engines.duckdb import DuckDBEngine

_OLD, _NEW = "sqlanon_old", "sqlanon_new"


class CopiedFile:
    """A database file and its copy, attached to one engine, see `DatabaseCopy`.

    The former file is open for writing although nothing is written: then no other process has
    it open, and none can change it until the new one is in its place.
    """

    def __init__(self, engine: DuckDBEngine, old: Path, new: Path) -> None:
        self.engine, self._old = engine, old
        engine.attach(old, read_only=False, name=_OLD)
        self._run("CHECKPOINT {{ old | identifier }}")
        self.size = old.stat().st_size
        (settings,) = self._fetch("engines/block_size.sql", _OLD)
        self._run(
            "ATTACH {{ path | literal }} AS {{ new | identifier }} (BLOCK_SIZE {{ block_size }})",
            path=str(new),
            block_size=settings["block_size"],
        )

    def copy(self) -> None:
        self._run("COPY FROM DATABASE {{ old | identifier }} TO {{ new | identifier }}")

    def tables(self) -> list[tuple[exp.Table, exp.Table]]:
        before, after = (self._fetch("engines/objects.sql", name) for name in (_OLD, _NEW))
        if before != after:
            differing = {
                f"{row['kind']} {row['name']}"
                for one, other in ((before, after), (after, before))
                for row in one
                if row not in other
            }
            raise PublishError(
                f"The new file differs from {self._old} in: {', '.join(sorted(differing))}. "
                f"{UNCHANGED}"
            )
        names = [(row["name"], row["schema_name"]) for row in before if row["kind"] == "table"]
        return [
            (exp.table_(*name, _OLD, quoted=True), exp.table_(*name, _NEW, quoted=True))
            for name in names
        ]

    def finish(self) -> None:
        self._run("DETACH {{ new | identifier }}")

    def close(self) -> None:
        self.engine.close()

    def _run(self, template: str, **context: str | int) -> None:
        dialect = self.engine.dialect
        self.engine.run(render_text(template, dialect=dialect, old=_OLD, new=_NEW, **context))

    def _fetch(self, template: str, database: str) -> list[Row]:
        text = render(template, dialect=self.engine.dialect, database=database)
        rows: list[Row] = self.engine.fetch(text).to_pylist()
        return rows
