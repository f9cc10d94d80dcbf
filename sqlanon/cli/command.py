"""The command `sqlanon` and what all its subcommands share."""

from __future__ import annotations

import logging
import sys

import click

import sqlanon
from sqlanon.cli.check import check
from sqlanon.cli.choose import choose
from sqlanon.cli.clean import clean
from sqlanon.cli.demo import demo
from sqlanon.cli.measure import measure
from sqlanon.cli.output import end
from sqlanon.cli.publish import publish
from sqlanon.cli.schema import schema
from sqlanon.cli.search import search
from sqlanon.cli.sql import sql
from sqlanon.cli.streams import guard_streams
from sqlanon.cli.utility import utility
from sqlanon.errors import SqlanonError

EPILOG = (
    "Exit status: 0 done, 1 error, 2 wrong usage, 3 a privacy requirement does not hold, "
    "4 the data hold values that a declared domain does not cover, 5 done, but standard output "
    "cannot be written."
)
NOT_WRITTEN = 5


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
cli.add_command(utility)


def main() -> None:
    """Runs the command; a user's mistake ends in one message and an exit status.

    What cannot be written to standard output does not stop the work. A pipe that its reader
    has closed is no error; anything else is told, with what was done all the same.
    """
    output = guard_streams()
    done: list[str] = []
    status = _status_of(done)
    if sys.stdout is not None:
        sys.stdout.flush()
    if output is not None and output.failure is not None:
        told = "".join(f"; {each}" for each in done)
        click.echo(f"error: standard output cannot be written ({output.failure}){told}", err=True)
        status = status or NOT_WRITTEN
    if status:
        sys.exit(status)


def _status_of(done: list[str]) -> int:
    """The exit status of the command, which adds to `done` what is not to be lost."""
    try:
        _run(done)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    return 0


def _run(done: list[str]) -> None:
    try:
        cli.main(prog_name="sqlanon", standalone_mode=False, obj=done)
    except SqlanonError as error:
        click.echo(f"error: {error}", err=True)
        end(str(error), error.exit_status)
    except OSError as error:  # of a path that the system cannot look up, in any option
        if error.filename is None:
            raise
        said = f"{error.filename}: {error.strerror}"
        click.echo(f"error: {said}", err=True)
        end(said, SqlanonError.exit_status)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        error.show()
        end(error.format_message(), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        end("stopped", 130)
