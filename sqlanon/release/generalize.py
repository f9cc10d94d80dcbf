"""A column's values as SQL: how they are compared, listed and bounded, and what is released."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass, replace
from itertools import groupby, takewhile
from typing import Any

from sqlglot import exp

from sqlanon.domain import (
    NOT_IN_SCHEME,
    Cell,
    Form,
    Generalized,
    IntervalDomain,
    Mask,
    Output,
    Span,
    Unseen,
    Value,
    ValueDomain,
    counted_value,
    decimal_digits,
    exact,
    format_value,
    literal,
    marking_problems,
    top_cell,
)
from sqlanon.engines import Kind, released_type
from sqlanon.errors import CompileError
from sqlanon.release.order import Order
from sqlanon.render import NATIVE


@dataclass(frozen=True)
class ReleasedColumn:
    """A quasi-identifier of the release and every value that it may hold."""

    name: str
    values: frozenset[Cell]


def keeps_values(item: Generalized, recipe: Order) -> bool:
    """Whether the column can keep its type: every value is a group, and nothing else is written.

    A top label or a marker beside the values makes it text, and so do the names of a level
    that min_level asks for, also where every value has one of its own.
    """
    return (
        item.output is Output.LABEL
        and isinstance(item.column.domain, ValueDomain)
        and item.boxes is None
        and len(item.runs) == item.column.size
        and item.column.min_level == 0
        and item.null_label is None
        and recipe.unseen is not Unseen.TOP
        and not (recipe.suppress and recipe.marker is not None)
    )


def is_text(item: Generalized, recipe: Order) -> bool:
    """Whether the column is released as text: a label, or values that were text already."""
    kept = keeps_values(item, recipe)
    return item.output is Output.LABEL and (not kept or item.column.domain.kind is Kind.TEXT)


def hides_unseen(item: Generalized, recipe: Order) -> bool:
    """Whether a value that belongs to no group is written as the top label; numbers have none."""
    return recipe.unseen is Unseen.TOP and item.output is Output.LABEL


def released(recipe: Order) -> tuple[ReleasedColumn, ...]:
    """The quasi-identifiers of the release with all values that they may hold."""
    found = []
    for item in recipe.generalized:
        groups = item.cells
        more: list[Cell] = []
        if hides_unseen(item, recipe) and not item.takes_all:
            more.append(top_cell(item))
        if recipe.suppress and recipe.marker is not None:
            more.append(recipe.marker)
        for place, name in enumerate(item.released_names):
            values = [group[place] for group in groups]
            if keeps_values(item, recipe):
                values = [*item.column.domain.left_ends]
                values += [None] if item.column.domain.has_null else []
            found.append(ReleasedColumn(name, frozenset([*values, *more])))
    return tuple(found)


def check_labels(recipe: Order, *, guarded: bool = False) -> None:
    """Refuses labels that the SQL of a release needs for something else.

    The label of values that belong to no group, the top label where it stands for them, and the
    marker of suppressed rows are the labels of no group. So the marker in one column tells
    already that a row is marked. `guarded` as for `compile_release`.
    """
    marker = recipe.marker if recipe.suppress or guarded else None
    if marker is not None:
        outputs = {item.name: item.output for item in recipe.generalized}
        for problem in marking_problems(outputs, in_view=guarded):
            raise CompileError(problem)
    if marker == NOT_IN_SCHEME:
        raise CompileError(f"suppression.marker: {NOT_IN_SCHEME!r} is reserved; choose another one")
    for item in recipe.generalized:
        labels = {cell for group in item.cells for cell in group}
        if hides_unseen(item, recipe) and not item.takes_all:
            labels.add(top_cell(item))
        if marker is not None and marker in labels:
            raise CompileError(
                f"suppression.marker: {format_value(marker)!r} is also a label of "
                f"column {item.name!r}; choose another marker"
            )


SOURCE = "source"


def cell(name: str) -> exp.Column:
    """A column of the source."""
    return exp.column(name, table=SOURCE, quoted=True)


def as_it_is(name: str, type_: str) -> exp.Expr:
    """A column of the source as it is, but not as an ENUM.

    Such a type lists every value, also those that the release does not hold.
    """
    value = cell(name)
    plain = released_type(type_, NATIVE)
    return value if plain is None else exp.cast(value, plain)


def value_of(item: Generalized) -> exp.Expr:
    """The source's value in the form in which atoms are compared.

    Texts are compared exactly: otherwise a reader of a view could join classes with
    SET default_collation = 'nocase'.
    """
    value = _counted(item)
    if item.column.domain.kind is Kind.TEXT:
        return exact(value)
    # Adding 0.0 makes -0.0 and 0.0 one text; comparisons know that anyway.
    return value.this if isinstance(value, exp.Add) else value


def kept_value(item: Generalized) -> exp.Expr:
    """The source's value as it is released, equal values spelled the same.

    A float has several: -0.0 is 0.0, and a NaN may carry a sign.
    """
    values = item.column.domain.left_ends
    if any(isinstance(v, float) and math.isnan(v) for v in values):
        nan = literal(math.nan)
        is_nan = exp.EQ(this=value_of(item), expression=nan)
        return exp.Case(ifs=[exp.If(this=is_nan, true=nan.copy())], default=_counted(item))
    return _counted(item)


def _counted(item: Generalized) -> exp.Expr:
    value = counted_value(item.name, item.column.domain.kind, item.type)
    for found in value.find_all(exp.Column):
        found.set("table", exp.to_identifier(SOURCE, quoted=True))
    return value


def value_literal(item: Generalized, value: Value) -> exp.Expr:
    """A value of the column's domain as a literal that equals it in the source."""
    if item.has_nanoseconds:  # a plain timestamp has microseconds
        return exp.cast(exp.Literal.string(format_value(value)), exp.DType.TIMESTAMP_NS)
    return literal(value)


