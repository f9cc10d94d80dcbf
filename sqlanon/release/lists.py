"""Values and intervals that the text of a release lists: too many, or not for its readers.

A list of more than MOST_WRITTEN rows is put into a temporary table before the statements that
join it, and dropped in the same transaction. A view cannot read a temporary table: it keeps its
lists up to MOST_IN_VIEW rows, and is refused beyond that.

Everybody who reads a view can read its text. It may name what the release shows, and what the
policy declares: the values of a declared domain or a hierarchy file, whether they occur or not. It
must not name an observed value that no label of a released row spells out. So

- a group of an observed domain that no released row is in is left out of the text. Its rows are
  left out of the view anyway, and stay left out should they become enough;
- groups of a mask, an interval or a step of the calendar are named by that, not by their values;
- where the text would have to list the values under a label, the view is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from decimal import Decimal

import pyarrow as pa
from sqlglot import exp

from sqlanon.domain import Cell, Generalized, Mode, sort_key, spells_values, top_cell
from sqlanon.engines import Engine
from sqlanon.errors import CompileError, EngineError, PublishError
from sqlanon.release.generalize import MOST_WRITTEN, Mapping, hides_unseen, keeps_values, written
from sqlanon.release.order import Order
from sqlanon.release.rows import Names
from sqlanon.release.tree_sql import TreeSql
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
        name = _name_of(column)
        loaded[column] = exp.table_(name, quoted=True)
        columns = ", ".join((*mapping.keys, *mapping.released))
        header.append(
            f"reads the table {name!r} ({columns}): {len(mapping.rows):,} rows, too many to be "
            "written here; publish makes and fills such a table by itself, `sqlanon sql --lists "
            "FOLDER` writes its rows to a file"
        )
    return replace(order, loaded=loaded, header=tuple(header))


def named_lists(order: Order) -> dict[str, pa.Table]:
    """The rows of the tables that the text of `with_named_lists` reads, by their names."""
    found = {}
    for column, mapping in _long_lists(order):
        rows = arrow_rows(mapping)
        if rows is None:
            raise CompileError(
                f"column {column!r}: its list of {len(mapping.rows):,} rows has values that no "
                "file can hold; take a coarser scheme"
            )
        found[_name_of(column)] = rows
    return found


def _name_of(column: str) -> str:
    return f"{column}_list"


def _long_lists(order: Order) -> Iterator[tuple[str, Mapping]]:
    for item in order.generalized:
        if item.column.size <= MOST_WRITTEN or item.boxes is not None:
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
    in_nanoseconds = mapping.item.has_nanoseconds
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


def for_view(order: Order) -> Order:
    """The order of a view; a CompileError names a column whose values its text would list."""
    items = [
        replace(item, in_view=True) if isinstance(item, Generalized) else item
        for item in order.items
    ]
    for item in items:
        if isinstance(item, Generalized):
            _refuse_hidden_values(item, order)
    return replace(order, items=tuple(items))


def _refuse_hidden_values(item: Generalized, order: Order) -> None:
    by_rule = item.by_intervals or item.spans is not None
    if not item.is_observed or item.takes_all or by_rule or keeps_values(item, order):
        return
    top = top_cell(item) if hides_unseen(item, order) else None
    width = item.width
    for number, ((start, stop), group) in enumerate(zip(item.runs, item.cells, strict=True)):
        if start == width or (top is not None and group == (top,)):
            continue
        if item.masks is not None and item.masks[number] is not None:
            continue
        label = group[0] if isinstance(group[0], str) else None
        if not spells_values(item.column, start, min(stop, width), label):
            raise CompileError(
                f"column {item.name!r}: the text of the view, which all its readers see, would "
                f"list the values under {label!r}. They are known from the data alone: declare "
                "them (`values`, `range` or a hierarchy file), choose a scheme that is a level "
                "of the hierarchy, or take mode table"
            )


def with_shown_groups(order: Order, engine: Engine, stage: exp.Table) -> Order:
    """The order of a view whose text names no group of observed values without a released row.

    `stage` holds the verified rows.
    """
    items = [
        _shown(item, order, engine, stage)
        if isinstance(item, Generalized) and item.is_observed and not item.takes_all
        else item
        for item in order.items
    ]
    return replace(order, items=tuple(items))


def _shown(item: Generalized, order: Order, engine: Engine, stage: exp.Table) -> Generalized:
    name = exp.column(item.name, quoted=True)
    released = engine.fetch(exp.select(name).distinct().from_(stage.copy()))
    found = {sort_key(each) for each in released.column(0).to_pylist() if each is not None}
    groups: list[Cell] = [group[0] for group in item.cells][: len(item.shown_runs)]
    if keeps_values(item, order):
        groups = [*item.column.domain.left_ends]
    top = top_cell(item) if hides_unseen(item, order) else None
    shown = {
        number
        for number, value in enumerate(groups)
        if value is not None and sort_key(value) in found
    }
    hidden = [value for n, value in enumerate(groups) if n not in shown and value != top]
    if hidden and top is not None:
        raise PublishError(
            f"column {item.name!r}: with `unseen: top` the text of the view would have to name "
            f"{len(hidden)} groups that the release does not show, to leave out what is in them; "
            "choose `unseen: leave_out`, or declare the values"
        )
    return replace(item, shown=frozenset(shown))
