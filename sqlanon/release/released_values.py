"""Which values the quasi-identifiers of a release may hold, and labels that it has to refuse."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain import (
    NOT_IN_SCHEME,
    Cell,
    Generalized,
    Output,
    Unseen,
    ValueDomain,
    cells,
    format_value,
    marking_problems,
    top_cell,
)
from sqlanon.engines import Kind
from sqlanon.errors import CompileError
from sqlanon.release.order import Order


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
        and item.runs is None
        and len(item.partition) == item.column.size
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
        labels = {cell for group in cells(item) for cell in group}
        if hides_unseen(item, recipe) and not item.takes_all:
            labels.add(top_cell(item))
        if marker is not None and marker in labels:
            raise CompileError(
                f"suppression.marker: {format_value(marker)!r} is also a label of "
                f"column {item.name!r}; choose another marker"
            )
