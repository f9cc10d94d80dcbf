"""`sqlanon choose`: one solution of a result as a scheme file."""

from __future__ import annotations

from pathlib import Path

import click

from sqlanon.cli.options import Whole, print_json


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

    Solutions are numbered as `sqlanon search` shows them, from 0. Also shows what a release of it
    keeps of every column.
    """
    from sqlanon.cli.output import console, print_kept
    from sqlanon.domain import read_document, solution_in, split_reference, write_document
    from sqlanon.files import SCHEME, Used, refuse_to_replace
    from sqlanon.search import read_kept

    if number is not None and split_reference(result)[1]:
        raise click.UsageError(f"{result} names a solution, and so does {number}; give one number")
    reference = str(result) if number is None else f"{result}#{number}"
    document, solution = read_document(reference), solution_in(reference)
    kept = read_kept(solution, reference)
    if as_json:
        print_json(document | {"kept": {each.column: each.to_dict() for each in kept}})
    else:
        read = Used(split_reference(reference)[0], "the file that is read")
        refuse_to_replace(output, SCHEME, [read])
        write_document(document, output)
        if kept:
            print_kept(kept, console())
        click.echo(f"written to {output}", err=True)
    if solution.get("feasible") is False:
        click.echo(
            "This solution falls short of the privacy that was required; publish will refuse it.",
            err=True,
        )
