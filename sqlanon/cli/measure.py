"""`sqlanon measure`: the scores of one given scheme."""

from __future__ import annotations

from pathlib import Path

import click

import sqlanon
from sqlanon.cli.options import (
    end_where_it_fails,
    json_option,
    may_show_values,
    policy_argument,
    print_json,
    scheme_option,
    workspace_option,
)


@click.command(epilog="Example: sqlanon measure policy.yml --scheme scheme.json --json | jq .k")
@policy_argument
@scheme_option
@click.option(
    "--on-source",
    is_flag=True,
    help="Measure it in the source's own database, by the query of `sql --part measure`.",
)
@workspace_option
@json_option
@may_show_values
def measure(
    policy: Path, scheme: str, on_source: bool, workspace: Path | None, as_json: bool
) -> None:
    """Score one scheme: k, classes, information loss, bias.

    Counts the table that POLICY names and measures the generalization in the scheme file.
    Ends with exit status 3 if the scheme falls short of the privacy that the policy requires.
    """
    from sqlanon.cli.output import console, model_table, print_groups, print_scores

    with sqlanon.load(policy, workspace=workspace) as anonymizer:
        solution = anonymizer.measure(scheme, on_source=on_source)
        required = anonymizer.policy.section.privacy
        note = anonymizer.workspace.note
    if note is not None:
        click.echo(f"note: {note}", err=True)
    if as_json:
        print_json(solution.to_dict())
    else:
        screen = console()
        print_scores(solution, screen)
        if solution.models:
            screen.print(model_table(solution, screen))
        print_groups(solution, screen)
    if solution.feasible is False and required is not None:
        end_where_it_fails(solution.shortfalls(required.k))
