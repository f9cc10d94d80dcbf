"""A table of six people and the recipes that the golden files show."""

from __future__ import annotations

from typing import Any

import duckdb
from sqlglot import exp

from sqlanon.domain import Generalized
from sqlanon.domain.atoms import IntervalDomain, ValueDomain
from sqlanon.domain.column import Column, Partition
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.presentation import Form, Output, Unseen
from sqlanon.engines.protocol import Kind
from sqlanon.release.compile import compile_release
from sqlanon.release.order import Order, Pseudonym, Verbatim

PEOPLE = """
CREATE TABLE people AS FROM (VALUES
    (1, 24, 'Rome',  'F', 'flu'),
    (1, 20, 'Rome',  'F', 'flu'),
    (2, 24, 'Milan', 'F', 'cold'),
    (3, 25, 'Oslo',  'M', 'flu'),
    (4, 39, 'Oslo',  'M', 'cold'),
    (5, 90, 'Rome',  'F', 'cold'),
    (6, 60, NULL,    'M', 'flu')
) AS t (person, age, city, sex, disease)
"""
AGE = Column(IntervalDomain.of_range("age", Kind.INTEGER, 0, 90, 5))
TREE = Hierarchy.from_rows(
    [[city, country, "Europe"]
     for country, cities in (("Italy", ["Rome", "Milan"]), ("Norway", ["Oslo", "Bergen"]))
     for city in cities],
    "countries",
)  # fmt: skip
CITY = Column(ValueDomain("city", Kind.TEXT, TREE.leaves, has_null=True), TREE)
SEX = Column(ValueDomain("sex", Kind.TEXT, ("F", "M")))
DISEASE = Verbatim("disease", "VARCHAR")
SOURCE = exp.table_("people", quoted=True)


def age(**options: Any) -> Generalized:
    """[0, 25), [25, 60) and [60, 90]."""
    return Generalized(AGE, Partition(18, (4, 11)), "INTEGER", **options)


def seen_age(**options: Any) -> Generalized:
    """Of the ages that occur: 20 and 24, 25 alone, and those from 39 to 90."""
    seen = Column(ValueDomain("age", Kind.INTEGER, (20, 24, 25, 39, 60, 90)))
    return Generalized(seen, Partition(6, (1, 2)), "INTEGER", **options)


def city(**options: Any) -> Generalized:
    """Italy, Norway and NULL."""
    return Generalized(CITY, CITY.levels[1], "VARCHAR", **options)


def sex(**options: Any) -> Generalized:
    return Generalized(SEX, Partition.atoms(2), "VARCHAR", **options)


def any_sex() -> Generalized:
    return Generalized(SEX, Partition.whole(2), "VARCHAR")


def recipe(*items: Any, k: int = 2, **options: Any) -> Order:
    return Order(options.pop("source", SOURCE), items, k, **options)


def unseen_rows(connection: duckdb.DuckDBPyConnection, order: Order) -> tuple[int, ...]:
    """By generalized column the rows with a value that belongs to no group."""
    counts = compile_release(order).counts.sql("duckdb", identify=True)
    ((_, _, *found),) = connection.execute(counts).fetchall()
    return tuple(found)


JOIN = {"form": Form.JOIN}
RECIPES = {
    "case": recipe(age(), city(), any_sex(), DISEASE, header=("people, k = 2",)),
    "range_join": recipe(age(**JOIN), sex(), DISEASE),
    "range_join_with_gaps": recipe(seen_age(**JOIN)),
    "mapping_join": recipe(city(**JOIN), DISEASE),
    "suppression_by_rows": recipe(age(), city(), suppress=True),
    "suppression_by_subject": recipe(age(), suppress=True, subject="person"),
    "marker": recipe(age(), sex(), DISEASE, suppress=True, marker="(too few)"),
    "pseudonym": recipe(Pseudonym("person", "sqlanon_key_1"), sex()),
    "bounds": recipe(age(output=Output.BOUNDS), sex()),
    "midpoint": recipe(age(output=Output.MIDPOINT), sex()),
    "open_ends": recipe(age(open_ends=True), city(null_label="unknown")),
    "open_ends_join": recipe(age(open_ends=True, **JOIN), city(null_label="unknown", **JOIN)),
    "unseen_left_out": recipe(age(), city(), sex(), unseen=Unseen.LEAVE_OUT),
    "unseen_at_top": recipe(age(), city(), unseen=Unseen.TOP),
    "guarded": recipe(age(), sex()),
    "guarded_by_subject": recipe(age(), sex(), DISEASE, subject="person"),
}
