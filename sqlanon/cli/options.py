"""Options that several commands have, the types of their values, and how a command ends.

Nothing heavy is imported here: the help of a command needs no database.
"""

from __future__ import annotations

import functools
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import click

from sqlanon.errors import UncoveredValueError
from sqlanon.exit_status import REQUIREMENT_FAILS

HINT = "--show-values lists the values, which are private data."

policy_argument = click.argument("policy", type=click.Path(path_type=Path))
scheme_option = click.option(
    "--scheme",
    required=True,
    help="scheme.json, result.json (its chosen solution), or result.json#N.",
)
workspace_option = click.option(
    "--workspace",
    type=click.Path(path_type=Path),
    help="A DuckDB file that keeps measurements for the next run.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


class Whole(click.IntRange):
    """A whole number of at least `least`, in 64 bits."""

    def __init__(self, least: int) -> None:
        super().__init__(min=least, max=2**63 - 1)
        self._words = f"a whole number of at least {least}"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            number: int = super().convert(value, param, ctx)
        except click.BadParameter:
            text = str(value).strip()
            if text.isdecimal() and len(text) > 18:
                self.fail(f"{text[:18]}… is too large; give at most {self.max}", param, ctx)
            self.fail(f"{text[:40]} is not {self._words}", param, ctx)
        return number


class Wholes(click.ParamType[tuple[int, ...]]):
    """Whole numbers of at least `least`, with commas between."""

    name = "numbers"

    def __init__(self, least: int) -> None:
        self._each = Whole(least)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return "N,N,…"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        parts = str(value).split(",")
        return tuple(self._each.convert(part.strip(), param, ctx) for part in parts)


class Seconds(click.FloatRange):
    """A number of seconds above 0."""

    name = "number"

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            number: float = super().convert(value, param, ctx)
        except click.BadParameter:
            number = math.nan
        if not math.isfinite(number):
            self.fail(f"{value} is not a number above 0", param, ctx)
        return number


def may_show_values(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command the option `--show-values`."""

    @click.option(
        "--show-values",
        is_flag=True,
        help="Show values of the data in messages and with -v: private data.",
    )
    @functools.wraps(command)
    def run(*arguments: Any, show_values: bool, **options: Any) -> Any:
        with showing_values(show_values):
            return command(*arguments, **options)

    return run


@contextmanager
def showing_values(shown: bool) -> Iterator[None]:
    """Lets the log keep the literals of statements, and lists values that a domain lacks."""
    import logging

    from sqlanon.engines import LITERALS_LOG

    log = logging.getLogger(LITERALS_LOG)
    before = log.level
    if shown:
        log.setLevel(logging.DEBUG)
    try:
        yield
    except UncoveredValueError as error:
        listed = "\n".join(_listed(error)) if shown else HINT
        raise error.reworded(f"{error}\n{listed}" if error.values else str(error)) from None
    finally:
        log.setLevel(before)


def _listed(error: UncoveredValueError) -> Iterator[str]:
    from sqlanon.domain import format_label

    for column, values in error.values.items():
        texts = ["NULL" if value is None else format_label(repr(value)) for value in values]
        more = ", …" if len(values) == error.MOST_VALUES else ""
        yield f"  {column!r}: {', '.join(texts)}{more}"


def print_json(document: Any) -> None:
    """One document on standard output."""
    encoding = getattr(sys.stdout, "encoding", None) or ""  # there is none when it is closed
    escaped = "utf" not in encoding.lower()
    click.echo(json.dumps(document, indent=2, ensure_ascii=escaped, allow_nan=False))


def end(message: str, status: int) -> NoReturn:
    """Ends a command that was not done; with --json, a document says so."""
    if "--json" in sys.argv[1:]:
        print_json({"error": message, "status": status})
    sys.exit(status)


def end_where_it_fails(shortfalls: Iterable[str]) -> NoReturn:
    """Ends a command that was done, because a privacy requirement does not hold."""
    for line in shortfalls:
        click.echo(line, err=True)
    sys.exit(REQUIREMENT_FAILS)
