"""Where regions may begin.

The ends of a region are released, and a cut that follows the data would show where people are. So
columns are cut at every edge of a declared range, at the borders of the hierarchy, and in a column
of numbers or dates without either between round values. There the ends that are written are the
observed values next to a line; declare a range to release lines that are known without the data.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np

from sqlanon.domain import Column, IntervalDomain, Ints, Labels, Scheme, Value

MOST_LINES = 40
"""Round steps are so wide that a column has at most so many lines."""


def line_starts(column: Column) -> Ints:
    """The atoms at which a region may begin, and 0, ascending."""
    return _starts(column, _cuts(column))


def atom_starts(column: Column) -> Ints:
    """The same where regions may begin anywhere that `min_level` allows."""
    return _starts(column, column.finest.cuts)


def starts_of(column: Column, labels: Labels) -> Ints:
    """The atoms at which a region may begin in a search for such labels."""
    return atom_starts(column) if labels is Labels.TIGHT else line_starts(column)


def labels_of(scheme: Scheme) -> Labels | None:
    """What a scheme releases of the regions of its tree; None without a tree.

    Boxes whose ends all lie on lines are snapped, whoever made them.
    """
    tree = scheme.tree
    if tree is None or not tree.has_boxes:
        return None if tree is None else Labels.REGION
    snapped = all(
        np.isin(np.array(tree.groups[j]), [*line_starts(column), column.size]).all()
        for j, column in enumerate(scheme.columns)
    )
    return Labels.SNAPPED if snapped else Labels.TIGHT


def _starts(column: Column, positions: Sequence[int]) -> Ints:
    cuts = [p + 1 for p in positions]
    if column.domain.has_null and column.domain.width:
        cuts.append(column.domain.width)
    return np.array(sorted({0, *cuts}), dtype=np.int64)


def _cuts(column: Column) -> Sequence[int]:
    domain, finest = column.domain, column.finest.cuts
    if isinstance(domain, IntervalDomain) or not domain.is_sorted:
        return finest
    if column.hierarchy is not None:
        # The leaves of numbers are the values themselves; the groups above them are public.
        above = column.levels[min(max(1, column.limits[0]), column.height)].cuts
        return above or finest
    allowed = set(finest)
    return [cut for cut in _round_cuts(domain.values) if cut in allowed]


def _round_cuts(values: Sequence[Value]) -> list[int]:
    """The places between values where a multiple of a round step lies."""
    numbers = [_number(value) for value in values]
    if any(number is None for number in numbers) or len(values) <= 2:
        return list(range(len(values) - 1))
    known: list[Decimal] = [number for number in numbers if number is not None]
    for step in _steps(values[0], (known[-1] - known[0]) / MOST_LINES):
        places = [number // step for number in known]
        cuts = [i for i, (a, b) in enumerate(pairwise(places)) if a != b]
        if len(cuts) <= MOST_LINES:
            return cuts
    return []


def _number(value: Any) -> Decimal | None:
    """A number, or the days of a date; None where it has neither."""
    if isinstance(value, dt.datetime):
        value = value.replace(tzinfo=None) - dt.datetime(1, 1, 1)
        return Decimal(value.days) + Decimal(value.seconds) / 86_400
    if isinstance(value, dt.date):
        return Decimal(value.toordinal())
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    number = Decimal(str(value))
    return number if number.is_finite() else None


def _steps(first: Value, least: Decimal) -> list[Decimal]:
    """Round steps of at least a width: 1, 2 and 5 times a power of ten."""
    exponent = least.adjusted() if least else 0
    steps = [
        Decimal(digit).scaleb(power)
        for power in range(exponent, exponent + 4)
        for digit in (1, 2, 5)
    ]
    return [step for step in steps if step >= least]
