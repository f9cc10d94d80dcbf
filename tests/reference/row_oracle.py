"""A release worked out row by row in plain Python: slow, obvious, without the package's code.

A column is its atoms in their order, put into groups of neighbours. What a cell becomes is
decided here from the raw cell, and so is how it is written.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any

from release_oracle import spelled

UNSEEN = object()
"""What a value that belongs to no group becomes, before anybody decides about it."""


def same(cell: Any) -> Hashable:
    """A cell as something that equals itself; unlike equality it tells 1, 1.0 and True apart."""
    if isinstance(cell, float):
        return ("float", "nan" if math.isnan(cell) else repr(cell))
    if isinstance(cell, Decimal | int) and not isinstance(cell, bool):
        return ("exact number", cell)
    return (type(cell).__name__, cell)


def atom(cell: Any) -> Hashable:
    """A cell as an atom: NaN is one value, and so are 0.0 and -0.0."""
    if isinstance(cell, float):
        return ("nan",) if math.isnan(cell) else cell + 0.0
    found: Hashable = cell
    return found


def above(cell: Any, other: Any) -> bool:
    """The order of values, NaN above all numbers."""
    if isinstance(cell, float) and math.isnan(cell):
        return not (isinstance(other, float) and math.isnan(other))
    return not (isinstance(other, float) and math.isnan(other)) and cell > other


def quoted(text: str) -> str:
    awkward = not text or text != text.strip() or any(sign in '{},"' for sign in text)
    return '"' + text.replace('"', '""') + '"' if awkward else text


@dataclass
class TwinColumn:
    """A quasi-identifier and its groups.

    values  the atoms in their order, NULL aside; None for a range
    edges   the edges of a range; None for values
    groups  atom numbers, NULL as the one after the last
    levels  for each level of a hierarchy the group number of each atom; None without one
    """

    name: str
    values: list[Any] | None
    edges: list[Any] | None
    has_null: bool
    groups: list[list[int]]
    levels: list[list[int]] | None
    is_ordered: bool
    output: str
    open_ends: bool
    null_label: str | None

    def __post_init__(self) -> None:
        ends = self.values if self.edges is None else self.edges[:-1]
        assert ends is not None
        self.ends: list[Any] = ends
        self.width = len(ends)
        self.is_range = self.edges is not None
        self.is_sorted = self.is_range or (
            self.is_ordered and all(above(after, before) for before, after in pairwise(ends))
        )
        self.is_open = self.open_ends and self.output == "label"

    @property
    def takes_all(self) -> bool:
        """One group whose label is true of every value, also of new ones."""
        if len(self.groups) > 1 or self.output != "label":
            return False
        several = self.width + self.has_null > 1 and self.top == "*"
        return several or (self.is_range and self.is_open)

    def group_of(self, cell: Any) -> int | None:
        """The number of the cell's group; None where it has none."""
        if self.takes_all:
            return 0
        if cell is None:
            null = [i for i, group in enumerate(self.groups) if self.width in group]
            return null[0] if self.has_null else None
        for number, group in enumerate(self.groups):
            if self._holds([a for a in group if a < self.width], cell):
                return number
        return None

    def _holds(self, atoms: list[int], cell: Any) -> bool:
        if not atoms:
            return False
        # A node of a hierarchy holds its leaves and nothing that lies between them.
        by_list = self.levels is not None or not self.is_sorted or len(atoms) == 1
        if by_list and not self.is_range:
            return atom(cell) in {atom(self.ends[a]) for a in atoms}
        first, last = atoms[0], atoms[-1]
        is_lowest, is_highest = first == 0, last == self.width - 1
        if self.is_open and is_lowest and is_highest:
            return True
        if above(self.ends[first], cell) and not (is_lowest and self.is_open):
            return False
        if not is_highest:
            return above(self.ends[last + 1], cell)
        end = self.ends[-1] if self.edges is None else self.edges[-1]
        if self.is_open:
            is_nan = isinstance(cell, float) and math.isnan(cell)
            return not is_nan or atom(end) == atom(math.nan)
        return not above(cell, end)

    def shown(self, number: int) -> tuple[Any, ...]:
        """What is released for a group."""
        group = self.groups[number]
        if self.output == "label":
            return (self.label(group),)
        wide = 2 if self.output == "bounds" else 1
        if group == [self.width]:
            return (None,) * wide
        assert self.edges is not None
        low, high = self.edges[group[0]], self.edges[min(group[-1], self.width - 1) + 1]
        if self.output == "lower":
            return (low,)
        if self.output == "bounds":
            return (low, high)
        return (middle(low, high),)

    def label(self, group: Sequence[int]) -> str | None:
        if group == [self.width]:
            return self.null_label
        if self.width in group:
            return self.top
        first, last = group[0], group[-1]
        if len(group) == 1 and not self.is_range and not self.lowest_level:
            return self.spelled(self.ends[first])
        for level, groups in enumerate(self.levels or []):
            node = [i for i, g in enumerate(groups) if g == groups[first]]
            is_named = len(group) > 1 or self.lowest_level > 0
            if is_named and level and level >= self.lowest_level and node == group:
                return f"{level} {groups[first]}"
        whole = len(group) == self.width
        if whole and ((self.is_open and self.is_sorted) or (not self.has_null and len(group) > 1)):
            return "*"
        if not self.is_sorted:
            return "{" + ", ".join(quoted(self.spelled(self.ends[a])) for a in group) + "}"
        if self.edges is None and self.spelled(self.ends[last]) == "nan":
            return f"{self.spelled(self.ends[first])}+ or NaN"
        if self.is_open and first == 0:
            return f"<{self.spelled(self.ends[last + 1])}"
        if self.is_open and last == self.width - 1:
            return f"{self.spelled(self.ends[first])}+"
        if last < self.width - 1:
            return f"[{self.spelled(self.ends[first])}, {self.spelled(self.ends[last + 1])})"
        end = self.ends[-1] if self.edges is None else self.edges[-1]
        return f"[{self.spelled(self.ends[first])}, {self.spelled(end)}]"

    def spelled(self, value: Any) -> str:
        """Timestamps without a zone as dates where all that labels may show are at midnight."""
        shown = self.ends if self.edges is None else self.edges
        days = all(
            isinstance(v, dt.datetime) and v.tzinfo is None and v.time() == dt.time() for v in shown
        )
        return spelled(value.date() if days and isinstance(value, dt.datetime) else value)

    @property
    def lowest_level(self) -> int:
        """The level that the groups are, if they are one: then all are called by its names."""
        null = [[self.width]] if self.has_null else []
        for level, numbers in enumerate(self.levels or []):
            nodes = [[i for i, n in enumerate(numbers) if n == g] for g in sorted(set(numbers))]
            if sorted(nodes) + null == self.groups:
                return level
        return 0

    @property
    def top(self) -> str:
        if self.levels is None or len(self.levels) == 1:
            return "*"
        return f"{len(self.levels) - 1} 0"

    def top_clashes(self) -> bool:
        """Whether a group that does not hold every value is called like the top."""
        return any(
            self.label(group) == self.top
            and not (self.width > 1 and group[: self.width] == list(range(self.width)))
            for group in self.groups
        )


