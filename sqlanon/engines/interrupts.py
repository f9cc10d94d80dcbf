"""Ctrl-C while a database works."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

_POLL_SECONDS = 0.05
_INTERRUPTED = "Query interrupted"
"""What DuckDB says in place of what a signal handler raised."""


@contextmanager
def keeping_interrupts() -> Iterator[None]:
    """For statements on the main thread that are too short for a thread of their own.

    DuckDB looks for signals while it works. When a handler raises KeyboardInterrupt, DuckDB
    drops it and raises a plain RuntimeError; here it becomes a KeyboardInterrupt again.
    """
    try:
        yield
    except RuntimeError as error:
        if str(error) != _INTERRUPTED:
            raise
        raise KeyboardInterrupt from None


def interruptible(call: Callable[[], T], interrupt: Callable[[], object]) -> T:
    """The result of `call`, which Ctrl-C stops by way of `interrupt`.

    Python handles a signal only once its main thread runs Python again, and a call into a
    database may not return for hours. So the main thread waits while another one calls; after
    `interrupt` it waits until the call is over, so that the connection can be used again. On
    any other thread, where no signals arrive, this is just `call()`.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    future: Future[T] = Future()

    def work() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)

    # A daemon, so that a second Ctrl-C ends the program even if the database does not stop.
    thread = threading.Thread(target=work, name="sqlanon-statement", daemon=True)
    try:
        thread.start()
        return future.result()
    except KeyboardInterrupt:
        # More than once: the first may come before the statement has begun.
        while thread.is_alive():
            interrupt()
            thread.join(_POLL_SECONDS)
        raise
