"""Labels with open ends and a label for NULL. Expected values are written by hand."""

from __future__ import annotations

import datetime as dt

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_recipes import recipe
from sqlglot import exp

from sqlanon.domain import Generalized
from sqlanon.domain.atoms import IntervalDomain, ValueDomain
from sqlanon.domain.column import Column, Partition
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.presentation import Form, group_labels
from sqlanon.engines.protocol import Kind
from sqlanon.errors import SchemeError
from sqlanon.release.compile import compile_release, release_text

AGE = Column(IntervalDomain.of_range("age", Kind.INTEGER, 0, 90, 30))
SEEN = Column(ValueDomain("age", Kind.INTEGER, (17, 25, 40, 60, 90), True))


def open_labels(column: Column, *cuts: int, null_label: str | None = None) -> list[str | None]:
    partition = Partition(column.size, cuts)
    return list(group_labels(column, partition, open_ends=True, null_label=null_label))


def test_ranges() -> None:
    assert open_labels(AGE, 0, 1) == ["<30", "[30, 60)", "60+"]
    assert open_labels(AGE, 0) == ["<30", "30+"]
    assert open_labels(AGE) == ["*"]


def test_observed_values_hide_the_lowest_and_the_highest() -> None:
    assert open_labels(SEEN, 1, 2, 4) == ["<40", "40", "60+", None]
    assert open_labels(SEEN, 4) == ["*", None]
    assert open_labels(SEEN) == ["*"]


def test_a_single_value_is_itself_also_at_an_end() -> None:
    assert open_labels(SEEN, 0, 3, 4) == ["17", "[25, 90)", "90", None]


def test_dates() -> None:
    days = tuple(dt.date(2024, month, 1) for month in (1, 2, 3, 4))
    column = Column(ValueDomain("born", Kind.DATE, days))
    assert open_labels(column, 1) == ["<2024-03-01", "2024-03-01+"]


def test_sets_and_nodes_have_no_ends() -> None:
    column = Column(ValueDomain("c", Kind.TEXT, ("A", "B", "C")))
    assert open_labels(column, 1) == ["{A, B}", "C"]
    tree = Hierarchy.from_rows([["17", "young", "*"], ["25", "young", "*"], ["40", "x", "*"]], "t")
    aged = Column(ValueDomain("age", Kind.INTEGER, (17, 25, 40)), tree)
    assert open_labels(aged, 1) == ["young", "x"]
    assert open_labels(aged, 0, 1) == ["17", "25", "40"]


def test_a_node_that_is_called_like_an_open_end() -> None:
    rows = [["0", "60+", "*"], ["30", "60+", "*"], ["60", "x", "*"]]
    column = Column(AGE.domain, Hierarchy.from_rows(rows, "t"))
    assert open_labels(column, 1) == ["60+", "x"]
    rows[2][1] = "60"  # padded with its own left end: an atom
    column = Column(AGE.domain, Hierarchy.from_rows(rows, "t"))
    assert open_labels(column, 1) == ["<60", "60+"]


def test_a_label_for_null() -> None:
    assert open_labels(SEEN, 1, 4, null_label="unknown") == ["<40", "40+", "unknown"]
    assert open_labels(SEEN, null_label="unknown") == ["*"], "NULL is not alone"
    with pytest.raises(SchemeError, match="null_label '40\\+' is also"):
        open_labels(SEEN, 1, 4, null_label="40+")


@given(st.sets(st.integers(0, 4)), st.booleans())
def test_labels_are_distinct(cuts: set[int], open_ends: bool) -> None:
    settled = tuple(sorted({*cuts, 4} if cuts else cuts))
    labels = group_labels(SEEN, Partition(SEEN.size, settled), open_ends=open_ends)
    assert len(set(labels)) == len(labels) == len(settled) + 1


@pytest.mark.parametrize("form", [Form.CASE, Form.JOIN])
@pytest.mark.parametrize("several", [False, True])
def test_nan_is_beyond_every_open_end(form: Form, several: bool) -> None:
    """It belongs to no interval, but to the column as a whole."""
    domain = IntervalDomain.of_range("x", Kind.FLOAT, 0.0, 30.0, 10.0)
    partition = Partition(3, (0, 1) if several else ())
    item = Generalized(Column(domain), partition, "DOUBLE", open_ends=True, form=form)
    made = recipe(item, k=1, source=exp.table_("t", quoted=True))
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT unnest(['-5', '12', '99', 'nan'])::DOUBLE AS x"
        )
        (counts,) = connection.execute(compile_release(made).counts.sql("duckdb")).fetchall()
        shown = connection.execute(release_text(made, guarded=True)).fetchall()
    assert counts[2:] == (int(several),)
    wanted = ["20+", "<10", "[10, 20)"] if several else ["*"] * 4
    assert [label for (label,) in shown] == wanted
