"""Rows of a relation as they are released, one for one."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from sqlanon.compile.generalize import Written
from sqlanon.compile.mappings import Mapping
from sqlanon.compile.parts import aliased, named
from sqlanon.compile.values import SOURCE


def read_from(
    select: exp.Select, relation: exp.Expr, written: Iterable[Written], name: str = SOURCE
) -> tuple[exp.Select, list[Mapping]]:
    """A SELECT whose columns are the source's, reading a relation; and the lists it is joined with.

    `name` is what the relation is called in the statement; the columns of `select` and of the
    lists are written as the source's and follow.
    """
    read = {column.table for column in select.find_all(exp.Column)}
    joins: list[exp.Join] = []
    lists = []
    for mapping in (each.mapping for each in written):
        if mapping is not None and mapping.name in read:
            # DuckDB compares a row with half of the intervals in a range join.
            on, kind = mapping.condition, "left"
            if mapping.nearest is not None:
                on, kind = mapping.nearest, "asof left"
            joined = exp.select().join(named(mapping.name), on=on, join_type=kind)
            joins += joined.args["joins"]
            lists.append(mapping)
    if name != SOURCE:
        for part in (select, *joins):
            for column in part.find_all(exp.Column):
                if column.table == SOURCE:
                    column.set("table", exp.to_identifier(name, quoted=True))
    select = select.from_(aliased(relation, name))
    if joins:
        select.set("joins", joins)
    return select, lists


def covered_rows(select: exp.Select, written: Iterable[Written]) -> exp.Select:
    """Only rows whose values all belong to a group."""
    covered = [each.covered for each in written if each.covered is not None]
    return select.where(*covered) if covered else select
