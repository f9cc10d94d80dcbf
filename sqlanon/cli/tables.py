"""Tables that fit a screen: columns are left out whole, and signs are those that it can show."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from sqlanon.api.solution import BETWEEN, MORE, format_label


class Signs(NamedTuple):
    """Signs of tables and plots, for screens with and without Unicode."""

    chosen: str
    between: str
    more: str
    nothing: str
    at_least: str
    upright: str
    corner: str
    level: str


UNICODE = Signs("→", BETWEEN, MORE, "–", "≥", "│", "└", "─")
ASCII = Signs("->", " | ", "...", "-", ">=", "|", "+", "-")

_HEAD_ALONE = box.Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)
"""rich's SIMPLE_HEAD in ASCII; left to itself, rich draws a wider frame there."""


def signs(screen: Console) -> Signs:
    """The signs for a screen."""
    return ASCII if screen.options.ascii_only else UNICODE


def new_table(screen: Console) -> Table:
    """A table without columns."""
    head = _HEAD_ALONE if screen.options.ascii_only else box.SIMPLE_HEAD
    return Table(box=head, pad_edge=False)


def cell(text: str, screen: Console) -> Text:
    """Any text as one line: what the encoding lacks is spelled out here, so that columns align.

    As Text, because a str may hold [marks] that rich would obey.
    """
    shown = format_label(text)
    return Text(shown.encode(screen.encoding, "backslashreplace").decode(screen.encoding))


def width_of(table: Table, screen: Console) -> int:
    """What a table takes where it has all the room."""
    return _measured(table, screen).maximum


def print_fitted(
    screen: Console, make: Callable[[Collection[str]], Table], dispensable: Sequence[str]
) -> None:
    """Prints a table without as many of the dispensable columns as the screen has no room for.

    `make` builds the table without columns of some titles. The first dispensable ones go first,
    and a line names them. Where all of them are not enough, the table is wider than the screen,
    because half a number is worse than a line that wraps.
    """
    table, left_out, room = make(()), 0, screen.width
    titles = [str(column.header) for column in table.columns]
    while _needed(table, screen) > room and left_out < len(dispensable):
        left_out += 1
        table = make(dispensable[:left_out])
    screen.width = max(room, _needed(table, screen))
    screen.print(table)
    screen.width = room
    if left_out:
        missing = [title for title in titles if title in dispensable[:left_out]]
        screen.print(f"Not shown for want of width: {', '.join(missing)}", markup=False)


def _needed(table: Table, screen: Console) -> int:
    """What a table takes at least: its longest words, if a column of it may wrap."""
    measured = _measured(table, screen)
    wraps = any(not column.no_wrap for column in table.columns)
    return measured.minimum if wraps else measured.maximum


def _measured(table: Table, screen: Console) -> Measurement:
    return Measurement.get(screen, screen.options.update(width=10_000), table)
