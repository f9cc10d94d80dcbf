"""`sqlanon sql`: the SELECT of a release."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

import click

import sqlanon
from sqlanon.cli.output import REQUIREMENT_FAILS, print_json
from sqlanon.cli.values import may_show_values
from sqlanon.compile.text import DIALECTS
from sqlanon.errors import SchemeError, UncoveredValueError


@click.command(epilog="Example: sqlanon sql policy.yml --scheme result.json --dialect postgres")
@click.argument("policy", type=click.Path(path_type=Path))
@click.option(
    "--scheme",
    required=True,
    help="scheme.json, result.json (its chosen solution), or result.json#N.",
)
@click.option(
    "--dialect",
    type=click.Choice(DIALECTS),
    metavar="D",
    default="duckdb",
    show_default=True,
    help="The database that is to read it, such as duckdb, postgres or spark.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@may_show_values
def sql(policy: Path, scheme: str, dialect: str, as_json: bool) -> None:
    """Print the SQL that builds the release of a scheme.

    One SELECT, to be read, reviewed and kept. `sqlanon publish` runs it, verifies what comes
    of it, and puts it in place. Ends with exit status 3 when the scheme falls short of what the
    policy requires, so that publishing it would be refused.
    """
    with sqlanon.load(policy) as anonymizer:
        text = anonymizer.sql(scheme, dialect=dialect)
        short: tuple[str, ...] = ()
        with suppress(UncoveredValueError, SchemeError):  # values that are new to the scheme
            solution = anonymizer.measure(scheme)
            if solution.feasible is False:
                short = solution.shortfalls(anonymizer.required_k)
    if as_json:
        print_json({"dialect": dialect, "sql": text})
    else:
        click.echo(text, nl=False, color=True)  # else names with escape codes would lose them
    if short:
        for line in short:
            click.echo(line, err=True)
        sys.exit(REQUIREMENT_FAILS)
