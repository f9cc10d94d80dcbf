"""A column's values as SQL: how they are compared, listed and bounded."""

from __future__ import annotations

import math
from itertools import groupby

from sqlglot import exp

from sqlanon.compile.present import Cell
from sqlanon.compile.recipe import Generalized
from sqlanon.domain import IntervalDomain
from sqlanon.hierarchy.tree import Span
from sqlanon.histogram.atoms import counted_value, exact, literal
from sqlanon.model import Kind, Value, format_value

SOURCE = "source"


def cell(name: str) -> exp.Column:
    """A column of the source."""
    return exp.column(name, table=SOURCE, quoted=True)


def as_it_is(name: str, type_: str) -> exp.Expr:
    """A column of the source as it is, but not as an ENUM.

    Such a type lists every value, also those that the release does not hold.
    """
    value = cell(name)
    if "ENUM" not in type_.upper():
        return value
    plain = exp.DataType.build(type_, dialect="duckdb")
    listed = [each for each in plain.find_all(exp.DataType) if each.is_type("enum")]
    for each in listed:
        text = exp.DataType.build("text")
        if each is plain:
            plain = text
        else:
            each.replace(text)
    return exp.cast(value, plain) if listed else value


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
    if item.type.upper() == "TIMESTAMP_NS":  # a plain timestamp has microseconds
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
    width = item.column.domain.width
    if start == width:
        return is_null(value_of(item))
    if item.spans is not None:
        number = next(i for i, run in enumerate(item.partition.runs) if run[0] == start)
        return _in_span(item, start, item.spans[number])
    inside = _inside(item, start, min(stop, width))
    return inside if stop <= width else exp.or_(inside, is_null(value_of(item)))


def in_any_group(item: Generalized) -> exp.Expr | None:
    """Whether the value belongs to a group, as shortly as that can be said; None: it does."""
    domain = item.column.domain
    found: list[exp.Expr] = []
    if isinstance(domain, IntervalDomain):
        several = item.partition.runs[0][1] < domain.width
        if several and item.is_open and takes_no_nan(item):
            found.append(value_of(item) <= literal(math.inf))  # the last interval has no NaN
        else:
            found.append(_inside(item, 0, domain.width))
    elif item.spans is not None:
        found += _in_spans(item, item.spans)
    elif item.by_intervals:
        found += _in_intervals(item)
    elif domain.width:
        found.append(listed(item, range(domain.width)))
    if not domain.has_null:
        return found[0] if len(found) == 1 else exp.or_(*found)
    if found == [is_not_null(value_of(item))]:
        return None
    return exp.or_(*found, is_null(value_of(item)))


def _in_intervals(item: Generalized) -> list[exp.Expr]:
    """Groups of several values beside each other are one interval, single values one list."""
    width = item.column.domain.width
    runs = [(start, min(stop, width)) for start, stop in item.partition.runs if start < width]
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
    for (start, _), span in zip(item.partition.runs, spans, strict=False):
        if span is None:
            single.append(start)
        elif joined and joined[-1][1] is not None and joined[-1][1] == span[0]:
            joined[-1] = (joined[-1][0], span[1])
        else:
            joined.append(span)
    found = [_in_span(item, 0, span) for span in joined]
    return [*found, *([listed(item, single)] if single else [])]


def _in_span(item: Generalized, atom: int, span: Span | None) -> exp.Expr:
    """Whether the value lies in a span, or is this atom where there is none."""
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
    if item.is_open and (start, stop) == (0, domain.width):
        return is_not_null(value_of(item))
    value = value_of(item)
    bounds: list[exp.Expr] = []
    if start > 0 or not item.is_open:
        bounds.append(value.copy() >= value_literal(item, domain.left_ends[start]))
    if stop < domain.width:
        bounds.append(value.copy() < value_literal(item, domain.left_ends[stop]))
    elif not item.is_open:
        bounds.append(value.copy() <= value_literal(item, last_value(item)))
    elif takes_no_nan(item):
        bounds.append(value.copy() <= literal(math.inf))
    return exp.and_(*bounds)


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
