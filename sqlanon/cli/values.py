"""`--show-values`: values of the data in messages and in the log, which else have none."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from sqlanon.api.solution import format_label
from sqlanon.engines.base import LITERALS_LOG
from sqlanon.errors import UncoveredValueError

HINT = "--show-values lists the values, which are private data."


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
    for column, values in error.values.items():
        texts = ["NULL" if value is None else format_label(repr(value)) for value in values]
        more = ", …" if len(values) == error.MOST_VALUES else ""
        yield f"  {column!r}: {', '.join(texts)}{more}"
