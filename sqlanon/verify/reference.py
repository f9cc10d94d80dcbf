"""How the values of a sensitive column are distributed in the whole source of a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlanon.engines import ColumnInfo, Source
from sqlanon.errors import CheckError
from sqlanon.model import Kind
from sqlanon.render import render
from sqlanon.verify.keys import Key, keys_of
from sqlanon.verify.values import compared, people, person, value_text


@dataclass(frozen=True)
class Reference:
    """People by value, of one column of a table as a whole: what q_v is derived from.

    counts   by key (see verify.keys) how many people have the value in one of their rows; the
             number of rows where there is no subject. None is NULL
    """

    column: str
    kind: Kind
    counts: Mapping[Key, int]


def reference_of(source: Source, column: str, subject: str | None = None) -> Reference:
    """Counts a column of a whole table, on its own engine."""
    info = usable_column(source, column)
    assert info.kind is not None
    engine = source.engine
    query = render(
        "verify/values_of_table.sql",
        dialect=engine.dialect,
        source=source.relation,
        value=compared(info, engine.dialect),
        text=value_text(renamed(info, "v"), engine.dialect),
        people=people(None if subject is None else person(usable_column(source, subject))),
    )
    found = engine.fetch(query)
    keys = keys_of(found["t"].to_pylist(), info.kind)
    return Reference(column, info.kind, dict(zip(keys, found["n"].to_pylist(), strict=True)))


def usable_column(source: Source, name: str) -> ColumnInfo:
    """A column of a type that can be audited."""
    info = source.column(name)
    if info.kind is None:
        raise CheckError(
            f"column {name!r} has type {info.type}, which cannot be audited; "
            "cast it to text or a number in a query"
        )
    return info


def renamed(info: ColumnInfo, name: str) -> ColumnInfo:
    """The column as a subquery hands it on that has compared its values."""
    return replace(info, name=name)
