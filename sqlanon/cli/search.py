"""`sqlanon search`: finds generalizations, and shows what they trade off."""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import NoReturn

import click
from rich.console import Console

import sqlanon
from sqlanon.cli.options import (
    Seconds,
    Whole,
    Wholes,
    end_where_it_fails,
    json_option,
    may_show_values,
    policy_argument,
    print_json,
    workspace_option,
)
from sqlanon.cli.output import (
    cell,
    console,
    legend,
    print_front,
    print_groups,
    reached_tables,
)
from sqlanon.cli.progress import ending_on_sigterm, watching
from sqlanon.cli.walk import walk_by_answers
from sqlanon.counting import files_of
from sqlanon.documents import read_json
from sqlanon.domain import Recoding, format_label
from sqlanon.errors import SearchError
from sqlanon.files import RESULT, Used, refuse_to_replace
from sqlanon.policy import SearchSection
from sqlanon.search import METHODS, SearchResult
from sqlanon.wording import ANNOUNCED, counted


class WithSettings(click.Command):
    """A command whose settings are in the policy, to which a mistaken option is referred."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            key = error.option_name.lstrip("-").replace("-", "_")
            methods = _with_setting(key)
            if not methods and key not in SearchSection.model_fields:
                raise
            named = " and ".join(filter(None, [", ".join(methods[:-1]), *methods[-1:]]))
            whose = f", a setting of {named}" if methods else ""
            raise click.UsageError(
                f"No such option: {error.option_name}. Give search.{key} in the policy{whose}.", ctx
            ) from None


def _with_setting(key: str) -> list[str]:
    return [name for name, method in METHODS.items() if key in method.keys]


INTERACTIVE = [name for name, method in METHODS.items() if method.interactive]

EXAMPLES = """\b
Example: sqlanon search policy.yml --method nsga2 --seed 7 -o result.json
Another: sqlanon search policy.yml --k 5,10,20
         sqlanon sql policy.yml --scheme result.json#2"""
"""The second goes on with a solution of the table that the first line shows."""

ENDED = {
    "interrupted": "The search was interrupted",
    "time": "The search ended when its seconds had passed",
}
"""What is said of a search that would have gone on."""
USED_UP = "its evaluations were used up; more may find a better solution"
KEPT = (
    "{output} is left as it was, because it has a chosen solution and this search has none; to "
    "write what came closest, name another file with --output"
)
PATIENCE = "its patience ended the search; more may find a better solution"


