"""The SQL that turns a cell into its atom, on whatever engine holds the source."""

from __future__ import annotations

import datetime as dt
import math
from itertools import pairwise

from sqlglot import exp

from sqlanon.domain import IntervalDomain, literal
from sqlanon.engines import Kind, is_text_type
from sqlanon.render import EXACT

OUTSIDE = -1
"""The atom number of a value that a declared range does not cover."""


def column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))


def counted_value(name: str, kind: Kind, type_: str) -> exp.Expr:
    """The column in the form in which its values are compared."""
    value = column(name)
    if kind is Kind.FLOAT:
        return exp.Add(this=value, expression=exp.Literal.number("0.0"))  # -0.0 becomes 0.0
    if kind is Kind.TEXT and not is_text_type(type_):
        return exp.cast(value, "text")
    return value


def exact(text: exp.Expr) -> exp.Expr:
    """The text compared character by character, whatever the collation of its column or session."""
    return exp.Collate(this=text, expression=exp.to_identifier(EXACT, quoted=True))


def told_apart(name: str, kind: Kind, type_: str) -> exp.Expr:
    """The column for exact comparison, even if its collation treats different values as equal."""
    value = counted_value(name, kind, type_)
    return exact(value) if kind is Kind.TEXT else value


def interval_atom(domain: IntervalDomain) -> exp.Expr:
    """The number of the interval a cell lies in; NULL for NULL, OUTSIDE off the range."""
    value = column(domain.column)
    low, high = _ends(domain)
    return _case(
        (value.is_(exp.null()), exp.null()),
        (exp.or_(value < low, value > high), exp.Literal.number(OUTSIDE)),
        otherwise=_inside(domain, value),
    )


def clamped_atom(domain: IntervalDomain) -> exp.Expr:
    """The same with the outermost intervals open; OUTSIDE for NaN, which is in no interval."""
    value = column(domain.column)
    low, high = _ends(domain)
    branches: list[tuple[exp.Expr, exp.Expr]] = [(value.is_(exp.null()), exp.null())]
    if domain.kind is Kind.FLOAT:
        branches.append((value > literal(math.inf), exp.Literal.number(OUTSIDE)))
    return _case(
        *branches,
        (value < low, exp.Literal.number(0)),
        (value > high, exp.Literal.number(domain.width - 1)),
        otherwise=_inside(domain, value),
    )


def _ends(domain: IntervalDomain) -> tuple[exp.Expr, exp.Expr]:
    return literal(domain.edges[0]), literal(domain.edges[-1])


def _inside(domain: IntervalDomain, value: exp.Column) -> exp.Expr:
    return _by_division(domain, value) or _by_comparison(domain, value)


def _by_division(domain: IntervalDomain, value: exp.Column) -> exp.Expr | None:
    """The number by integer arithmetic, which is exact; None if that does not apply."""
    starts = domain.edges[:-1]
    if domain.kind is Kind.INTEGER:
        numbers = [int(v) for v in starts if isinstance(v, int)]
        # Wide enough for the difference: 100 - (-100) overflows a column of one byte.
        position: exp.Expr = exp.cast(value.copy(), "bigint") - literal(starts[0])
        safe = abs(numbers[0]) < 2**31 and abs(numbers[-1]) < 2**31
    else:
        # First days of months are counted by their month.
        dates = [v for v in starts if isinstance(v, dt.date) and _starts_month(v)]
        numbers = [12 * v.year + v.month for v in dates]
        year, month = (exp.Extract(this=exp.var(part), expression=value.copy()) for part in _PARTS)
        if len(dates) < len(starts):
            return None
        position = year * exp.Literal.number(12) + month - exp.Literal.number(numbers[0])
        safe = True
    steps = {after - before for before, after in pairwise(numbers)}
    if not safe or len(steps) != 1:
        return None
    step = exp.Literal.number(steps.pop())
    # The last interval is closed: its right end, where the next one would begin, is in it.
    last = (value >= literal(starts[-1]), exp.Literal.number(domain.width - 1))
    return _case(last, otherwise=exp.IntDiv(this=exp.paren(position), expression=step))


_PARTS = ("year", "month")


def _starts_month(value: dt.date) -> bool:
    midnight = not isinstance(value, dt.datetime) or (
        value.time() == dt.time() and value.tzinfo is None
    )
    return value.day == 1 and midnight


def _by_comparison(domain: IntervalDomain, value: exp.Column) -> exp.Expr:
    """The number by a balanced tree of comparisons: exact for every kind, unlike a division."""

    def between(start: int, stop: int) -> exp.Expr:
        if stop - start == 1:
            return exp.Literal.number(start)
        middle = (start + stop) // 2
        below = exp.LT(this=value.copy(), expression=literal(domain.edges[middle]))
        return _case((below, between(start, middle)), otherwise=between(middle, stop))

    return between(0, domain.width)


def _case(*branches: tuple[exp.Expr, exp.Expr], otherwise: exp.Expr) -> exp.Case:
    """Builds a CASE in one step, because sqlglot's own builder copies the tree at every step.

    A CASE in the ELSE branch continues this one, which reads better than nesting.
    """
    ifs = [exp.If(this=condition, true=result) for condition, result in branches]
    if isinstance(otherwise, exp.Case):
        return exp.Case(ifs=[*ifs, *otherwise.args["ifs"]], default=otherwise.args["default"])
    return exp.Case(ifs=ifs, default=otherwise)
