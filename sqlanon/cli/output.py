"""What the commands print: tables for people, one JSON document for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click
from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from sqlanon.api.reached import Reached
from sqlanon.api.result import SearchResult
from sqlanon.api.solution import DESCRIPTIONS, Solution, format_label, format_score
from sqlanon.metrics import FURTHER
from sqlanon.privacy import Model

REQUIREMENT_FAILS = 3


def print_json(document: Any) -> None:
    """One document on standard output."""
    encoding = getattr(sys.stdout, "encoding", None) or ""  # there is none when it is closed
    escaped = "utf" not in encoding.lower()
    click.echo(json.dumps(document, indent=2, ensure_ascii=escaped))


def end(message: str, status: int) -> NoReturn:
    """Ends a command that was not done; whoever reads JSON gets a document then, too."""
    if "--json" in sys.argv[1:]:
        print_json({"error": message, "status": status})
    sys.exit(status)


def score_table(solution: Solution) -> Table:
    """All scores of one solution with what they mean."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("score")
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("meaning", style="dim")
    for name, meaning in DESCRIPTIONS.items():
        value = solution.scores.get(name)
        if value is not None:
            table.add_row(name, format_score(value), meaning)
    return table


def model_table(solution: Solution) -> Table:
    """What a solution reaches of the models that its policy requires beyond k."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("required beyond k")
    table.add_column("reached", justify="right", no_wrap=True)
    table.add_column("holds", justify="center")
    for each in solution.models:
        mark = "[green]yes[/]" if each.holds else "[red]no[/]"
        table.add_row(Text(format_label(each.model.describe())), each.shown, mark)
    return table


def group_table(solution: Solution) -> Table:
    """How a solution groups every column."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("column")
    table.add_column("groups", justify="right")
    table.add_column("labels", overflow="fold")
    for column in solution.released.columns:
        labels = [format_label(label) for label in solution.labels(column.name)]
        shown = " · ".join(labels[:12]) + (" · …" if len(labels) > 12 else "")
        # As Text, because a str may hold [marks] that rich would obey.
        name = Text(format_label(column.name))
        table.add_row(name, f"{len(labels)} of {column.size}", Text(shown))
    return table


def comparison_table(rows: Sequence[tuple[str, Solution]], k: int) -> Table:
    """Several solutions, one a row; those that do not reach k are marked."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("scheme")
    for name in ("k", "classes", "left out", "NWP", "NECD", "ach"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column(f"k ≥ {k}", justify="center")
    for title, solution in rows:
        scores = solution.scores
        cells = [scores["k"], scores["classes"], scores["suppressed"], scores["nwp"],
                 scores["necd"], scores["ach"]]  # fmt: skip
        mark = "[green]yes[/]" if solution.feasible else "[red]no[/]"
        texts = ["–" if value is None else format_score(value) for value in cells]
        table.add_row(title, *texts, mark)
    return table


def front_table(result: SearchResult, most: int = 20) -> Table:
    """The solutions of a search, the chosen one marked; of many, an even selection.

    What they reach of a few models stands beside them; of more, how many fail, because a line
    has room for few columns (see `reached_tables`).
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    # The measures that the search was for, and what was traded off, come after the usual scores.
    searched = [name for name in FURTHER if result.solutions and name in result.solutions[0].scores]
    wanted = dict.fromkeys([*FRONT_SCORES, *searched, *result.objectives])
    names = [name for name in wanted if len(searched) < 2 or name not in ("nwp", "necd")]
    names = [n for n in names if any(s.scores.get(n) is not None for s in result.solutions)]
    models = _models(result)
    beside = _short_names(models) if len(models) <= BESIDE else ["models"]
    titles = [FRONT_SCORES.get(name, _title(name)) for name in names]
    for title in ("", "#", *titles, *beside):
        table.add_column(title, justify="right", no_wrap=True)
    shown = _shown(result, most)
    for i in shown:
        solution = result.solutions[i]
        values = [solution.scores.get(name) for name in names]
        texts = ["–" if value is None else format_score(value) for value in values]
        mark, style = ("→", "bold green") if i == result.chosen else ("", None)
        table.add_row(mark, str(i), *texts, *_verdicts(solution), style=style)
    notes = legend(result) if len(models) <= BESIDE else []
    if len(shown) < len(result.solutions):
        notes.append(f"{len(shown)} of {len(result.solutions)} solutions")
    table.caption = Text("\n".join(notes)) if notes else None
    return table


