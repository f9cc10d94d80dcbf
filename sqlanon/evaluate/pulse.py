"""A pulse while schemes are scored: shows progress and can end the work at once.

A batch may take minutes, a single query seconds. Meanwhile the evaluator calls a listener several
times per second. The listener may show progress or end the work: then running queries are
interrupted, and the schemes scored so far are handed over.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sqlanon.domain import Batch
from sqlanon.metrics import Scores

EVERY = 0.2
"""Seconds between two beats."""

Listener = Callable[[int], bool]
"""Takes how many schemes of the batch are scored; True ends the work."""


@dataclass(frozen=True)
class Part:
    """The scored part of a batch: its rows, these schemes and their scores."""

    rows: Sequence[int]
    batch: Batch
    scores: Scores


class Unfinished(Exception):  # noqa: N818 - nothing is wrong, the work was ended on purpose
    """The listener ended the work; `part` is what was scored until then, if anything."""

    def __init__(self, part: Part | None = None) -> None:
        super().__init__("scoring was ended before its end")
        self.part = part


class Pulse:
    """Beats for one listener at a time, and not at all without one.

    A listener ends the work once. Schemes that are scored after that, to complete an answer, are
    not interrupted.
    """

    def __init__(self) -> None:
        self._listener: Listener | None = None
        self._last = 0.0

    @property
    def is_heard(self) -> bool:
        return self._listener is not None

    @contextmanager
    def heard_by(self, listener: Listener) -> Iterator[None]:
        """Calls `listener` while schemes are scored, until it ends the work or this block ends."""
        before, self._listener, self._last = self._listener, listener, time.monotonic()
        try:
            yield
        finally:
            self._listener = before

    def beat(self, scored: int = 0) -> bool:
        """Calls the listener if it is time, and returns whether the work is to end now."""
        now = time.monotonic()
        if self._listener is None or now - self._last < EVERY:
            return False
        self._last = now
        if not self._listener(scored):
            return False
        self._listener = None
        return True

    def check(self) -> None:
        """Beats between two pieces of work; raises Unfinished if the search is to end now."""
        if self.beat():
            raise Unfinished
