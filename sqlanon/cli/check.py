"""How an audit is shown in a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource
from rich.console import Console
from rich.text import Text

from sqlanon.audit import CheckResult, Listing, Sensitive, smallest_classes
from sqlanon.checking import (
    Recheck,
    check_source,
    open_beside,
    open_checked,
    population_of,
    recheck,
)
from sqlanon.cli.options import (
    Whole,
    end_where_it_fails,
    json_option,
    print_json,
    showing_values,
)
from sqlanon.cli.output import Grid, Row, console, plain
from sqlanon.domain import format_label
from sqlanon.engines import Source, written
from sqlanon.errors import ArgumentError
from sqlanon.privacy import keys

BAR = 30


def show_check(
    result: CheckResult, listing: Listing | None, k: int | None, screen: Console
) -> None:
    audit = result.audit
    figures = [
        (name, value, Text(format_label(meaning), style="dim"))
        for name, value, meaning in audit.described()
    ]
    _print(screen, ("figure", "value", "meaning"), figures, ("figure", "meaning"))
    _show_histogram(result, k, screen)
    if audit.sensitive:
        _show_sensitive(audit.sensitive, screen)
    if listing is not None:
        _show_listing(listing, screen)
    if result.holds and result.required:
        screen.print(result.verdict())


def _print(
    screen: Console,
    titles: Sequence[str],
    rows: Sequence[Row],
    texts: Sequence[str] = (),
    styles: Sequence[str | None] = (),
) -> None:
    screen.print(Grid(titles, rows, texts, styles).table(screen))


def _show_sensitive(columns: Sequence[Sensitive], screen: Console) -> None:
    """One column a sensitive column, one line a figure of its worst class."""
    rows = []
    for lines in zip(*(each.described() for each in columns), strict=True):
        values = [value for _, value, _ in lines]
        if any(values):
            name, _, meaning = lines[0]
            rows.append((name, *values, Text(meaning, style="dim")))
    titles = ("in the worst class", *(each.column for each in columns), "meaning")
    _print(screen, titles, rows, (titles[0], titles[-1]))


def _show_histogram(result: CheckResult, k: int | None, screen: Console) -> None:
    """Classes by size, in steps of 1, 2, 5 and at k; the bars are shares of the rows."""
    unit = "rows" if result.audit.by_people is None else "people"
    sign = "█" if "utf" in screen.encoding.lower() else "#"
    rows, styles = [], []
    for low, high in pairwise(_edges(result.audit.spread.largest, k)):
        sizes = [each for each in result.audit.sizes if low <= each.size < high]
        classes, held = sum(s.classes for s in sizes), sum(s.rows for s in sizes)
        if classes:
            label = f"{low:,}" if high == low + 1 else f"{low:,} to {high - 1:,}"
            bar = sign * max(1, round(BAR * held / result.rows))
            rows.append((label, f"{classes:,}", f"{held:,}", f"{bar} {held / result.rows:.1%}"))
            styles.append("red" if k is not None and low < k else None)
    titles = (f"{unit} in a class", "classes", "rows", "share")
    _print(screen, titles, rows, (titles[0], "share"), styles)


def _edges(largest: int, k: int | None) -> list[int]:
    """Where the steps begin; the last one is above every size."""
    edges = {1, 3} | ({k} if k is not None else set())
    step = 1
    while step <= largest:
        edges |= {step, 2 * step, 5 * step, 10 * step}
        step *= 10
    return sorted(edges)


def _show_listing(listing: Listing, screen: Console) -> None:
    if not listing.classes:
        return
    names = list(listing.classes[0].values)
    counts = ["people", "rows"]
    if listing.classes[0].population is not None:
        counts += ["population", "journalist risk"]
    rows: list[Row] = []
    for each in listing.classes:
        numbers = [f"{each.people:,}", f"{each.rows:,}"]
        if each.population is not None:
            numbers += [f"{each.population:,}", f"{each.journalist_risk:.2%}"]
        rows.append([*numbers, *map(plain, each.values.values())])
    screen.print("The smallest classes:")
    _print(screen, [*counts, *names], rows, names)
    screen.print("Some of their rows:")
    titles = list(listing.samples[0])
    _print(screen, titles, [[*map(plain, row.values())] for row in listing.samples], titles)


@contextmanager
def _speaking_of_options() -> Iterator[None]:
    """Reports wrong arguments as wrong usage, by the names of options."""
    try:
        yield
    except ArgumentError as error:
        raise click.UsageError(re.sub(r"`(\w+)`", _option, str(error))) from None


def _option(argument: re.Match[str]) -> str:
    name = argument[1]
    return "--qi" if name == "quasi" else f"--{name.replace('_', '-')}"


Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def _model_options(command: Decorated) -> Decorated:
    """An option for everything that privacy models declare."""
    for model in reversed(keys().values()):
        for option in reversed(model.options):
            kind: Any = Whole(1) if option.type is int else option.type
            if isinstance(option.type, tuple):
                kind = click.Choice([str(each) for each in option.type])
            name = f"--{option.name.replace('_', '-')}"
            command = click.option(name, option.name, type=kind, help=option.help)(command)
    return command


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
@click.option("--k", type=Whole(1), help="How many people every class must have at least.")
@click.option("--table", help="The table, if SOURCE is a database.")
@click.option("--query", help="A SELECT, if SOURCE is a database.")
@click.option("--subject", metavar="COLUMN", help="The column that identifies a row's person.")
@click.option(
    "--sensitive",
    multiple=True,
    metavar="COLUMN",
    help="A column whose values must not be learned. Repeat it, or write a,b,c.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=0.2,
    show_default=True,
    help="The risk above which a record is at risk.",
)
@_model_options
@click.option(
    "--hierarchy",
    multiple=True,
    metavar="COLUMN=FILE",
    help="The hierarchy of a sensitive column. Repeat it.",
)
@click.option(
    "--reference",
    metavar="FILE",
    help="The whole source that classes are compared with: a file, or a table of the same "
    "database. By default the table itself.",
)
@click.option(
    "--population",
    metavar="FILE",
    help="The people that the table is a sample of, generalized in the same way: a file, or a "
    "table of the same database.",
)
@click.option(
    "--population-size",
    type=Whole(1),
    help="How many people the population has, if you do not have its data.",
)
@click.option(
    "--show-values",
    is_flag=True,
    help="Also list the smallest classes and some of their rows: private data.",
)
@json_option
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

    SOURCE is a CSV or Parquet file; or, with --table or --query, a DuckDB file or the address
    of a database, such as duckdb:///people.duckdb or postgresql://user@host/db. Ends with exit
    status 3 if a stated requirement does not hold. Values of the table are shown only with
    --show-values.

    With --certificate, SOURCE is a release: its rows are counted and hashed again, and every
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
            shortcuts=models,
            hierarchy=files,
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
        end_where_it_fails(result.violations)


WITH_CERTIFICATE = frozenset({"source", "certificate", "table", "query", "as_json", "quiet"})
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
        end_where_it_fails([str(found)])


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
