"""`sqlanon search --method reference-direction`: the walk over efficient solutions, by hand.

Every step shows its solutions as a table and a small plot and asks what to do. The answers
are lines of standard input, so that a script can walk as well as a person.
"""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.table import Table

from sqlanon.api import Anonymizer
from sqlanon.api.result import SearchResult
from sqlanon.api.solution import format_score
from sqlanon.api.used_files import Used, files_of
from sqlanon.cli.progress import watching
from sqlanon.cli.written import EXPLORATION, refuse_to_replace
from sqlanon.errors import SearchError, SqlanonError
from sqlanon.preference import Preference
from sqlanon.search.reference_direction import Exploration
from sqlanon.search.reference_step import Step

HELP = """\
  N          go on from solution N: it becomes the next point of departure
  take N     end with solution N as the answer
  points N   change the number of reference points and take the step again
  save FILE  write the exploration to a file, to go on later with --resume FILE
  quit       end without an answer"""

PLOT_WIDTH, PLOT_HEIGHT = 60, 14


def walk(
    anonymizer: Anonymizer, resume: Path | None, *, seed: int | None, quiet: bool, screen: Console
) -> SearchResult:
    """Walks until the user takes a solution or quits; the result holds all efficient ones."""
    exploration = anonymizer.explore(_read(resume) if resume else None, seed=seed)
    taken: int | None = None
    seconds = 0.0
    step = exploration.history[-1].step if exploration.history else None
    while taken is None:
        start = time.perf_counter()
        step = step or _next_step(exploration, quiet)
        seconds += time.perf_counter() - start
        if not len(step.solutions):
            break
        _show(step, exploration, screen)
        answer = click.prompt("What next", prompt_suffix="? ", err=True).split()
        if answer[:1] == ["quit"]:
            break
        try:
            taken, step = _obey(answer, exploration, step, screen, files_of(anonymizer.policy))
        except (SqlanonError, ValueError, OSError) as error:
            screen.print(f"{error}\n{HELP}", markup=False)
    chosen = None if step is None or taken is None else step.solutions.keys[taken]
    return anonymizer.explored(exploration, chosen, seconds)


def _obey(
    answer: list[str], exploration: Exploration, step: Step, screen: Console, used: list[Used]
) -> tuple[int | None, Step | None]:
    """The row that was taken, and the step to show next: None takes a new one."""
    match answer:
        case ["take", row]:
            if not 0 <= int(row) < len(step.solutions):
                raise SearchError(f"there is no solution {row} in this step")
            return int(row), step
        case ["points", number]:
            exploration.n = int(number)
            return None, None
        case ["save", file]:
            refuse_to_replace(Path(file), EXPLORATION, used, "name another file")
            text = json.dumps(exploration.to_json(), indent=2, ensure_ascii=False)
            Path(file).write_text(text + "\n", encoding="utf-8")
            screen.print(f"written to {file}", markup=False)
            return None, step
        case [row]:
            exploration.choose(int(row))
            return None, None
        case _:
            raise SearchError(f"{' '.join(answer)!r} is not an answer")


def _read(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SearchError(f"{path}: cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise SearchError(f"{path}: is not JSON ({error})") from None


def _next_step(exploration: Exploration, quiet: bool) -> Step:
    number = len(exploration.history) + 1
    # Only Ctrl-C: after a step that a SIGTERM ended, the walk would wait for an answer.
    with watching(
        f"step {number}", quiet=quiet, seconds=None, patience=None, signals=[signal.SIGINT]
    ) as watch:
        return exploration.step(watch=watch)


def _show(step: Step, exploration: Exploration, screen: Console) -> None:
    goal = exploration.preference
    loss, bias = _measures(goal)
    screen.print(
        f"From {loss} {step.origin.loss:.3f}, {bias} {step.origin.bias:.3f} "
        f"towards {loss} {goal.loss:.3f}, {bias} {goal.bias:.3f}:"
    )
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("#", "k", "classes", loss, bias, f"asked for ({loss}, {bias})"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in range(len(step.solutions)):
        asked = step.references_of(row)
        shown = f"({asked[0].loss:.3f}, {asked[0].bias:.3f})"
        more = f" and {len(asked) - 1} more" if len(asked) > 1 else ""
        scores = step.scores
        cells = [scores.k[row].item(), scores.classes[row].item()]
        point = step.point(row)
        table.add_row(
            str(row),
            *(format_score(c) for c in cells),
            f"{point.loss:.4f}",
            f"{point.bias:.4f}",
            shown + more,
        )
    screen.print(table)
    screen.print("\n".join(plot(step, exploration)), markup=False, highlight=False)


def plot(step: Step, exploration: Exploration) -> list[str]:
    """The step as text: solutions by number, q̄ as *, q_t as o; loss to the right, bias up."""
    loss, bias = _measures(exploration.preference)
    points = [(step.point(i), str(i % 10)) for i in range(len(step.solutions))]
    points = [(step.origin, "o"), (exploration.preference, "*"), *points]
    right = max(p.loss for p, _ in points) or 1.0
    top = max(p.bias for p, _ in points) or 1.0
    cells = [[" "] * (PLOT_WIDTH + 1) for _ in range(PLOT_HEIGHT + 1)]
    for point, mark in points:
        across = round(point.loss / right * PLOT_WIDTH)
        up = round(point.bias / top * PLOT_HEIGHT)
        cells[PLOT_HEIGHT - up][across] = mark
    lines = ["│" + "".join(row) for row in cells]
    lines[0] += f"  {bias} {top:.3f}"
    return [*lines, "└" + "─" * (PLOT_WIDTH + 1) + f"  {loss} {right:.3f}"]


def _measures(point: Preference) -> tuple[str, str]:
    """The names of a preference's loss and bias: the papers' in capitals."""
    names = (point.loss_by.value, point.bias_by.value)
    loss, bias = (name.upper() if name in ("nwp", "necd") else name for name in names)
    return loss, bias
