"""`sqlanon demo`: the first look, on built-in data."""

from __future__ import annotations

import time

import click
from rich.console import Console
from rich.syntax import Syntax

import sqlanon
from sqlanon import resources
from sqlanon.api import Anonymizer, SearchResult, Solution
from sqlanon.cli.output import comparison_table, console, front_table, group_table, print_json
from sqlanon.cli.progress import watching
from sqlanon.scheme import Scheme, from_levels

STEPS = (
    ("as it is", (0, 0, 0, 0, 0, 0, 0, 0)),
    ("one level up", (0, 1, 1, 1, 1, 1, 1, 1)),
    ("two levels up", (0, 2, 2, 2, 2, 1, 1, 2)),
    ("age hidden", (1, 0, 0, 0, 0, 0, 0, 0)),
    ("all hidden", (1, 3, 3, 3, 3, 1, 1, 4)),
)
"""Lattice nodes over the columns of examples/adult/policy.yml."""
FRONT_ROWS = 12
EXPLANATION = """\
k        people in the smallest class of equal rows; the policy asks for 5
NWP      information lost, 0 (none) to 1 (all)
NECD     bias: how unequal the class sizes are, 0 to 1
ach      how far from the preference of the policy; smaller is better
"""
NEXT = """\
Next, on a policy of your own (docs/policy.md):
  sqlanon search policy.yml                         writes result.json
  sqlanon measure policy.yml --scheme result.json   scores what was chosen
  sqlanon search policy.yml --method front          another search
  sqlanon search --help"""


@click.command(epilog="Example: sqlanon demo --json > demo.json")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("-q", "--quiet", is_flag=True, help="Print the two tables of scores only.")
def demo(as_json: bool, quiet: bool) -> None:
    """Count the Adult census table, score generalizations of it, search for better ones.

    Takes some seconds. Writes no files.
    """
    screen = Console(quiet=True) if as_json else console()
    policy = resources.path("examples", "adult", "policy.yml")
    if not quiet:
        screen.print("[bold]The policy[/]: what is known of the columns, and what is wanted\n")
        text = policy.read_text(encoding="utf-8")
        screen.print(Syntax(text, "yaml", background_color="default", word_wrap=True))
    with sqlanon.load(policy) as anonymizer:
        rows = _compare(anonymizer, screen, quiet)
        section = anonymizer.policy.section.search
        with watching(
            "searching", quiet=quiet or as_json, seconds=section.seconds, patience=section.patience
        ) as watch:
            result = anonymizer.search(watch=watch)
    if as_json:
        compared = [{"title": title, **solution.to_dict()} for title, solution in rows]
        print_json({"compared": compared, "search": result.to_dict()})
        return
    _show(result, screen, quiet)


def _compare(anonymizer: Anonymizer, screen: Console, quiet: bool) -> list[tuple[str, Solution]]:
    """Counts the table and scores some schemes that nobody searched for."""
    start = time.perf_counter()
    histogram = anonymizer.histogram
    counted = time.perf_counter() - start
    titles = [title for title, _ in STEPS] + ["scheme.json"]
    by_hand = resources.path("examples", "adult", "scheme.json")
    schemes = [*_steps(anonymizer), anonymizer.scheme(by_hand)]
    start = time.perf_counter()
    rows = list(zip(titles, anonymizer.measure_all(schemes), strict=True))
    scored = time.perf_counter() - start
    if not quiet:
        screen.print(
            f"\nOne GROUP BY turned [bold]{histogram.rows:,}[/] rows into "
            f"[bold]{len(histogram.tally):,}[/] counted tuples in {counted:.2f} s. "
            f"{len(rows)} generalizations of them were scored in {scored:.2f} s, the last one "
            "written by hand:"
        )
    screen.print(comparison_table(rows, k=anonymizer.required_k))
    return rows


def _show(result: SearchResult, screen: Console, quiet: bool) -> None:
    """What the search of the policy found."""
    if not quiet:
        screen.print(
            f"The search scored [bold]{result.evaluations['distinct']:,}[/] more in "
            f"{result.seconds:.1f} s. No solution beats another one here: whoever wants a "
            "higher k pays with information. The arrow is the answer to the policy:"
        )
    screen.print(front_table(result, FRONT_ROWS))
    if quiet:
        return
    if result.solution is not None:
        screen.print("It groups the columns like this:")
        screen.print(group_table(result.solution))
    screen.print(EXPLANATION)
    screen.print(NEXT)


def _steps(anonymizer: Anonymizer) -> list[Scheme]:
    return [from_levels(anonymizer.space.columns, levels) for _, levels in STEPS]
