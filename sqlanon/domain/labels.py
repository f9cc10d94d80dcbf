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
set of that level's names, "[1930s, 1950s)" or "{X, Y}". The atoms of a declared range are not
values of the data, so intervals of a range are always written by their ends.

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

from sqlanon.domain.atoms import IntervalDomain, ValueDomain
from sqlanon.domain.column import Column
from sqlanon.domain.hierarchy import Span
from sqlanon.domain.partition import Partition
from sqlanon.domain.values import Value, sort_key
from sqlanon.errors import SchemeError

WHOLE = "*"
NOT_NULL = "not NULL"
"""All values, in a part of the table, where another part has NULL among them."""
BETWEEN, MORE = " · ", "…"
"""What stands between labels on a screen, and for those that are not shown."""
_INTERVAL = re.compile(r"\[(.*), (.*)\)$")


def group_labels(
    column: Column,
    partition: Partition,
    *,
    open_ends: bool = False,
    null_label: str | None = None,
) -> tuple[str | None, ...]:
    """One label per group, in the order of the groups; `null_label` stands for NULL alone.

    Raises SchemeError for a partition beyond the column's level limits.
    """
    if overstepped := column.beyond_limits(partition):
        raise SchemeError(f"column {column.name!r}: the partition {overstepped}")
    writer = _Writer(column, naming_level(column, partition), open_ends)
    return _distinct_labels(writer, partition.runs, null_label)


def run_labels(
    column: Column,
    runs: Sequence[tuple[int, int]],
    *,
    open_ends: bool = False,
    null_label: str | None = None,
) -> tuple[str | None, ...]:
    """One label per run of neighbouring atoms; runs are different and may overlap."""
    return _distinct_labels(_Writer(column, column.min_level, open_ends), runs, null_label)


def _distinct_labels(
    writer: _Writer, runs: Sequence[tuple[int, int]], null_label: str | None
) -> tuple[str | None, ...]:
    column = writer.column
    labels = [writer.label(start, stop) for start, stop in runs]
    # Spelled-out labels differ from each other, so every round spells out at least one more.
    while clashing := _repeated(labels):
        before, width = labels, column.domain.width
        labels = [
            writer.spelled_out(start, stop) if label in clashing and stop <= width else label
            for label, (start, stop) in zip(labels, runs, strict=True)
        ]
        if labels == before:  # the values as they are called with NULL among them
            labels = [
                NOT_NULL if run == (0, width) and label in clashing else label
                for label, run in zip(labels, runs, strict=True)
            ]
        if labels == before:
            label = min(clashing, key=str)
            raise SchemeError(f"column {column.name!r}: two groups would be called {label!r}")
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


def spells_values(column: Column, start: int, stop: int, label: str | None) -> bool:
    """Whether a label names every value of its group: the value itself, or their set."""
    domain = column.domain
    if stop - start == 1 and label == domain.atom_label(start):
        return True
    return label == _set(map(domain.spelled, domain.left_ends[start:stop]))


Mask = tuple[int, str]
"""The length of a masked text, and what the mask leaves of it."""


def group_masks(
    column: Column, partition: Partition, start: int, stop: int
) -> tuple[Mask, ...] | None:
    """The masks that name a group, each true of every text of its length that begins, or ends, so.

    None where the group is named by its values, or is no group of whole masks. The root, which
    masks all texts whole, is () here.
    """
    hierarchy = column.hierarchy
    if hierarchy is None or hierarchy.masked_from is None:
        return None
    least = naming_level(column, partition)
    level = hierarchy.level_of(start, stop, least)
    level = least if level is None else level
    if not 0 < level <= hierarchy.height:
        return None
    if level == hierarchy.height:
        return ()
    masks: dict[Mask, None] = {}
    for leaf in hierarchy.leaves[start:stop]:
        shown = max(len(leaf) - level, 0)
        kept = leaf[:shown] if hierarchy.masked_from == "right" else leaf[len(leaf) - shown :]
        masks[len(leaf), kept] = None
    return tuple(masks)


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


