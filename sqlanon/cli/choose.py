"""`sqlanon choose`: one solution of a result as a scheme file."""

from __future__ import annotations

from pathlib import Path

import click

from sqlanon.api.used_files import Used
from sqlanon.cli.output import print_json
from sqlanon.cli.written import SCHEME, refuse_to_replace
from sqlanon.scheme.scheme_file import VERSION, read_document, split_reference, write_document


@click.command(epilog="Example: sqlanon choose result.json 3 -o scheme.json")
@click.argument("result", type=click.Path(path_type=Path))
@click.argument("number", type=click.IntRange(min=0), required=False)
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

    Solutions are numbered as `sqlanon search` shows them, from 0.
    """
    reference = str(result) if number is None else f"{result}#{number}"
    document = {"version": VERSION, **read_document(reference)}
    if as_json:
        print_json(document)
        return
    read = Used(split_reference(reference)[0], "the file that is read")
    refuse_to_replace(output, SCHEME, [read])
    write_document(document, output)
    click.echo(f"written to {output}", err=True)
