"""The command `sqlanon`: its subcommands, its exit status, and standard output that may be closed.

A subcommand is imported when it is called, so that --version and --help answer at once.
"""

from __future__ import annotations

import errno
import gc
import io
import logging
import sys
from importlib import import_module
from typing import Any, TextIO

import click

import sqlanon
from sqlanon.cli.options import end
from sqlanon.errors import SqlanonError
from sqlanon.exit_status import INTERRUPTED, NOT_WRITTEN
from sqlanon.wording import ANNOUNCED

COMMANDS = {
    "check": "Audit a table: k, class sizes, sensitive values, re-identification risks",
    "choose": "Write one solution of RESULT, the chosen one or NUMBER, as a scheme file",
    "clean": "Remove files that hold data about people and are no longer needed",
    "demo": "Anonymize the Adult census table: policy, search, SQL, release, check, certificate",
    "evaluations": "Print what the last search measured",
    "measure": "Score one scheme: k, classes, information loss, bias",
    "publish": "Build the release of a scheme where the policy says",
    "schema": "Print the JSON Schema of policy files",
    "search": "Find generalizations of the table that POLICY names",
    "sql": "Print the SQL that builds the release of a scheme",
    "utility": "Measure how useful a release is: counts, your queries, predictions",
}
"""Each command with the first sentence of its own help, which a test compares."""

EPILOG = (
    "Exit status: 0 done, 1 error, 2 wrong usage, 3 a privacy requirement does not hold, "
    "4 the data hold values that a declared domain does not cover, 5 done, but standard output "
    "cannot be written."
)


class Announcer(logging.Handler):
    """Writes what a command is about to do on the standard error of that moment."""

    def emit(self, record: logging.LogRecord) -> None:
        click.echo(record.getMessage(), err=True)


class LazyGroup(click.Group):
    """Imports a command of `sqlanon.cli` by its name when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        gc.disable()  # modules are kept: looking for garbage among them takes long and finds none
        try:
            module = import_module(f"sqlanon.cli.{cmd_name}")
        except KeyboardInterrupt:
            raise click.Abort from None
        finally:
            gc.freeze()  # nor does a collection during the command look at them
            gc.enable()
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(sqlanon.__version__, prog_name="sqlanon")
@click.option("-v", "--verbose", is_flag=True, help="Show every SQL statement on standard error.")
def cli(verbose: bool) -> None:
    """Make a table safe to share, inside the database where it lives.

    \b
    Try it on built-in data:  sqlanon demo
    """
    progress = logging.getLogger(ANNOUNCED)
    progress.disabled = False
    progress.setLevel(logging.INFO)
    progress.handlers = [] if verbose else [Announcer()]
    if verbose:
        logging.basicConfig(stream=sys.stderr, format="%(message)s")
        logging.getLogger("sqlanon").setLevel(logging.DEBUG)


def main() -> None:
    """Runs the command; a user's mistake ends in one message and an exit status.

    What cannot be written to standard output does not stop the work. A pipe that its reader
    has closed is no error; anything else is reported, with what was done all the same.
    """
    output = guard_streams()
    done: list[str] = []
    try:
        status = _status_of(done)
    finally:
        gc.unfreeze()  # or extension modules report at the end what was not freed
    if sys.stdout is not None:
        sys.stdout.flush()
    if output is not None and output.failure is not None:
        also = "".join(f"; {each}" for each in done)
        click.echo(f"error: standard output cannot be written ({output.failure}){also}", err=True)
        status = status or NOT_WRITTEN
    if status:
        sys.exit(status)


def _status_of(done: list[str]) -> int:
    """The exit status of the command, which adds to `done` what must be reported in any case."""
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
        message = f"{error.filename}: {error.strerror}"
        click.echo(f"error: {message}", err=True)
        end(message, SqlanonError.exit_status)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        error.show()
        end(error.format_message(), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        end("stopped", INTERRUPTED)


class Stream(io.RawIOBase):
    """A standard stream that takes everything, and remembers the first error of writing it."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw
        self.error: OSError | None = None

    def write(self, data: Any) -> int | None:
        if self.error is None:
            try:
                written: int | None = self._raw.write(data)
                return written
            except OSError as error:
                self.error = error
        return len(data)

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return int(self._raw.fileno())

    def isatty(self) -> bool:
        return bool(self._raw.isatty())

    @property
    def failure(self) -> str | None:
        """Why something was not written. A reader who went away, as head does, had enough."""
        if self.error is None or self.error.errno == errno.EPIPE:
            return None
        return self.error.strerror or str(self.error)


def guard_streams() -> Stream | None:
    """Puts a Stream under standard output and standard error, and returns the former.

    Returns None where standard output was replaced by a program, or is closed.
    """
    output, sys.stdout = _guarded(sys.stdout)
    _, sys.stderr = _guarded(sys.stderr)
    return output


def _guarded(text: TextIO) -> tuple[Stream | None, TextIO]:
    if not isinstance(text, io.TextIOWrapper):
        return None, text
    # For encodings that lack a sign.
    text.reconfigure(errors="backslashreplace")
    if type(text) is not io.TextIOWrapper:
        return None, text
    text.flush()
    stream = Stream(getattr(text.buffer, "raw", text.buffer))
    return stream, io.TextIOWrapper(
        io.BufferedWriter(stream),
        encoding=text.encoding,
        errors=text.errors,
        line_buffering=text.line_buffering,
        write_through=text.write_through,
    )
