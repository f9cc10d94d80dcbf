"""`sqlanon publish`: a scheme becomes a release in its place."""

from __future__ import annotations

import sys
from pathlib import Path

import click

import sqlanon
from sqlanon.cli.options import (
    end,
    end_where_it_fails,
    json_option,
    may_show_values,
    policy_argument,
    print_json,
    scheme_option,
)
from sqlanon.errors import ArgumentError, PublishError

NOT_DONE = 1


@click.command(epilog="Example: sqlanon publish policy.yml --scheme result.json --dry-run")
@policy_argument
@scheme_option
@click.option("--dry-run", is_flag=True, help="Print the statements and change nothing.")
@click.option("-y", "--yes", is_flag=True, help="Replace a table without asking, and any file.")
@click.option(
    "--rewrite",
    is_flag=True,
    help="Afterwards rewrite the database file, or vacuum the server, so that no dropped rows stay "
    "there.",
)
@click.option(
    "--certificates",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder for the certificate, by default that of POLICY.",
)
@click.option(
    "--verified",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Publish nothing: certify a release made elsewhere, from the answer to `sql --part "
    "verify`.",
)
@json_option
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
    verified: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Build the release of a scheme where the policy says.

    The release is staged under a private name, recounted and verified, and only then put in
    place, in one transaction. If anything fails, the source and the former release stay as
    they were. A certificate is written beside the policy. Ends with exit status 3 if the staged
    release falls short of what the policy requires, and 4 if the source holds values that the
    scheme does not cover.
    """
    from sqlanon.cli.output import console, print_release
    from sqlanon.cli.progress import stages
    from sqlanon.domain import Mode

    if certificates is not None and not certificates.is_dir():
        raise PublishError(f"{certificates}: there is no such folder for the certificate")
    with sqlanon.load(policy) as anonymizer:
        if verified is not None:
            if dry_run:
                raise ArgumentError(
                    "`verified` runs nothing and so has no `dry_run`; leave one out"
                )
            folder = certificates or anonymizer.policy.folder
            _certify(anonymizer.verify(scheme, verified), folder, done, as_json)
            return
        if dry_run:
            _show_statements(anonymizer.dry_run(scheme), as_json)
            return
        if anonymizer.policy.section.publish.mode is Mode.REPLACE:
            _warn_of_a_release(anonymizer)
            if not yes:
                _ask(anonymizer, scheme)
        with stages("publishing", quiet=quiet or as_json) as on_stage:
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
        print_release(release, console())


def _certify(found: sqlanon.Verification, folder: Path, done: list[str], as_json: bool) -> None:
    """Writes the certificate of a release that was made elsewhere, if it holds."""
    written = found.write(folder) if found.holds else None
    aside = None if found.holds else found.withdraw(folder)
    if aside is not None:
        click.echo(f"the certificate of an earlier release is withdrawn: {aside}", err=True)
    if written is not None:
        done.append(f"the certificate is written: {written}")
    if as_json:
        print_json(found.to_dict())
    elif written is not None:
        click.echo(f"{found.target}: k = {found.k}, {found.classes:,} classes, {found.rows:,} rows")
        click.echo(f"certificate: {written}")
    if written is None:
        end_where_it_fails(f"{found.target}: {problem}" for problem in found.problems)


def _show_statements(statements: list[str], as_json: bool) -> None:
    if as_json:
        print_json({"statements": statements})
        return
    for statement in statements:
        click.echo(f"{statement};\n", color=True)  # as it is, escape codes too


def _warn_of_a_release(anonymizer: sqlanon.Anonymizer) -> None:
    """Says where the table to replace is a release already."""
    from sqlanon.release import released_before

    already = released_before(anonymizer.policy, anonymizer.source).strip()
    if already:
        click.echo(f"note: {already}", err=True)


def _ask(anonymizer: sqlanon.Anonymizer, scheme: str) -> None:
    """Shows what the replaced table will be, and asks for confirmation."""
    from sqlanon.domain import format_label

    source = anonymizer.source.name
    lines = (*anonymizer.type_changes(scheme), *anonymizer.losses(scheme))
    click.echo(f"The rows of {source} will be replaced by their release:", err=True)
    for line in lines:
        click.echo(f"  {format_label(line)}", err=True)
    if sys.stdin is None or not sys.stdin.isatty():
        raise PublishError(
            f"{source} would be replaced, and there is no terminal to ask; say --yes to confirm"
        )
    if not click.confirm("Replace it?", err=True):
        unchanged = f"Nothing was changed: {source} is as it was."
        click.echo(unchanged, err=True)
        end(unchanged, NOT_DONE)
