"""`sqlanon search --method reference-direction`: the walk over efficient solutions, by hand.

Every step shows its solutions as a table and a small plot and asks what to do. The answers
are lines of standard input, so that a script can walk as well as a person.
"""

from __future__ import annotations

import re
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console

from sqlanon.anonymizer import Anonymizer
from sqlanon.cli.output import Grid, print_fitted, signs
from sqlanon.cli.progress import Terminated, watching
from sqlanon.documents import read_json
from sqlanon.domain import write_document
from sqlanon.errors import SearchError, SqlanonError
from sqlanon.files import SAVED_WALK, Used, refuse_to_replace
from sqlanon.metrics import Preference
from sqlanon.search import MOST_POINTS, UNREPEATABLE, SearchResult, Step, Walk
from sqlanon.wording import counted

HELP = """\
  N          go on from solution N: it becomes the next point of departure
  take N     end with solution N as the answer
  points N   change the number of reference points and take the step again
  save FILE  write the walk to a file, to go on later with --resume FILE
  quit       end without an answer
  help, ?    show this"""
HINT = """\
N goes on from solution N, take N ends with it, points N asks for N places,
save FILE keeps the walk for later, quit ends it, help lists all answers."""

AT_THE_PROMPT = "save FILE keeps the walk, quit ends it; another Ctrl-C ends it at once."

_NUMBER = re.compile("-?[0-9]+")

PLOT_WIDTH, PLOT_HEIGHT = 60, 14
LEAST_WIDTH = 10
DISPENSABLE = ("classes", "left out", "asked for + more")
"""The columns that a narrow screen does without, in this order."""


def walk_by_answers(
    anonymizer: Anonymizer,
    resume: Path | None,
    *,
    seed: int | None,
    step_seconds: float | None,
    used: Sequence[Used],
    quiet: bool,
    screen: Console,
) -> SearchResult:
    """Walks until the user takes a solution or quits; the result holds all efficient ones.

    It ends as well when standard input does, and when nothing feasible is found; the result
    then holds what came closest. A step ends after `step_seconds`. Files in `used` are never
    saved to.
    """
    walk = _begun(anonymizer, resume, seed)
    walk.limits = replace(walk.limits, seconds=step_seconds)
    taken: int | None = None
    seconds = 0.0
    step = walk.history[-1].step if walk.history else None
    shown: Step | None = None
    while taken is None:
        if step is None or not len(step.solutions):
            start = time.perf_counter()
            step = _next_step(walk, quiet)
            seconds += time.perf_counter() - start
            if not len(step.solutions):
                break
            if step.stopped in UNREPEATABLE:
                click.echo("The step was ended early: these are the best so far.", err=True)
        # Once: a message about the answer to it would scroll away.
        if step is not shown and not quiet:
            _show(step, walk, screen)
            if shown is None:
                click.echo(HINT, err=True)
        shown = step
        answer = _answer()
        if answer in (None, "quit"):
            break
        try:
            taken, step = _obey(answer or "", walk, step, used)
        except SqlanonError as error:
            click.echo(str(error), err=True)
    chosen = None if step is None or taken is None else step.solutions.keys[taken]
    return anonymizer.walked(walk, chosen, seconds)


def _begun(anonymizer: Anonymizer, resume: Path | None, seed: int | None) -> Walk:
    """A new walk, or the one that was saved, which has a seed of its own."""
    if resume is None:
        return anonymizer.walk(seed=seed)
    saved = read_json(resume, SearchError)
    try:
        walk = anonymizer.walk(saved)
    except SearchError as error:
        raise SearchError(f"{resume}: {error}") from None
    if seed not in (None, walk.seed):
        raise click.UsageError(
            f"--seed {seed} does not go with --resume {resume}, which was saved with the seed "
            f"{walk.seed}; leave one of the two out"
        )
    return walk


def _answer() -> str | None:
    """A line of standard input that is not blank; None at its end.

    The first Ctrl-C may have been meant for the step before, so it ends nothing.
    """
    warned = False
    while True:
        try:
            click.echo("What next? ", nl=False, err=True)
            line = sys.stdin.readline() if sys.stdin is not None else ""
        except KeyboardInterrupt as pressed:
            if warned or isinstance(pressed, Terminated):
                raise
            warned = True
            click.echo(f"\n{AT_THE_PROMPT}", err=True)
            continue
        except UnicodeDecodeError:
            raise SearchError("standard input is not text, so it holds no answers") from None
        if not line:
            click.echo(err=True)  # what follows is not an answer to the prompt
            return None
        if line.strip():
            return line.strip()


