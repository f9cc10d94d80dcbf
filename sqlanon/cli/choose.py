"""`sqlanon choose`: one solution of a result as a scheme file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from sqlanon.api.kept import read_kept
from sqlanon.api.used_files import Used
from sqlanon.api.written import SCHEME, refuse_to_replace
from sqlanon.cli.numbers import Whole
from sqlanon.cli.output import console, print_json, print_kept
from sqlanon.errors import SchemeError
from sqlanon.scheme.references import falls_short, read_document, solution_in, split_reference
from sqlanon.scheme.scheme_file import VERSION, write_document


@click.command(epilog="Example: sqlanon choose result.json 3 -o scheme.json")
@click.argument("result", type=click.Path(path_type=Path))
@click.argument("number", type=Whole(0), required=False)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("scheme.json"),
    show_default=True,
    help="Where the scheme goes.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the scheme and write no file.")
def choose(result: Path, number: int | None, output: Path, as_json: bool) -> None:
    """Write one solution of RESULT, the chosen one or NUMBER, as a scheme file.

    Solutions are numbered as `sqlanon search` shows them, from 0. Shows what a release of it
    keeps of every column.
    """
    if number is not None and split_reference(result)[1]:
        raise click.UsageError(f"{result} names a solution, and so does {number}; give one number")
    reference = str(result) if number is None else f"{result}#{number}"
    found = read_document(reference)
    if not isinstance(found, Mapping) or not isinstance(found.get("columns"), Mapping):
        raise SchemeError(f'{reference}: is no result of a search: there are no "solutions" in it')
    document = {"version": VERSION, **found}
    short, kept = falls_short(reference), read_kept(solution_in(reference), reference)
    if as_json:
        print_json(document | {"kept": {each.column: each.to_dict() for each in kept}})
    else:
        read = Used(split_reference(reference)[0], "the file that is read")
        refuse_to_replace(output, SCHEME, [read])
        write_document(document, output)
        if kept:
            print_kept(kept, console())
        click.echo(f"written to {output}", err=True)
    if short:
        click.echo(
            "This solution falls short of the privacy that was required; publish will refuse it.",
            err=True,
        )
