"""Where a value of the population belongs, that need not be one of the source's.

An atom of the source belongs to the group that holds it. Another value may belong to a group all
the same, since what a release writes may be true of it: "*" is true of everything, "[30, 40)" of
every number in between. That depends on how coarse the group is, so a place says what the group
must hold.
"""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlanon.domain import IntervalDomain
from sqlanon.histogram.atoms import OUTSIDE
from sqlanon.model import Value, sort_key
from sqlanon.scheme import Column


class Place(NamedTuple):
    """A value belongs to the group of `atom` if this holds all atoms start..stop-1.

    With `company` the group must also hold another value than the atom, on either side.
    """

    atom: int
    start: int
    stop: int
    company: bool = False


@dataclass(frozen=True)
class Reach:
    """Which values beside its atoms the groups of a column take in a release.

    whole    the group of all atoms takes every value
    top      so does a group of all atoms but NULL
    between  a group of several values takes what lies between them, and up to the next group
    beyond   the outermost groups take what lies beyond them
    steps    a step of the calendar takes all its days, an interval all its numbers, if it holds
             two values or more
    """

    whole: bool = False
    top: bool = False
    between: bool = False
    beyond: bool = False
    steps: bool = False


def place_of(value: Value | None, column: Column, reach: Reach) -> Place | None:
    """Where a value belongs; None where no group takes it."""
    domain = column.domain
    assert not isinstance(domain, IntervalDomain)
    atom = domain.codes.get(None if value is None else sort_key(value))
    if atom is not None:
        return Place(atom, atom, atom + 1)
    found = None
    if value is not None and reach.between:
        found = _between(value, column, reach.beyond)
    elif value is not None and reach.steps:
        found = _in_step(value, column)
    return found or _anywhere(column, reach)


def place_of_interval(code: int, column: Column, reach: Reach) -> Place | None:
    """The same for the number of an interval, or OUTSIDE the range."""
    if code != OUTSIDE and code < column.size:
        return Place(code, code, code + 1)
    if code == OUTSIDE and reach.beyond:  # NaN is in none of several intervals
        return Place(0, 0, column.domain.width)
    return _anywhere(column, reach)


def _anywhere(column: Column, reach: Reach) -> Place | None:
    if reach.top:
        return Place(0, 0, column.domain.width)
    return Place(0, 0, column.size) if reach.whole else None


def _between(value: Value, column: Column, beyond: bool) -> Place | None:
    values = column.domain.left_ends
    width = len(values)
    if width < 2:
        return None
    if isinstance(value, float) and math.isnan(value):
        return Place(0, 0, width) if beyond else None
    below = bisect.bisect_right(values, sort_key(value), key=sort_key) - 1
    if not beyond and not 0 <= below < width - 1:
        return None
    if below <= 0:
        return Place(0, 0, 2)
    if below == width - 1:
        return Place(below, below - 1, width)
    return Place(below, below, below + 1, company=True)


def _in_step(value: Value, column: Column) -> Place | None:
    """The lowest step that holds the value and two of the column's, and that gives them its name.

    Where a lower step holds the same two, a release may write that one: two days of July are
    "1983-07" and not "1983", so February is not among them.
    """
    hierarchy, values = column.hierarchy, column.domain.left_ends
    assert hierarchy is not None
    assert hierarchy.extent is not None
    for level in range(1, hierarchy.height):
        span: Any = hierarchy.extent(level, value)
        if span is None:
            continue
        start, stop = (bisect.bisect_left(values, end) for end in span)
        if stop - start > 1 and hierarchy.level_of(start, stop, column.min_level) == level:
            return Place(start, start, stop)
    return None
