"""`sqlanon utility`: what the release of a scheme is worth in use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

import sqlanon
from sqlanon.cli.options import (
    Whole,
    end_where_it_fails,
    json_option,
    may_show_values,
    policy_argument,
    print_json,
    scheme_option,
)
from sqlanon.documents import read_text
from sqlanon.errors import UtilityError

MODELS = ("logistic", "forest")
"""The models of sqlanon.utility, written here so that the help needs no import of it."""

EXAMPLE = "sqlanon utility policy.yml --scheme result.json --query 'SELECT AVG(age) FROM data'"


@click.command(epilog=f"Example: {EXAMPLE}")
@policy_argument
@scheme_option
@click.option(
    "--workload",
    type=Whole(1),
    default=1000,
    show_default=True,
    help="The number of random COUNT queries.",
)
@click.option(
    "--seed",
    type=Whole(0),
    default=1,
    show_default=True,
    help="The seed of all random numbers.",
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
    help="A file of such queries, separated by semicolons.",
)
@click.option("--target", help="The column to predict, by default the policy's label.")
@click.option(
    "--model",
    type=click.Choice(MODELS),
    default=MODELS[0],
    show_default=True,
    help="The model that predicts it.",
)
@json_option
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
    """Measure how useful a release is: counts, your queries, predictions.

    Compares the release of a scheme with its source, without building the release. Random COUNT
    queries are estimated from the groups. Your own queries run on a reconstruction, in which
    every generalized cell has a value of its group. A model learns from the release to predict
    the label; this needs the extra sqlanon[utility]. Ends with exit status 3 if the scheme falls
    short of the privacy that the policy requires.
    """
    from sqlanon.cli.output import console, print_utility
    from sqlanon.cli.progress import stages

    texts = [*sql, *(read_text(file, UtilityError) for file in files)]
    with sqlanon.load(policy) as anonymizer:
        _refuse_several(sql, anonymizer.source.engine.dialect)
        with stages("measuring", quiet=as_json) as on_stage:
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
        print_utility(found, console())
    if found.feasible is False:
        end_where_it_fails(found.shortfalls)


def _refuse_several(queries: Sequence[str], dialect: str) -> None:
    """Refuses an option with several queries: messages number queries as options."""
    from sqlanon.utility import parts_of

    for number, text in enumerate(queries, 1):
        found = len(list(parts_of(text, number, dialect)))
        if found > 1:
            raise click.UsageError(
                f"--query number {number} holds {found} statements; give one SELECT, and --query "
                "again for the next, or a file of them with --queries"
            )
