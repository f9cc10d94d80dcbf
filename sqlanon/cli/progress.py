"""How far a search is, on standard error, and how signals end a command.

On a terminal progress is a bar, elsewhere a line now and then. SIGTERM ends a command as Ctrl-C
does.
"""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType

import click
from rich.console import Console, RenderableType
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar
from rich.text import Text

from sqlanon.cli.options import end
from sqlanon.search import Progress, Watch

FIRST_PAUSE = 5.0
"""Seconds between the first lines where there is no terminal."""
LONGEST_PAUSE = 300.0
PAUSE_SHARE = 0.25
"""Later pauses are this share of the time that has passed, so that a log is not flooded."""


class Status:
    """What is shown about a search that is under way."""

    def __init__(
        self, title: str, seconds: float | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.title = title
        self.stopping = False
        self.progress = Progress()
        self._seconds = seconds
        self._clock = clock
        self._started = self._improved = clock()
        self._left: float | None = None

    def update(self, progress: Progress) -> None:
        best, before = progress.best, self.progress.best
        if best is not None and (before is None or best < before):
            self._improved = self._clock()
        self.progress = progress

    @property
    def elapsed(self) -> float:
        return self._clock() - self._started

    def best(self) -> str:
        """The best so far, which is kept when the search is stopped."""
        progress = self.progress
        if self.stopping:
            return "stopping; the best so far is kept"
        if progress.best is None:
            return "no solution with the required privacy yet"
        lost = "" if progress.lost is None else f", {progress.lost:.1%} of the information lost"
        ago = written_duration(self._clock() - self._improved)
        return f"best so far: k = {progress.best_k:,}{lost}; last improved {ago} ago"

    def left(self) -> str:
        """Minutes and seconds until the end. They never rise: a slower search stays at them."""
        expected = time_left(self.elapsed, self.progress, self._seconds)
        if expected is not None:
            self._left = expected if self._left is None else min(expected, self._left)
        if self._left is None:
            return ""
        minutes, seconds = divmod(round(self._left), 60)
        return f"{minutes:02}:{seconds:02} left"

    def line(self) -> str:
        """Everything in one line, for a log."""
        scored = f"{self.progress.evaluations:,} scored in {written_duration(self.elapsed)}"
        return f"{self.title}: " + "; ".join(filter(None, (scored, self.best(), self.left())))


def time_left(elapsed: float, progress: Progress, seconds: float | None) -> float | None:
    """Seconds until the end at the speed so far, or until the clock ends it; None: unknown."""
    ends = [] if seconds is None else [seconds - elapsed]
    if progress.limit is not None and progress.evaluations:
        ends.append(elapsed * (progress.limit / progress.evaluations - 1))
    return max(min(ends), 0.0) if ends else None


def written_duration(seconds: float) -> str:
    """A duration in the unit that suits it: 12 s, 3 min, 2 h."""
    whole = int(seconds)
    if whole < 120:
        return f"{whole} s"
    return f"{whole // 60} min" if whole < 7200 else f"{whole // 3600} h"


@contextmanager
def watching(
    title: str,
    *,
    quiet: bool,
    seconds: float | None,
    patience: int | None,
    signals: Sequence[signal.Signals] = (signal.SIGINT, signal.SIGTERM),
) -> Iterator[Watch]:
    """A watch that shows the progress unless `quiet`; the first of the signals ends the search.

    The search then answers with the best so far. Another signal ends the program.
    """
    status = Status(title, seconds)
    watch = Watch(on_progress=status.update, seconds=seconds, patience=patience)

    def interrupt(number: int, frame: FrameType | None) -> None:
        is_repeated(number)  # so that one that follows at once is taken for this one
        watch.interrupt()
        status.stopping = True
        restore()

    def restore() -> None:
        for each, handler in previous.items():
            signal.signal(each, handler)

    previous = {each: signal.signal(each, interrupt) for each in signals}
    try:
        with nullcontext() if quiet else display(status, Console(stderr=True)):
            yield watch
    finally:
        restore()


def display(status: Status, console: Console) -> AbstractContextManager[object]:
    """What shows a status while it is entered."""
    # A notebook gives a command that is run from a cell a terminal, but one that cannot go back
    # to a former line.
    in_notebook = "JPY_PARENT_PID" in os.environ
    return _Bar(status, console) if console.is_terminal and not in_notebook else _lines(status)


class _Bar(Bar):
    """A bar, and the best so far below it."""

    def __init__(self, status: Status, console: Console) -> None:
        self._status = status
        super().__init__(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            TextColumn("{task.completed:,.0f} scored, {task.fields[rate]:,.0f}/s"),
            TextColumn("{task.fields[left]}"),
            console=console,
            transient=True,
            expand=True,
        )
        self.add_task(status.title, total=None, rate=0.0, left="")

    def get_renderables(self) -> Iterable[RenderableType]:
        status, progress = self._status, self._status.progress
        for task in self.tasks:
            task.completed, task.total = progress.evaluations, progress.limit
            task.fields |= {
                "left": status.left(),
                "rate": progress.evaluations / max(status.elapsed, 1e-9),
            }
        yield self.make_tasks_table(self.tasks)
        yield Text(status.best() + ("" if status.stopping else "; Ctrl-C keeps the best so far"))


@contextmanager
def _lines(status: Status) -> Iterator[None]:
    """A line on standard error now and then, the first one after a few seconds."""
    done = threading.Event()

    def show() -> None:
        hint = "; Ctrl-C or SIGTERM ends the search and keeps the best so far"
        while not done.wait(pause_after(status.elapsed)):
            try:
                click.echo(status.line() + hint, err=True)
            except (OSError, ValueError):  # standard error was closed
                return
            hint = ""

    thread = threading.Thread(target=show, name="sqlanon-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def pause_after(elapsed: float) -> float:
    """Seconds until the next line."""
    return min(max(FIRST_PAUSE, PAUSE_SHARE * elapsed), LONGEST_PAUSE)


@contextmanager
def stages(title: str, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Shows on a terminal which stage of a command is under way."""
    screen = Console(stderr=True)
    if quiet or not screen.is_terminal:
        yield lambda stage: None
        return
    with screen.status(title) as status:
        yield lambda stage: status.update(f"{stage} …")


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
