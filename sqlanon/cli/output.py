"""Tables that fit a screen: columns are left out whole, and signs are those that it can show."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
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


Row = Sequence[str | Text]


@dataclass(frozen=True)
class Grid:
    """A table whose columns can be left out by their titles.

    texts     the titles of columns that stand at the left and may be folded; others are numbers
    styles    the style of each row, if rows have any
    notes     what stands below it
    is_tight  whether its columns stand as close together as they can
    """

    titles: Sequence[str]
    rows: Sequence[Row]
    texts: Collection[str] = ()
    styles: Sequence[str | None] = ()
    notes: Sequence[str] = ()
    is_tight: bool = False

    def table(self, screen: Console, without: Collection[str] = ()) -> Table:
        """The table without the columns of some titles."""
        table = new_table(screen)
        table.collapse_padding = self.is_tight
        shown = [place for place, title in enumerate(self.titles) if title not in without]
        for title in (self.titles[place] for place in shown):
            if title in self.texts:
                table.add_column(cell(title, screen), overflow="fold")
            else:
                table.add_column(cell(title, screen), justify="right", no_wrap=True)
        for row, style in zip_longest(self.rows, self.styles):
            table.add_row(*(row[place] for place in shown), style=style)
        notes = [cell(note, screen) for note in self.notes]
        table.caption = Text("\n").join(notes) if notes else None
        return table


def _width(table: Table, screen: Console) -> Measurement:
    """What a table takes at least, its longest words, and at most."""
    return Measurement.get(screen, screen.options.update(width=10_000), table)


def print_fitted(screen: Console, grid: Grid, dispensable: Sequence[str] = ()) -> None:
    """Prints a table without as many of the dispensable columns as the screen has no room for.

    The first dispensable ones go first, and a line names them. Where all of them are not enough,
    the table is wider than the screen.
    """

    def needed(left_out: int) -> int:
        width = _width(grid.table(screen, dispensable[:left_out]), screen)
        return width.minimum if grid.texts else width.maximum

    room, most = screen.width, len(dispensable)
    left_out = next((n for n in range(most + 1) if needed(n) <= room), most)
    screen.width = max(room, needed(left_out))
    screen.print(grid.table(screen, dispensable[:left_out]))
    screen.width = room
    missing = [title for title in grid.titles if title in dispensable[:left_out]]
    if missing:
        screen.print(f"Not shown for want of width: {', '.join(missing)}", markup=False)


def print_scores(solution: Solution, screen: Console) -> None:
    """All scores of one solution with what they mean."""
    rows = [
        (name, format_score(value), Text(meaning, style="dim"))
        for name, meaning in descriptions().items()
        if (value := solution.scores.get(name)) is not None
    ]
    print_fitted(
        screen, Grid(("score", "value", "meaning"), rows, ("score", "meaning")), ["meaning"]
    )


def model_table(solution: Solution, screen: Console) -> Table:
    """What a solution reaches of the models that its policy requires beyond k."""
    titles = ("required beyond k", "reached", "holds")
    rows = [
        (cell(each.model.describe(), screen), each.shown, _yes_or_no(each.holds))
        for each in solution.models
    ]
    return Grid(titles, rows, titles[:1]).table(screen)


def _yes_or_no(holds: bool | None) -> Text:
    return Text("yes", style="green") if holds else Text("no", style="red")


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
    titles = ["column", "groups", "in the largest", "lost", *([] if labels is None else ["labels"])]
    rows: list[Row] = [
        [
            cell(each.column, screen),
            f"{each.groups:,} of {each.values:,}",
            Text(f"{each.largest:.1%}", style="yellow" if each.is_little else ""),
            f"{each.loss:.1%}",
            *([] if labels is None else [cell(labels[each.column], screen)]),
        ]
        for each in kept
    ]
    print_fitted(screen, Grid(titles, rows, ("column", "labels")), ["lost", "in the largest"])
    for line in warnings_of(kept):
        screen.print(cell(line, screen))


def print_comparison(rows: Sequence[tuple[str, Solution]], k: int, screen: Console) -> None:
    """Several solutions, one per row; those that do not reach k are marked."""
    titles = ["scheme", *FRONT_SCORES.values(), f"k {signs(screen).at_least} {k}"]
    shown: list[Row] = [
        [title, *_texts(solution, FRONT_SCORES, screen), _yes_or_no(solution.feasible)]
        for title, solution in rows
    ]
    dispensable = [FRONT_SCORES[name] for name in LEAST_FIRST]
    print_fitted(screen, Grid(titles, shown, ["scheme"]), dispensable)


def print_front(result: SearchResult, screen: Console, most: int = 20) -> None:
    """The solutions of a search, without columns that the screen has no room for.

    What was searched for stays, and so does k.
    """
    scores = [name for name in _front_scores(result) if name not in ("k", *result.objectives)]
    order = {name: place for place, name in enumerate(LEAST_FIRST)}
    scores.sort(key=lambda name: order.get(name, len(order)))
    grid = front_grid(result, screen, most)
    beside = grid.titles[2 + len(_front_scores(result)) :]
    print_fitted(screen, grid, [*map(_title, scores), *beside])


def front_grid(result: SearchResult, screen: Console, most: int = 20) -> Grid:
    """The solutions of a search, the chosen one marked; of many, an even selection.

    What they reach of a few models stands beside them; of more, how many fail, because a line
    has room for few columns (see `reached_tables`).
    """
    names, models = _front_scores(result), _models(result)
    beside = _short_names(models) if len(models) <= BESIDE else ["models"]
    rows = _rows(
        result, screen, most, lambda each: [*_texts(each, names, screen), *_verdicts(each)]
    )
    notes = legend(result) if len(models) <= BESIDE else []
    if len(rows) < len(result.solutions):
        notes.append(f"{len(rows)} of {len(result.solutions)} solutions")
    titles = ["", "#", *map(_title, names), *beside]
    return Grid(titles, rows, styles=_styles(result, most), notes=notes)


def _rows(
    result: SearchResult, screen: Console, most: int, cells: Callable[[Solution], Row]
) -> list[Row]:
    """The chosen mark and the number of the solutions shown, and some cells of each."""
    chosen, mark = result.choices.values(), signs(screen).chosen
    return [
        [mark if i in chosen else "", str(i), *cells(result.solutions[i])]
        for i in _shown(result, most)
    ]


def _styles(result: SearchResult, most: int) -> list[str | None]:
    chosen = result.choices.values()
    return ["bold green" if i in chosen else None for i in _shown(result, most)]


def _front_scores(result: SearchResult) -> list[str]:
    """The usual scores, the measures that the search was for, and what was traded off."""
    searched = [
        name for name in further() if result.solutions and name in result.solutions[0].scores
    ]
    wanted = dict.fromkeys([*FRONT_SCORES, *searched, *result.objectives])
    names = [name for name in wanted if len(searched) < 2 or name not in ("nwp", "necd")]
    return [n for n in names if any(s.scores.get(n) is not None for s in result.solutions)]


def _texts(solution: Solution, names: Iterable[str], screen: Console) -> list[str]:
    values = [solution.scores.get(name) for name in names]
    return [signs(screen).nothing if v is None else format_score(v) for v in values]


BESIDE = 2
"""So many models fit beside the scores."""


def reached_tables(result: SearchResult, screen: Console, most: int = 20) -> list[Table]:
    """What the same solutions reach of the models, where these are too many for one line.

    As many tables as it takes to show every number on a screen of this width.
    """
    names = _short_names(_models(result))
    tables: list[Table] = []
    first = 0 if len(names) > BESIDE else len(names)
    while first < len(names):
        wider = (_reached_table(result, slice(first, n), most, screen)
                 for n in range(len(names), first, -1))  # fmt: skip
        fits = (each for each in wider if _width(each, screen).maximum <= screen.width)
        alone = _reached_table(result, slice(first, first + 1), most, screen)
        tables.append(next(fits, alone))
        first += len(tables[-1].columns) - 2
    return tables


def _reached_table(result: SearchResult, part: slice, most: int, screen: Console) -> Table:
    """What the solutions reach of some of the models."""
    titles = ["", "#", *_short_names(_models(result))[part]]
    rows = _rows(result, screen, most, lambda each: [*map(_verdict, each.models[part])])
    return Grid(titles, rows, styles=_styles(result, most), is_tight=True).table(screen)


def _models(result: SearchResult) -> list[Model]:
    return [each.model for each in result.solutions[0].models] if result.solutions else []


def _shown(result: SearchResult, most: int) -> list[int]:
    """The rows of a table: an even selection, with the chosen solutions."""
    number = len(result.solutions)
    places = min(number, most)
    spread = {round(i * (number - 1) / max(places - 1, 1)) for i in range(places)}
    return sorted(spread | {row for row in result.choices.values() if row is not None})


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
        rows = [[*map(plain, line)] for line in lines]
        screen.print(Grid(titles, rows, titles[:1]).table(screen))
    screen.print(Text(found.summary()))
    for note in found.notes:
        screen.print(plain(f"note: {note}"))


def plain(text: str | None) -> Text:
    """A text on one line. As Text, because rich would obey [marks] and :names: in a str."""
    return Text(format_label(text))


def console() -> Console:
    """Standard output; plain text when it is not a terminal."""
    return Console(highlight=False)
