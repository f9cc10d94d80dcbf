"""Statements of an engine while they run: counted, timed, logged without literals, interrupted."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import sqlglot
from sqlglot.dialects.dialect import Dialect
from sqlglot.tokenizer_core import Token, TokenType

from sqlanon.render import NATIVE

PLACEHOLDER = "?"
UNREADABLE = "(a statement that cannot be shown without its literals)"

_LITERALS = {
    kind
    for kind in TokenType
    if kind.name.endswith("_STRING") or kind in (TokenType.STRING, TokenType.NUMBER)
}


@lru_cache(maxsize=64)  # a search runs few different statements, each of them thousands of times
def without_literals(sql: str, dialect: str = NATIVE) -> str:
    """The statement with ? for every text and number, and without comments.

    Names and the numbers of parameters ($1) stay.
    """
    try:
        tokens = Dialect.get_or_raise(dialect).tokenize(sql)
    except sqlglot.TokenError:
        return UNREADABLE
    parts: list[str] = []
    end, before = 0, None
    for token in tokens:
        between = sql[end : token.start]
        parts.append(between if not between.strip() else "\n" if "\n" in between else " ")
        parts.append(_shown(token, before, sql))
        end, before = token.end + 1, token
    return "".join(parts).strip()


def _shown(token: Token, before: Token | None, sql: str) -> str:
    adjacent = before is not None and before.end + 1 == token.start
    if before is not None and adjacent:
        if before.token_type is TokenType.PARAMETER:
            return sql[token.start : token.end + 1]
        if before.token_type is TokenType.NUMBER and token.token_type is TokenType.VAR:
            return ""  # the rest of 0x1F, which the tokenizer divides
    return PLACEHOLDER if token.token_type in _LITERALS else sql[token.start : token.end + 1]


_log = logging.getLogger("sqlanon.sql")

LITERALS_LOG = "sqlanon.sql.literals"
"""The logger whose level decides whether logged statements keep their literals: at DEBUG."""
_literals = logging.getLogger(LITERALS_LOG)
if _literals.level == logging.NOTSET:
    # Set, so that DEBUG for everything does not put values of the data into a log.
    _literals.setLevel(logging.INFO)


@dataclass(frozen=True)
class Statement:
    """A statement that ran, or failed. `rows`: fetched or changed; None where unknown."""

    sql: str
    seconds: float
    rows: int | None


@dataclass
class Running:
    """A statement under way; the engine sets `rows` when it knows them."""

    sql: str
    rows: int | None = None


class Tracer:
    """Sees every statement of its engines: counts and times it, and logs it at DEBUG.

    `statements` holds the last `keep`, `count` and `seconds` cover all. Several engines may
    share one tracer, also from several threads, if they have one dialect. The log holds
    statements without their literals, which may be values of the data, unless the logger
    LITERALS_LOG is at DEBUG too.
    """

    def __init__(self, dialect: str = NATIVE, keep: int = 1000) -> None:
        self.statements: deque[Statement] = deque(maxlen=keep)
        self.count = 0
        self.seconds = 0.0
        self._dialect = dialect
        self._watchers: list[list[Statement]] = []
        self._lock = threading.Lock()

    @contextmanager
    def running(self, sql: str) -> Iterator[Running]:
        """For engines: wraps the execution of one statement, which counts even if it fails."""
        state = Running(sql)
        start = time.perf_counter()
        try:
            yield state
        finally:
            self._record(Statement(sql, time.perf_counter() - start, state.rows))

    @contextmanager
    def watch(self) -> Iterator[list[Statement]]:
        """Collects the statements that run inside the block, however many; blocks may nest."""
        seen: list[Statement] = []
        with self._lock:
            self._watchers.append(seen)
        try:
            yield seen
        finally:
            with self._lock:
                # By identity: two lists with the same statements are equal.
                self._watchers = [each for each in self._watchers if each is not seen]

    def _record(self, statement: Statement) -> None:
        with self._lock:
            self.statements.append(statement)
            self.count += 1
            self.seconds += statement.seconds
            for seen in self._watchers:
                seen.append(statement)
        if _log.isEnabledFor(logging.DEBUG):
            rows = "?" if statement.rows is None else statement.rows
            whole = _literals.isEnabledFor(logging.DEBUG)
            text = statement.sql if whole else without_literals(statement.sql, self._dialect)
            _log.debug("%.3f s, %s rows: %s", statement.seconds, rows, text)


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
