"""SIGTERM ends a command as Ctrl-C does."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import click

from sqlanon.cli.options import end

TERMINATED = 128 + signal.SIGTERM
"""The exit status of a command that a SIGTERM ended before there was a result."""

ONE_SIGNAL = 1.0
"""SIGTERMs within so many seconds are one: GNU `timeout` sends two, to us and to our group."""


class Terminated(KeyboardInterrupt):
    """A SIGTERM. It ends us as Ctrl-C does, but asks for no confirmation."""


class _Repeats:
    """Recognizes a signal that is one with a SIGTERM shortly before it."""

    def __init__(self) -> None:
        self._last = -math.inf

    @property
    def any(self) -> bool:
        """Whether a SIGTERM arrived at all."""
        return self._last > -math.inf

    def __call__(self, number: int) -> bool:
        if number != signal.SIGTERM:
            return False
        now = time.monotonic()
        repeated = now - self._last < ONE_SIGNAL
        if not repeated:
            self._last = now
        return repeated


is_repeated = _Repeats()
"""Whether a signal that just arrived repeats the one before; signals concern a whole process."""


@contextmanager
def ending_on_sigterm() -> Iterator[None]:
    """Makes SIGTERM end the command like Ctrl-C, so that everything opened is closed.

    A process that was started with SIGTERM ignored goes on ignoring it.
    """
    terminated = False

    def terminate(number: int, frame: FrameType | None) -> None:
        nonlocal terminated
        if is_repeated(number):
            return
        terminated = True
        raise Terminated

    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    except (KeyboardInterrupt, click.Abort):
        if not terminated:
            raise
        click.echo("stopped", err=True)
        end("stopped", TERMINATED)
    finally:
        # After a SIGTERM the process is about to end: its repetition must not make that a failure.
        after = signal.SIG_IGN if is_repeated.any else signal.SIG_DFL
        signal.signal(signal.SIGTERM, after)
