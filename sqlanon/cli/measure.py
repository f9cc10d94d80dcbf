"""`sqlanon measure`: the scores of one given scheme."""

from __future__ import annotations

import sys
from pathlib import Path

import click

import sqlanon
from sqlanon.cli.output import (
    REQUIREMENT_FAILS,
    console,
    model_table,
    print_groups,
    print_json,
    print_scores,
)
from sqlanon.cli.values import may_show_values


@click.command(epilog="Example: sqlanon measure policy.yml --scheme scheme.json --json | jq .k")
@click.argument("policy", type=click.Path(path_type=Path))
@click.option(
    "--scheme",
    required=True,
    help="scheme.json, result.json (its chosen solution), or result.json#N.",
)
@click.option(
    "--workspace",
    type=click.Path(path_type=Path),
    help="A DuckDB file that keeps measurements for the next run.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@may_show_values
def measure(policy: Path, scheme: str, workspace: Path | None, as_json: bool) -> None:
    """Score one scheme: k, classes, information loss, bias.

    Counts the table that POLICY names and measures the generalization in the scheme file.
    Ends with exit status 3 when the policy's privacy requirement does not hold.
    """
    with sqlanon.load(policy, workspace=workspace) as anonymizer:
        solution = anonymizer.measure(scheme)
        required = anonymizer.policy.section.privacy
    if as_json:
        print_json(solution.to_dict())
    else:
        screen = console()
        print_scores(solution, screen)
        if solution.models:
            screen.print(model_table(solution, screen))
        print_groups(solution, screen)
    if solution.feasible is False and required is not None:
        for line in solution.shortfalls(required.k):
            click.echo(line, err=True)
        sys.exit(REQUIREMENT_FAILS)
