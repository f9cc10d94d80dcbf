"""The SQL that turns a cell into its atom, on whatever engine holds the source."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain import IntervalDomain
from sqlanon.model import Kind, Value, format_value

OUTSIDE = -1
"""The atom number of a value that a declared range does not cover."""


def column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))


def counted_value(name: str, kind: Kind, type_: str) -> exp.Expression:
    """The column itself, in the one form its values are compared in."""
    value = column(name)
    if kind is Kind.FLOAT:
        return exp.Add(this=value, expression=exp.Literal.number("0.0"))  # -0.0 becomes 0.0
    if kind is Kind.TEXT and not type_.upper().startswith(("VARCHAR", "TEXT", "STRING")):
        return exp.cast(value, "text")
    return value


def interval_atom(domain: IntervalDomain) -> exp.Expression:
    """The number of the interval a cell lies in; NULL for NULL, OUTSIDE off the range.

    A balanced tree of comparisons against the edges: exact for every kind, unlike a
    division, and the same comparisons that the released table is built with.
    """
    value = column(domain.column)
    edges = [literal(edge) for edge in domain.edges]
    outside = exp.or_(value < edges[0], value > edges[-1])
    return (
        exp.case()
        .when(value.is_(exp.null()), exp.null())
        .when(outside, exp.Literal.number(OUTSIDE))
        .else_(_bisect(value, edges, 0, domain.width))
    )


def _bisect(
    value: exp.Column, edges: Sequence[exp.Expression], start: int, stop: int
) -> exp.Expression:
    if stop - start == 1:
        return exp.Literal.number(start)
    middle = (start + stop) // 2
    low, high = _bisect(value, edges, start, middle), _bisect(value, edges, middle, stop)
    return exp.case().when(value < edges[middle].copy(), low).else_(high)


def literal(value: Value) -> exp.Expression:
    """A value as an SQL literal of its own type."""
    text = exp.Literal.string(format_value(value))
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, str):
        return text
    if isinstance(value, float):
        return exp.cast(text, "double")
    if isinstance(value, dt.datetime):
        return exp.cast(text, "timestamptz" if value.tzinfo else "timestamp")
    if isinstance(value, dt.date):
        return exp.cast(text, "date")
    return exp.Literal.number(format_value(value))
