"""`sqlanon publish`: a scheme becomes a release in its place."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

import sqlanon
from sqlanon.api import Anonymizer, Release
from sqlanon.api.places import released_before
from sqlanon.api.solution import format_label
from sqlanon.cli.output import console, end, print_json
from sqlanon.cli.values import may_show_values
from sqlanon.errors import PublishError
from sqlanon.model import Mode, counted

NOT_DONE = 1


@click.command(epilog="Example: sqlanon publish policy.yml --scheme result.json --dry-run")
@click.argument("policy", type=click.Path(path_type=Path))
@click.option(
    "--scheme",
    required=True,
    help="scheme.json, result.json (its chosen solution), or result.json#N.",
)
@click.option("--dry-run", is_flag=True, help="Print the statements and change nothing.")
@click.option("-y", "--yes", is_flag=True, help="Replace a table without asking, and any file.")
@click.option(
    "--rewrite",
    is_flag=True,
    help="Afterwards rewrite the database file, so that no dropped rows stay in it.",
)
@click.option(
    "--certificates",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder for the certificate; unless given, that of POLICY.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no summary.")
@click.pass_obj
@may_show_values
def publish(
    done: list[str],
    policy: Path,
    scheme: str,
    dry_run: bool,
    yes: bool,
    rewrite: bool,
    certificates: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Build the release of a scheme where the policy says.

    The release is staged under a private name, counted anew and verified, and only then put
    in place, in one transaction. Whenever something fails, source and former release are as
    they were. A certificate is written beside the policy. Ends with exit status 3 when the
    staged release does not hold what the policy requires, 4 when the source holds values that
    the scheme does not cover.
    """
    if certificates is not None and not certificates.is_dir():
        raise PublishError(f"{certificates}: there is no such folder for the certificate")
    with sqlanon.load(policy) as anonymizer:
        if dry_run:
            _show_statements(anonymizer.dry_run(scheme), as_json)
            return
        if anonymizer.policy.section.publish.mode is Mode.REPLACE and not yes:
            _ask(anonymizer, scheme)
        with _stages(quiet or as_json) as on_stage:
            release = anonymizer.publish(
                scheme,
                certificates=certificates,
                rewrite=rewrite,
                replace_file=yes,
                on_stage=on_stage,
            )
    done.append(f"the release is in place: {release.target}")
    if as_json:
        print_json(release.to_dict())
    elif not quiet:
        show(release, console())


def show(release: Release, screen: Console) -> None:
    """What was published, in words."""
    screen.print(f"[bold green]published[/] {counted(release.rows, 'row')}, ", end="")
    lines = [f"{release.left_out:,} left out, to {release.target}"]
    lines.append(release.certificate.document.words.summary)
    lines += [f"note: {warning}" for warning in release.warnings]
    lines += [f"remains: {text}" for text in release.remains]
    for line in lines:
        # As Text, because a str may hold [marks] and :names: that rich would obey.
        screen.print(Text(format_label(line)))
    for path in release.files:
        screen.print(Text(format_label(f"wrote {path}")), soft_wrap=True)


def _show_statements(statements: list[str], as_json: bool) -> None:
    if as_json:
        print_json({"statements": statements})
        return
    for statement in statements:
        click.echo(f"{statement};\n", color=True)  # as it is, escape codes too


def _ask(anonymizer: Anonymizer, scheme: str) -> None:
    """Says what a replaced table will be, and asks whether that is meant."""
    source = anonymizer.source.name
    lines = (*anonymizer.type_changes(scheme), *anonymizer.losses(scheme))
    click.echo(f"The rows of {source} will be replaced by their release:", err=True)
    for line in lines:
        click.echo(f"  {format_label(line)}", err=True)
    already = released_before(anonymizer.policy, anonymizer.source).strip()
    if already:
        click.echo(already, err=True)
    if sys.stdin is None or not sys.stdin.isatty():
        raise PublishError(
            f"{source} would be replaced and nobody can be asked; say --yes if that is meant"
        )
    if not click.confirm("Replace it?", err=True):
        unchanged = f"Nothing was changed: {source} is as it was."
        click.echo(unchanged, err=True)
        end(unchanged, NOT_DONE)


@contextmanager
def _stages(quiet: bool) -> Iterator[Callable[[str], None]]:
    """Tells on standard error what is going on, while it is."""
    screen = Console(stderr=True)
    if quiet or not screen.is_terminal:
        yield lambda stage: None
        return
    with screen.status("publishing") as status:
        yield lambda stage: status.update(f"{stage} …")
