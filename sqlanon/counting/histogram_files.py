"""Histograms that were counted elsewhere, by a query that sqlanon printed, as a source.

Such a file has a row per distinct tuple of the columns that are counted, and their number in
`sqlanon_rows`. It holds the values of people: it is as private as the table.
"""

from __future__ import annotations

import datetime as dt
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from sqlglot import exp

from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import column, interval_atom
from sqlanon.domain import IntervalDomain, exact
from sqlanon.engines import (
    SUFFIXES,
    ColumnInfo,
    Kind,
    Source,
    is_csv,
    open_source,
    parse_table,
)
from sqlanon.errors import DomainError, EngineError, PolicyError
from sqlanon.policy import Others, Policy, Role
from sqlanon.render import query

ROWS = "sqlanon_rows"
"""The column with the number of rows that a row of a histogram stands for."""

_log = logging.getLogger("sqlanon.counting")


def open_histogram(policy: Policy) -> Source:
    """The histogram that a policy names, as the source that was counted."""
    file = policy.section.source.histogram
    assert file is not None
    if policy.section.others is Others.INSENSITIVE:
        raise PolicyError(
            f"{policy.origin}: others: insensitive needs the columns of the table, and a histogram "
            "does not have them; give each column a role, or say `others: drop`"
        )
    found = open_source(file=policy.folder / file, memory=policy.section.memory)
    try:
        return _as_counted(policy, found)
    except BaseException:
        found.engine.close()
        raise


def _as_counted(policy: Policy, found: Source) -> Source:
    present = [info.name for info in found.columns]
    missing = [name for name in counted_columns(policy) if name not in present]
    if missing:
        listed = ", ".join(map(repr, missing))
        raise PolicyError(
            f"{policy.origin}: source.histogram: {found.name} lacks the column {listed}; count "
            "again with the query that `sqlanon sql --part count` prints for this policy"
        )
    _refuse_misread(found)
    source = repeated(found)
    mode = Path(found.name).stat().st_mode
    if os.name == "posix" and mode & 0o077:
        _log.warning(
            "%s holds the values of people, and others on this computer may read it: "
            "make it private with chmod 600",
            found.name,
        )
    known = {info.name: info for info in source.columns}
    unknown = [name for name in policy.section.columns if name not in known]
    columns = [*source.columns, *(ColumnInfo(name, None, "UNKNOWN", True) for name in unknown)]
    return replace(source, columns=tuple(columns))


def _refuse_misread(found: Source) -> None:
    """Refuses a CSV file with fields that differ as texts and are read as one value."""
    if not is_csv(found.name):
        return
    names = [info.name for info in found.columns]
    texts = found.engine.as_written(found, found.name, names)
    for name in names:
        if _number_of_values(texts, name) != _number_of_values(found, name):
            raise EngineError(
                f"{found.name}: column {name!r} has texts that a CSV file cannot keep apart, such "
                "as an empty text and NULL, or '10' and ' 10' as one number; save the answer as "
                "Parquet, which keeps types"
            )


def _number_of_values(source: Source, name: str) -> int:
    """How many different values a column has, with NULL."""
    values = exp.select(column(name)).distinct().from_(source.relation.copy()).subquery("differing")
    number = exp.select(exp.Count(this=exp.Star()).as_("n")).from_(values)
    return int(source.engine.fetch(number)["n"][0].as_py())


def repeated(found: Source, names: Sequence[str] | None = None) -> Source:
    """The rows that a histogram counted, without what was not counted of them.

    No two rows of a histogram are alike in the columns `names`; unless given, in all.
    """
    number = next((info for info in found.columns if info.name == ROWS), None)
    if number is None or number.kind not in (Kind.INTEGER, Kind.DECIMAL):
        raise EngineError(
            f"{found.name} is no histogram: it has no column {ROWS!r} with whole numbers; keep the "
            "names that the printed query gives its columns"
        )
    columns = tuple(info for info in found.columns if info is not number)
    counted = found.relation.copy()
    counted.set("alias", exp.TableAlias(this=exp.to_identifier("counted")))
    rows = exp.column(ROWS, quoted=True)
    wrong = exp.select(exp.Count(this=exp.Star()).as_("n")).from_(found.relation.copy())
    wrong = wrong.where(exp.or_(rows.is_(exp.null()), rows < 1))
    if found.engine.fetch(wrong)["n"][0].as_py():
        raise EngineError(f"{found.name}: {ROWS!r} is below 1 or missing in some rows; count again")
    _refuse_twice(found, [info.name for info in columns] if names is None else names)
    select = query("repeated.sql", names=[info.name for info in columns], histogram=counted)
    return Source(found.engine, select.subquery("source"), found.name, columns, found.relation)


