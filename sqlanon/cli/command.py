"""The command `sqlanon` and what all its subcommands share."""

from __future__ import annotations

import io
import logging
import sys
from typing import NoReturn

import click

import sqlanon
from sqlanon.cli.check import check
from sqlanon.cli.choose import choose
from sqlanon.cli.clean import clean
from sqlanon.cli.demo import demo
from sqlanon.cli.measure import measure
from sqlanon.cli.output import print_json
from sqlanon.cli.publish import publish
from sqlanon.cli.schema import schema
from sqlanon.cli.search import search
from sqlanon.cli.sql import sql
from sqlanon.errors import SqlanonError

EPILOG = (
    "Exit status: 0 done, 1 error, 2 wrong usage, 3 a privacy requirement does not hold, "
    "4 the data hold values that a declared domain does not cover."
)


@click.group(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(sqlanon.__version__, prog_name="sqlanon")
@click.option("-v", "--verbose", is_flag=True, help="Show every SQL statement on standard error.")
def cli(verbose: bool) -> None:
    """Make a table safe to share, inside the database where it lives.

    \b
    Try it on built-in data:  sqlanon demo
    """
    if verbose:
        logging.basicConfig(stream=sys.stderr, format="%(message)s")
        logging.getLogger("sqlanon").setLevel(logging.DEBUG)


cli.add_command(check)
cli.add_command(choose)
cli.add_command(clean)
cli.add_command(demo)
cli.add_command(measure)
cli.add_command(publish)
cli.add_command(schema)
cli.add_command(search)
cli.add_command(sql)


def main() -> None:
    """Runs the command; a user's mistake ends in one message and an exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for encodings that lack a sign
    try:
        cli.main(prog_name="sqlanon", standalone_mode=False)
    except SqlanonError as error:
        click.echo(f"error: {error}", err=True)
        _end(str(error), error.exit_status)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        error.show()
        _end(error.format_message(), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        _end("stopped", 130)


def _end(message: str, status: int) -> NoReturn:
    """Ends after an error; whoever reads JSON gets a document then, too."""
    if "--json" in sys.argv[1:]:
        print_json({"error": message, "status": status})
    sys.exit(status)
