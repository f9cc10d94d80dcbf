"""`sqlanon search`: find generalizations that meet the policy."""

from __future__ import annotations

import sys
from pathlib import Path

import click

import sqlanon
from sqlanon.api.search import METHODS
from sqlanon.cli.output import REQUIREMENT_FAILS, console, front_table, group_table, print_json
from sqlanon.cli.progress import watching


@click.command(epilog="Example: sqlanon search policy.yml --method nsga2 --seed 7 -o result.json")
@click.argument("policy", type=click.Path(path_type=Path))
@click.option("--method", type=click.Choice(list(METHODS)), help="Instead of the policy's method.")
@click.option("--seed", type=int, help="Instead of the policy's seed.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("result.json"),
    show_default=True,
    help="Where the result goes.",
)
@click.option(
    "--workspace",
    type=click.Path(path_type=Path),
    help="A DuckDB file that keeps measurements for the next run.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON document.")
@click.option("-q", "--quiet", is_flag=True, help="No progress bar and no tables.")
def search(
    policy: Path,
    method: str | None,
    seed: int | None,
    output: Path,
    workspace: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Find generalizations of the table that POLICY names.

    Writes every solution that no other one beats to a result file, with the best one marked,
    and shows the trade-off. Ctrl-C ends the search with the best so far. Ends with exit
    status 3 when nothing reaches the privacy that the policy requires.
    """
    with sqlanon.load(policy, workspace=workspace) as anonymizer:
        section = anonymizer.policy.section.search
        with watching(
            method or section.method,
            quiet=quiet,
            seconds=section.seconds,
            patience=section.patience,
        ) as watch:
            result = anonymizer.search(method=method, seed=seed, watch=watch)
    result.write(output)
    if as_json:
        print_json(result.to_dict())
    elif not quiet:
        screen = console()
        screen.print(front_table(result))
        if result.solution is not None:
            screen.print("The chosen solution groups the columns like this:")
            screen.print(group_table(result.solution))
        for note in result.notes:
            screen.print(note)
        screen.print(
            f"{result.evaluations['asked']:,} evaluations, {result.evaluations['distinct']:,} "
            f"distinct, in {result.seconds:.1f} s; written to {output}"
        )
    if result.chosen is None:
        click.echo(result.shortfall(), err=True)
        sys.exit(REQUIREMENT_FAILS)
