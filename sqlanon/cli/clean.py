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
@click.option("-q", "--quiet", is_flag=True, help="Do not say what was removed.")
def clean(paths: Sequence[Path], as_json: bool, quiet: bool) -> None:
    """Remove files that hold data about people and are no longer needed.

    PATH is a folder (this one unless given), a workspace, or a DuckDB database. Of a folder
    the private folders of killed runs are removed, a workspace is deleted, and of any other
    database the spill files that killed runs left beside it. Tables are never touched, nor
    what a running process uses. A certificate that a killed run had prepared gets its name if
    its release is there; if that is not certain, it is kept.
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
