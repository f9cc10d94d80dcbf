"""Counting and calculating in SQL: whole numbers as long as possible, one division at the end."""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp

from sqlanon.compile.parts import of
from sqlanon.compile.values import is_null
from sqlanon.histogram.atoms import exact


def number(value: int | float) -> exp.Expr:
    """A number without an exponent."""
    digits = f"{Decimal(repr(value)):f}"
    return exp.Literal.number(digits.rstrip("0").rstrip(".") if "." in digits else digits)


def times(*factors: exp.Expr) -> exp.Expr:
    product, *more = factors
    for factor in more:
        product = exp.Mul(this=product, expression=factor)
    return product


def ratio(above: exp.Expr, below: exp.Expr) -> exp.Expr:
    """A quotient of whole numbers as a float."""
    divisor = exp.paren(below, copy=False) if isinstance(below, exp.Binary) else below
    return exp.Div(this=exp.cast(above, "double"), expression=divisor)


def at_least(value: exp.Expr, least: int) -> exp.Expr:
    """The value, or `least` where it is less; there is no NULL among counts."""
    return exp.Greatest(this=value, expressions=[exp.Literal.number(least)], ignore_nulls=True)


def total(value: exp.Expr, *of_each: exp.Expr) -> exp.Expr:
    """A sum over all rows, or over those that agree in some columns, beside every row."""
    return exp.Window(this=exp.Sum(this=value), partition_by=list(of_each))


def in_order(value: exp.Expr) -> exp.Order:
    """By value, NULL last, whatever the session takes for the usual place of NULL."""
    return exp.Order(expressions=[exp.Ordered(this=is_null(value)), exp.Ordered(this=value.copy())])


def excess(counts: str, source: str) -> exp.Expr:
    """c·N − n·Q: what a class has too much of a value, compared with the source."""
    return exp.Sub(this=found(counts, source), expression=expected(counts, source))


def found(counts: str, source: str) -> exp.Expr:
    """c·N, the people of a class with a value, in parts of n·N."""
    return times(of(counts, "people"), of(source, "total"))


def expected(counts: str, source: str) -> exp.Expr:
    """n·Q, how many they would be with the source's share."""
    return times(of(counts, "total"), of(source, "people"))


def distance(counts: str, source: str, levels: int = 1) -> exp.Expr:
    """Σ max(0, p − q) over the rows of each class, in parts of so many levels."""
    moved = exp.Sum(this=at_least(excess(counts, source), 0))
    whole = exp.Max(this=times(of(counts, "total"), of(source, "total")))
    if levels == 1:
        return ratio(moved, whole)
    return ratio(moved, times(exp.Literal.number(levels), whole))


def same_value(one: str, other: str, is_text: bool) -> exp.Expr:
    """Whether two parts of the statement speak of one value; NULL equals NULL."""
    equal = equal_value(one, other, is_text)
    return exp.NullSafeEQ(this=equal.this, expression=equal.expression)


def equal_value(one: str, other: str, is_text: bool) -> exp.EQ:
    """The same for parts without NULL."""
    value = of(one, "value")
    return exp.EQ(this=exact(value) if is_text else value, expression=of(other, "value"))