def constant(value: Cell) -> exp.Expr:
    """A released value as SQL."""
    return exp.null() if value is None else literal(value)


def is_null(value: exp.Expr) -> exp.Expr:
    return exp.Is(this=_uncollated(value), expression=exp.null())


def is_not_null(value: exp.Expr) -> exp.Expr:
    return exp.Is(this=_uncollated(value), expression=exp.Not(this=exp.null()))


def _uncollated(value: exp.Expr) -> exp.Expr:
    """NULL has no collation."""
    return value.this if isinstance(value, exp.Collate) else value


def in_group(item: Generalized, start: int, stop: int) -> exp.Expr:
    """Whether the value lies in the group of atoms start..stop-1."""
    width = item.width
    if start == width:
        return is_null(value_of(item))
    if item.spans is not None or item.masks is not None:
        number = next(i for i, run in enumerate(item.runs) if run[0] == start)
        if item.spans is not None:
            return _in_span(item, start, item.spans[number])
        if item.masks is not None and (masks := item.masks[number]) is not None:
            masked = _in_masks(item, masks)
            return masked if stop <= width else exp.or_(masked, is_null(value_of(item)))
    inside = _inside(item, start, min(stop, width))
    return inside if stop <= width else exp.or_(inside, is_null(value_of(item)))


def in_any_group(item: Generalized) -> exp.Expr | None:
    """Whether the value belongs to a group, as shortly as that can be said; None: it does."""
    domain = item.column.domain
    found: list[exp.Expr] = []
    if item.shown is not None or item.masks is not None:
        found += _in_shown_groups(item)
    elif isinstance(domain, IntervalDomain):
        several = item.runs[0][1] < item.width
        if several and item.is_open and takes_no_nan(item):
            found.append(value_of(item) <= literal(math.inf))  # the last interval has no NaN
        else:
            found.append(_inside(item, 0, item.width))
    elif item.spans is not None:
        found += _in_spans(item, item.spans)
    elif item.by_intervals:
        found += _in_intervals(item)
    elif item.width:
        found.append(listed(item, range(item.width)))
    if not domain.has_null:
        return found[0] if len(found) == 1 else exp.or_(*found)
    if found == [is_not_null(value_of(item))]:
        return None
    return exp.or_(*found, is_null(value_of(item)))


def _in_shown_groups(item: Generalized) -> list[exp.Expr]:
    """One condition for each group that may be named, and one list of the single values."""
    several, single = [], []
    for number, run in enumerate(item.runs):
        if run not in item.shown_runs:
            continue
        by_mask = item.masks is not None and item.masks[number] is not None
        by_span = item.spans is not None and item.spans[number] is not None
        if run[1] - run[0] == 1 and not by_mask and not by_span:
            single.append(run[0])
        else:
            several.append(in_group(item, run[0], min(run[1], item.width)))
    found = [*several, *([listed(item, single)] if single else [])]
    return found or [exp.false()]