@click.command(cls=WithSettings, epilog=EXAMPLES)
@policy_argument
@click.option("--method", type=click.Choice(list(METHODS)), help="Instead of the policy's method.")
@click.option("--k", type=Wholes(1), help="Instead of the policy's k; several as 5,10,20.")
@click.option("--seed", type=Whole(0), help="Instead of the policy's seed.")
@click.option(
    "--thorough", is_flag=True, help="Search until nothing better is found, which takes minutes."
)
@click.option("--seconds", type=Seconds(), help="End with the best so far after this many seconds.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("result.json"),
    show_default=True,
    help="Where the result goes.",
)
@click.option(
    "--resume",
    type=click.Path(path_type=Path),
    help=f"With {INTERACTIVE[0]} only: continue a saved walk.",
)
@workspace_option
@json_option
@click.option("-q", "--quiet", is_flag=True, help="No progress and no tables.")
@ending_on_sigterm()
@may_show_values
def search(
    policy: Path,
    method: str | None,
    k: tuple[int, ...] | None,
    seed: int | None,
    thorough: bool,
    seconds: float | None,
    output: Path,
    resume: Path | None,
    workspace: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Find generalizations of the table that POLICY names.

    Writes every solution that no other one beats to a result file, with the best one marked,
    and shows the trade-off. Ctrl-C or SIGTERM ends the search with the best so far. Ends with
    exit status 3 if nothing reaches the privacy that the policy requires.

    With `--k 5,10,20` it searches for each k, and marks a solution for each.

    The settings of a method, such as `evaluations`, are keys of the policy's `search` section.

    With `--method reference-direction` you walk over the efficient solutions step by step:
    every step asks what to do next, and `help` lists the answers.
    """
    _refuse_unwritable(output)  # better said now than after a long search
    with sqlanon.load(policy, workspace=workspace) as anonymizer:
        used = files_of(anonymizer.policy)
        used += [Used(path, role) for path, role in
                 ((workspace, "the workspace"), (resume, "the walk to resume"))
                 if path is not None]  # fmt: skip
        refuse_to_replace(output, RESULT, used)
        section = anonymizer.policy.section.search
        name = method or section.method
        interactive = METHODS[name].interactive
        if resume is not None and not interactive:
            _refuse("--resume", INTERACTIVE, name)
        if k is not None and interactive:
            raise click.UsageError(f"--k does not go with --method {name}")
        if thorough and name not in _with_setting("effort"):
            _refuse("--thorough", _with_setting("effort"), name)
        if seconds is None:
            seconds = section.seconds
        logging.getLogger(ANNOUNCED).disabled = quiet
        if not quiet:
            for caution in anonymizer.cautions:
                click.echo(f"note: {format_label(caution)}", err=True)
        if interactive:
            screen = Console(stderr=True, highlight=False) if as_json else console()
            kept = [each for each in used if each.path != resume]  # a walk may be saved again
            kept.append(Used(output, "where the result goes"))
            result = walk_by_answers(
                anonymizer,
                resume,
                seed=seed,
                step_seconds=seconds,
                used=kept,
                quiet=quiet,
                screen=screen,
            )
        else:
            effort = "thorough" if thorough else None
            result = _searched(anonymizer, name, k, seed, effort, seconds, quiet=quiet)
        said = anonymizer.cautions
        instead = None
        if not (interactive or as_json or quiet):
            with suppress(KeyboardInterrupt):  # what was found is written in any case
                instead = anonymizer.instead_of(result)
    feasible = any(each.feasible is not False for each in result.solutions)
    if interactive and result.chosen is None and feasible:
        click.echo("No solution was taken; nothing is written.", err=True)
        if as_json:
            print_json(result.to_dict())
        return
    written = result.chosen is not None or not _has_answer(output)
    if written:
        result.write(output)
    if as_json:
        print_json(result.to_dict())
    elif not quiet:
        _show(result, output, f"written to {output}" if written else "not written", said)
        if instead is not None:
            console().print(cell(instead, console()))
    if not result.reproducible:
        click.echo(f"{ENDED[result.stopped]}: this is the best so far", err=True)
    if result.chosen is None:
        also = [] if written else [KEPT.format(output=output)]
        end_where_it_fails([result.shortfall(), *also])
    if missing := [str(k) for k, row in result.choices.items() if row is None]:
        end_where_it_fails([f"No solution reaches k = {', '.join(missing)}."])


def _refuse(option: str, methods: list[str], name: str) -> NoReturn:
    raise click.UsageError(f"{option} goes with --method {', '.join(methods)}, not with {name}")


def _searched(
    anonymizer: sqlanon.Anonymizer,
    name: str,
    k: tuple[int, ...] | None,
    seed: int | None,
    effort: str | None,
    seconds: float | None,
    *,
    quiet: bool,
) -> SearchResult:
    """What a method finds; its progress is shown until then."""
    section = anonymizer.policy.section.search
    patience, is_global = section.patience, section.recoding is Recoding.GLOBAL
    shown = name if is_global else str(section.recoding)
    with watching(shown, quiet=quiet, seconds=seconds, patience=patience) as watch:
        return anonymizer.search(k=k, method=name, seed=seed, effort=effort, watch=watch)


def _has_answer(output: Path) -> bool:
    """Whether a file is a result that has a chosen solution."""
    if not output.is_file() or not output.stat().st_size:
        return False
    return read_json(output, SearchError).get("chosen") is not None


def _show(result: SearchResult, output: Path, where: str, said: tuple[str, ...]) -> None:
    """The trade-off, the chosen solution's groups, what it took, and notes not yet `said`.

    `where` says what became of the result.
    """
    screen = console()
    print_front(result, screen)
    reached = reached_tables(result, screen)
    for table in reached:
        screen.print(table)
    if reached:
        for line in legend(result):
            screen.print(cell(line, screen))
    if len(result.choices) > 1:
        for k, row in result.choices.items():
            if row is not None:
                screen.print(f"k = {k:,}: solution {row}, {output}#{row}", markup=False)
    if result.solution is not None:
        of = f" for k = {result.required_k:,}" * (len(result.choices) > 1)
        screen.print(f"The chosen solution{of} keeps this of the columns:")
        print_groups(result.solution, screen)
    ended = [PATIENCE] if result.stopped == "patience" else []
    if result.method == "auto" and result.stopped == "evaluations":  # others always use them up
        ended = [USED_UP]
    news = [note for note in result.notes if note not in said]
    for note in (*news, *ended):
        screen.print(cell(note, screen))
    again = result.evaluations["recalled"]
    recalled = f", {again:,} recalled from the workspace" if again else ""
    screen.print(
        f"{counted(result.evaluations['asked'], 'evaluation')}, "
        f"{result.evaluations['distinct']:,} distinct{recalled}, in {result.seconds:.1f} s; "
        f"{where}",
        markup=False,
    )


def _refuse_unwritable(output: Path) -> None:
    folder = output.absolute().parent
    if not folder.is_dir():
        raise SearchError(f"{output}: there is no folder {output.parent} to write it to")
    try:
        with TemporaryFile(dir=folder):
            return
    except OSError as error:
        raise SearchError(
            f"{output}: cannot be written to {output.parent} ({error.strerror}); name another "
            "file with --output"
        ) from None
