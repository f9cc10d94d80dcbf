"""What a release lost, counted on the release itself rather than taken from the search."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from sqlanon.audit import Audit, Facts, Marked
from sqlanon.domain import Cell, Generalized, cells
from sqlanon.engines import Engine
from sqlanon.metrics import ReleaseCounts, recounted
from sqlanon.release.compile import compile_release
from sqlanon.release.order import Order
from sqlanon.release.parts import class_values
from sqlanon.release.plan import ReleasePlan
from sqlanon.release.released_values import keeps_values
from sqlanon.release.stage import SourceCounts
from sqlanon.render import render

Counts = Mapping[tuple[Cell, ...], int]
"""Rows by what a quasi-identifier holds: one value, or two bounds."""


def suppressed_rows(engine: Engine, plan: ReleasePlan, facts: Facts) -> dict[str, Counts]:
    """By column and value the suppressed rows; there are few, by the limit.

    They are the source's rows that the staged table does not hold, or holds marked: counted on
    both, whatever rule suppressed them. Rows with unseen values that are left out, as in every
    view, are not suppressed.
    """
    order = plan.order
    missing = facts.left_out > 0 or order.marker is not None
    if not missing or not (order.suppress or plan.guarded):
        return {}
    whole = replace(order, items=order.generalized, header=())
    select = compile_release(whole, guarded=plan.guarded, unsuppressed=True).select
    select.set("order", None)
    classes = {f"q{j}": value for j, (_, value) in enumerate(class_values(order))}
    query = render(
        "release/suppressed.sql",
        dialect=engine.dialect,
        classes=classes,
        rows=select.subquery("released"),
        staged=plan.stage,
    )
    *values, rows = (_cells(column) for column in engine.fetch(query).columns)
    found: dict[str, Counts] = {}
    at = 0
    for item in order.generalized:
        width = len(item.released_names)
        counts: Counter[tuple[Cell, ...]] = Counter()
        for *key, n in zip(*values[at : at + width], rows, strict=True):
            counts[tuple(key)] += n
        found[item.name] = counts
        at += width
    return found


def _cells(column: pa.ChunkedArray) -> list[Any]:
    """The values, with one NaN for all, so that it is found in a mapping."""
    values = column.to_pylist()
    return [math.nan if isinstance(v, float) and math.isnan(v) else v for v in values]


def released_rows(order: Order, facts: Facts) -> dict[str, Counts]:
    """By column and value the rows that are released; marked rows count as suppressed."""
    return {item.name: facts.held[item.released_names].unmarked for item in order.generalized}


def column_losses(order: Order, facts: Facts, source_rows: int) -> dict[str, float]:
    """Per column the mean of (|g|−1)/(|Σ|−1) over the source's rows, 1 for suppressed ones."""
    losses = {}
    for item in order.generalized:
        counts = facts.held[item.released_names].unmarked
        most = item.column.size - 1
        units, rows = 0, sum(counts.values())
        if not keeps_values(item, order):
            atoms = _atoms(item)
            units = sum(n * (atoms[key] - 1) for key, n in counts.items() if key in atoms)
            rows = sum(n for key, n in counts.items() if key in atoms)
        hidden = source_rows - rows  # left out, marked, or under the top label
        lost = (units + hidden * most) / (source_rows * most) if most else hidden / source_rows
        losses[item.name] = lost if source_rows else 0.0
    return losses


def _atoms(item: Generalized) -> dict[tuple[Cell, ...], int]:
    """How many atoms each group holds, by what is released for it."""
    sizes = [stop - start for start, stop in item.groups]
    return dict(zip(cells(item), sizes, strict=True))


def scores_of(
    order: Order,
    losses: Mapping[str, float],
    facts: Facts,
    source: SourceCounts,
    suppressed: int,
) -> dict[str, Any]:
    """The scores of docs/scores.md that follow from the release and the number of source rows."""
    audit, marked = facts.audited, facts.marked
    sizes = _sizes(audit, marked)
    squares = sum(each.size**2 * each.classes for each in audit.by_rows.sizes)
    counts = ReleaseCounts(
        source_rows=source.rows,
        source_people=source.people,
        suppressed=suppressed,
        losses=losses,
        weights={item.name: item.column.weight for item in order.generalized},
        smallest=min(sizes, default=0),
        largest=max(sizes, default=0),
        rows_squared=squares - marked.rows**2,
        of_majority=facts.of_majority,
    )
    return {
        "k": counts.smallest,
        "k_max": counts.largest,
        "classes": sum(sizes.values()),
        "suppressed": suppressed,
        **recounted(counts),
    }


def _sizes(audit: Audit, marked: Marked) -> dict[int, int]:
    """How many classes have how many people; marked rows are suppressed, so they are none."""
    sizes = {each.size: each.classes for each in audit.spread.sizes}
    if marked.rows and marked.people in sizes:
        sizes[marked.people] -= 1
    return {size: classes for size, classes in sizes.items() if classes}