def _in_masks(item: Generalized, masks: tuple[Mask, ...]) -> exp.Expr:
    """Whether the value's text is masked like this; no masks are the one that hides all."""
    if not masks:
        return is_not_null(value_of(item))
    assert item.column.hierarchy is not None
    text = _counted(item)
    if item.column.domain.kind is not Kind.TEXT:
        text = exp.cast(text, "text")
    ends = exp.Left if item.column.hierarchy.masked_from == "right" else exp.Right
    found = []
    for length, kept in masks:
        condition: exp.Expr = exp.EQ(
            this=exp.Length(this=text.copy()), expression=exp.Literal.number(length)
        )
        if kept:
            end = ends(this=text.copy(), expression=exp.Literal.number(len(kept)))
            same = exp.EQ(this=exact(end), expression=exp.Literal.string(kept))
            condition = exp.and_(condition, same)
        found.append(condition)
    return exp.or_(*found)


def _in_intervals(item: Generalized) -> list[exp.Expr]:
    """Groups of several values beside each other are one interval, single values one list."""
    width = item.width
    runs = [(start, min(stop, width)) for start, stop in item.runs if start < width]
    found, single = [], []
    for is_single, beside in groupby(runs, key=lambda run: run[1] - run[0] == 1):
        found_here = list(beside)
        if is_single:
            single += [start for start, _ in found_here]
        else:
            found.append(_inside(item, found_here[0][0], found_here[-1][1]))
    return [*found, *([listed(item, single)] if single else [])]


def _in_spans(item: Generalized, spans: tuple[Span | None, ...]) -> list[exp.Expr]:
    """Spans beside each other are one, single values one list."""
    joined: list[Span] = []
    single = []
    for (start, _), span in zip(item.runs, spans, strict=False):
        if span is None:
            single.append(start)
        elif joined and joined[-1][1] is not None and joined[-1][1] == span[0]:
            joined[-1] = (joined[-1][0], span[1])
        else:
            joined.append(span)
    found = [_in_span(item, 0, span) for span in joined]
    return [*found, *([listed(item, single)] if single else [])]


def _in_span(item: Generalized, atom: int, span: Span | None) -> exp.Expr:
    """Whether the value lies in the span; without a span, whether it is this atom."""
    if span is None:
        return listed(item, [atom])
    low, high = span
    value = value_of(item)
    bounds: list[exp.Expr] = []
    if low is not None:
        bounds.append(value.copy() >= value_literal(item, low))
    if high is not None:
        bounds.append(value.copy() < value_literal(item, high))
    return exp.and_(*bounds) if bounds else is_not_null(value)


def _inside(item: Generalized, start: int, stop: int) -> exp.Expr:
    """Whether the value lies in a group: an interval with its ends, or a list.

    Between the values of a sorted domain others may turn up later: the interval takes them,
    a group of one value does not.
    """
    domain = item.column.domain
    if not item.by_intervals or (stop - start == 1 and not isinstance(domain, IntervalDomain)):
        return listed(item, range(start, stop))
    if item.is_open and (start, stop) == (0, item.width):
        return is_not_null(value_of(item))
    value = value_of(item)
    bounds: list[exp.Expr] = []
    if start > 0 or not item.is_open:
        bounds.append(value.copy() >= value_literal(item, domain.left_ends[start]))
    if stop < item.width:
        bounds.append(value.copy() < value_literal(item, domain.left_ends[stop]))
    elif not item.is_open:
        bounds.append(value.copy() <= value_literal(item, last_value(item)))
    elif takes_no_nan(item):
        bounds.append(value.copy() <= literal(math.inf))
    return exp.and_(*bounds)


def _below(value: Any) -> Value:
    """A value that is less than this one, of the same ordered kind."""
    if isinstance(value, float):
        return math.inf if math.isnan(value) else math.nextafter(value, -math.inf)
    return _moved(value, -1)


def _above(value: Any) -> Value:
    """A value that is greater than this one, of the same ordered kind."""
    if isinstance(value, float):
        return math.nan if math.isinf(value) and value > 0 else math.nextafter(value, math.inf)
    return _moved(value, 1)


