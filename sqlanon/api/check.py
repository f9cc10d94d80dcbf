"""The audit of any table, whoever made it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from sqlanon.engines import Source, open_source
from sqlanon.engines.base import looked_in
from sqlanon.engines.duckdb_sources import SUFFIXES, as_written, is_csv
from sqlanon.errors import CheckError
from sqlanon.verify import CheckResult, KAnonymity, audit, judge

Checked: TypeAlias = str | Path | pd.DataFrame | pa.Table | DuckDBPyConnection
"""A file or the address of a database, data in this process, or an open connection."""


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
) -> CheckResult:
    """Audits a table over its quasi-identifiers, and judges it where `k` is given.

    `source` is the path of a CSV or Parquet file, a pandas DataFrame or an Arrow table, or, with
    `table` or `query`, a DuckDB file, its address, or an open DuckDB connection, which stays as
    it is; `connection` names the database in place of `source`. With a `subject` people are
    counted, not rows. `threshold` is the risk above which a record is at risk.

    Of a CSV file the quasi-identifiers are compared as they are written, character by
    character, with a quoted empty field as an empty text; the other columns by their values.
    """
    opened = open_checked(source, table=table, query=query, connection=connection)
    try:
        return check_source(
            written(opened, source, names(quasi)),
            names(quasi),
            k,
            subject=subject,
            sensitive=names(sensitive),
            threshold=threshold,
        )
    finally:
        opened.engine.close()


def check_source(
    source: Source,
    quasi: Sequence[str],
    k: int | None = None,
    *,
    subject: str | None = None,
    sensitive: Sequence[str] = (),
    threshold: float = 0.2,
) -> CheckResult:
    """The same for a source that is open already, and stays open (see `written`)."""
    _refuse_two_roles(quasi, subject, sensitive)
    required = [] if k is None else [KAnonymity(k)]
    audited = audit(source, quasi, subject=subject, sensitive=sensitive, threshold=threshold)
    return judge(audited, required)


def written(opened: Source, source: Checked | None, quasi: Sequence[str]) -> Source:
    """What `open_checked` opened, the quasi-identifiers of a CSV file as they are written.

    A reader of the file tells 1.0 from 1.00, so one class must not hold both. People and
    sensitive values are told apart by what they mean: counting more of them than there are
    would show a table safer than it is.
    """
    if not isinstance(source, str | Path) or "://" in str(source) or not is_csv(source):
        return opened
    return as_written(opened, source, quasi)


def _refuse_two_roles(quasi: Sequence[str], subject: str | None, sensitive: Sequence[str]) -> None:
    """What others may know is no secret, and it does not name a person."""
    for role, columns in (("the subject", [subject]), ("sensitive", sensitive)):
        for name in columns:
            if name in quasi:
                raise CheckError(
                    f"column {name!r} is named as a quasi-identifier and as {role}; leave one of "
                    "the two out"
                )


def names(given: str | Sequence[str]) -> tuple[str, ...]:
    """One name, or several; the letters of a name are not names."""
    return (given,) if isinstance(given, str) else tuple(given)


def open_checked(
    source: Checked | None,
    *,
    table: str | None = None,
    query: str | None = None,
    connection: str | DuckDBPyConnection | None = None,
) -> Source:
    """Opens what `check` is to read. Close its engine when done."""
    if source is not None and connection is not None:
        raise CheckError("give check() a source or a connection, not both")
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
        raise CheckError("there is nothing to check: give a file, data, or a database")
    if (table is None) == (query is None):
        named = "the connection"
        if isinstance(connection, str):
            named = connection if source is None else str(source)
        given = "neither is given" if table is None else "both are given"
        raise CheckError(
            f"{named} is taken for a database: name a table or a query; {given}. "
            f"Files end in {', '.join(SUFFIXES)}"
        )
    return open_source(connection=connection, table=table, query=query)


def _refuse_choice(table: str | None, query: str | None, what: str) -> None:
    if table is not None or query is not None:
        raise CheckError(f"{what} checked as a whole; a table or a query needs a database")