BESIDE = 2
"""So many models fit beside the scores."""


def reached_tables(result: SearchResult, screen: Console, most: int = 20) -> list[Table]:
    """What the same solutions reach of the models, where these are too many for one line.

    As many tables as it takes to show every number on a screen of this width.
    """
    columns = list(range(len(_models(result))))
    if len(columns) <= BESIDE:
        return []
    tables = []
    while columns:
        table = _reached_table(result, columns[:1], most)
        taken = 1
        while taken < len(columns):
            wider = _reached_table(result, columns[: taken + 1], most)
            if _width(wider, screen) > screen.width:
                break
            table, taken = wider, taken + 1
        tables.append(table)
        columns = columns[taken:]
    return tables


def _reached_table(result: SearchResult, columns: Sequence[int], most: int) -> Table:
    """What the solutions reach of some of the models."""
    titles = _short_names(_models(result))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for title in ("", "#", *(titles[column] for column in columns)):
        table.add_column(title, justify="right", no_wrap=True)
    for i in _shown(result, most):
        mark, style = ("→", "bold green") if i == result.chosen else ("", None)
        models = result.solutions[i].models
        reached = [_verdict(models[column]) for column in columns]
        table.add_row(mark, str(i), *reached, style=style)
    return table


def _width(table: Table, screen: Console) -> int:
    """What a table takes where it has all the room."""
    return Measurement.get(screen, screen.options.update(width=10_000), table).maximum


def _models(result: SearchResult) -> list[Model]:
    return [each.model for each in result.solutions[0].models] if result.solutions else []


def _shown(result: SearchResult, most: int) -> list[int]:
    """The rows of a table: an even selection, with the chosen solution."""
    if not result.solutions:
        return []
    return sorted({*_spread(len(result.solutions), most), result.chosen or 0})


def _verdicts(solution: Solution) -> list[Text]:
    if len(solution.models) <= BESIDE:
        return [_verdict(each) for each in solution.models]
    fail = sum(not each.holds for each in solution.models)
    return [Text(f"{fail} fail", style="red") if fail else Text("hold")]


def _verdict(reached: Reached) -> Text:
    return Text(reached.shown, style="" if reached.holds else "red")


def legend(result: SearchResult) -> list[str]:
    """What the short names of the models mean, a line each."""
    models = _models(result)
    pairs = zip(_short_names(models), models, strict=True)
    return [f"{name}: {format_label(model.describe())}" for name, model in pairs]


def _title(name: str) -> str:
    """The papers' measures are known by their initials."""
    return name.upper() if len(name) <= 4 and name not in FURTHER else name.replace("_", " ")


def _short_names(models: Sequence[Model]) -> list[str]:
    """The letters of the models, numbered where one occurs several times."""
    letters = [model.symbol for model in models]
    return [
        letter if letters.count(letter) == 1 else f"{letter} {letters[: i + 1].count(letter)}"
        for i, letter in enumerate(letters)
    ]


FRONT_SCORES = {
    "k": "k",
    "classes": "classes",
    "suppressed": "left out",
    "nwp": "NWP",
    "necd": "NECD",
    "ach": "ach",
}


def _spread(number: int, most: int) -> list[int]:
    """At most so many of the rows 0..number-1, evenly spread."""
    if number <= most:
        return list(range(number))
    return [round(i * (number - 1) / (most - 1)) for i in range(most)]


def console() -> Console:
    """Standard output; plain text when it is not a terminal."""
    return Console(highlight=False)