def _refuse_twice(found: Source, names: Sequence[str]) -> None:
    """Refuses a file with several rows for one tuple: no GROUP BY yields such."""
    tuples = exp.select(*map(column, names)).from_(found.relation.copy())
    tuples = tuples.group_by(*map(column, names)).having(exp.Count(this=exp.Star()) > 1)
    number = exp.select(exp.Count(this=exp.Star()).as_("n")).from_(tuples.subquery("twice"))
    if several := found.engine.fetch(number)["n"][0].as_py():
        listed = ", ".join(map(repr, names))
        raise EngineError(
            f"{found.name} has several rows for {several:,} of its combinations of {listed}; the "
            "printed query yields one row for each: run it again, and save its answer once"
        )


def is_histogram(path: Path) -> bool:
    """Whether a file is the answer to a query that counts, by the name of its column."""
    if not path.is_file() or not path.name.lower().endswith(SUFFIXES):
        return False
    found = open_source(file=path)
    try:
        return any(info.name == ROWS for info in found.columns)
    finally:
        found.engine.close()


def counted_columns(policy: Policy) -> list[str]:
    """The columns that a histogram of a policy must have."""
    quasi, subject = policy.columns_with(Role.QUASI), policy.section.subject
    beside = [policy.label, *modelled_columns(policy), subject]
    return list(dict.fromkeys([*quasi, *(name for name in beside if name is not None)]))


def modelled_columns(policy: Policy) -> list[str]:
    """The sensitive columns that a privacy model is for."""
    privacy = policy.section.privacy
    sensitive = list(policy.columns_with(Role.SENSITIVE))
    sections = {} if privacy is None else privacy.of_columns()
    covered = {
        name
        for key, several in sections.items()
        if key != "homogeneity"
        for section in several
        for name in section.columns or sensitive
    }
    return [name for name in sensitive if name in covered]


def table_elsewhere(policy: Policy) -> exp.Table:
    """The table that a histogram was counted of, for queries that are run there."""
    name = policy.section.source.table
    if name is None:
        raise PolicyError(
            f"{policy.origin}: source.table: is missing; say what the table is called in the "
            "database where the query is to run, such as `table: sales.people`"
        )
    return parse_table(name)


def count_query(
    policy: Policy, relation: exp.Expr, columns: Sequence[ColumnInfo] = ()
) -> exp.Select:
    """The query that counts the source of a policy where it lives.

    Without its `columns`, texts are compared as that database does.
    """
    known = {info.name: info for info in columns}
    names = counted_columns(policy)
    ranges: dict[str, exp.Expr] = {}
    for name, section in policy.columns_with(Role.QUASI).items():
        if section.range is not None:
            quasi = Quasi(name, range=section.range, granularity=section.granularity)
            ranges[name] = interval_atom(_intervals(quasi, known.get(name)))
    texts = [name for name, info in known.items() if info.kind is Kind.TEXT]
    return tuples_query(relation, names, texts, ranges)


def tuples_query(
    relation: exp.Expr,
    names: Sequence[str],
    texts: Sequence[str] = (),
    ranges: Mapping[str, exp.Expr] | None = None,
) -> exp.Select:
    """sql/histogram.sql over some columns; `texts` are compared exactly."""
    ranges = ranges or {}
    intervals = {name: f"sqlanon_interval_{i}" for i, name in enumerate(ranges, 1)}
    values = {name: exact(column(name)) if name in texts else column(name) for name in names}
    least = {name: exp.Min(this=values[name].copy()) for name in ranges}
    return query(
        "histogram.sql",
        source=relation,
        placed=values | {intervals[name]: atom for name, atom in ranges.items()},
        tuples=values | least,
        grouped=[column(intervals[n]) if n in ranges else v.copy() for n, v in values.items()],
    )


def _intervals(quasi: Quasi, info: ColumnInfo | None) -> IntervalDomain:
    """The intervals of a declared range; of a column that is not known, by what the ends are."""
    if info is not None and info.kind is not None:
        domain = quasi.declared_domain(info.kind)
        assert isinstance(domain, IntervalDomain)
        return domain
    assert quasi.range is not None
    for kind in _kinds_of(quasi.range[0]):
        try:
            domain = quasi.declared_domain(kind)
        except DomainError:
            continue
        if isinstance(domain, IntervalDomain):
            return domain
    raise DomainError(f"column {quasi.name!r}: the ends of its range are no numbers and no dates")


def _kinds_of(end: object) -> tuple[Kind, ...]:
    """The kinds that the column of a range may have, compared as precisely as needed."""
    if isinstance(end, int | float | Decimal):
        return (Kind.DECIMAL,)
    if isinstance(end, dt.datetime):
        return (Kind.TIMESTAMP,)
    return (Kind.DATE, Kind.TIMESTAMP)
