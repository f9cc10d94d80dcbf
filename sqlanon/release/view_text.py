"""The text of a view, which everybody reads who reads the view.

It may name what the release shows, and what the policy declares: the values of a declared domain
or a hierarchy file, whether they occur or not. It must not name an observed value that no label
of a released row spells out. So

- a group of an observed domain that no released row is in is left out of the text. Its rows are
  left out of the view anyway, and stay left out should they become enough;
- groups of a mask, an interval or a step of the calendar are named by that, not by their values;
- where the text would have to list the values under a label, the view is refused.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlanon.domain import Cell, Generalized, cells, sort_key, spells_values, top_cell
from sqlanon.engines import Engine
from sqlanon.errors import CompileError, PublishError
from sqlanon.release.order import Order
from sqlanon.release.released_values import hides_unseen, keeps_values


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
    width = item.column.domain.width
    for number, ((start, stop), group) in enumerate(
        zip(item.partition.runs, cells(item), strict=True)
    ):
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
    groups: list[Cell] = [group[0] for group in cells(item)][: len(item.shown_runs)]
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
