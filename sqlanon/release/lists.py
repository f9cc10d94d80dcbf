"""Lists of values and intervals that are too long for a statement, loaded as tables instead.

A list of more than MOST_WRITTEN rows is put into a temporary table before the statements that
join it, and dropped in the same transaction. A view cannot read a temporary table: it keeps its
lists up to MOST_IN_VIEW rows, and is refused beyond that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from decimal import Decimal

import pyarrow as pa
from sqlglot import exp

from sqlanon.domain import Cell, Mode
from sqlanon.engines import Engine, has_nanoseconds
from sqlanon.errors import CompileError, EngineError
from sqlanon.release.generalize import MOST_WRITTEN, Mapping, written
from sqlanon.release.order import Order
from sqlanon.release.parts import Names
from sqlanon.release.tree_sql import TreeSql
from sqlanon.release.view_text import for_view
from sqlanon.render import render_text

MOST_OF_TREE = 1_000
"""A list of more regions or splits of a cut tree is loaded: each has a number per column."""
MOST_IN_VIEW = 50_000
"""A view is refused whose text would hold a longer list: it is parsed at every read."""

_CREATE = """\
-- sqlanon fills this table with {{ rows }} rows
CREATE TEMPORARY TABLE {{ table | sql }} (
{% for name, type in columns %}
  {{ name | identifier }} {{ type | sql }}{% if not loop.last %},{% endif %}

{% endfor %}
)"""
_DROP = "DROP TABLE {{ table | sql }}"


@dataclass(frozen=True)
class LoadedList:
    """A list of a column, and the table that holds its rows."""

    column: str
    table: exp.Table
    rows: pa.Table

    def create(self, dialect: str) -> str:
        """The statement that makes the table, with a comment that names its number of rows."""
        columns = [(field.name, _sql_type(field.type)) for field in self.rows.schema]
        count, table = self.rows.num_rows, self.table
        return render_text(_CREATE, dialect=dialect, table=table, rows=count, columns=columns)

    def drop(self, dialect: str) -> str:
        return render_text(_DROP, dialect=dialect, table=self.table)


def loaded_lists(order: Order, tables: Sequence[exp.Table]) -> tuple[Order, tuple[LoadedList, ...]]:
    """The order with its long lists in tables, one of `tables` for each, and what these hold.

    Raises CompileError where a view would have a list of more than MOST_IN_VIEW rows.
    """
    found: list[LoadedList] = []
    for column, mapping in _long_lists(order):
        if order.mode is Mode.VIEW:
            if len(mapping.rows) > MOST_IN_VIEW:
                raise CompileError(
                    f"column {column!r}: the view would list {len(mapping.rows):,} values in its "
                    f"text, and {MOST_IN_VIEW:,} is the most; take mode table, or a coarser domain"
                )
            continue
        rows = arrow_rows(mapping)
        if rows is not None:
            found.append(LoadedList(column, tables[len(found)], rows))
    return replace(order, loaded={each.column: each.table for each in found}), tuple(found)


def with_named_lists(order: Order, *, guarded: bool = False) -> Order:
    """An order to be shown: its long lists are read from tables that its header describes."""
    if guarded:
        return loaded_lists(for_view(replace(order, mode=Mode.VIEW)), ())[0]
    loaded, header = {}, list(order.header)
    for column, mapping in _long_lists(order):
        name = f"{column}_list"
        loaded[column] = exp.table_(name, quoted=True)
        columns = ", ".join((*mapping.keys, *mapping.released))
        header.append(
            f"reads the table {name!r} ({columns}): {len(mapping.rows):,} rows, too many to be "
            "written here; publish makes and fills such a table by itself"
        )
    return replace(order, loaded=loaded, header=tuple(header))


def _long_lists(order: Order) -> Iterator[tuple[str, Mapping]]:
    for item in order.generalized:
        if item.column.size <= MOST_WRITTEN or item.runs is not None:
            continue
        mapping = written(item, order, "list").mapping
        if mapping is not None and len(mapping.rows) > MOST_WRITTEN:
            yield item.name, mapping
    if order.tree is not None:
        for name, each in TreeSql(order, order.tree, Names(order.source)).lists:
            if len(each.rows) > MOST_OF_TREE:
                yield name, each


@contextmanager
def filled(engine: Engine, lists: Sequence[LoadedList]) -> Iterator[None]:
    """The tables of lists, which are there during the block."""
    try:
        for each in lists:
            engine.run(each.create(engine.dialect))
            engine.append(each.table, each.rows)
        yield
    except BaseException:
        # The transaction may have ended with the statement that failed, and the tables with it.
        for each in lists:
            with suppress(EngineError):
                if engine.details(each.table) is not None:
                    engine.run(each.drop(engine.dialect))
        raise
    for each in lists:
        engine.run(each.drop(engine.dialect))


def arrow_rows(mapping: Mapping) -> pa.Table | None:
    """The rows of a list in types that compare as its literals do; None where Arrow has none."""
    names = (*mapping.keys, *mapping.released)
    columns = list(zip(*mapping.rows, strict=True))
    in_nanoseconds = has_nanoseconds(mapping.item.type)
    try:
        arrays = [
            _array(values, in_nanoseconds=in_nanoseconds and name in mapping.keys)
            for name, values in zip(names, columns, strict=True)
        ]
    except (pa.ArrowException, OverflowError):
        return None
    if any(pa.types.is_decimal(each.type) and each.type.precision > 38 for each in arrays):
        return None
    return pa.Table.from_arrays(arrays, names)


def _array(values: Sequence[Cell], *, in_nanoseconds: bool) -> pa.Array:
    if in_nanoseconds:
        return pa.array(values, pa.timestamp("ns"))
    whole = [value for value in values if isinstance(value, int)]
    if whole and not -(2**63) <= min(whole) <= max(whole) < 2**63:
        return pa.array(map(Decimal, whole), pa.decimal128(38, 0))
    return pa.array(values)


_TYPES = (
    (pa.types.is_string, "text"),
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_integer, "bigint"),
    (pa.types.is_floating, "double"),
    (pa.types.is_date, "date"),
)


def _sql_type(type_: pa.DataType) -> exp.DataType:
    if pa.types.is_decimal(type_):
        return exp.DataType.build(f"DECIMAL({type_.precision}, {type_.scale})")
    if pa.types.is_timestamp(type_):
        plain = exp.DType.TIMESTAMP_NS if type_.unit == "ns" else exp.DType.TIMESTAMP
        return exp.DataType(this=plain if type_.tz is None else exp.DType.TIMESTAMPTZ)
    return exp.DataType.build(next(name for is_type, name in _TYPES if is_type(type_)))
