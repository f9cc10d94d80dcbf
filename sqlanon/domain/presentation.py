"""How a column is released: its options, the labels of its groups, their bounds, what they take."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from enum import StrEnum
from functools import cached_property

from sqlanon.domain.atoms import IntervalDomain, ValueDomain
from sqlanon.domain.column import Column
from sqlanon.domain.cut_tree import Run
from sqlanon.domain.hierarchy import Span
from sqlanon.domain.labels import WHOLE, Mask, group_labels, group_masks, group_spans, run_labels
from sqlanon.domain.partition import Partition
from sqlanon.domain.values import Value, format_value
from sqlanon.engines import Kind, has_nanoseconds, has_time_zone
from sqlanon.errors import CompileError, SchemeError

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
