"""`sqlanon check`: an audit of any table or query."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence, Set
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from sqlanon.api.check import check_source, open_beside, open_checked, population_of, written
from sqlanon.api.check_models import L_KINDS, Wanted
from sqlanon.api.recheck import Recheck, recheck
from sqlanon.cli.checked import show_check
from sqlanon.cli.numbers import Whole
from sqlanon.cli.output import REQUIREMENT_FAILS, console, print_json
from sqlanon.cli.values import showing_values
from sqlanon.engines import Source
from sqlanon.errors import ArgumentError
from sqlanon.privacy import Distance
from sqlanon.verify import smallest_classes


@contextmanager
def _speaking_of_options() -> Iterator[None]:
    """Questions that are none are wrong usage, said of options rather than arguments."""
    try:
        yield
    except ArgumentError as error:
        raise click.UsageError(re.sub(r"`(\w+)`", _option, str(error))) from None


def _option(argument: re.Match[str]) -> str:
    name = argument[1]
    return "--qi" if name == "quasi" else f"--{name.replace('_', '-')}"


@click.command(
    epilog="Example: sqlanon check people.parquet --qi age --qi zip --subject patient_id --k 5"
)
@click.argument("source")
@click.option(
    "--qi",
    "quasi",
    multiple=True,
    metavar="COLUMN",
    help="A quasi-identifier: a column that others may know. Repeat it, or write a,b,c.",
)
@click.option(
    "--certificate",
    type=click.Path(path_type=Path),
    help="Compare a release with its certificate instead.",
)
@click.option("--k", type=Whole(1), help="People that every class must have.")
@click.option("--table", help="The table, where SOURCE is a database.")
@click.option("--query", help="A SELECT, where SOURCE is a database.")
@click.option("--subject", metavar="COLUMN", help="The column that says whose a row is.")
@click.option(
    "--sensitive",
    multiple=True,
    metavar="COLUMN",
    help="A column whose values nobody is to learn. Repeat it, or write a,b,c.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=0.2,
    show_default=True,
    help="The risk above which a record is at risk.",
)
@click.option("--l", "l", type=float, help="Sensitive values in every class: l-diversity.")
@click.option(
    "--l-kind",
    type=click.Choice(L_KINDS),
    help="How --l counts values; distinct unless given.",
)
@click.option("--c", type=float, help="The c of recursive (c, l)-diversity.")
@click.option("--t", type=float, help="Greatest distance of a class from the whole: t-closeness.")
@click.option(
    "--distance",
    type=click.Choice([each.value for each in Distance]),
    help="How far apart values are for --t. Unless given: by a --hierarchy, by the order of "
    "numbers and dates, else equally.",
)
@click.option(
    "--hierarchy",
    multiple=True,
    metavar="COLUMN=FILE",
    help="The hierarchy of a sensitive column. Repeat it.",
)
@click.option("--beta", type=float, help="Greatest (p - q) / q of a value: beta-likeness.")
@click.option("--delta", type=float, help="Limit of |ln(p / q)| of a value: delta-disclosure.")
@click.option("--alpha", type=float, help="Greatest share of a class with one value.")
@click.option(
    "--reference",
    metavar="FILE",
    help="The whole source that classes are compared with, or a table of the same database; the "
    "table itself unless given.",
)
@click.option(
    "--population",
    metavar="FILE",
    help="The people that the table is a sample of, generalized like it, or a table of the same "
    "database.",
)
@click.option("--k-map", type=Whole(1), help="People of the population that fit every class.")
@click.option(
    "--population-size",
    type=Whole(1),
    help="How many people the population has, where it is not at hand.",
)
@click.option(
    "--show-values",
    is_flag=True,
    help="Also list the smallest classes and some of their rows: private data.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("-q", "--quiet", is_flag=True, help="No tables.")
@_speaking_of_options()
def check(
    source: str,
    quasi: Sequence[str],
    certificate: Path | None,
    k: int | None,
    table: str | None,
    query: str | None,
    subject: str | None,
    sensitive: Sequence[str],
    threshold: float,
    hierarchy: Sequence[str],
    reference: str | None,
    population: str | None,
    population_size: int | None,
    show_values: bool,
    as_json: bool,
    quiet: bool,
    **models: Any,
) -> None:
    """Audit a table: k, class sizes, sensitive values, re-identification risks.

    SOURCE is a CSV or Parquet file, or with --table or --query a DuckDB file or its address,
    duckdb:///people.duckdb. Ends with exit status 3 when a stated requirement does not hold.
    Values of the table are shown only with --show-values.

    With --certificate SOURCE is a release: its rows are counted and hashed again, and every
    difference from the certificate is named.
    """
    if certificate is not None:
        _refuse_others()
        _recheck(recheck(source, certificate, table=table, query=query), as_json, quiet)
        return
    if not quasi:
        raise click.UsageError("name the quasi-identifiers with --qi, or give a --certificate")
    with ExitStack() as stack:
        stack.enter_context(showing_values(show_values))
        opened = open_checked(source, table=table, query=query)
        stack.callback(opened.engine.close)
        columns = columns_named(opened, quasi, "--qi")
        secret = columns_named(opened, sensitive, "--sensitive")
        files = _files_named(hierarchy, {info.name for info in opened.columns})
        table_ = written(opened, source, columns)
        people = open_beside(opened, population, "--population", stack, columns)
        result = check_source(
            table_,
            columns,
            k,
            subject=subject,
            sensitive=secret,
            threshold=threshold,
            wanted=Wanted(hierarchy=files, **models),
            reference=open_beside(opened, reference, "--reference", stack),
            population=people,
            population_size=population_size,
        )
        listing = None
        if show_values:
            listing = smallest_classes(
                table_, columns, subject=subject, population=population_of(people, subject)
            )
    if as_json:
        print_json(result.to_dict() | (listing.to_dict() if listing else {}))
    elif not quiet:
        show_check(result, listing, k, console())
    if not result.holds:
        for violation in result.violations:
            click.echo(violation, err=True)
        sys.exit(REQUIREMENT_FAILS)


WITH_CERTIFICATE = frozenset(
    {"source", "certificate", "table", "query", "as_json", "quiet"}
)  # fmt: skip
"""What goes with --certificate: where the release is, and how the answer is printed."""


def _refuse_others() -> None:
    """Refuses options that a certificate answers itself: it names columns, subject and k."""
    context = click.get_current_context()
    given = [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name not in WITH_CERTIFICATE
        and context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
    ]
    if given:
        raise click.UsageError(
            f"{' and '.join(given)} cannot be given with --certificate, which says itself what "
            "was counted; leave one of them out"
        )


def _recheck(found: Recheck, as_json: bool, quiet: bool) -> None:
    if as_json:
        print_json(found.to_dict())
    elif found.holds and not quiet:
        click.echo(str(found))
    if not found.holds:
        click.echo(str(found), err=True)
        sys.exit(REQUIREMENT_FAILS)


def columns_named(source: Source, given: Sequence[str], option: str) -> list[str]:
    """The columns that an option names: each text is a column, else columns with commas between."""
    present = {info.name for info in source.columns}
    found: list[str] = []
    for text in given:
        parts = [text] if text in present else [part.strip() for part in text.split(",")]
        if "" in parts and "" not in present:
            raise click.UsageError(
                f"{option} {text!r}: there is a name missing; write columns as a,b,c, with one "
                "comma between two names"
            )
        found += parts
    return list(dict.fromkeys(found))


def _files_named(given: Sequence[str], present: Set[str]) -> dict[str, str]:
    """The files that --hierarchy names by column; a column's name may hold a sign of equality."""
    found = {}
    for text in given:
        ends = [place for place, letter in enumerate(text) if letter == "="]
        if not ends:
            raise click.UsageError(f"--hierarchy {text!r}: write COLUMN=FILE, such as ill=ill.csv")
        end = next((place for place in ends if text[:place] in present), ends[0])
        found[text[:end]] = text[end + 1 :]
    return found
