"""What the progress of a search says: the best so far, when it improved, and the time left."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import Progress as Bar
from search_table import write_search_folder

from sqlanon.cli.progress import Status, display, pause_after, time_left, written_duration
from sqlanon.search.outcome import Progress


class Clock:
    """A clock that is set by hand."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("elapsed", "done", "limit", "seconds", "left"),
    [
        (10, 100, 400, None, 30),  # 10 a second, 300 to go
        (60, 100, 600, None, 300),
        (10, 100, 400, 12, 2),  # the clock ends it first
        (10, 100, 120, 60, 2),
        (10, 100, None, 12, 2),
        (14, 100, None, 12, 0),  # a step takes its time
        (10, 100, None, None, None),  # no limit is known
        (10, 0, 400, None, None),
    ],
)
def test_time_left(
    elapsed: float, done: int, limit: int | None, seconds: float | None, left: float | None
) -> None:
    assert time_left(elapsed, Progress(done, limit), seconds) == pytest.approx(left)


def test_the_time_left_only_falls() -> None:
    clock = Clock()
    status = Status("auto", None, clock)
    assert status.left() == ""
    shown = []
    # 10 s each: 100, 200 and 250 of 400, then the limit rises to 2,000, then back to 500.
    for done, limit in ((100, 400), (200, 400), (250, 400), (260, 2_000), (450, 500)):
        clock.now += 10
        status.update(Progress(done, limit))
        shown.append(status.left())
    # 10 · 3, 20 · 1, 30 · 0.6, unchanged instead of 40 · 6.7, 50 · 50/450
    assert shown == ["00:30 left", "00:20 left", "00:18 left", "00:18 left", "00:06 left"]
    clock.now += 60  # nothing is reported meanwhile
    assert status.left() == "00:06 left"


def test_the_best_so_far_in_words() -> None:
    clock = Clock()
    status = Status("auto", None, clock)
    assert "best so far" not in status.best()
    status.update(Progress(10, None, 0.4, 5, 0.3436))
    clock.now += 7
    status.update(Progress(20, None, 0.4, 5, 0.3436))
    clock.now += 5
    said = status.best()
    for part in ("k = 5", "34.4% of the information lost", "last improved 12 s ago"):
        assert part in said
    status.update(Progress(30, None, 0.3, 6, 0.2))
    assert "k = 6, 20.0%" in status.best()
    assert "last improved 0 s ago" in status.best()
    assert status.line().startswith("auto: 30 scored in 12 s; best so far")


@pytest.mark.parametrize(
    ("seconds", "written"), [(0.9, "0 s"), (119, "119 s"), (120, "2 min"), (7_300, "2 h")]
)
def test_durations(seconds: float, written: str) -> None:
    assert written_duration(seconds) == written


def test_lines_become_rarer() -> None:
    times = [0.0]
    while times[-1] < 8 * 3_600:
        times.append(times[-1] + pause_after(times[-1]))
    assert times[1:4] == [5, 10, 15]
    assert len(times) < 150  # of a night
    assert max(after - before for before, after in pairwise(times)) <= 300


def test_a_command_in_a_notebook_draws_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel gives the commands of a cell a terminal that cannot move its cursor."""
    screen, status = Console(force_terminal=True), Status("auto", None)
    monkeypatch.delenv("JPY_PARENT_PID", raising=False)
    assert isinstance(display(status, screen), Bar)
    monkeypatch.setenv("JPY_PARENT_PID", "1")
    assert not isinstance(display(status, screen), Bar)


# The pauses are shorter here, so that the test is.
PROGRAM = """
import sqlanon.cli.progress
sqlanon.cli.progress.FIRST_PAUSE = 0.3
from sqlanon.cli import main
main()
"""


@pytest.mark.parametrize("quiet", [False, True])
def test_lines_where_there_is_no_terminal(tmp_path: Path, quiet: bool) -> None:
    write_search_folder(tmp_path, {"method": "nsga2", "evaluations": 10**9, "seconds": 2})
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "search", "policy.yml", "--json", *["-q"] * quiet],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "FORCE_COLOR"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith("nsga2: ")]
    assert "\x1b" not in done.stderr
    assert done.stdout.startswith("{")
    if quiet:
        assert not lines
        return
    assert 2 <= len(lines) <= 8
    assert "Ctrl-C or SIGTERM" in lines[0]
    assert "Ctrl-C" not in "".join(lines[1:])
    assert re.search(
        r"scored in \d s; best so far: k = \d+, [\d.]+% of the information lost; "
        r"last improved \d s ago; 00:0\d left$",
        lines[-1],
    )
