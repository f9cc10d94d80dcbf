"""sql/measure.sql equals the evaluator on 1,000 random schemes, on DuckDB or on SQLite.

The schemes of ten more tables are measured on PostgreSQL.

The evaluator itself is held against tests/reference/score_oracle.py elsewhere; the two share
neither the SQL of a group nor the way to a sum.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from postgres_server import Database
from random_cases import NAMES, POOLS, TEXTS, Case, make_field
from sqlglot import exp

from sqlanon.domain import Generalized, Scheme
from sqlanon.domain.presentation import Form
from sqlanon.engines.registry import open_source
from sqlanon.evaluate.evaluator import Evaluator
from sqlanon.metrics.scores import Scores
from sqlanon.metrics.suppression import Suppression
from sqlanon.release.compile import statement_text
from sqlanon.release.measured_on_source import compile_measurement
from sqlanon.release.order import Order

TABLES, SCHEMES = 125, 8
MEASURED = exp.table_("measured")
WHOLE = ("k", "k_max", "classes", "suppressed", "dcn")
REAL = ("nwp", "necd", "glm", "glm_share", "ce", "class_size")
EVERYWHERE = ("text", "integer", "small", "tiny")
"""Kinds that SQLite has: its dates are texts, and it holds neither NaN nor infinity in a cast."""
SERVER_TYPES = {"string": "text", "int8": "smallint", "int16": "smallint", "int64": "bigint"}
Run = Callable[[pa.Table, Order], dict[str, Any]]
"""Answers with what the query finds on some rows."""


def random_case(rng: random.Random, kinds: list[str]) -> Case:
    rows = rng.choice([1, 2, 5, 20, 60])
    fields = [
        make_field(
            rng,
            name,
            rng.choice(kinds),
            rng.choice(["observed", "values", "range", "hierarchy"]),
            rows,
            rng.random() < 0.5,
        )
        for name in rng.sample(NAMES, rng.randint(1, 4))
    ]
    subject: list[Any] | None = None
    if rng.random() < 0.5:
        people: list[Any] = rng.choice([TEXTS, list(range(max(1, rows // 2)))])
        subject = [rng.choice(people) for _ in range(rows)]
    label = None
    if rng.random() < 0.5:
        label = [rng.choice(["yes", "YES", "no", "", None]) for _ in range(rows)]
    if not any(field.quasi.weight for field in fields):
        fields[0].quasi = type(fields[0].quasi)(**{**vars(fields[0].quasi), "weight": 1.0})
    return Case(fields, subject, label, rng)


def table_of(case: Case) -> pa.Table:
    columns = {f.quasi.name: pa.array(f.cells, f.type) for f in case.fields}
    if case.subject is not None:
        columns["who is it"] = pa.array(case.subject)
    if case.label is not None:
        columns["label"] = pa.array(case.label, pa.string())
    return pa.table(columns)


def on_sqlite(table: pa.Table, order: Order) -> dict[str, Any]:
    """The answer of the query, as it is printed for SQLite, on the same rows."""
    with sqlite3.connect(":memory:") as connection:
        names = ", ".join('"' + name.replace('"', '""') + '"' for name in table.column_names)
        connection.execute(f"CREATE TABLE measured ({names})")
        marks = ", ".join("?" * table.num_columns)
        rows = [tuple(row.values()) for row in table.to_pylist()]
        connection.executemany(f"INSERT INTO measured VALUES ({marks})", rows)
        text = statement_text(compile_measurement(order), "sqlite")
        cursor = connection.execute(text)
        (row,) = cursor.fetchall()
        return dict(zip((each[0] for each in cursor.description), row, strict=True))


def assert_same(found: dict[str, Any], scores: Scores, i: int, rows: int, people: int) -> None:
    wanted = scores.row(i)
    for name in (*WHOLE, *REAL):
        if wanted[name] is None:
            assert name not in found
        elif name in WHOLE:
            assert found[name] == wanted[name], name
        else:
            assert found[name] == pytest.approx(wanted[name], abs=1e-9, rel=1e-11), name
    assert (found["source_rows"], found["source_people"]) == (rows, people)
    assert found["uncovered"] == 0


def on_postgresql(database: Database) -> Run:
    """Runs the query as it is printed for PostgreSQL, on the same rows in a table."""

    def run(table: pa.Table, order: Order) -> dict[str, Any]:
        columns = (
            '"' + field.name.replace('"', '""') + '" ' + SERVER_TYPES[str(field.type)]
            for field in table.schema
        )
        database.run(
            "DROP TABLE IF EXISTS measured", f"CREATE TABLE measured ({', '.join(columns)})"
        )
        database.insert("measured", [tuple(row.values()) for row in table.to_pylist()])
        with closing(database.connect()) as connection, closing(connection.cursor()) as cursor:
            cursor.execute(statement_text(compile_measurement(order), "postgres"))
            (row,) = cursor.fetch_arrow_table().to_pylist()
            found: dict[str, Any] = row
        # Its driver hands out sums of whole numbers as texts.
        return {name: float(v) if isinstance(v, str) else v for name, v in found.items()}

    return run


def compare(rng: random.Random, elsewhere: Run | None) -> int:
    """Compares SCHEMES schemes of one random table; answers how many left rows out."""
    case = random_case(rng, list(POOLS if elsewhere is None else EVERYWHERE))
    table, histogram = table_of(case), case.histogram()
    source = open_source(data=table)
    k, limit = rng.randint(1, 5), rng.choice([0.0, 0.07, 0.29, 0.5, 1.0])
    schemes = [case.scheme(histogram, case.random_bits()) for _ in range(SCHEMES)]
    with Evaluator(
        histogram,
        suppression=Suppression.given_k(k, limit, case.rows),
        label=None if case.label is None else "label",
        further=("class_size",),
        workers=1,
    ) as evaluator:
        scores = evaluator.score(schemes)
    left_out = 0
    for i, scheme in enumerate(schemes):
        order = Order(
            source.relation,
            items_of(scheme, table, rng),
            k=k,
            subject=histogram.subject,
            limit=limit,
            columns=source.columns,
            label=None if case.label is None else "label",
        )
        if elsewhere is None:
            (found,) = source.engine.fetch(compile_measurement(order)).to_pylist()
        else:
            # sqlglot writes no lists of VALUES for SQLite.
            cases = tuple(replace(item, form=Form.CASE) for item in order.generalized)
            order = replace(order, source=MEASURED, items=cases, standard=True)
            found = elsewhere(table, order)
        assert_same(found, scores, i, case.rows, histogram.people)
        left_out += found["suppressed"] > 0
    source.engine.close()
    return left_out


@pytest.mark.parametrize("part", range(5))
def test_the_query_equals_the_evaluator(part: int) -> None:
    rng, tables = random.Random(part), TABLES // 5
    left_out = sum(compare(rng, on_sqlite if n % 2 == 0 else None) for n in range(tables))
    assert left_out > tables * SCHEMES / 10


def test_the_query_equals_the_evaluator_on_postgresql(postgres: Database) -> None:
    rng, tables = random.Random(5), 10
    left_out = sum(compare(rng, on_postgresql(postgres)) for _ in range(tables))
    assert left_out > tables * SCHEMES / 20


def items_of(scheme: Scheme, table: pa.Table, rng: random.Random) -> tuple[Generalized, ...]:
    pairs = zip(scheme.columns, scheme.partitions, strict=True)
    form = rng.choice([Form.AUTO, Form.CASE, Form.JOIN])
    return tuple(
        Generalized(c, p, str(table.schema.field(c.name).type), form=form) for c, p in pairs
    )
