"""`sqlanon demo`: the first look, on built-in data."""

from __future__ import annotations

import time

import click
from rich.syntax import Syntax

import sqlanon
from sqlanon import resources
from sqlanon.api import Anonymizer
from sqlanon.cli.output import comparison_table, console, group_table, print_json
from sqlanon.scheme import Scheme, from_levels

STEPS = (
    ("as it is", (0, 0, 0, 0, 0, 0, 0, 0)),
    ("one level up", (0, 1, 1, 1, 1, 1, 1, 1)),
    ("two levels up", (0, 2, 2, 2, 2, 1, 1, 2)),
    ("age hidden", (1, 0, 0, 0, 0, 0, 0, 0)),
    ("all hidden", (1, 3, 3, 3, 3, 1, 1, 4)),
)
"""Lattice nodes over the columns of examples/adult/policy.yml."""


@click.command(epilog="Example: sqlanon demo --json > scores.json")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("-q", "--quiet", is_flag=True, help="Print the table of scores only.")
def demo(as_json: bool, quiet: bool) -> None:
    """Count the Adult census table and score a few generalizations of it."""
    policy = resources.path("examples", "adult", "policy.yml")
    chosen = resources.path("examples", "adult", "scheme.json")
    with sqlanon.load(policy) as anonymizer:
        start = time.perf_counter()
        histogram = anonymizer.histogram
        counted = time.perf_counter() - start
        titles = [title for title, _ in STEPS] + ["scheme.json"]
        schemes = [*_steps(anonymizer), anonymizer.scheme(chosen)]
        start = time.perf_counter()
        solutions = anonymizer.measure_all(schemes)
        scored = time.perf_counter() - start
    rows = list(zip(titles, solutions, strict=True))
    if as_json:
        print_json([{"title": title, **solution.to_dict()} for title, solution in rows])
        return
    screen = console()
    if not quiet:
        screen.print("[bold]The policy[/]: what is known of the columns, and what is wanted\n")
        text = policy.read_text(encoding="utf-8")
        screen.print(Syntax(text, "yaml", background_color="default", word_wrap=True))
        screen.print(
            f"\nOne GROUP BY turned [bold]{histogram.rows:,}[/] rows into "
            f"[bold]{len(histogram.tally):,}[/] counted tuples in {counted:.2f} s. "
            f"{len(rows)} generalizations of them were scored in {scored:.2f} s:"
        )
    screen.print(comparison_table(rows, k=5))
    if not quiet:
        screen.print("The last one groups the columns like this:")
        screen.print(group_table(solutions[-1]))
        screen.print("k        people in the smallest class; the policy asks for 5")
        screen.print("NWP      information lost, 0 (none) to 1 (all)")
        screen.print("NECD     bias: how unequal the class sizes are, 0 to 1")
        screen.print("\nNext, on a table and policy of your own:")
        screen.print("  sqlanon measure policy.yml --scheme scheme.json")


def _steps(anonymizer: Anonymizer) -> list[Scheme]:
    return [from_levels(anonymizer.space.columns, levels) for _, levels in STEPS]
