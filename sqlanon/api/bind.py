"""A policy bound to the table it speaks of: what is counted, and over which hierarchies."""

from __future__ import annotations

import datetime as dt
import difflib
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from sqlglot import exp

from sqlanon import hierarchy as hierarchies
from sqlanon import resources
from sqlanon.engines import Source, open_source, open_table
from sqlanon.errors import HierarchyError, PolicyError, ResourceError
from sqlanon.hierarchy import Hierarchy
from sqlanon.histogram import HierarchyBuilder, Quasi
from sqlanon.histogram.atoms import column
from sqlanon.model import Family, Kind, Value, format_value
from sqlanon.policy import ColumnSection, HierarchySection, Others, Policy, Role


def open_policy_source(policy: Policy) -> Source:
    """Opens the source that a policy names; relative paths start at the policy's folder."""
    section = policy.section.source
    file = None if section.file is None else policy.folder / section.file
    connection = section.connection
    prefix = "duckdb:///"
    if connection and connection.startswith(prefix):
        path = policy.folder.absolute() / connection.removeprefix(prefix)
        connection = f"{prefix}{path}"
    if section.table is None and section.query is None and file is None:
        raise PolicyError(f"{policy.origin}: source: says no table, query or file to read")
    return open_source(connection=connection, table=section.table, query=section.query, file=file)


def check_columns(policy: Policy, source: Source) -> None:
    """Every column of the policy exists, and every column of the source is spoken for."""
    present = [c.name for c in source.columns]
    named = list(policy.section.columns)
    problems = []
    subject = policy.section.subject
    for name in [*named, *([subject] if subject is not None else [])]:
        if name not in present:
            near = difflib.get_close_matches(name, present, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            problems.append(f"column {name!r} is not in {source.name}{hint}")
    silent = [name for name in present if name not in named and name != subject]
    if silent and policy.section.others is Others.REFUSE:
        listed = ", ".join(map(repr, silent))
        problems.append(
            f"{source.name} has columns that the policy does not mention: {listed}; give each a "
            "role, or say `others: drop` or `others: insensitive`"
        )
    if problems:
        raise PolicyError("\n".join(f"{policy.origin}: {problem}" for problem in problems))


def quasis_of(policy: Policy, source: Source) -> list[Quasi]:
    """The quasi-identifiers of a policy, their hierarchies read."""
    return [
        _quasi(policy, source, name, section)
        for name, section in policy.columns_with(Role.QUASI).items()
    ]


def _quasi(policy: Policy, source: Source, name: str, section: ColumnSection) -> Quasi:
    hierarchy = _hierarchy(policy, source, section.hierarchy)
    default = Family.TAXONOMIC if hierarchy else Family.CONTIGUOUS
    return Quasi(
        name,
        family=section.family or default,
        weight=section.weight,
        values=None if section.values is None else tuple(section.values),
        range=section.range,
        granularity=section.granularity,
        hierarchy=hierarchy,
    )


def _hierarchy(
    policy: Policy, source: Source, spec: str | HierarchySection | None
) -> Hierarchy | HierarchyBuilder | None:
    if spec is None:
        return None
    if isinstance(spec, str):
        return hierarchies.read(find_hierarchy(spec, policy.folder))
    if spec.table is not None:
        return _from_table(source, spec.table)
    if spec.intervals is not None:
        return partial(_intervals, spec.intervals, spec.origin)
    if spec.mask is not None:
        return partial(_masked, spec.mask.character, spec.mask.side)
    assert spec.date is not None
    return partial(_dates, spec.date)


def find_hierarchy(name: str, folder: Path) -> Path:
    """A hierarchy file of the policy's folder, else one that comes with sqlanon."""
    own = folder / name
    if own.exists():
        return own
    try:
        return resources.path("hierarchies", *Path(name).parts)
    except ResourceError:
        return own  # reading it says that it is missing


def _from_table(source: Source, name: str) -> Hierarchy:
    """One row a leaf, one column a level, in the order of the table's columns."""
    table = open_table(source.engine, name)
    levels = [exp.cast(column(c.name), "text").as_(c.name, quoted=True) for c in table.columns]
    fetched = source.engine.fetch(exp.select(*levels).from_(table.relation))
    # Rows of a table have no order, so the leaves are put in one that is always the same.
    rows = sorted(zip(*(c.to_pylist() for c in fetched.columns), strict=True), key=_row_order)
    return Hierarchy.from_rows(rows, f"table {name}")


def _row_order(row: tuple[str | None, ...]) -> list[str]:
    return [label or "" for label in reversed(row)]


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
        raise HierarchyError(f"a hierarchy of dates needs dates, the column is {kind}")
    return hierarchies.dates(moments, steps)
