"""A policy bound to the table it speaks of: what is counted, and over which hierarchies."""

from __future__ import annotations

import datetime as dt
import difflib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection
from sqlglot import exp

from sqlanon import hierarchy as hierarchies
from sqlanon import resources
from sqlanon.engines import Source, open_source, open_table, source_folders
from sqlanon.errors import (
    DomainError,
    EngineError,
    HierarchyError,
    PolicyError,
    ResourceError,
    SchemeError,
    VerificationError,
)
from sqlanon.hierarchy import Hierarchy
from sqlanon.histogram import HierarchyBuilder, Quasi
from sqlanon.histogram.atoms import column
from sqlanon.model import Family, Kind, Value, format_value, parse_value, sort_key
from sqlanon.policy import ColumnSection, HierarchySection, Others, Policy, Role
from sqlanon.policy.problems import line_at


@dataclass(frozen=True)
class Origin:
    """Where the source comes from when it is not the policy's own: a connection, or data.

    And whether the policy comes from a file, beside which certificates are written.
    """

    connection: DuckDBPyConnection | None = None
    data: pd.DataFrame | pa.Table | None = None
    policy_is_file: bool = False

    @property
    def is_the_policys(self) -> bool:
        return self.connection is None and self.data is None


def open_policy_source(policy: Policy) -> Source:
    """Opens the source that a policy names; relative paths start at the policy's folder."""
    section = policy.section.source
    if section.table is None and section.query is None and section.file is None:
        raise PolicyError(f"{policy.origin}: source: says no table, query or file to read")
    try:
        return open_source(
            connection=address_in(policy, policy.source_connection()),
            table=section.table,
            query=section.query,
            file=None if section.file is None else policy.folder / section.file,
            folders=folders_of(policy),
        )
    except EngineError as error:
        # Engines name the address in their messages, and it may come from the environment.
        hidden = policy.hide(str(error))
        if hidden == str(error):
            raise
        raise EngineError(hidden) from None


def folders_of(policy: Policy) -> list[Path]:
    """The folders of the files that the source and the population of a policy name."""
    sections = [policy.section.source, policy.section.population]
    return [
        folder
        for section in sections
        if section is not None
        for folder in source_folders(
            section.query, None if section.file is None else policy.folder / section.file
        )
    ]


def address_in(policy: Policy, connection: str | None) -> str | None:
    """An address of the policy; a relative path of a database starts at the policy's folder."""
    prefix = "duckdb:///"
    path = (connection or "").removeprefix(prefix)
    if connection and connection.startswith(prefix) and path not in ("", ":memory:"):
        return f"{prefix}{policy.folder.absolute() / path}"
    return connection


def open_lent_source(policy: Policy, connection: DuckDBPyConnection) -> Source:
    """The policy's table or query on a connection of the caller."""
    section = policy.section.source
    if section.table is None and section.query is None:
        found = "a file" if section.file is not None else "neither"
        raise PolicyError(
            f"{policy.origin}: source: with a connection it needs a table or query, found {found}"
        )
    return open_source(connection=connection, table=section.table, query=section.query)


def is_empty(source: Source) -> bool:
    """Whether a table has no rows."""
    one = exp.select(exp.Literal.number(1).as_("n")).from_(source.relation.copy()).limit(1)
    return not len(source.engine.fetch(one))


def refuse_empty(source: Source) -> None:
    """Refuses a source without rows, of which whatever else is said would mislead."""
    if is_empty(source):
        raise EngineError(f"{source.name} has no rows; there is nothing to anonymize")


@contextmanager
def telling_of_no_rows(source: Source) -> Iterator[None]:
    """What fails on a source without rows says so: an empty CSV file has no types, only text."""
    try:
        yield
    except (DomainError, HierarchyError, SchemeError, VerificationError):
        refuse_empty(source)
        raise


def check_columns(policy: Policy, source: Source) -> None:
    """Every column of the policy exists, and every column of the source is spoken for."""
    present = [c.name for c in source.columns]
    named = list(policy.section.columns)
    subject = policy.section.subject
    wanted = dict.fromkeys([*named, *([subject] if subject is not None else [])])
    problems = [
        f"column {name!r} is not in {source.name}{_meant(name, present)}"
        for name in wanted
        if name not in present
    ]
    silent = [name for name in present if name not in named and name != subject]
    if silent and policy.section.others is Others.REFUSE:
        listed = ", ".join(map(repr, silent))
        problems.append(
            f"{source.name} has columns that the policy does not mention: {listed}; give each a "
            "role, or say `others: drop` or `others: insensitive`"
        )
    if problems:
        raise misfit(policy.origin, problems)


