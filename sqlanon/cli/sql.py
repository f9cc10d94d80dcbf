"""`sqlanon sql`: the SELECT of a release, or of a measurement."""

from __future__ import annotations

import io
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

import sqlanon
from sqlanon.cli.options import (
    end_where_it_fails,
    json_option,
    may_show_values,
    policy_argument,
    print_json,
)
from sqlanon.errors import SchemeError, UncoveredValueError

if TYPE_CHECKING:
    import pyarrow as pa


class Dialect(click.ParamType[str]):
    """A database that SQL can be written for; their names are imported when they are needed."""

    name = "dialect"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return "D"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return self._choice().convert(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return self._choice().shell_complete(ctx, param, incomplete)

    def _choice(self) -> click.Choice[str]:
        from sqlanon.release import DIALECTS

        return click.Choice(DIALECTS)


@click.command(epilog="Example: sqlanon sql policy.yml --scheme result.json --dialect postgres")
@policy_argument
@click.option(
    "--scheme",
    help="scheme.json, result.json (its chosen solution), or result.json#N; not for count.",
)
@click.option(
    "--part",
    type=click.Choice(["release", "measure", "count", "verify"]),
    default="release",
    show_default=True,
    help="What the SQL does: build the release of the scheme, measure the scheme, count the table, "
    "or verify the release by counting it.",
)
@click.option(
    "--dialect",
    type=Dialect(),
    default="duckdb",
    show_default=True,
    help="The database that will run it, such as duckdb, postgres or spark.",
)
@click.option(
    "--lists",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="A folder for the lists of values that are too long for the SQL, one Parquet file for "
    "each table that it reads.",
)
@json_option
@may_show_values
def sql(
    policy: Path, scheme: str | None, part: str, dialect: str, lists: Path | None, as_json: bool
) -> None:
    """Print the SQL that builds the release of a scheme.

    It is one SELECT that you can read, review and keep. `sqlanon publish` runs it, verifies the
    result, and puts it in place. With --part measure, the SELECT yields the scores of the scheme
    instead; `sqlanon measure --on-source` runs it. The parts count and verify are for a database
    that sqlanon cannot reach: you run them there and save the answer in a file. Ends with exit
    status 3 if the scheme falls short of what the policy requires, so that publishing it would
    be refused.
    """
    if part == "count":
        _print(part, dialect, sqlanon.count_sql(policy, dialect=dialect), as_json)
        return
    if scheme is None:
        raise click.UsageError("Missing option '--scheme'.")
    with sqlanon.load(policy) as anonymizer:
        text = anonymizer.sql(scheme, part=part, dialect=dialect)
        if lists is not None and part != "verify":
            _write(anonymizer.lists(scheme), lists)
        short: tuple[str, ...] = ()
        with suppress(UncoveredValueError, SchemeError):  # values that are new to the scheme
            solution = anonymizer.measure(scheme)
            if solution.feasible is False:
                short = solution.shortfalls(anonymizer.required_k)
    _print(part, dialect, text, as_json)
    if short:
        end_where_it_fails(short)


def _write(tables: dict[str, pa.Table], folder: Path) -> None:
    """Writes each table to a Parquet file of its name; values of the source are private."""
    from pyarrow.parquet import write_table

    from sqlanon.files import write_bytes
    from sqlanon.release.order import stem_of

    for name, rows in tables.items():
        path, content = folder / f"{stem_of(name)}.parquet", io.BytesIO()
        write_table(rows, content)
        write_bytes(path, content.getvalue(), private=True)
        click.echo(f"wrote {path}: the {rows.num_rows:,} rows of the table {name!r}", err=True)


def _print(part: str, dialect: str, text: str, as_json: bool) -> None:
    if as_json:
        print_json({"part": part, "dialect": dialect, "sql": text})
    else:
        click.echo(text, nl=False, color=True)  # else names with escape codes would lose them
