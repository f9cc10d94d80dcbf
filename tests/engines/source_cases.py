"""What a source holds, for comparisons, and a name that no source may trip over."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.engines.protocol import Kind, Source

WEIRD = 'we"ird; DROP TABLE people; -- é\n'


def rows(source: Source) -> list[tuple[object, ...]]:
    table = source.engine.fetch(exp.select("*").from_(source.relation))
    return [tuple(row.values()) for row in table.to_pylist()]


def kinds(source: Source) -> dict[str, Kind | None]:
    return {column.name: column.kind for column in source.columns}