def misfit(where: str, problems: Sequence[str]) -> PolicyError:
    """What is wrong between a policy and a table: one message, a line each where it is more."""
    if len(problems) == 1:
        return PolicyError(f"{where}: {problems[0]}")
    lines = "".join(f"\n  {problem}" for problem in problems)
    return PolicyError(f"{where}: {len(problems)} things do not fit the table{lines}")


def _meant(name: str, present: Sequence[str]) -> str:
    by_lower = {other.lower(): other for other in present}
    near = difflib.get_close_matches(name.lower(), by_lower, 1)
    return f"; did you mean {by_lower[near[0]]!r}?" if near else ""


def quasis_of(policy: Policy, source: Source) -> list[Quasi]:
    """The quasi-identifiers of a policy, their hierarchies read."""
    return [
        _quasi(policy, source, name, section)
        for name, section in policy.columns_with(Role.QUASI).items()
    ]


def _quasi(policy: Policy, source: Source, name: str, section: ColumnSection) -> Quasi:
    hierarchy = hierarchy_of(policy, source, name)
    default = Family.TAXONOMIC if hierarchy else Family.CONTIGUOUS
    return Quasi(
        name,
        family=section.family or default,
        weight=section.weight,
        values=None if section.values is None else tuple(section.values),
        range=section.range,
        granularity=section.granularity,
        hierarchy=hierarchy,
        min_level=section.min_level,
        max_level=section.max_level,
    )


def hierarchy_of(policy: Policy, source: Source, name: str) -> Hierarchy | HierarchyBuilder | None:
    """The hierarchy of a column, read, or how to build it over the column's values."""
    spec = policy.section.columns[name].hierarchy
    if spec is None:
        return None
    if isinstance(spec, str):
        try:
            return hierarchies.read(find_hierarchy(spec, policy.folder))
        except HierarchyError as error:
            where = line_at(("columns", name, "hierarchy"), "")
            raise HierarchyError(f"{policy.origin}: {where}{error}") from None
    if spec.table is not None:
        return _from_table(source, spec.table, source.column(name).kind)
    return partial(_built, name, _builder(spec))


def _builder(spec: HierarchySection) -> HierarchyBuilder:
    if spec.intervals is not None:
        return partial(_intervals, spec.intervals, spec.origin)
    if spec.mask is not None:
        return partial(_masked, spec.mask.character, spec.mask.side)
    assert spec.date is not None
    return partial(_dates, spec.date)


def _built(name: str, build: HierarchyBuilder, values: Sequence[Value], kind: Kind) -> Hierarchy:
    """What a builder makes, its errors with the column they are about."""
    if not values:
        raise HierarchyError(f"column {name!r} holds nothing but NULL; leave its hierarchy out")
    try:
        return build(values, kind)
    except HierarchyError as error:
        raise HierarchyError(f"column {name!r}: {error}") from None


def find_hierarchy(name: str, folder: Path) -> Path:
    """A hierarchy file of the policy's folder, else one that comes with sqlanon."""
    own = folder / name
    if own.exists():
        return own
    try:
        return resources.path("hierarchies", *Path(name).parts)
    except ResourceError:
        return own  # reading it says that it is missing


def _from_table(source: Source, name: str, kind: Kind | None) -> Hierarchy:
    """One row a leaf, one column a level, in the order of the table's columns."""
    table = open_table(source.engine, name)
    levels = [exp.cast(column(c.name), "text").as_(c.name, quoted=True) for c in table.columns]
    fetched = source.engine.fetch(exp.select(*levels).from_(table.relation))
    rows = list(zip(*(c.to_pylist() for c in fetched.columns), strict=True))
    # Rows of a table have no order; by value, groups of neighbouring numbers are intervals.
    rows.sort(key=lambda row: _leaf_order(row[0], kind))
    return Hierarchy.from_rows(rows, f"table {name}")


def _leaf_order(leaf: str | None, kind: Kind | None) -> tuple[bool, object, str]:
    """By value where the leaf is one; what is none is refused later, with its name."""
    try:
        value = sort_key(parse_value(leaf, kind or Kind.TEXT))
    except DomainError:
        return (True, "", leaf or "")
    return (False, value, leaf or "")


def _intervals(
    widths: Sequence[int | float], origin: int | float, values: Sequence[Value], kind: Kind
) -> Hierarchy:
    return hierarchies.intervals(values, kind, widths, origin)


def _masked(character: str, side: str, values: Sequence[Value], kind: Kind) -> Hierarchy:
    texts = [format_value(v) for v in values]
    return hierarchies.masked(texts, character, "left" if side == "left" else "right")


def _dates(steps: Sequence[str], values: Sequence[Value], kind: Kind) -> Hierarchy:
    moments = [v for v in values if isinstance(v, dt.date)]
    if len(moments) < len(values):
        raise HierarchyError(f"a hierarchy of dates needs dates, these values are {kind}")
    return hierarchies.dates(moments, steps)
