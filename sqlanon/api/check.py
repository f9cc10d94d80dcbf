"""The audit of any table, whoever made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TypeAlias

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection
from sqlglot import exp

from sqlanon.api.check_models import Wanted
from sqlanon.arguments import optional, refusal, share, text, texts, whole_number
from sqlanon.engines import Source, open_source, open_table
from sqlanon.engines.base import looked_in
from sqlanon.engines.duckdb_sources import SUFFIXES, as_written, is_csv
from sqlanon.errors import ArgumentError, CheckError, EngineError
from sqlanon.hierarchy import Hierarchy
from sqlanon.model import Kind
from sqlanon.privacy import Measure, Model
from sqlanon.verify import (
    CheckResult,
    KAnonymity,
    Population,
    Reference,
    Requirement,
    Satisfies,
    audit,
    judge,
    reference_of,
)

Checked: TypeAlias = str | Path | pd.DataFrame | pa.Table | DuckDBPyConnection
"""A file or the address of a database, data in this process, or an open connection."""

Beside: TypeAlias = str | Path | pd.DataFrame | pa.Table
"""A file, data in this process, or the name of a table in the database of the checked one."""


def check(
    source: Checked | None = None,
    quasi: str | Sequence[str] = (),
    k: int | None = None,
    subject: str | None = None,
    sensitive: str | Sequence[str] = (),
    *,
    table: str | None = None,
    query: str | None = None,
    connection: str | DuckDBPyConnection | None = None,
    threshold: float = 0.2,
    l: float | None = None,  # noqa: E741  (the letter of the paper)
    l_kind: str | None = None,
    c: float | None = None,
    t: float | None = None,
    distance: str | None = None,
    hierarchy: Mapping[str, Hierarchy | str | Path] | None = None,
    beta: float | None = None,
    delta: float | None = None,
    alpha: float | None = None,
    reference: Beside | None = None,
    population: Beside | None = None,
    k_map: int | None = None,
    population_size: int | None = None,
) -> CheckResult:
    """Audits a table over its quasi-identifiers, and judges it where a requirement is given.

    `source` is the path of a CSV or Parquet file, a pandas DataFrame or an Arrow table, or, with
    `table` or `query`, a DuckDB file, its address, or an open DuckDB connection, which stays as
    it is; `connection` names the database in place of `source`. With a `subject` people are
    counted, not rows. `threshold` is the risk above which a record is at risk.

    Requirements: `k`; for every sensitive column `l` (`l_kind` distinct, entropy, or recursive
    with `c`), `t` (by `distance` equal, ordered or hierarchical), `beta`, `delta` and `alpha`;
    `k_map` within a `population`. `hierarchy` has hierarchies, or their files, by sensitive
    column. `reference` is the whole source that t, beta and delta compare with, otherwise the
    table itself. It and the `population` are a file, data, or a table of the same database.

    Of a CSV file the quasi-identifiers are compared as they are written, character by
    character, with a quoted empty field as an empty text; the other columns by their values.
    """
    wanted = Wanted(
        l=l, l_kind=l_kind, c=c, t=t, distance=distance, hierarchy=hierarchy or {}, beta=beta,
        delta=delta, alpha=alpha, k_map=k_map,
    )  # fmt: skip
    columns, secret = names("quasi", quasi), names("sensitive", sensitive)
    opened = open_checked(source, table=table, query=query, connection=connection)
    with ExitStack() as stack:
        stack.callback(opened.engine.close)
        return check_source(
            written(opened, source, columns),
            columns,
            k,
            subject=subject,
            sensitive=secret,
            threshold=threshold,
            wanted=wanted,
            reference=open_beside(opened, reference, "the reference", stack),
            population=open_beside(opened, population, "the population", stack, columns),
            population_size=population_size,
        )


def check_source(
    source: Source,
    quasi: Sequence[str],
    k: int | None = None,
    *,
    subject: str | None = None,
    sensitive: Sequence[str] = (),
    threshold: float = 0.2,
    wanted: Wanted | None = None,
    reference: Source | None = None,
    population: Source | None = None,
    population_size: int | None = None,
) -> CheckResult:
    """The same for sources that are open already, and stay open (see `written`)."""
    k = optional(whole_number, "k", k, 1)
    population_size = optional(whole_number, "population_size", population_size, 1)
    threshold = share("threshold", threshold)
    optional(text, "subject", subject, "the name of a column")
    _refuse_two_roles(quasi, subject, sensitive)
    wanted = wanted or Wanted()
    if wanted.k_map is not None and population is None:
        raise ArgumentError("`k_map` counts people of a population; name a table with `population`")
    if population is not None and population_size is not None:
        raise ArgumentError("`population` tells its size itself; leave it or `population_size` out")
    if reference is not None and not sensitive:
        raise ArgumentError(
            "`reference` is for sensitive values; name a column that holds some with `sensitive`"
        )
    models = wanted.models(source, sensitive)
    required: list[Requirement] = [] if k is None else [KAnonymity(k)]
    references = _references(reference, sensitive, subject)
    _refuse_other_order(models, references)
    audited = audit(
        source,
        quasi,
        subject=subject,
        sensitive=sensitive,
        threshold=threshold,
        models=models,
        hierarchies=wanted.hierarchies(),
        reference=references,
        population=population_of(population, subject),
        population_size=population_size,
    )
    return judge(audited, [*required, *map(Satisfies, models)])


def _references(
    whole: Source | None, sensitive: Sequence[str], subject: str | None
) -> dict[str, Reference]:
    if whole is None:
        return {}
    return {name: reference_of(whole, name, subject) for name in sensitive}


def _refuse_other_order(models: Sequence[Model], references: Mapping[str, Reference]) -> None:
    """Numbers beside texts have no order but that of their texts, which says nothing."""
    for model in models:
        whole = None if model.column is None else references.get(model.column)
        is_ordered = model.statistic.measure is Measure.ORDERED_DISTANCE
        if is_ordered and whole is not None and not whole.kind.is_ordered:
            raise CheckError(
                f"{model.describe()} needs numbers or dates, and the reference holds the column in "
                "another type; cast it in a query, or take another distance"
            )


def population_of(source: Source | None, subject: str | None) -> Population | None:
    """The people of a population: by the subject's column if it has that, otherwise its rows."""
    if source is None:
        return None
    named = any(info.name == subject for info in source.columns)
    return Population(source, subject if named else None)


