"""What a publish tells while it works: its stages, with counts and never with values."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

_log = logging.getLogger("sqlanon.publish")


class Stages:
    """Logs each stage at INFO, tells a listener its name, and notes how long it took."""

    def __init__(self, listener: Callable[[str], None] | None = None) -> None:
        self.seconds: dict[str, float] = {}
        self._listener = listener
        self._current: tuple[str, float] | None = None

    def enter(self, name: str, detail: str = "") -> None:
        """A stage begins, and the one before it is over."""
        self.finish()
        self._current = (name, time.perf_counter())
        _log.info("%s%s", name, f": {detail}" if detail else "")
        if self._listener is not None:
            self._listener(name)

    def finish(self) -> None:
        if self._current is not None:
            name, start = self._current
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
        self._current = None
