"""Tables that fit a screen: columns are left out whole, and signs are those that it can show."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from sqlanon.domain import BETWEEN, MORE, format_label, format_labels
from sqlanon.metrics import METRICS, further
from sqlanon.privacy import Model, Reached
from sqlanon.search import (
    Kept,
    SearchResult,
    Solution,
    descriptions,
    format_score,
    warnings_of,
)
from sqlanon.wording import counted

if TYPE_CHECKING:
    from sqlanon.release.pipeline import Release
    from sqlanon.utility import Utility


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


def print_scores(solution: Solution, screen: Console) -> None:
    """All scores of one solution with what they mean."""

    def table(without: Collection[str]) -> Table:
        table = new_table(screen)
        table.add_column("score", no_wrap=True)
        table.add_column("value", justify="right", no_wrap=True)
        if MEANING not in without:
            table.add_column(MEANING, style="dim")
        for name, meaning in descriptions().items():
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
    """What a release of a solution keeps of every column, and the warnings about it."""
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
    """Several solutions, one per row; those that do not reach k are marked."""
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
    searched = [
        name for name in further() if result.solutions and name in result.solutions[0].scores
    ]
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
    """What the short names of the models mean, one line each."""
    models = _models(result)
    pairs = zip(_short_names(models), models, strict=True)
    return [f"{name}: {model.describe()}" for name, model in pairs]


def _title(name: str) -> str:
    """The papers' measures are known by their initials."""
    if name in FRONT_SCORES:
        return FRONT_SCORES[name]
    if name in METRICS:
        return METRICS[name].title
    return name.upper() if len(name) <= 4 else name.replace("_", " ")


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


def print_release(release: Release, screen: Console) -> None:
    """What was published."""
    screen.print(f"[bold green]published[/] {counted(release.rows, 'row')}, ", end="")
    lines = [f"{release.left_out:,} left out, to {release.target}"]
    lines.append(release.certificate.document.words.summary)
    lines += [f"note: {warning}" for warning in release.warnings]
    lines += [f"remains: {text}" for text in release.remains]
    for line in lines:
        screen.print(plain(line))
    for path in release.files:
        screen.print(plain(f"wrote {path}"), soft_wrap=True)


def print_utility(found: Utility, screen: Console) -> None:
    """What a release is worth in use."""
    for titles, *lines in found.tables():
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        first, *others = map(plain, titles)
        table.add_column(first, overflow="fold")
        for title in others:
            table.add_column(title, justify="right", no_wrap=True)
        for line in lines:
            table.add_row(*map(plain, line))
        screen.print(table)
    screen.print(Text(found.summary()))
    for note in found.notes:
        screen.print(plain(f"note: {note}"))


def plain(text: str | None) -> Text:
    """A text on one line. As Text, because rich would obey [marks] and :names: in a str."""
    return Text(format_label(text))


def console() -> Console:
    """Standard output; plain text when it is not a terminal."""
    return Console(highlight=False)
