"""How the groups of a column are written in a release."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Context, Decimal

from sqlanon.compile.recipe import Generalized, Recipe
from sqlanon.domain import IntervalDomain, ValueDomain
from sqlanon.errors import CompileError
from sqlanon.model import Kind, Output, Unseen, Value, format_value, marking_problems
from sqlanon.scheme import group_labels

NOT_IN_SCHEME = "(not in the scheme)"
"""What the SQL puts where a value belongs to no group, so that it can be found and refused."""

Cell = Value | None
"""One released value; None is NULL."""

_EXACT = Context(prec=1000)
"""Enough digits for the middle of any two numbers; the default 28 would round wide ones."""


@dataclass(frozen=True)
class Released:
    """A quasi-identifier of the release and every value that it may hold."""

    name: str
    values: frozenset[Cell]


def keeps_values(item: Generalized, recipe: Recipe) -> bool:
    """Whether the column can keep its type: every value is a group, and nothing else is written.

    A top label or a marker beside the values makes it text, and so do the names of a level
    that min_level asks for, also where every value has one of its own.
    """
    return (
        item.output is Output.LABEL
        and isinstance(item.column.domain, ValueDomain)
        and len(item.partition) == item.column.size
        and item.column.min_level == 0
        and item.null_label is None
        and recipe.unseen is not Unseen.TOP
        and not (recipe.suppress and recipe.marker is not None)
    )


def is_text(item: Generalized, recipe: Recipe) -> bool:
    """Whether the column is released as text: a label, or values that were text already."""
    kept = keeps_values(item, recipe)
    return item.output is Output.LABEL and (not kept or item.column.domain.kind is Kind.TEXT)


def hides_unseen(item: Generalized, recipe: Recipe) -> bool:
    """Whether a value that belongs to no group is written as the top label; numbers have none."""
    return recipe.unseen is Unseen.TOP and item.output is Output.LABEL


def cells(item: Generalized) -> tuple[tuple[Cell, ...], ...]:
    """For each group what is released for it: one value, or its two bounds."""
    if item.output is Output.LABEL:
        labels = group_labels(
            item.column, item.partition, open_ends=item.open_ends, null_label=item.null_label
        )
        if NOT_IN_SCHEME in labels:
            raise CompileError(
                f"column {item.name!r}: the label {NOT_IN_SCHEME!r} is reserved; rename the "
                "value or the node of the hierarchy"
            )
        return tuple((label,) for label in labels)
    domain = item.column.domain
    if not isinstance(domain, IntervalDomain):
        raise CompileError(
            f"column {item.name!r}: output {item.output} needs a range with a granularity, "
            "because the ends of observed values would show the lowest and the highest"
        )
    return tuple(_numbers(item, domain, start, stop) for start, stop in item.partition.runs)


def _numbers(item: Generalized, domain: IntervalDomain, start: int, stop: int) -> tuple[Cell, ...]:
    width = len(item.released_names)
    if start == domain.width:  # NULL alone
        return (None,) * width
    low, high = domain.edges[start], domain.edges[min(stop, domain.width)]
    if item.output is Output.LOWER:
        return (low,)
    if item.output is Output.BOUNDS:
        return (low, high)
    return (_middle(low, high, domain.kind),)


def decimal_digits(item: Generalized) -> tuple[int, int] | None:
    """Digits and decimal places that hold every number which may be released for a column.

    They follow from its range alone, so that a table keeps its type when another scheme is
    released into it. None where numbers have one type anyway, or are too long for a decimal.
    """
    domain = item.column.domain
    is_middle = item.output is Output.MIDPOINT
    if item.output is Output.LABEL or not isinstance(domain, IntervalDomain):
        return None
    if domain.kind is not Kind.DECIMAL and not (domain.kind is Kind.INTEGER and is_middle):
        return None
    ends = [Decimal(str(end)).as_tuple() for end in domain.edges]
    places = max(max(-int(end.exponent), 0) for end in ends) + is_middle  # halves need one more
    whole = max(len(end.digits) + int(end.exponent) for end in ends)
    return next(((most, places) for most in (18, 38) if whole + places <= most), None)


def _middle(low: Value, high: Value, kind: Kind) -> Value:
    if isinstance(low, dt.date) and isinstance(high, dt.date):
        return low + (high - low) / 2
    middle = _EXACT.divide(_EXACT.add(Decimal(str(low)), Decimal(str(high))), Decimal(2))
    # Whole numbers have halves between them, which a decimal holds exactly and a float may not.
    return float(middle) if kind is Kind.FLOAT else middle


def top_cell(item: Generalized) -> str:
    """The label of a value that belongs to no group, where such values are to be hidden."""
    top = _top_label(item)
    for (start, stop), (label, *_) in zip(item.partition.runs, cells(item), strict=True):
        # A lone value is everything only where its label is not the value itself.
        several = item.column.domain.width > 1 or item.column.min_level > 0
        everything = start == 0 and stop >= item.column.domain.width and several
        if label == top and not everything:
            raise CompileError(
                f"column {item.name!r}: the top label {top!r} is also the label of a group; choose "
                "`unseen: leave_out`, or rename the value"
            )
    return top


def _top_label(item: Generalized) -> str:
    hierarchy = item.column.hierarchy
    return hierarchy.levels[-1][0] if hierarchy and hierarchy.height else "*"


def takes_unseen(item: Generalized, unseen: Unseen) -> bool:
    """Whether values that belong to no group are released as the first group is.

    So it is where they get the top label and all values are in that group already.
    """
    if unseen is not Unseen.TOP or item.output is not Output.LABEL:
        return False
    width = item.column.domain.width
    has_all = 0 < width <= item.partition.runs[0][1]
    return has_all and cells(item)[0] == (_top_label(item),)


def released(recipe: Recipe) -> tuple[Released, ...]:
    """The quasi-identifiers of the release with all values that they may hold."""
    found = []
    for item in recipe.generalized:
        groups = cells(item)
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
            found.append(Released(name, frozenset([*values, *more])))
    return tuple(found)


def check_labels(recipe: Recipe, *, guarded: bool = False) -> None:
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
        labels = {cell for group in cells(item) for cell in group}
        if hides_unseen(item, recipe) and not item.takes_all:
            labels.add(top_cell(item))
        if marker is not None and marker in labels:
            raise CompileError(
                f"suppression.marker: {format_value(marker)!r} is also a label of "
                f"column {item.name!r}; choose another marker"
            )
