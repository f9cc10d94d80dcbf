"""Lists of values or intervals with their groups, which the source is joined with."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import takewhile

from sqlglot import exp

from sqlanon.compile.present import Cell
from sqlanon.compile.recipe import Generalized
from sqlanon.compile.values import (
    constant,
    last_value,
    takes_no_nan,
    value_literal,
    value_of,
)
from sqlanon.domain import IntervalDomain
from sqlanon.histogram.atoms import literal
from sqlanon.model import Value


@dataclass(frozen=True)
class Mapping:
    """A list that the source is joined with.

    At most one row of the list meets the condition, so the join keeps the number of rows.

    keys      the columns that the condition reads: values of the domain
    released  the columns with what is released
    nearest   a condition of the form value ≥ low: only the row with the greatest low that meets
              it can meet `condition` too. None for a list that is not to be read like this
    within    whether that row does; None where it always does
    """

    item: Generalized
    name: str
    keys: tuple[str, ...]
    released: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    condition: exp.Expr
    nearest: exp.Expr | None = None
    within: exp.Expr | None = None

    def tuples(self) -> list[exp.Tuple]:
        """The rows as SQL, made anew: two statements cannot share them."""
        found = []
        for row in self.rows:
            keys, released = row[: len(self.keys)], row[len(self.keys) :]
            values = [value_literal(self.item, key) for key in keys if key is not None]
            found.append(exp.Tuple(expressions=[*values, *map(constant, released)]))
        return found


def mapping_of_values(
    item: Generalized, groups: tuple[tuple[Cell, ...], ...], name: str, released: tuple[str, ...]
) -> Mapping:
    """One row a value."""
    domain = item.column.domain
    rows = tuple(
        (domain.left_ends[atom], *group)
        for (start, stop), group in zip(item.partition.runs, groups, strict=True)
        for atom in range(start, min(stop, domain.width))
    )
    value = exp.column("value", table=name, quoted=True)
    condition = exp.EQ(this=value_of(item), expression=value)
    return Mapping(item, name, ("value",), released, rows, condition)


def mapping_of_intervals(
    item: Generalized, groups: tuple[tuple[Cell, ...], ...], name: str, released: tuple[str, ...]
) -> Mapping:
    """One row a group, joined by low ≤ value < high.

    The last interval takes its right end too where it is closed, and a group of one value,
    whose low and high are the same, nothing but that. What lies beyond an open end is looked
    up as the nearest interval's start.
    """
    domain = item.column.domain
    runs = tuple(takewhile(lambda run: run[0] < domain.width, item.partition.runs))
    ends = [*domain.left_ends, last_value(item)]
    is_range = isinstance(domain, IntervalDomain)

    def is_wide(run: tuple[int, int]) -> bool:
        return is_range or run[1] - run[0] > 1

    rows: list[tuple[Cell, ...]] = []
    for run, group in zip(runs, groups, strict=False):
        low = ends[run[0]]
        rows.append((low, ends[run[1]] if is_wide(run) else low, *group))
    low_end, high_end = (exp.column(end, table=name, quoted=True) for end in ("low", "high"))
    place = _nearest(item, *(ends[run[0]] if is_wide(run) else None for run in (runs[0], runs[-1])))
    closed: list[exp.Expr] = []
    if not all(map(is_wide, runs)):
        closed.append(exp.EQ(this=low_end.copy(), expression=high_end.copy()))
    if is_wide(runs[-1]) and not item.is_open:
        end = value_literal(item, ends[-1])
        closed.append(exp.EQ(this=high_end.copy(), expression=end))
    conditions: list[exp.Expr] = [place >= low_end, place.copy() < high_end]
    if closed:
        at_most = place.copy() <= high_end.copy()
        conditions[1:] = [at_most, exp.or_(conditions[1], *closed)]
    if all(map(is_wide, runs)):
        nearest, within = _in_reach(item, ends[0], ends[-1]) >= low_end.copy(), None
    else:  # between single values lie others that belong to no group
        nearest, within = place.copy() >= low_end.copy(), place.copy() <= high_end.copy()
    condition = exp.and_(*conditions)
    return Mapping(item, name, ("low", "high"), released, tuple(rows), condition, nearest, within)


def mapping_of_spans(
    item: Generalized, groups: tuple[tuple[Cell, ...], ...], name: str, released: tuple[str, ...]
) -> Mapping:
    """One row a group, joined by low ≤ value < high; a single value is both ends itself.

    Between spans there may be gaps, so that the nearest start need not be that of the group.
    """
    assert item.spans is not None
    values = item.column.domain.left_ends
    rows: list[tuple[Cell, ...]] = []
    for (start, _), span, group in zip(item.partition.runs, item.spans, groups, strict=False):
        rows.append((*(span or (values[start], values[start])), *group))
    value = value_of(item)
    low, high = (exp.column(end, table=name, quoted=True) for end in ("low", "high"))
    inside: exp.Expr = value.copy() < high
    if None in item.spans:
        is_single = exp.EQ(this=low.copy(), expression=high.copy())
        inside = exp.and_(value.copy() <= high.copy(), exp.or_(inside, is_single))
    nearest = value >= low
    condition = exp.and_(nearest.copy(), inside.copy())
    return Mapping(item, name, ("low", "high"), released, tuple(rows), condition, nearest, inside)


def _nearest(item: Generalized, first: Cell, last: Cell) -> exp.Expr:
    """The value, moved to the start of an open outermost interval where it lies beyond."""
    value, ifs = value_of(item), []
    if item.is_open and first is not None:
        start = value_literal(item, first)
        ifs.append(exp.If(this=value.copy() < start, true=start.copy()))
    if item.is_open and last is not None:
        start = value_literal(item, last)
        above: exp.Expr = value.copy() >= start
        if takes_no_nan(item):
            above = exp.and_(above, value.copy() <= literal(float("inf")))
        ifs.append(exp.If(this=above, true=start.copy()))
    return exp.Case(ifs=ifs, default=value) if ifs else value


def _in_reach(item: Generalized, first: Value, end: Value) -> exp.Expr:
    """The value, NULL where it lies above the last interval, the lowest start below an open one.

    What lies below a closed first interval finds no start there.
    """
    value, ifs = value_of(item), []
    if item.is_open:
        start = value_literal(item, first)
        ifs.append(exp.If(this=value.copy() < start, true=start.copy()))
        if not takes_no_nan(item):
            return exp.Case(ifs=ifs, default=value)
    top = literal(math.inf) if item.is_open else value_literal(item, end)
    ifs.append(exp.If(this=value.copy() <= top, true=value))
    return exp.Case(ifs=ifs)
