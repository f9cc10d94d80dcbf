"""How a column is released: its options, the labels of its groups, their bounds, what they take.

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

import datetime as dt
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, InvalidOperation
from enum import StrEnum
from functools import cached_property
from typing import Any

from sqlanon.domain.atoms import IntervalDomain, ValueDomain
from sqlanon.domain.column import Column, Partition
from sqlanon.domain.cut_tree import Run
from sqlanon.domain.hierarchy import Span
from sqlanon.domain.values import Value, format_value, sort_key
from sqlanon.engines import Kind, has_nanoseconds, has_time_zone
from sqlanon.errors import CompileError, SchemeError

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


NOT_IN_SCHEME = "(not in the scheme)"
"""What the SQL puts where a value belongs to no group, so that it can be found and refused."""

Cell = Value | None
"""One released value; None is NULL."""

_EXACT = Context(prec=1000)
"""Enough digits for the middle of any two numbers; the default 28 would round wide ones."""

_NANOSECONDS = dt.datetime(1677, 9, 22), dt.datetime(2262, 4, 11)
"""The first and the last midnight that a type with nanoseconds can hold."""


class Output(StrEnum):
    """How the groups of numbers and dates are written; bounds are columns NAME_low, NAME_high."""

    LABEL = "label"
    LOWER = "lower"
    MIDPOINT = "midpoint"
    BOUNDS = "bounds"


class Unseen(StrEnum):
    """What happens to rows with values that the scheme has not seen."""

    ERROR = "error"
    LEAVE_OUT = "leave_out"
    TOP = "top"


class SuppressedRows(StrEnum):
    """What happens to the rows of classes that are too small."""

    LEAVE_OUT = "leave_out"
    MARK = "mark"


class RowOrder(StrEnum):
    """The order of released rows; a release never keeps the order of its source."""

    SORTED = "sorted"
    SHUFFLED = "shuffled"


class Form(StrEnum):
    """How a generalization is written in SQL."""

    AUTO = "auto"
    CASE = "case"
    JOIN = "join"


class Mode(StrEnum):
    """What publishing makes: a new table, a new content of the source's table, or a view."""

    TABLE = "table"
    REPLACE = "replace"
    VIEW = "view"


@dataclass(frozen=True)
class Generalized:
    """A quasi-identifier, released by the groups of its partition.

    type        the source's own name of the column's type
    open_ends   whether the outermost intervals are written "<20" and "85+"; numbers in place of
                labels cannot say that, so they keep the ends of the range
    null_label  what stands for NULL where it is a group of its own; None leaves it NULL
    in_view     whether its SQL is read by whoever reads the release, so that it must name no
                observed value which no label shows
    shown       the groups that such SQL may name, by their numbers; None for all
    boxes       the runs of atoms that the regions of a cut tree have of the column; None without
                a tree. The partition has the groups that no split parts
    """

    column: Column
    partition: Partition
    type: str
    output: Output = Output.LABEL
    open_ends: bool = False
    null_label: str | None = None
    form: Form = Form.AUTO
    in_view: bool = False
    shown: frozenset[int] | None = None
    boxes: tuple[Run, ...] | None = None

    @cached_property
    def name(self) -> str:
        return self.column.name

    @cached_property
    def released_names(self) -> tuple[str, ...]:
        if self.output is Output.BOUNDS:
            return (f"{self.name}_low", f"{self.name}_high")
        return (self.name,)

    @property
    def groups(self) -> tuple[Run, ...]:
        """The atoms of everything that is released for the column, in the order of `cells`."""
        return self.runs if self.boxes is None else self.boxes

    @cached_property
    def width(self) -> int:
        """Number of the column's atoms other than NULL."""
        return self.column.domain.width

    @cached_property
    def has_nanoseconds(self) -> bool:
        """Whether its values are moments finer than microseconds."""
        return has_nanoseconds(self.type)

    @cached_property
    def runs(self) -> tuple[tuple[int, int], ...]:
        """The groups as half-open ranges of atoms."""
        return self.partition.runs

    @cached_property
    def cells(self) -> tuple[tuple[Cell, ...], ...]:
        """For each group what is released for it: one value, or its two bounds.

        Made once: a wide column has very many.
        """
        return _cells(self)

    @cached_property
    def is_open(self) -> bool:
        """Whether the outermost groups take what lies beyond them."""
        return self.open_ends and self.output is Output.LABEL

    @cached_property
    def by_intervals(self) -> bool:
        """Whether a group takes whatever lies between its ends.

        A node of a hierarchy has a name, and what that is true of only its leaves tell, unless
        it has `spans`: the first birthday of the forties that occurs is not where they begin.
        """
        domain = self.column.domain
        return isinstance(domain, IntervalDomain) or (
            domain.is_sorted and self.column.hierarchy is None
        )

    @cached_property
    def spans(self) -> tuple[Span | None, ...] | None:
        """What the groups of values take, where their names tell it: a decade its ten years.

        None for a group that is one value; and None at all where groups go by their values. So
        do they in a column with a time zone, and where an end is no value of the column's type.
        """
        if self.output is not Output.LABEL or has_time_zone(self.type) or self.boxes is not None:
            return None
        spans = group_spans(self.column, self.partition)
        if has_nanoseconds(self.type) and spans is not None:
            ends = [end for span in spans if span is not None for end in span]
            if not all(end is None or _is_in_nanoseconds(end) for end in ends):
                return None
        return spans

    @cached_property
    def masks(self) -> tuple[tuple[Mask, ...] | None, ...] | None:
        """By group of values the masks that name it; None for a group that lists its values.

        None at all outside views, where a mask is true of the values that were seen only.
        """
        domain, kinds = self.column.domain, (Kind.TEXT, Kind.INTEGER)
        if not self.in_view or not self.is_observed or domain.kind not in kinds:
            return None
        masks = tuple(
            group_masks(self.column, self.partition, start, min(stop, domain.width))
            for start, stop in self.partition.runs
            if start < domain.width
        )
        return None if all(each is None for each in masks) else masks

    @property
    def is_observed(self) -> bool:
        """Whether the values of the domain are known from the data alone."""
        return isinstance(self.column.domain, ValueDomain) and self.column.domain.is_observed

    @cached_property
    def shown_runs(self) -> tuple[tuple[int, int], ...]:
        """The groups of values that the SQL may name."""
        width, shown = self.column.domain.width, self.shown
        return tuple(
            run
            for number, run in enumerate(self.partition.runs)
            if run[0] < width and (shown is None or number in shown)
        )

    @cached_property
    def takes_all(self) -> bool:
        """Whether there is one group, and what is written for it is true of any value.

        The label of a single atom, the ends of a range and the name of a node are not; the mask
        in place of a whole text is.
        """
        if len(self.partition) > 1:
            return False
        domain = self.column.domain
        if self.is_open and isinstance(domain, IntervalDomain):
            return True
        is_atom = self.column.size == 1 and (self.column.min_level == 0 or not domain.width)
        return (
            self.output is Output.LABEL
            and not is_atom
            and group_labels(self.column, self.partition)[0] in self._names_of_all
        )

    @property
    def _names_of_all(self) -> tuple[str, ...]:
        hierarchy = self.column.hierarchy
        if hierarchy is None or not hierarchy.root_is_all:
            return (WHOLE,)
        return (WHOLE, hierarchy.levels[-1][0])


