"""Counts, lists and near names, as messages write them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path

ANNOUNCED = "sqlanon.progress"
"""The logger of what a command is about to do; the command line shows it."""


def counted(number: int, noun: str) -> str:
    """A number with its noun: 1 row, 2,000 rows, 1 person, 3 people."""
    several = _PLURALS.get(noun, f"{noun}s")
    return f"{number:,} {noun if number == 1 else several}"


_PLURALS = {"person": "people", "class": "classes"}


def brief_list(texts: Sequence[str], most: int = 5, width: int = 40) -> str:
    """The first of some texts, each cut to a width: for a repr, which must stay short."""
    shown = [text if len(text) <= width else f"{text[: width - 1]}…" for text in texts[:most]]
    more = len(texts) - len(shown)
    return ", ".join([*shown, *([f"{more:,} more"] if more else [])])


def suggest(wrong: str, known: Iterable[str], otherwise: str, limit: int = 20) -> str:
    """A sentence with the names nearest to a wrong one, else `otherwise` and the known ones."""
    names = list(dict.fromkeys(known))
    by_lower: dict[str, list[str]] = {}
    for name in names:
        by_lower.setdefault(name.lower(), []).append(name)
    close = difflib.get_close_matches(wrong.lower(), by_lower, n=3)
    if close:
        near = [repr(name) for lower in close for name in by_lower[lower]]
        return f"Did you mean {' or '.join(near)}?"
    listed = ", ".join(repr(name) for name in names[:limit])
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return f"{otherwise} {listed or 'none'}{more}."


def looked_in(path: Path) -> str:
    """The end of a message about a missing file: the folder that a relative path started from."""
    return "" if path.is_absolute() else f" in {Path.cwd()}"


def percent(share: float) -> str:
    """A share as people read it: never 0 for something, never 100 for less than all."""
    if share in (0, 1):
        return f"{share:.0%}".replace("%", " %")
    if share < 0.0001:
        return "under 0.01 %"
    if share > 0.9999:
        return "over 99.99 %"
    digits = 2 if share < 0.01 or share > 0.99 else 1
    text = f"{100 * share:.{digits}f}"
    return f"{text.rstrip('0').rstrip('.')} %"


def figure(value: float) -> str:
    """A number with the digits that people compare: 2, 0.1312, 1,204."""
    return f"{value:,.4g}" if value < 1000 else f"{value:,.0f}"
