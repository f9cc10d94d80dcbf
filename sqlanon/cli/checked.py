"""How an audit is shown in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sqlanon.api.solution import format_label
from sqlanon.verify import CheckResult, Listing, Sensitive

BAR = 30


def show_check(
    result: CheckResult, listing: Listing | None, k: int | None, screen: Console
) -> None:
    audit = result.audit
    figures = _table("figure", "value", "meaning", right={"value"})
    for name, value, meaning in audit.described():
        figures.add_row(name, value, Text(format_label(meaning), style="dim"))
    screen.print(figures)
    screen.print(_histogram(result, k, "utf" in screen.encoding.lower()))
    if audit.sensitive:
        screen.print(_sensitive(audit.sensitive))
    if listing is not None:
        _show_listing(listing, screen)
    if result.holds and result.required:
        screen.print(result.verdict())


def _sensitive(columns: Sequence[Sensitive]) -> Table:
    """One column a sensitive column, one line a figure of its worst class."""
    names = [each.column for each in columns]
    table = _table("in the worst class", *names, "meaning", right=set(names))
    for lines in zip(*(each.described() for each in columns), strict=True):
        values = [value for _, value, _ in lines]
        if any(values):
            name, _, meaning = lines[0]
            table.add_row(name, *values, Text(meaning, style="dim"))
    return table


def _histogram(result: CheckResult, k: int | None, unicode: bool) -> Table:
    """Classes by size, in steps of 1, 2, 5 and at k; the bars are shares of the rows."""
    unit = "rows" if result.audit.by_people is None else "people"
    table = _table(f"{unit} in a class", "classes", "rows", "share", right={"classes", "rows"})
    edges = _edges(result.audit.spread.largest, k)
    for low, high in pairwise(edges):
        sizes = [each for each in result.audit.sizes if low <= each.size < high]
        classes, rows = sum(s.classes for s in sizes), sum(s.rows for s in sizes)
        if classes:
            label = f"{low:,}" if high == low + 1 else f"{low:,} to {high - 1:,}"
            bar = ("█" if unicode else "#") * max(1, round(BAR * rows / result.rows))
            style = "red" if k is not None and low < k else None
            share = f"{bar} {rows / result.rows:.1%}"
            table.add_row(label, f"{classes:,}", f"{rows:,}", share, style=style)
    return table


def _edges(largest: int, k: int | None) -> list[int]:
    """Where the steps begin; the last one is above every size."""
    edges = {1, 3} | ({k} if k is not None else set())
    step = 1
    while step <= largest:
        edges |= {step, 2 * step, 5 * step, 10 * step}
        step *= 10
    return sorted(edges)


def _show_listing(listing: Listing, screen: Console) -> None:
    if not listing.classes:
        return
    names = list(listing.classes[0].values)
    counts = ["people", "rows"]
    if listing.classes[0].population is not None:
        counts += ["population", "journalist risk"]
    classes = _table(*counts, *names, right=set(counts))
    for each in listing.classes:
        numbers = [f"{each.people:,}", f"{each.rows:,}"]
        if each.population is not None:
            numbers += [f"{each.population:,}", f"{each.journalist_risk:.2%}"]
        classes.add_row(*numbers, *map(_cell, each.values.values()))
    screen.print("The smallest classes:")
    screen.print(classes)
    samples = _table(*listing.samples[0])
    for row in listing.samples:
        samples.add_row(*map(_cell, row.values()))
    screen.print("Some of their rows:")
    screen.print(samples)


def _cell(value: str | None) -> Text:
    # As Text, because a str may hold [marks] that rich would obey.
    return Text(format_label(value))


def _table(*titles: str, right: set[str] | None = None) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in titles:
        table.add_column(
            Text(format_label(title)), justify="right" if title in (right or ()) else "left"
        )
    return table
