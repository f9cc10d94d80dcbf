"""A progress bar on standard error, and signals that end a search with the best so far."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from types import FrameType

import click
from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar

from sqlanon.cli.output import end
from sqlanon.search.outcome import Progress, Watch

TERMINATED = 128 + signal.SIGTERM
"""The exit status of a command that a SIGTERM ended before there was a result."""


class Terminated(KeyboardInterrupt):
    """A SIGTERM, which ends us as Ctrl-C does; nobody is there to be asked what was meant."""


@contextmanager
def ending_on_sigterm() -> Iterator[None]:
    """Where nothing else is said, SIGTERM ends us as Ctrl-C does: what was opened is closed.

    Schedulers and `timeout` send it. Whoever ignores it, as under a parent that does, goes on to.
    """
    terminated = False

    def terminate(number: int, frame: FrameType | None) -> None:
        nonlocal terminated
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
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def watching(
    title: str,
    *,
    quiet: bool,
    seconds: float | None,
    patience: int | None,
    aim: str = "ach",
    signals: Sequence[signal.Signals] = (signal.SIGINT, signal.SIGTERM),
) -> Iterator[Watch]:
    """A watch that draws a bar unless `quiet`; the first of the signals stops the search, not us.

    There is no bar where standard error is not a terminal. `aim` is what the best is least in.
    """
    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.completed:,.0f} scored, {task.fields[rate]:,.0f}/s"),
        TextColumn("{task.fields[best]}"),
        TextColumn("{task.fields[left]}"),
        console=Console(stderr=True),
        transient=True,
        expand=True,
    )
    task = bar.add_task(title, total=None, rate=0.0, best="", left="")

    def show(progress: Progress) -> None:
        best = ""
        if progress.best is not None:
            best = f"best {aim} {progress.best:.4f}, k = {progress.best_k}"
        elapsed = bar.tasks[0].elapsed or 1e-9
        bar.update(
            task,
            completed=progress.evaluations,
            total=progress.limit,
            rate=progress.evaluations / elapsed,
            best=best,
            left=time_left(elapsed, progress, seconds),
        )

    watch = Watch(on_progress=show, seconds=seconds, patience=patience)

    def interrupt(number: int, frame: FrameType | None) -> None:
        watch.interrupt()
        bar.update(task, description="stopping")
        restore()  # a second one ends the program

    def restore() -> None:
        for each, handler in previous.items():
            signal.signal(each, handler)

    previous = {each: signal.signal(each, interrupt) for each in signals}
    try:
        # A bar that is only disabled would still end in an empty line.
        with nullcontext() if quiet or not bar.console.is_terminal else bar:
            yield watch
    finally:
        restore()


def time_left(elapsed: float, progress: Progress, seconds: float | None) -> str:
    """Minutes and seconds until the end at the speed so far, or until the clock ends it."""
    ends = [] if seconds is None else [seconds - elapsed]
    if progress.limit is not None and progress.evaluations:
        ends.append(elapsed * (progress.limit / progress.evaluations - 1))
    if not ends:
        return ""
    minutes, rest = divmod(round(max(min(ends), 0)), 60)
    return f"{minutes:02}:{rest:02} left"
