"""`sqlanon evaluations`: what the searches of a workspace measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import sqlanon
from sqlanon.cli.options import (
    Whole,
    json_option,
    may_show_values,
    policy_argument,
    print_json,
    workspace_option,
)
from sqlanon.errors import EngineError

LAST_SEARCH = "(SELECT max(run) FROM run WHERE method IS NOT NULL)"
SHOWN = 20
"""Rows in a terminal, unless a limit is given."""
EXAMPLE = 'sqlanon evaluations policy.yml --where "k >= 5" --order nwp --limit 10'
COLUMNS = ("run", "number", "k", "k_max", "classes", "suppressed", "nwp", "necd", "ach", "feasible")


@click.command(epilog=f"Example: {EXAMPLE}")
@policy_argument
@workspace_option
@click.option("--where", help="A condition in SQL over the columns of `evaluation`.")
@click.option("--order", help="What to sort by, in SQL, such as `nwp` or `k DESC, nwp`.")
@click.option("--run", "number", type=Whole(1), help="The run with this number.  [default: last]")
@click.option("--limit", type=Whole(1), help=f"At most N rows.  [default: {SHOWN}; JSON: all]")
@click.option("--words", is_flag=True, help="Show the groups of every scheme.")
@json_option
@may_show_values
def evaluations(
    policy: Path,
    workspace: Path | None,
    where: str | None,
    order: str | None,
    number: int | None,
    limit: int | None,
    words: bool,
    as_json: bool,
) -> None:
    """Print what the last search measured.

    Prints one row per scheme, with its k, information loss and bias. The rows come from the
    workspace of that search: the file of --workspace, or that of the policy.
    """
    from sqlanon.policy import read_policy

    kept = read_policy(policy).workspace
    if workspace is None and kept is None:
        raise EngineError(
            f"{policy} names no workspace, so no measurements are kept; search with "
            "`--workspace FILE`, or with `workspace: FILE` in the policy"
        )
    file = workspace or Path(kept.file if kept is not None else "")
    if not file.exists():
        raise EngineError(f"There is no workspace {file} yet; a search makes it.")
    with sqlanon.load(policy, workspace=file) as anonymizer:
        run = LAST_SEARCH if number is None else str(number)
        # The user's SQL. It is run for reading, on the tables of the workspace and nothing else.
        query = f"FROM evaluation WHERE run = {run}"
        query += f" AND (\n{where}\n)" * (where is not None)
        (total,) = anonymizer.evaluations(f"SELECT count(*) AS n {query}")["n"].to_pylist()
        failure, note = anonymizer.workspace.failure, anonymizer.workspace.note
        if failure is not None:
            note = f"{failure}; its evaluations can be printed once it is free and writable"
        if note is not None:
            raise EngineError(f"{note[0].upper()}{note[1:]}.")
        query += f"\nORDER BY {order or 'number'}\nLIMIT {limit or (total if as_json else SHOWN)}"
        rows = anonymizer.evaluations(query, words=words).to_pylist()
    if as_json:
        print_json([_plain(row) for row in rows])
        return
    _show(rows, total, words=words)


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """A row for JSON: the bits of the scheme as hexadecimal digits, and no infinity."""
    from sqlanon.audit import finite

    reached = row["reached"]
    kept = None if reached is None else [finite(value) for value in reached]
    return {**row, "scheme": row["scheme"].hex(), "reached": kept}


def _show(rows: list[dict[str, Any]], total: int, *, words: bool) -> None:
    from sqlanon.cli.output import cell, console, new_table
    from sqlanon.domain import format_label
    from sqlanon.metrics import METRICS
    from sqlanon.search import format_score
    from sqlanon.wording import counted

    screen = console()
    asked = [name for name in METRICS if name not in COLUMNS and any(r.get(name) for r in rows)]
    shown = [*COLUMNS[:-2], *(name for name in asked if not METRICS[name].always), *COLUMNS[-2:]]
    table = new_table(screen)
    for name in shown:
        table.add_column(name, justify="right")
    for row in rows:
        values = (row[name] for name in shown)
        table.add_row(*(_text(value, format_score) for value in values))
    screen.print(table)
    for row in rows if words else ():
        made = row["words"] or {}
        parts = (f"{name}: {' | '.join(map(format_label, made[name]))}" for name in made)
        screen.print(cell(f"{row['number']}: {'; '.join(parts) or 'of other data'}", screen))
    if not total:
        screen.print("no scheme: the workspace has none of this run, or none that meets --where")
    elif len(rows) < total:
        screen.print(f"{len(rows):,} of {counted(total, 'scheme')}; --limit shows more")


def _text(value: Any, number: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(number(value))
