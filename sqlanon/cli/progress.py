"""A progress bar on standard error, and Ctrl-C that ends a search with the best so far."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from sqlanon.search.outcome import Progress, Watch


@contextmanager
def watching(
    title: str, *, quiet: bool, seconds: float | None, patience: int | None
) -> Iterator[Watch]:
    """A watch that draws a bar unless `quiet`; the first Ctrl-C stops the search, not us.

    There is no bar where standard error is not a terminal.
    """
    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.completed:,.0f} scored, {task.fields[rate]:,.0f}/s"),
        TextColumn("{task.fields[best]}"),
        TimeRemainingColumn(compact=True),
        console=Console(stderr=True),
        transient=True,
        expand=True,
    )
    task = bar.add_task(title, total=None, rate=0.0, best="")

    def show(progress: Progress) -> None:
        best = "" if progress.best is None else f"best {progress.best:.4f}, k = {progress.best_k}"
        elapsed = bar.tasks[0].elapsed or 1e-9
        rate = progress.evaluations / elapsed
        bar.update(task, completed=progress.evaluations, total=progress.limit, rate=rate, best=best)

    watch = Watch(on_progress=show, seconds=seconds, patience=patience)

    def interrupt(number: int, frame: FrameType | None) -> None:
        watch.interrupt()
        bar.update(task, description="stopping")
        signal.signal(signal.SIGINT, previous)  # a second Ctrl-C ends the program

    previous = signal.signal(signal.SIGINT, interrupt)
    try:
        # A bar that is only disabled would still end in an empty line.
        with nullcontext() if quiet or not bar.console.is_terminal else bar:
            yield watch
    finally:
        signal.signal(signal.SIGINT, previous)