def format_label(label: str | None) -> str:
    """A label as one line of text: what would move a terminal's cursor is spelled out."""
    if label is None:
        return "NULL"
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in label)


def format_labels(
    labels: Sequence[str | None], most: int, between: str = BETWEEN, more: str = MORE
) -> str:
    """The first labels of a column in a line, so that a reader can tell each from the others.

    A text that is empty, or has blanks around it, or looks like a NULL, a quoted text or several
    labels, stands in quotes as in the label of a set.
    """

    def shown(label: str | None) -> str:
        text = format_label(label)
        plain = text and text == text.strip() and text not in ("NULL", more)
        plain = plain and between.strip() not in text and not text.startswith('"')
        return text if plain or label is None else in_quotes(text)

    return between.join([*map(shown, labels[:most]), *[more] * (len(labels) > most)])


def group_spans(column: Column, partition: Partition) -> tuple[Span | None, ...] | None:
    """By group of values, NULL aside, the span that its label names; None for a single value.

    The result is None where no group has a span, and where a group of several values has none:
    its label lists or encloses the values that were seen. It is None too where the spans do not
    part the values as the groups do.
    """
    domain, hierarchy = column.domain, column.hierarchy
    if hierarchy is None or hierarchy.extent is None or not isinstance(domain, ValueDomain):
        return None
    least = naming_level(column, partition)
    labels = group_labels(column, partition)
    spans: list[Span | None] = []
    for (start, stop), label in zip(partition.runs, labels, strict=True):
        if start == domain.width:
            break
        if stop > domain.width:
            return None
        single = stop - start == 1
        level = 0 if single and least == 0 else hierarchy.level_of(start, stop, least)
        span = None
        if level is not None and hierarchy.levels[level][start] == label:
            span = hierarchy.extent(level, domain.values[start])
        if span is None and not (single and (level == 0 or _is_apart(domain.values[start]))):
            return None
        spans.append(span)
    if all(span is None for span in spans) or not _parts(column, partition, spans):
        return None
    return tuple(spans)


def _parts(column: Column, partition: Partition, spans: Sequence[Span | None]) -> bool:
    """Whether every value lies in the span of its group, and one group ends before the next."""
    values: Sequence[Any] = column.domain.left_ends
    last: Any = None
    was_single = False
    for number, ((start, stop), span) in enumerate(zip(partition.runs, spans, strict=False)):
        first: Any = values[start] if span is None else span[0]
        if number and (
            first is None or last is None or first < last or (was_single and first == last)
        ):
            return False
        if span is not None and not all(_within(value, span) for value in values[start:stop]):
            return False
        last, was_single = (first, True) if span is None else (span[1], False)
    return True


def partition_by_spans(
    old: Column, partition: Partition, column: Column, spans: Sequence[Span | None]
) -> Partition | None:
    """The groups of a column over other values than those they were found on.

    `spans` are those of `partition`, which is one of `old`. None where a value is in no group,
    or has NULL only in one of the two.
    """
    domain, before = column.domain, old.domain
    if not isinstance(domain, ValueDomain) or not isinstance(before, ValueDomain):
        return None
    if domain.has_null and not before.has_null:
        return None
    starts = [start for start, _ in partition.runs[: len(spans)]]
    groups: list[int] = []
    for value in domain.values:
        found = [
            number
            for number, (start, span) in enumerate(zip(starts, spans, strict=True))
            if (_equal(value, before.values[start]) if span is None else _within(value, span))
        ]
        if not found:
            return None
        groups.append(found[0])
    if domain.has_null:
        groups.append(len(spans))
    return Partition.from_groups(groups)


def _is_apart(value: Value) -> bool:
    """Whether a value is in no interval: NaN and the infinities, also where levels are coarse."""
    return isinstance(value, float) and not math.isfinite(value)


def _equal(value: Value, other: Value) -> bool:
    return bool(sort_key(value) == sort_key(other))  # also for NaN


def _within(value: Any, span: Span) -> bool:
    low, high = span
    return (low is None or low <= value) and (high is None or value < high)