def _moved(value: Any, steps: int) -> Value:
    if isinstance(value, dt.datetime):
        return value + dt.timedelta(microseconds=steps)
    if isinstance(value, dt.date):
        return value + dt.timedelta(days=steps)
    moved: Value = value + steps
    return moved


def last_value(item: Generalized) -> Value:
    """The highest value that the domain covers."""
    domain = item.column.domain
    return domain.edges[-1] if isinstance(domain, IntervalDomain) else domain.values[-1]


def takes_no_nan(item: Generalized) -> bool:
    """Whether NaN, which is above every number, is not in the domain of a float."""
    last = last_value(item)
    return item.column.domain.kind is Kind.FLOAT and not (
        isinstance(last, float) and math.isnan(last)
    )


def listed(item: Generalized, atoms: range | list[int]) -> exp.Expr:
    """Whether the value is one of these atoms."""
    value, ends = value_of(item), item.column.domain.left_ends
    values = [value_literal(item, ends[atom]) for atom in atoms]
    if len(values) == 1:
        return exp.EQ(this=value, expression=values[0])
    return exp.In(this=value, expressions=values)


@dataclass(frozen=True)
class Mapping:
    """A list that the source is joined with.

    At most one row of the list meets the condition, so the join keeps the number of rows.

    keys      the columns that the condition reads: values of the domain
    released  the columns with what is released
    nearest   a condition of the form value ≥ low: only the row with the greatest low that meets
              it can meet `condition` too. None for a list that is not to be read like this
    within    whether that row does; None where it always does
    table     a table that holds the rows; None where the statement itself lists them
    """

    item: Generalized
    name: str
    keys: tuple[str, ...]
    released: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    condition: exp.Expr
    nearest: exp.Expr | None = None
    within: exp.Expr | None = None
    table: exp.Table | None = None

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
    """One row per value."""
    domain, shown = item.column.domain, set(item.shown_runs)
    rows = tuple(
        (domain.left_ends[atom], *group)
        for (start, stop), group in zip(item.runs, groups, strict=True)
        if (start, stop) in shown
        for atom in range(start, min(stop, item.width))
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
    runs = tuple(takewhile(lambda run: run[0] < item.width, item.runs))
    ends = [*domain.left_ends, last_value(item)]
    is_range = isinstance(domain, IntervalDomain)

    def is_wide(run: tuple[int, int]) -> bool:
        return is_range or run[1] - run[0] > 1

    if item.is_open and not is_range:  # no label shows the lowest and the highest value
        if is_wide(runs[0]):
            ends[0] = _below(ends[runs[0][1]])
        ends[-1] = _above(ends[runs[-1][0]])
    shown = set(item.shown_runs)
    rows: list[tuple[Cell, ...]] = []
    for run, group in zip(runs, groups, strict=False):
        if run not in shown:
            continue
        low = ends[run[0]]
        rows.append((low, ends[run[1]] if is_wide(run) else low, *group))
    low_end, high_end = (exp.column(end, table=name, quoted=True) for end in ("low", "high"))
    outermost = (
        ends[run[0]] if is_wide(run) and run in shown else None for run in (runs[0], runs[-1])
    )
    place = _nearest(item, *outermost)
    closed: list[exp.Expr] = []
    if not all(map(is_wide, runs)):
        closed.append(exp.EQ(this=low_end.copy(), expression=high_end.copy()))
    if is_wide(runs[-1]) and not item.is_open and runs[-1] in shown:
        end = value_literal(item, ends[-1])
        closed.append(exp.EQ(this=high_end.copy(), expression=end))
    conditions: list[exp.Expr] = [place >= low_end, place.copy() < high_end]
    if closed:
        at_most = place.copy() <= high_end.copy()
        conditions[1:] = [at_most, exp.or_(conditions[1], *closed)]
    if item.shown is not None:  # between the groups that are named lie others
        nearest, within = conditions[0].copy(), exp.and_(*(each.copy() for each in conditions[1:]))
    elif all(map(is_wide, runs)):
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
    shown = {start for start, _ in item.shown_runs}
    for (start, _), span, group in zip(item.runs, item.spans, groups, strict=False):
        if start not in shown:
            continue
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


MOST_CASES = 100
"""A CASE of more branches, or with more listed values, is written as a join instead: nobody
reads it, and for listed values the join is faster from about here on."""
MOST_WRITTEN = 5_000
"""A list of more rows is loaded as a table where that is possible (see lists.py), and no
`form: case` writes more listed values; a statement takes a tenth of a second for as many."""


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


def written(item: Generalized, recipe: Order, mapping_name: str) -> Written:
    """A generalized column as SQL; `mapping_name` is free for a list."""
    groups = item.cells
    if item.takes_all:
        return Written(tuple(constant(c) for c in groups[0]))
    if keeps_values(item, recipe):
        return _kept(item, recipe, mapping_name)
    otherwise = _otherwise(item, recipe)
    if is_joined(item):
        result = _joined(item, groups, otherwise, mapping_name, recipe)
    else:
        result = cases(item, groups, otherwise)
    if digits := decimal_digits(item):
        decimal = exp.DataType.build(f"DECIMAL({digits[0]}, {digits[1]})")
        outputs = tuple(exp.cast(output, decimal.copy()) for output in result.outputs)
        result = replace(result, outputs=outputs)
    if hides_unseen(item, recipe):
        return Written(result.outputs, None, result.mapping)
    return result


def _otherwise(item: Generalized, recipe: Order) -> exp.Expr:
    """What is written for a value that belongs to no group."""
    if item.output is not Output.LABEL:
        return exp.null()
    return exp.Literal.string(top_cell(item) if hides_unseen(item, recipe) else NOT_IN_SCHEME)


def is_joined(item: Generalized) -> bool:
    """Whether a column is looked up in a list, and not written as a CASE."""
    by_intervals = item.by_intervals or item.spans is not None
    if not item.shown_runs or item.masks is not None:
        return False
    if not item.width or (by_intervals and item.runs[0][1] >= item.width):
        return False  # one interval needs no list
    if item.form is Form.JOIN:
        return True
    if item.form is Form.CASE and (by_intervals or item.width <= MOST_WRITTEN):
        return False
    return (len(item.runs) if by_intervals else item.width) > MOST_CASES


def _kept(item: Generalized, recipe: Order, name: str) -> Written:
    domain, kept = item.column.domain, kept_value(item)
    # A long list inside a CASE, where such values are counted, is slow; a join is not.
    most = {Form.JOIN: 0, Form.AUTO: MOST_CASES, Form.CASE: MOST_WRITTEN}[item.form]
    if item.width <= most or not item.shown_runs:
        return Written((kept,), in_any_group(item))
    mapping = mapping_of_values(item, ((),) * domain.size, name, ())
    mapping = replace(mapping, table=recipe.loaded.get(item.name))
    return Written((kept,), _found(item, mapping), mapping)


def cases(item: Generalized, groups: tuple[tuple[Cell, ...], ...], otherwise: exp.Expr) -> Written:
    """A CASE with a branch for each group."""
    branches = [
        (in_group(item, *run), group)
        for run, group in zip(item.runs, groups, strict=True)
        if run[0] == item.width or run in item.shown_runs
    ]
    if item.in_view:  # what is written for all other values need not name some of them
        branches = [each for each in branches if constant(each[1][0]) != otherwise]
    if not branches:
        return Written((otherwise,) * len(item.released_names), in_any_group(item))
    outputs = [
        exp.Case(
            ifs=[
                exp.If(this=condition.copy(), true=constant(group[place]))
                for condition, group in branches
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
    recipe: Order,
) -> Written:
    """A range join for intervals, a mapping join for values."""
    domain = item.column.domain
    values_only = not isinstance(domain, IntervalDomain) and (
        not item.by_intervals or len(item.runs) == item.column.size
    )
    make = mapping_of_values if values_only else mapping_of_intervals
    make = make if item.spans is None else mapping_of_spans
    # The ends of an interval are in its row already.
    own = item.output in (Output.LABEL, Output.MIDPOINT)
    mapping = make(item, groups if own else ((),) * len(groups), name, (item.output,) * own)
    mapping = replace(mapping, table=recipe.loaded.get(item.name))
    if recipe.standard:
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


def _found(item: Generalized, mapping: Mapping) -> exp.Expr:
    found = is_not_null(_of(mapping, mapping.keys[0]))
    if mapping.within is not None:
        found = mapping.within.copy()
    return exp.or_(found, is_null(value_of(item))) if item.column.domain.has_null else found


def _of(mapping: Mapping, column: str) -> exp.Column:
    return exp.column(column, table=mapping.name, quoted=True)