def middle(low: Any, high: Any) -> Any:
    if isinstance(low, dt.date):
        return low + (high - low) / 2
    if isinstance(low, float) or isinstance(high, float):
        return float((Decimal(str(low)) + Decimal(str(high))) / 2)
    return (Decimal(low) + Decimal(high)) / 2


@dataclass
class TwinRelease:
    """What a release must be, row by row."""

    columns: list[TwinColumn]
    kept: list[bool]  # whether the column keeps its values and their type
    k: int
    suppress: bool
    marker: str | None
    unseen: str
    guarded: bool

    def cells(self, row: Sequence[Any]) -> list[tuple[Any, ...]]:
        """A row's released quasi-identifiers, one tuple a column."""
        found: list[tuple[Any, ...]] = []
        for column, cell, kept in zip(self.columns, row, self.kept, strict=True):
            number = column.group_of(cell)
            if number is None:
                is_top = self.unseen == "top" and column.output == "label"
                found.append((column.top,) if is_top else (UNSEEN,))
            elif kept and not column.takes_all:
                canonical = cell + 0.0 if isinstance(cell, float) else cell
                found.append((canonical,))
            else:
                found.append(column.shown(number))
        return found

    def unseen_counts(self, rows: Sequence[Sequence[Any]]) -> list[int]:
        counts = [0] * len(self.columns)
        for row in rows:
            for place, cells in enumerate(self.cells(row)):
                counts[place] += cells[0] is UNSEEN
        return counts

    def rows(
        self, rows: Sequence[Sequence[Any]], people: Sequence[Hashable]
    ) -> dict[int, list[tuple[Any, ...]]]:
        """By the number of the source's row what becomes of it; left-out rows are missing."""
        released = {number: self.cells(row) for number, row in enumerate(rows)}
        if self.guarded or self.unseen == "leave_out":
            released = {n: c for n, c in released.items() if all(x[0] is not UNSEEN for x in c)}
        if not (self.guarded or self.suppress):
            return released
        classes: dict[Hashable, set[Hashable]] = {}
        for number, cells in released.items():
            classes.setdefault(_class(cells), set()).add(people[number])
        final = {}
        for number, cells in released.items():
            if len(classes[_class(cells)]) >= self.k:
                final[number] = cells
            elif self.marker is not None:
                final[number] = [(self.marker,)] * len(self.columns)
        return final


def _class(cells: Sequence[tuple[Any, ...]]) -> Hashable:
    return tuple(same(x) if x is not UNSEEN else "unseen" for column in cells for x in column)
