"""Wide domains: a zip code with 40,000 values, an amount with 2,000 intervals."""

from __future__ import annotations

import time

import duckdb
import pytest
from sqlglot import exp

from sqlanon.domain import Generalized
from sqlanon.domain.atoms import IntervalDomain, ValueDomain
from sqlanon.domain.column import Column, Partition
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.presentation import Unseen
from sqlanon.engines.protocol import Kind
from sqlanon.release.compile import compile_release, statement_text
from sqlanon.release.order import Order

ZIPS = [f"{number:05}" for number in range(40_000)]
TREE = Hierarchy.from_rows([[z, f"{z[:3]}**", "*****"] for z in ZIPS], "masks")
ZIP = Column(ValueDomain("zip", Kind.TEXT, TREE.leaves), TREE)
AMOUNT = Column(IntervalDomain.of_range("amount", Kind.FLOAT, 0.0, 20_000.0, 10.0))
LONGEST = 60
"""Seconds. A quiet machine needs a few; an IN of 40,000 values inside a CASE took minutes."""


@pytest.mark.slow
@pytest.mark.parametrize("level", [0, 1])
def test_many_zip_codes(level: int) -> None:
    start = time.monotonic()
    item = Generalized(ZIP, ZIP.levels[level], "VARCHAR")
    made = Order(exp.table_("t"), (item,), 2, unseen=Unseen.LEAVE_OUT)
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT format('{:05d}', i) AS zip FROM range(41000) r(i)")
    compiled = compile_release(made)
    assert connection.execute(compiled.counts.sql("duckdb")).fetchall() == [(41000, 41000, 1000)]
    text = statement_text(compiled.select, "duckdb")
    found = [zip_ for (zip_,) in connection.execute(text).fetchall()]
    assert found == (ZIPS if level == 0 else [f"{z[:3]}**" for z in ZIPS])
    assert time.monotonic() - start < LONGEST


@pytest.mark.slow
@pytest.mark.parametrize("open_ends", [False, True])
def test_many_intervals(open_ends: bool) -> None:
    start = time.monotonic()
    item = Generalized(AMOUNT, Partition.atoms(2000), "DOUBLE", open_ends=open_ends)
    made = Order(exp.table_("t"), (item,), 2, suppress=True)
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE t AS SELECT CAST(i AS DOUBLE) AS amount FROM range(20001) r(i)"
    )
    text = statement_text(compile_release(made).select, "duckdb")
    found = [label for (label,) in connection.execute(text).fetchall()]
    assert len(found) == 20_001
    assert found.count("[10, 20)") == 10
    assert found.count("19990+" if open_ends else "[19990, 20000]") == 11
    assert time.monotonic() - start < LONGEST
