"""How a group is written in a released table.

A group that is a node of the hierarchy carries the node's name, an interval of an ordered
column "[25, 40)", any other set "{A, B}", and the whole of a column without hierarchy "*".
NULL alone stays NULL (None here).

Which name a node has, if several levels hold the same atoms in one group:

- a partition that is one of the column's levels carries the names of that level, every group
  alike: the only birthday of the thirties is "1930s" beside the "1940s". Of levels that are
  the same partition it is the lowest, but none below min_level;
- in any other partition a group carries the name of the lowest node that holds just its
  atoms, but of none below min_level. So without min_level a group of one atom is the atom's
  own spelling.

Nothing is written by names below min_level. Neighbours that are no node are an interval or a
set of that level's names, "[1930s, 1950s)" or "{X, Y}". The atoms of a declared range are no
values of anybody, so intervals of a range are always written by their ends.

Labels of one partition are distinct, whatever the values and node names contain: where two
would be the same, both groups are spelled out, by atoms or else by the names of min_level.

Timestamps that are all at midnight are written as their dates.

NaN comes after every number: neighbours up to it are "4.1+ or NaN".

With open ends the outermost intervals of an ordered column name only the end that faces the
others, "<25" and "60+", so that the lowest and the highest value do not show.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from sqlanon.domain import IntervalDomain, ValueDomain
from sqlanon.errors import SchemeError
from sqlanon.model import Value
from sqlanon.scheme.column import Column
from sqlanon.scheme.partition import Partition

WHOLE = "*"
_INTERVAL = re.compile(r"\[(.*), (.*)\)$")


def group_labels(
    column: Column,
    partition: Partition,
    *,
    open_ends: bool = False,
    null_label: str | None = None,
) -> tuple[str | None, ...]:
    """One label a group, in the order of the groups; `null_label` stands for NULL alone.

    Raises SchemeError for a partition beyond the column's level limits.
    """
    if overstepped := column.beyond_limits(partition):
        raise SchemeError(f"column {column.name!r}: the partition {overstepped}")
    writer = _Writer(column, naming_level(column, partition), open_ends)
    labels = [writer.label(start, stop) for start, stop in partition.runs]
    # Spelled-out labels differ from each other, so every round spells out at least one more.
    while clashing := _repeated(labels):
        labels = [
            writer.spelled_out(start, stop) if label in clashing else label
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


def naming_level(column: Column, partition: Partition) -> int:
    """The lowest level whose names are used.

    It is above the height where min_level wants a lone value hidden that has no tree above it.
    """
    levels = range(column.min_level, column.height + 1)
    same = (level for level in levels if column.levels[level] == partition)
    return next(same, column.min_level)


def _repeated(labels: Sequence[str | None]) -> set[str | None]:
    return {label for label, count in Counter(labels).items() if count > 1}


@dataclass(frozen=True)
class _Writer:
    """Writes groups of atoms start..stop-1; no name is from below `level`."""

    column: Column
    level: int
    open_ends: bool

    def label(self, start: int, stop: int) -> str | None:
        domain, hierarchy = self.column.domain, self.column.hierarchy
        if domain.has_null and start == domain.width:
            return None
        if stop > domain.width:
            # NULL is in it too, which a node of the values alone would hide.
            return hierarchy.levels[-1][0] if hierarchy and hierarchy.height else WHOLE
        if stop - start == 1 and self.level == 0:
            return self._atom(start)
        node = hierarchy.label_of(start, stop, self.level) if hierarchy else None
        if hierarchy and node is not None:
            if isinstance(domain, ValueDomain):
                return node
            if stop - start == 1 and node == hierarchy.leaves[start]:
                return self._atom(start)  # a tree over a range may call it by its left end
            if not _INTERVAL.match(node) and self._names_all(start, stop):
                return node
            # An interval that a builder named does not know that the range's last is closed.
        if stop - start == domain.size:
            return WHOLE
        if self.level and domain.is_sorted and isinstance(domain, ValueDomain):
            return self._interval_of_names(start, stop) or self.spelled_out(start, stop)
        return self.spelled_out(start, stop)

    def _names_all(self, start: int, stop: int) -> bool:
        """Whether the name of a node is true of a whole interval, not only of its left end.

        A decade that begins on the last day of 1969 is not December 1969.
        """
        domain, hierarchy = self.column.domain, self.column.hierarchy
        assert isinstance(domain, IntervalDomain)
        assert hierarchy is not None
        level = hierarchy.level_of(start, stop, self.level)
        if hierarchy.extent is None or level is None:
            return True  # a name that says nothing of its ends
        span = hierarchy.extent(level, domain.edges[start])
        if span is None:
            return True
        ends: tuple[Any, Any] = span
        low, high = ends
        first, last = domain.edges[start], domain.edges[stop]
        is_closed = stop == domain.width
        below = high is None or last < high or (last == high and not is_closed)
        return (low is None or low <= first) and below

    def spelled_out(self, start: int, stop: int) -> str:
        """The group by what is in it: an interval, or a set that can be read back."""
        domain, open_ends = self.column.domain, self.open_ends
        if self.level and isinstance(domain, ValueDomain):
            return _set(dict.fromkeys(self._names(start, stop)))
        if not domain.is_sorted:
            return _set(map(domain.spelled, domain.left_ends[start:stop]))
        if stop - start == 1 and (isinstance(domain, ValueDomain) or not open_ends):
            return domain.atom_label(start)
        if _is_nan(domain.left_ends[stop - 1]) and not (open_ends and start == 0):
            # NaN is above every number, so the interval up to it takes them all.
            return f"{domain.spelled(domain.left_ends[start])}+ or NaN"
        if not open_ends or 0 < start < stop < domain.width:
            return domain.interval_label(start, stop)
        if (start, stop) == (0, domain.width):
            return WHOLE
        if start == 0:
            return f"<{domain.spelled(domain.left_ends[stop])}"
        return f"{domain.spelled(domain.left_ends[start])}+"

    def _atom(self, atom: int) -> str:
        domain = self.column.domain
        at_end = domain.is_sorted and (atom == 0 or atom + 1 == domain.width)
        if self.open_ends and at_end and isinstance(domain, IntervalDomain):
            return self.spelled_out(atom, atom + 1)
        return domain.atom_label(atom)

    def _names(self, start: int, stop: int) -> Sequence[str]:
        # Within the limits only the whole column has no names here, and that is never spelled.
        assert self.column.hierarchy is not None
        return self.column.hierarchy.levels[self.level][start:stop]

    def _interval_of_names(self, start: int, stop: int) -> str | None:
        """Neighbours of a sorted column from name to name; None where that reads badly."""
        width = self.column.domain.width
        first, *_, last = self._names(start, stop)
        if ends := self._joined(start, stop, first, last):
            low, high = ends
            closed = False
        else:
            closed = stop == width
            low, high = first, last if closed else self._names(stop, stop + 1)[0]
            if any(_INTERVAL.match(name) for name in (low, high)):
                return None
        if self.open_ends and start == 0:
            return WHOLE if stop == width else f"<{high}"
        if self.open_ends and stop == width:
            return f"{low}+"
        return f"[{low}, {high}{']' if closed else ')'}"

    def _joined(self, start: int, stop: int, first: str, last: str) -> tuple[str, str] | None:
        """The outer ends of two names "[0, 5)" and "[10, 15)", if the atoms lie between them."""
        left, right = _INTERVAL.match(first), _INTERVAL.match(last)
        values = self.column.domain.left_ends[start:stop]
        if left is None or right is None:
            return None
        low, high = left[1], right[2]
        try:
            inside = Decimal(low) <= Decimal(str(values[0]))
            inside &= Decimal(str(values[-1])) < Decimal(high)
        except InvalidOperation:  # no numbers
            return None
        return (low, high) if inside else None


def _is_nan(value: Value) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _set(texts: Iterable[str]) -> str:
    return "{" + ", ".join(map(_quoted, texts)) + "}"


def _quoted(text: str) -> str:
    plain = text and text == text.strip() and not any(c in '{},"' for c in text)
    return text if plain else in_quotes(text)


def in_quotes(text: str) -> str:
    """A text that would be misread without quotes; those in it are doubled."""
    return '"' + text.replace('"', '""') + '"'