def open_beside(
    opened: Source,
    given: Beside | None,
    what: str,
    stack: ExitStack,
    quasi: Sequence[str] = (),
) -> Source | None:
    """A further table beside a checked one: a file, data, or a table of the same database.

    `quasi` are columns that a CSV file is to show as they are written. What is opened is closed
    with the stack.
    """
    if given is None:
        return None
    if isinstance(given, str) and not given.lower().endswith(SUFFIXES):
        try:
            return open_table(opened.engine, given)
        except EngineError as error:
            raise EngineError(
                f"{what} {given!r} is neither a file, which ends in {', '.join(SUFFIXES)}, nor a "
                f"table of the same database. {error}"
            ) from None
    found = open_source(file=given) if isinstance(given, str | Path) else open_source(data=given)
    stack.callback(found.engine.close)
    return written(found, given, quasi) if quasi else found


def written(opened: Source, source: object, quasi: Sequence[str]) -> Source:
    """What `open_checked` opened, the quasi-identifiers of a CSV file as they are written.

    A reader of the file tells 1.0 from 1.00, so one class must not hold both. People and
    sensitive values are told apart by what they mean: counting more of them than there are
    would show a table safer than it is.
    """
    if not isinstance(source, str | Path) or "://" in str(source) or not is_csv(source):
        return opened
    return _with_dates(as_written(opened, source, quasi), opened, quasi)


def _with_dates(texts: Source, opened: Source, quasi: Sequence[str]) -> Source:
    """Dates and times of a CSV file as such, because they have an order."""
    moments = (Kind.DATE, Kind.TIMESTAMP)
    types = {each.name: each.type for each in opened.columns if each.kind in moments}
    columns = [exp.column(each.name, quoted=True) for each in texts.columns]
    if not any(each.name in types and each.name not in quasi for each in columns):
        return texts
    read = [
        exp.cast(each, exp.DataType.build(types[each.name], dialect=opened.engine.dialect)).as_(
            each.name, quoted=True
        )
        if each.name in types and each.name not in quasi
        else each
        for each in columns
    ]
    relation = exp.select(*read).from_(texts.relation).subquery("source")
    return Source(texts.engine, relation, texts.name, texts.engine.columns(relation))


def _refuse_two_roles(quasi: Sequence[str], subject: str | None, sensitive: Sequence[str]) -> None:
    """What others may know is no secret, and it does not name a person."""
    for role, columns in (("subject", [subject]), ("sensitive", sensitive)):
        for name in columns:
            if name in quasi:
                raise ArgumentError(
                    f"column {name!r} is named by `quasi` and by `{role}`; leave one of the two out"
                )


def names(argument: str, given: str | Sequence[str]) -> tuple[str, ...]:
    """The columns that an argument names: one, or several."""
    return texts(argument, given, "the name of a column, or a list of them")


def open_checked(
    source: Checked | None,
    *,
    table: str | None = None,
    query: str | None = None,
    connection: str | DuckDBPyConnection | None = None,
) -> Source:
    """Opens what `check` is to read. Close its engine when done."""
    if source is not None and connection is not None:
        raise ArgumentError("give `source` or `connection`, not both")
    if not isinstance(source, Checked | None):
        raise refusal("source", source, "a file, an address, a table of data, or a connection")
    optional(text, "table", table, "the name of a table")
    optional(text, "query", query, "a SELECT")
    if isinstance(source, pd.DataFrame | pa.Table):
        _refuse_choice(table, query, "data in this process are")
        return open_source(data=source)
    if isinstance(source, str | Path) and "://" not in str(source):
        if str(source).lower().endswith(SUFFIXES):
            _refuse_choice(table, query, f"{source} is")
            return open_source(file=source)
        if not Path(source).exists():
            raise CheckError(f"{source} does not exist{looked_in(Path(source))}")
        connection = f"duckdb:///{source}"
    elif source is not None:
        connection = source if isinstance(source, DuckDBPyConnection) else str(source)
    if connection is None:
        raise ArgumentError("there is nothing to check: give a file, data, or a database")
    if (table is None) == (query is None):
        named = "the connection"
        if isinstance(connection, str):
            named = connection if source is None else str(source)
        given = "neither is given" if table is None else "both are given"
        raise ArgumentError(
            f"{named} is taken for a database: give `table` or `query`; {given}. "
            f"Files end in {', '.join(SUFFIXES)}"
        )
    return open_source(connection=connection, table=table, query=query)


def _refuse_choice(table: str | None, query: str | None, what: str) -> None:
    if table is not None or query is not None:
        raise ArgumentError(f"{what} checked as a whole; `table` and `query` need a database")