def _obey(
    answer: str, walk: Walk, step: Step, used: Sequence[Used]
) -> tuple[int | None, Step | None]:
    """The row that was taken, and the step to show next: None takes a new one."""
    match answer.split(maxsplit=1):
        case ["take", row]:
            number, there = _number(row), counted(len(step.solutions), "solution")
            if not 0 <= number < len(step.solutions):
                raise SearchError(
                    f"there is no solution {number}; this step has {there}, numbered from 0"
                )
            return number, step
        case ["points", number]:
            walk.n = _points(_number(number))
            return None, None
        case ["save", file]:
            refuse_to_replace(Path(file), SAVED_WALK, used, "name another file")
            write_document(walk.to_json(), file)
            click.echo(f"written to {file}", err=True)
            return None, step
        case ["help" | "?"]:
            click.echo(HELP, err=True)
            return None, step
        case [row] if _NUMBER.fullmatch(row):
            walk.choose(_number(row))
            return None, None
        case ["take" | "points" as word]:
            raise SearchError(f"{word} needs a number, as in: {word} 2")
        case ["save"]:
            raise SearchError("save needs the name of a file, as in: save walk.json")
        case _:
            raise SearchError(f"{answer!r} is not an answer; help lists those that are")


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise SearchError(f"{text!r} is not a whole number")
    return int(text[:20])  # whatever is longer is too much for anything


def _points(number: int) -> int:
    if not 1 <= number <= MOST_POINTS:
        raise SearchError(f"a step has 1 to {MOST_POINTS:,} reference points, not {number}")
    return number


def _next_step(walk: Walk, quiet: bool) -> Step:
    number = len(walk.history) + 1
    limits = walk.limits
    # Only Ctrl-C: after a step that a SIGTERM ended, the walk would wait for an answer.
    with watching(
        f"step {number}",
        quiet=quiet,
        seconds=limits.seconds,
        patience=limits.patience,
        signals=[signal.SIGINT],
    ) as watch:
        return walk.step(watch=watch)


def _show(step: Step, walk: Walk, screen: Console) -> None:
    goal = walk.preference
    loss, bias = _measures(goal)
    screen.print(
        f"From {loss} {step.origin.loss:.3f}, {bias} {step.origin.bias:.3f} "
        f"towards {loss} {goal.loss:.3f}, {bias} {goal.bias:.3f}:"
    )
    print_fitted(screen, step_grid(step, loss, bias), DISPENSABLE)
    screen.print("\n".join(plot(step, walk, screen)), markup=False, highlight=False)


def step_grid(step: Step, loss: str, bias: str) -> Grid:
    """The solutions of a step, each with the first point that asked for it, and how many more."""
    rows, scores = [], step.scores
    for row, point in enumerate(step.points):
        asked = step.references_of(row)
        shown = f"({asked[0].loss:.3f}, {asked[0].bias:.3f})"
        more = f" + {len(asked) - 1}" if len(asked) > 1 else ""
        counts = [f"{each[row]:,}" for each in (scores.k, scores.classes, scores.suppressed)]
        rows.append([str(row), *counts, f"{point.loss:.4f}", f"{point.bias:.4f}", shown + more])
    # Tight, so that seven columns of large numbers fit into 80 characters.
    titles = ("#", "k", "classes", "left out", loss, bias, "asked for + more")
    return Grid(titles, rows, is_tight=True)


def plot(step: Step, walk: Walk, screen: Console) -> list[str]:
    """The step as text: solutions by number, q̄ as *, q_t as o; loss to the right, bias up."""
    sign = signs(screen)
    loss, bias = _measures(walk.preference)
    points = [(step.point(i), str(i % 10)) for i in range(len(step.solutions))]
    points = [(step.origin, "o"), (walk.preference, "*"), *points]
    right = max(p.loss for p, _ in points) or 1.0
    top = max(p.bias for p, _ in points) or 1.0
    ends = f"  {bias} {top:.3f}", f"  {loss} {right:.3f}"
    width = min(PLOT_WIDTH, max(LEAST_WIDTH, screen.width - 2 - max(map(len, ends))))
    cells = [[" "] * (width + 1) for _ in range(PLOT_HEIGHT + 1)]
    for point, mark in points:
        across = round(point.loss / right * width)
        up = round(point.bias / top * PLOT_HEIGHT)
        cells[PLOT_HEIGHT - up][across] = mark
    lines = [sign.upright + "".join(row) for row in cells]
    lines[0] += ends[0]
    legend = "o where the step began   * the preference   0-9 solutions"
    return [*lines, sign.corner + sign.level * (width + 1) + ends[1], f" {legend}"]


def _measures(point: Preference) -> tuple[str, str]:
    """The names of a preference's loss and bias: the papers' in capitals."""
    names = (point.loss_by, point.bias_by)
    loss, bias = (name.upper() if name in ("nwp", "necd") else name for name in names)
    return loss, bias
