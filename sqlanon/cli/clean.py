"""`sqlanon clean`: removes what may have been left on the disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from sqlanon.cli.options import json_option, print_json


@click.command(epilog="Example: sqlanon clean . warehouse.duckdb workspace.duckdb")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=Path))
@json_option
@click.option("-q", "--quiet", is_flag=True, help="Do not list what was removed.")
def clean(paths: Sequence[Path], as_json: bool, quiet: bool) -> None:
    """Remove files that hold data about people and are no longer needed.

    PATH is a folder (by default the current one), a workspace, a histogram, or a DuckDB
    database. In a folder, the private folders of killed runs are removed. A workspace or a
    histogram is deleted. Beside any other database, the spill files of killed runs are
    removed. Tables, and anything that a running process uses, are never touched. A certificate
    that a killed run had prepared is finished if its release exists; if that is uncertain, it
    is kept.
    """
    from sqlanon.cleaning import clean as remove

    found = remove(paths or [Path()])
    if as_json:
        print_json(asdict(found))
    elif not quiet:
        for word, lines in asdict(found).items():
            for line in lines:
                click.echo(f"{word} {line}")
        if not any(asdict(found).values()):
            click.echo("nothing to remove")
