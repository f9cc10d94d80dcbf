"""How a group is written in a released table.

A group that is a node of the hierarchy carries the node's name, a group of one atom the
atom's own spelling, an interval of an ordered column "[25, 40)", any other set "{A, B}",
and the whole of a column without hierarchy "*". NULL alone stays NULL (None here).
Labels of one partition are distinct, whatever the values and node names contain: where two
would be the same, both groups are spelled out.

With open ends the outermost intervals of an ordered column name only the end that faces the
others, "<25" and "60+", so that the lowest and the highest value do not show.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from sqlanon.domain import IntervalDomain, ValueDomain
from sqlanon.errors import SchemeError
from sqlanon.model import format_value
from sqlanon.scheme.column import Column
from sqlanon.scheme.partition import Partition

WHOLE = "*"
_INTERVAL = re.compile(r"\[.*, .*\)$")


def group_labels(
    column: Column,
    partition: Partition,
    *,
    open_ends: bool = False,
    null_label: str | None = None,
) -> tuple[str | None, ...]:
    """One label a group, in the order of the groups; `null_label` stands for NULL alone."""
    labels = [_label(column, start, stop, open_ends) for start, stop in partition.runs]
    # Spelled-out labels differ from each other, so every round spells out at least one more.
    while clashing := _repeated(labels):
        labels = [
            _spelled_out(column, start, stop, open_ends) if label in clashing else label
            for label, (start, stop) in zip(labels, partition.runs, strict=True)
        ]
    if null_label is not None and None in labels:
        if null_label in labels:
            raise SchemeError(
                f"column {column.name!r}: null_label {null_label!r} is also the label of a "
                "group; choose another text"
            )
        labels = [null_label if label is None else label for label in labels]
    return tuple(labels)


def _repeated(labels: Sequence[str | None]) -> set[str | None]:
    return {label for label, count in Counter(labels).items() if count > 1}


def _label(column: Column, start: int, stop: int, open_ends: bool) -> str | None:
    domain, hierarchy = column.domain, column.hierarchy
    if domain.has_null and start == domain.width:
        return None
    if stop - start == 1:
        at_end = domain.is_sorted and (start == 0 or stop == domain.width)
        open_end = open_ends and at_end and isinstance(domain, IntervalDomain)
        return _spelled_out(column, start, stop, True) if open_end else domain.atom_label(start)
    if stop > domain.width:
        # NULL is in it too, which a node of the values alone would hide.
        return hierarchy.levels[-1][0] if hierarchy and hierarchy.height else WHOLE
    node = hierarchy.label_of(start, stop) if hierarchy else None
    if node is not None and not (isinstance(domain, IntervalDomain) and _INTERVAL.match(node)):
        # An interval that a builder named does not know that the range's last atom is closed.
        return node
    if stop - start == domain.size:
        return WHOLE
    return _spelled_out(column, start, stop, open_ends)


def _spelled_out(column: Column, start: int, stop: int, open_ends: bool) -> str:
    """The group by its values: an interval, or a set from which they can be read back."""
    domain = column.domain
    if not domain.is_sorted:
        return "{" + ", ".join(_quoted(format_value(v)) for v in domain.left_ends[start:stop]) + "}"
    if stop - start == 1 and (isinstance(domain, ValueDomain) or not open_ends):
        return domain.atom_label(start)
    if not open_ends or 0 < start < stop < domain.width:
        return domain.interval_label(start, stop)
    if (start, stop) == (0, domain.width):
        return WHOLE
    if start == 0:
        return f"<{format_value(domain.left_ends[stop])}"
    return f"{format_value(domain.left_ends[start])}+"


def _quoted(text: str) -> str:
    plain = text and text == text.strip() and not any(c in '{},"' for c in text)
    return text if plain else '"' + text.replace('"', '""') + '"'
