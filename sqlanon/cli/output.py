"""What the commands print: tables for people, one JSON document for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NoReturn

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sqlanon.api.kept import Kept, warnings_of
from sqlanon.api.reached import Reached
from sqlanon.api.result import SearchResult
from sqlanon.api.solution import DESCRIPTIONS, Solution, format_labels, format_score
from sqlanon.cli.tables import cell, new_table, print_fitted, signs, width_of
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


def print_scores(solution: Solution, screen: Console) -> None:
    """All scores of one solution with what they mean."""

    def table(without: Collection[str]) -> Table:
        table = new_table(screen)
        table.add_column("score", no_wrap=True)
        table.add_column("value", justify="right", no_wrap=True)
        if MEANING not in without:
            table.add_column(MEANING, style="dim")
        for name, meaning in DESCRIPTIONS.items():
            value = solution.scores.get(name)
            if value is not None:
                table.add_row(name, format_score(value), *[meaning] * (MEANING not in without))
        return table

    print_fitted(screen, table, [MEANING])


MEANING = "meaning"


def model_table(solution: Solution, screen: Console) -> Table:
    """What a solution reaches of the models that its policy requires beyond k."""
    table = new_table(screen)
    table.add_column("required beyond k", overflow="fold")
    table.add_column("reached", justify="right", no_wrap=True)
    table.add_column("holds", justify="center", no_wrap=True)
    for each in solution.models:
        mark = "[green]yes[/]" if each.holds else "[red]no[/]"
        table.add_row(cell(each.model.describe(), screen), each.shown, mark)
    return table


def print_groups(solution: Solution, screen: Console) -> None:
    """What a release of a solution keeps of every column, and what to say of that."""
    sign = signs(screen)
    labels = {
        each.column: format_labels(
            solution.released_labels(each.column), 12, sign.between, sign.more
        )
        for each in solution.kept
    }
    print_kept(solution.kept, screen, labels)


def print_kept(
    kept: Sequence[Kept], screen: Console, labels: Mapping[str, str] | None = None
) -> None:
    """The groups of every column that occur in a release, the largest of them, and the loss."""

    def table(without: Collection[str]) -> Table:
        table = new_table(screen)
        table.add_column("column", overflow="fold")
        for title in ("groups", LARGEST, "lost"):
            if title not in without:
                table.add_column(title, justify="right", no_wrap=True)
        if labels is not None:
            table.add_column("labels", overflow="fold")
        for each in kept:
            share = Text(f"{each.largest:.1%}", style="yellow" if each.is_little else "")
            cells: dict[str, str | Text] = {
                "groups": f"{each.groups:,} of {each.values:,}",
                LARGEST: share,
                "lost": f"{each.loss:.1%}",
            }
            shown = [text for title, text in cells.items() if title not in without]
            written = [] if labels is None else [cell(labels[each.column], screen)]
            table.add_row(cell(each.column, screen), *shown, *written)
        return table

    print_fitted(screen, table, ["lost", LARGEST])
    for line in warnings_of(kept):
        screen.print(cell(line, screen))


LARGEST = "in the largest"


def print_comparison(rows: Sequence[tuple[str, Solution]], k: int, screen: Console) -> None:
    """Several solutions, one a row; those that do not reach k are marked."""
    sign = signs(screen)

    def table(without: Collection[str]) -> Table:
        kept = {name: title for name, title in FRONT_SCORES.items() if title not in without}
        table = new_table(screen)
        table.add_column("scheme", no_wrap=True)
        for title in kept.values():
            table.add_column(title, justify="right", no_wrap=True)
        table.add_column(f"k {sign.at_least} {k}", justify="center", no_wrap=True)
        for title, solution in rows:
            mark = "[green]yes[/]" if solution.feasible else "[red]no[/]"
            table.add_row(title, *_texts(solution, kept, screen), mark)
        return table

    print_fitted(screen, table, [FRONT_SCORES[name] for name in LEAST_FIRST])


def print_front(result: SearchResult, screen: Console, most: int = 20) -> None:
    """The solutions of a search, without columns that the screen has no room for.

    What was searched for stays, and so does k.
    """
    scores = [name for name in _front_scores(result) if name not in ("k", *result.objectives)]
    order = {name: place for place, name in enumerate(LEAST_FIRST)}
    scores.sort(key=lambda name: order.get(name, len(order)))
    dispensable = [*map(_title, scores), *_beside(result)]
    print_fitted(screen, lambda left_out: front_table(result, screen, most, left_out), dispensable)


def front_table(
    result: SearchResult, screen: Console, most: int = 20, without: Collection[str] = ()
) -> Table:
    """The solutions of a search, the chosen one marked; of many, an even selection.

    What they reach of a few models stands beside them; of more, how many fail, because a line
    has room for few columns (see `reached_tables`). Columns of some titles are left out.
    """
    table = new_table(screen)
    names = [name for name in _front_scores(result) if _title(name) not in without]
    beside = [title for title in _beside(result) if title not in without]
    for title in ("", "#", *map(_title, names), *beside):
        table.add_column(title, justify="right", no_wrap=True)
    shown = _shown(result, most)
    for i in shown:
        solution = result.solutions[i]
        verdicts = dict(zip(_beside(result), _verdicts(solution), strict=True))
        reached = [verdicts[title] for title in beside]
        texts = _texts(solution, names, screen)
        table.add_row(*_mark(result, i, screen), *texts, *reached, style=_style(result, i))
    notes = legend(result) if len(_models(result)) <= BESIDE else []
    if len(shown) < len(result.solutions):
        notes.append(f"{len(shown)} of {len(result.solutions)} solutions")
    table.caption = Text("\n").join(cell(note, screen) for note in notes) if notes else None
    return table


def _front_scores(result: SearchResult) -> list[str]:
    """The usual scores, the measures that the search was for, and what was traded off."""
    searched = [name for name in FURTHER if result.solutions and name in result.solutions[0].scores]
    wanted = dict.fromkeys([*FRONT_SCORES, *searched, *result.objectives])
    names = [name for name in wanted if len(searched) < 2 or name not in ("nwp", "necd")]
    return [n for n in names if any(s.scores.get(n) is not None for s in result.solutions)]


def _beside(result: SearchResult) -> list[str]:
    """The titles of what is said of the models, if there are any."""
    models = _models(result)
    return _short_names(models) if len(models) <= BESIDE else ["models"]


def _texts(solution: Solution, names: Iterable[str], screen: Console) -> list[str]:
    values = [solution.scores.get(name) for name in names]
    return [signs(screen).nothing if v is None else format_score(v) for v in values]


def _mark(result: SearchResult, row: int, screen: Console) -> tuple[str, str]:
    return signs(screen).chosen if row in result.choices.values() else "", str(row)


def _style(result: SearchResult, row: int) -> str | None:
    return "bold green" if row in result.choices.values() else None


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
        table = _reached_table(result, columns[:1], most, screen)
        taken = 1
        while taken < len(columns):
            wider = _reached_table(result, columns[: taken + 1], most, screen)
            if width_of(wider, screen) > screen.width:
                break
            table, taken = wider, taken + 1
        tables.append(table)
        columns = columns[taken:]
    return tables


def _reached_table(
    result: SearchResult, columns: Sequence[int], most: int, screen: Console
) -> Table:
    """What the solutions reach of some of the models."""
    titles = _short_names(_models(result))
    table = new_table(screen)
    table.collapse_padding = True
    for title in ("", "#", *(titles[column] for column in columns)):
        table.add_column(title, justify="right", no_wrap=True)
    for i in _shown(result, most):
        models = result.solutions[i].models
        reached = [_verdict(models[column]) for column in columns]
        table.add_row(*_mark(result, i, screen), *reached, style=_style(result, i))
    return table


def _models(result: SearchResult) -> list[Model]:
    return [each.model for each in result.solutions[0].models] if result.solutions else []


def _shown(result: SearchResult, most: int) -> list[int]:
    """The rows of a table: an even selection, with the chosen solutions."""
    if not result.solutions:
        return []
    chosen = [row for row in result.choices.values() if row is not None]
    return sorted({*_spread(len(result.solutions), most), *chosen})


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
    return [f"{name}: {model.describe()}" for name, model in pairs]


def _title(name: str) -> str:
    """The papers' measures are known by their initials."""
    if name in FRONT_SCORES:
        return FRONT_SCORES[name]
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
LEAST_FIRST = ("classes", "suppressed", "ach", "necd", "nwp")
"""What a narrow screen does without, unless it was searched for; other measures after these."""


def _spread(number: int, most: int) -> list[int]:
    """At most so many of the rows 0..number-1, evenly spread."""
    if number <= most:
        return list(range(number))
    return [round(i * (number - 1) / (most - 1)) for i in range(most)]


def console() -> Console:
    """Standard output; plain text when it is not a terminal."""
    return Console(highlight=False)
