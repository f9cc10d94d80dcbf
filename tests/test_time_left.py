"""The time left that a progress bar tells."""

from __future__ import annotations

import pytest

from sqlanon.cli.progress import time_left
from sqlanon.search.outcome import Progress


@pytest.mark.parametrize(
    ("elapsed", "done", "limit", "seconds", "told"),
    [
        (10, 100, 400, None, "00:30 left"),  # 10 a second, 300 to go
        (60, 100, 600, None, "05:00 left"),
        (10, 100, 400, 12, "00:02 left"),  # the clock ends it first
        (10, 100, 120, 60, "00:02 left"),
        (10, 100, None, 12, "00:02 left"),
        (14, 100, None, 12, "00:00 left"),  # a step takes its time
        (10, 100, None, None, ""),  # nobody knows
        (10, 0, 400, None, ""),
    ],
)
def test_time_left(
    elapsed: float, done: int, limit: int | None, seconds: float | None, told: str
) -> None:
    assert time_left(elapsed, Progress(done, limit), seconds) == told
