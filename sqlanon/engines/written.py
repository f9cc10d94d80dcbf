"""CSV files whose columns are compared as they are written."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from sqlglot import exp

from sqlanon.engines.protocol import Kind, Source
from sqlanon.engines.registry import is_csv


def written(opened: Source, source: object, names: Collection[str]) -> Source:
    """Reads some columns of a CSV file as they are written; the quasi-identifiers, above all.

    A reader of the file tells 1.0 from 1.00, so one class must not hold both. People and
    sensitive values are compared by what they mean: counting one value as two would show a
    table safer than it is.
    """
    if not isinstance(source, str | Path) or "://" in str(source) or not is_csv(source):
        return opened
    return _with_dates(opened.engine.as_written(opened, source, names), opened, names)


def _with_dates(texts: Source, opened: Source, names: Collection[str]) -> Source:
    """Dates and times of a CSV file as such, because they have an order."""
    moments = (Kind.DATE, Kind.TIMESTAMP)
    types = {each.name: each.type for each in opened.columns if each.kind in moments}
    columns = [exp.column(each.name, quoted=True) for each in texts.columns]
    if not any(each.name in types and each.name not in names for each in columns):
        return texts
    read = [
        exp.cast(each, exp.DataType.build(types[each.name], dialect=opened.engine.dialect)).as_(
            each.name, quoted=True
        )
        if each.name in types and each.name not in names
        else each
        for each in columns
    ]
    relation = exp.select(*read).from_(texts.relation).subquery("source")
    return Source(texts.engine, relation, texts.name, texts.engine.columns(relation))