def _is_in_nanoseconds(end: Value) -> bool:
    return isinstance(end, dt.datetime) and _NANOSECONDS[0] <= end <= _NANOSECONDS[1]


def _cells(item: Generalized) -> tuple[tuple[Cell, ...], ...]:
    if item.output is Output.LABEL:
        labels = _labels(item)
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
    return tuple(_numbers(item, domain, start, stop) for start, stop in item.groups)


def _labels(item: Generalized) -> tuple[str | None, ...]:
    if item.boxes is None:
        return group_labels(
            item.column, item.partition, open_ends=item.open_ends, null_label=item.null_label
        )
    return run_labels(item.column, item.boxes, open_ends=item.open_ends, null_label=item.null_label)


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
    for (start, stop), (label, *_) in zip(item.runs, item.cells, strict=True):
        # A lone value is everything only where its label is not the value itself.
        several = item.width > 1 or item.column.min_level > 0
        everything = start == 0 and stop >= item.width and several
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
    width = item.width
    has_all = 0 < width <= item.runs[0][1]
    return has_all and item.cells[0] == (_top_label(item),)


@dataclass(frozen=True)
class Writing:
    """What a policy says about the writing of one column; `open_ends` None leaves it open."""

    output: Output = Output.LABEL
    open_ends: bool | None = None
    null_label: str | None = None

    def labels(
        self, column: Column, partition: Partition, boxes: tuple[Run, ...] | None = None
    ) -> tuple[str | None, ...]:
        """One text a group, as the release will have it; None is NULL.

        Where no release can be written, publishing says why; here groups go by plain labels.
        """
        item = Generalized(
            column,
            partition,
            "",
            output=self.output,
            open_ends=opens_ends(self.open_ends, column),
            null_label=self.null_label,
            boxes=boxes,
        )
        try:
            return tuple(cell_text(group) for group in item.cells)
        except (CompileError, SchemeError):
            return group_labels(column, partition) if boxes is None else run_labels(column, boxes)


Writings = Mapping[str, Writing]
"""By name of the column."""


def opens_ends(wanted: bool | None, column: Column) -> bool:
    """Unless the policy decides, the extremes of observed values do not show in labels."""
    if wanted is not None:
        return wanted
    return isinstance(column.domain, ValueDomain) and column.domain.is_observed


def cell_text(group: tuple[Cell, ...]) -> str | None:
    """What is released for a group as one text, two columns with a comma; None for NULL."""
    if group[0] is None:
        return None
    return ", ".join(format_value(cell) for cell in group if cell is not None)


def marking_problems(outputs: Mapping[str, Output], *, in_view: bool) -> Iterator[str]:
    """Why suppressed rows cannot be marked in a release; `outputs` are its quasi-identifiers'."""
    if in_view:
        yield (
            "suppression.rows: a view leaves small classes out; it cannot mark them, because "
            "the marked rows might become too few later"
        )
    for name, output in outputs.items():
        if output is not Output.LABEL:
            yield (
                f"column {name!r}: output {output} has no place for the marker of suppressed "
                "rows; say `rows: leave_out` in suppression, or take output label"
            )
