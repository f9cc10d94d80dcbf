"""`sqlanon utility`: what the release of a scheme is worth in use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

import sqlanon
from sqlanon.api.solution import format_label
from sqlanon.cli.numbers import Whole
from sqlanon.cli.output import REQUIREMENT_FAILS, console, print_json
from sqlanon.cli.values import may_show_values
from sqlanon.documents import read_text
from sqlanon.errors import UtilityError
from sqlanon.utility import MODELS, Utility
from sqlanon.utility.queries import parts_of

EXAMPLE = "sqlanon utility policy.yml --scheme result.json --query 'SELECT AVG(age) FROM data'"


@click.command(epilog=f"Example: {EXAMPLE}")
@click.argument("policy", type=click.Path(path_type=Path))
@click.option(
    "--scheme",
    required=True,
    help="scheme.json, result.json (its chosen solution), or result.json#N.",
)
@click.option(
    "--workload",
    type=Whole(1),
    default=1000,
    show_default=True,
    help="How many random COUNT queries are asked.",
)
@click.option(
    "--seed",
    type=Whole(0),
    default=1,
    show_default=True,
    help="The seed of everything random.",
)
@click.option(
    "--query",
    "sql",
    multiple=True,
    help="A SELECT that returns one number from the table data; may be repeated.",
)
@click.option(
    "--queries",
    "files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A file of such queries, with semicolons between.",
)
@click.option("--target", help="The column to predict; unless given, the policy's label.")
@click.option(
    "--model",
    type=click.Choice(MODELS),
    default=MODELS[0],
    show_default=True,
    help="What predicts it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@may_show_values
def utility(
    policy: Path,
    scheme: str,
    workload: int,
    seed: int,
    sql: tuple[str, ...],
    files: tuple[Path, ...],
    target: str | None,
    model: str,
    as_json: bool,
) -> None:
    """Measure what a release is worth in use: counts, your queries, predictions.

    Compares the release of a scheme, which is not built, with its source. Random COUNT queries
    are estimated from the groups; your own queries run on a reconstruction, in which every
    generalized cell has a value of its group; a model learns from the release to predict the
    label, which needs the extra sqlanon[utility]. Ends with exit status 3 when the policy's
    privacy requirement does not hold.
    """
    _refuse_several(sql)
    texts = [*sql, *(read_text(file, UtilityError) for file in files)]
    with sqlanon.load(policy) as anonymizer, _stages(quiet=as_json) as on_stage:
        found = anonymizer.utility(
            scheme,
            queries=workload,
            seed=seed,
            sql=texts,
            target=target,
            model=model,
            on_stage=on_stage,
        )
    if as_json:
        print_json(found.to_dict())
    else:
        _show(found, console())
    if found.feasible is False:
        for line in found.shortfalls:
            click.echo(line, err=True)
        sys.exit(REQUIREMENT_FAILS)


def _refuse_several(queries: Sequence[str]) -> None:
    """An option is one query, so that its number tells which option a message is about."""
    for number, text in enumerate(queries, 1):
        found = len(list(parts_of(text, number)))
        if found > 1:
            raise click.UsageError(
                f"--query number {number} holds {found} statements; give one SELECT, and --query "
                "again for the next, or a file of them with --queries"
            )


def _show(found: Utility, screen: Console) -> None:
    for titles, *lines in found.tables():
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for place, title in enumerate(titles):
            # As Text, because a str may hold [marks] that rich would obey.
            heading = Text(format_label(title))
            if place:
                table.add_column(heading, justify="right", no_wrap=True)
            else:
                table.add_column(heading, overflow="fold")
        for line in lines:
            table.add_row(*(Text(format_label(text)) for text in line))
        screen.print(table)
    screen.print(Text(found.summary()))
    for note in found.notes:
        screen.print(Text(format_label(f"note: {note}")))


@contextmanager
def _stages(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Tells on standard error what is going on, while it is."""
    screen = Console(stderr=True)
    if quiet or not screen.is_terminal:
        yield lambda stage: None
        return
    with screen.status("measuring") as status:
        yield lambda stage: status.update(f"{stage} …")
