"""The ordered distance over thousands of values, against an oracle that takes every one."""

from __future__ import annotations

import random
import time
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from model_oracle import Shares
from small_recipes import AGE, recipe
from sqlglot import exp

from sqlanon.domain import Generalized
from sqlanon.domain.column import Partition
from sqlanon.engines.protocol import Kind
from sqlanon.privacy.t_closeness import Closeness, Distance
from sqlanon.release.compile import compile_release, statement_text
from sqlanon.release.order import MeasuredColumn

LONGEST = 60
"""Seconds. A quiet machine needs one; every class with every value took hours."""


def ordered(t: float, **options: Any) -> Any:
    """A class for every five years of age."""
    return recipe(
        Generalized(AGE, Partition.atoms(18), "INTEGER"),
        models=(Closeness("salary", t, Distance.ORDERED),),
        sensitive=(MeasuredColumn("salary", "BIGINT", Kind.INTEGER),),
        suppress=True,
        k=1,
        **options,
    )


def people(rng: random.Random, rows: int) -> list[tuple[int, int, int | None]]:
    """Who, how old, and a salary; NULL for all of 85, any for those below 40, more from there."""
    found: list[tuple[int, int, int | None]] = []
    for _ in range(rows):
        age = rng.randrange(90)
        salary = None if age >= 85 or rng.random() < 0.01 else rng.randrange(5000) * 7
        if salary is not None and age >= 40:
            salary = rng.choice([salary // 9, salary % (age * 20), age, 7 * (4999 - age)])
        found.append((rng.randrange(rows * 2 // 3), age, salary))
    return found


@pytest.mark.parametrize("subject", [None, "person"])
def test_every_class_is_as_far_away_as_by_all_values(subject: str | None) -> None:
    rows = people(random.Random(11), 9000)
    connection = duckdb.connect()
    connection.register("arriving", pa.table(list(map(list, zip(*rows, strict=True))),
                                             ["person", "age", "salary"]))  # fmt: skip
    connection.execute("CREATE TABLE people AS FROM arriving")
    select = compile_release(ordered(0.1, subject=subject)).select
    distances = exp.select("classes.age", "salary_order.distance").from_("classes")
    distances = distances.join("salary_order", on="salary_order.class = classes.class")
    distances.set("with_", select.args["with_"])
    found = dict(connection.execute(statement_text(distances, "duckdb")).fetchall())

    whose = [row[0] if subject else number for number, row in enumerate(rows)]
    salaries = [row[2] for row in rows]
    q = Shares.of(zip(whose, salaries, strict=True))
    order = sorted(q.counts, key=lambda v: (v is None, 0 if v is None else v))
    assert len(order) > 4000
    assert len(found) == 18
    for label, distance in found.items():
        low = int(label[1:].split(",")[0])
        here = [i for i, row in enumerate(rows) if low <= row[1] < low + 5]
        p = Shares.of((whose[i], salaries[i]) for i in here)
        assert distance == pytest.approx(float(p.ordered(q, order)), rel=1e-14)


def test_a_hundred_thousand_values() -> None:
    start = time.monotonic()
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE people AS SELECT i % 90 AS age, "
        "CASE WHEN i % 90 < 5 THEN i ELSE (i * 7919) % 100000 END AS salary "
        "FROM range(200000) r(i)"
    )
    text = statement_text(compile_release(ordered(0.2)).select, "duckdb")
    assert len(connection.execute(text).fetchall()) < 200_000
    assert time.monotonic() - start < LONGEST
