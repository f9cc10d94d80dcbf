"""The SQL of one generalized column: a CASE for few groups, a join against a list for many."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import takewhile

from sqlglot import exp

from sqlanon.compile.present import NOT_IN_SCHEME, Cell, cells, hides_unseen, keeps_values, top_cell
from sqlanon.compile.recipe import Generalized, Recipe
from sqlanon.compile.values import (
    constant,
    in_any_group,
    in_group,
    is_not_null,
    is_null,
    kept_value,
    last_value,
    takes_no_nan,
    value_literal,
    value_of,
)
from sqlanon.domain import IntervalDomain
from sqlanon.histogram.atoms import literal
from sqlanon.model import Form, Output, Value

MOST_CASES = 100
"""A CASE of more branches, or with more listed values, is written as a join instead: nobody
reads it, and for listed values the join is faster from about here on."""


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


@dataclass(frozen=True)
class Written:
    """A column as SQL.

    outputs  one expression a released column
    covered  whether the value belongs to a group; None where every value does
    mapping  the list that outputs or `covered` read, if they do
    """

    outputs: tuple[exp.Expr, ...]
    covered: exp.Expr | None = None
    mapping: Mapping | None = None


def written(
    item: Generalized, recipe: Recipe, mapping_name: str, *, standard: bool = False
) -> Written:
    """A generalized column as SQL; `mapping_name` is free for a list.

    `standard` leaves out the nearest row of lists, which not every database can find.
    """
    groups = cells(item)
    if item.takes_all:
        return Written(tuple(constant(c) for c in groups[0]))
    if keeps_values(item, recipe):
        return _kept(item, mapping_name)
    otherwise = _otherwise(item, recipe)
    if _is_joined(item):
        result = _joined(item, groups, otherwise, mapping_name, standard)
    else:
        result = _cases(item, groups, otherwise)
    if hides_unseen(item, recipe):
        return Written(result.outputs, None, result.mapping)
    return result


def _otherwise(item: Generalized, recipe: Recipe) -> exp.Expr:
    """What is written for a value that belongs to no group."""
    if item.output is not Output.LABEL:
        return exp.null()
    return exp.Literal.string(top_cell(item) if hides_unseen(item, recipe) else NOT_IN_SCHEME)


def _is_joined(item: Generalized) -> bool:
    domain = item.column.domain
    if not domain.width or (item.by_intervals and item.partition.runs[0][1] >= domain.width):
        return False  # one interval needs no list
    if item.form is not Form.AUTO:
        return item.form is Form.JOIN
    return (len(item.partition) if item.by_intervals else domain.width) > MOST_CASES


def _kept(item: Generalized, name: str) -> Written:
    domain, kept = item.column.domain, kept_value(item)
    # A long list inside a CASE, where such values are counted, is slow; a join is not.
    joined = item.form is Form.JOIN or (item.form is Form.AUTO and domain.width > MOST_CASES)
    if not joined or not domain.width:
        return Written((kept,), in_any_group(item))
    mapping = _mapping_of_values(item, ((),) * domain.size, name, ())
    return Written((kept,), _found(item, mapping), mapping)


def _cases(item: Generalized, groups: tuple[tuple[Cell, ...], ...], otherwise: exp.Expr) -> Written:
    conditions = [in_group(item, start, stop) for start, stop in item.partition.runs]
    outputs = [
        exp.Case(
            ifs=[
                exp.If(this=condition.copy(), true=constant(group[place]))
                for condition, group in zip(conditions, groups, strict=True)
            ],
            default=None if isinstance(otherwise, exp.Null) else otherwise.copy(),
        )
        for place in range(len(item.released_names))
    ]
    return Written(tuple(outputs), in_any_group(item))


def _joined(
    item: Generalized,
    groups: tuple[tuple[Cell, ...], ...],
    otherwise: exp.Expr,
    name: str,
    standard: bool,
) -> Written:
    """A range join for intervals, a mapping join for values."""
    domain = item.column.domain
    values_only = not isinstance(domain, IntervalDomain) and (
        not item.by_intervals or len(item.partition) == item.column.size
    )
    make = _mapping_of_values if values_only else _mapping_of_intervals
    # The ends of an interval are in its row already.
    own = item.output in (Output.LABEL, Output.MIDPOINT)
    mapping = make(item, groups if own else ((),) * len(groups), name, (item.output,) * own)
    if standard:
        mapping = replace(mapping, nearest=None, within=None)
    columns = (item.output,) if own else ("low", "high")[: len(item.released_names)]
    outputs = []
    for column, null in zip(columns, groups[-1], strict=True):
        output: exp.Expr = _of(mapping, column)
        default = None if isinstance(otherwise, exp.Null) else otherwise.copy()
        ifs = []
        if default is not None and domain.has_null:
            ifs.append(exp.If(this=is_null(value_of(item)), true=constant(null)))
        if mapping.within is not None:
            ifs.append(exp.If(this=mapping.within.copy(), true=output))
            output = exp.Case(ifs=ifs, default=default)
        elif default is not None:
            output = exp.Coalesce(this=output, expressions=[default])
            output = exp.Case(ifs=ifs, default=output) if ifs else output
        outputs.append(output)
    return Written(tuple(outputs), _found(item, mapping), mapping)


def _mapping_of_values(
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


def _mapping_of_intervals(
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


def _found(item: Generalized, mapping: Mapping) -> exp.Expr:
    found = is_not_null(_of(mapping, mapping.keys[0]))
    if mapping.within is not None:
        found = mapping.within.copy()
    return exp.or_(found, is_null(value_of(item))) if item.column.domain.has_null else found


def _of(mapping: Mapping, column: str) -> exp.Column:
    return exp.column(column, table=mapping.name, quoted=True)
