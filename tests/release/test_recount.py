"""What a release lost: the statement as text, in tests/golden/recount, and its answer.

SQLANON_UPDATE_GOLDEN=1 writes the file anew; read the difference before you commit it.
"""

from __future__ import annotations

import re

import duckdb
import pytest
from golden_files import assert_golden
from publish_cases import make, publish, release

from sqlanon.domain.presentation import Mode
from sqlanon.engines.duckdb import DuckDBEngine


@pytest.mark.parametrize("how", ["left out", "marked", "view"])
def test_two_small_classes(how: str) -> None:
    """From 40 on there are three people in Rome and Oslo, and three in Bonn and Lima; k is 5."""
    with duckdb.connect() as connection:
        make(connection)
        connection.sql("""
            DELETE FROM people WHERE age >= 40 AND name NOT IN
            ('name 20', 'name 21', 'name 24', 'name 22', 'name 23', 'name 26')
        """)
        engine = DuckDBEngine(connection, owned=False)
        mode = Mode.VIEW if how == "view" else Mode.TABLE
        marker = "gone" if how == "marked" else None
        with engine.tracer.watch() as seen:
            found = publish(engine, release(mode=mode, suppress=True, limit=0.1, marker=marker))
    suppression = found.certificate.document.suppression
    assert (suppression.rows, suppression.marked) == (6, how == "marked")
    assert {
        (each.column, each.label, each.rows, each.left_out) for each in suppression.subgroups
    } == {
        ("age", "[20, 40)", 100, 0),
        ("age", "[40, 60]", 6, 6),
        ("town", "{Bonn, Lima}", 53, 3),
        ("town", "{Oslo, Rome}", 53, 3),
    }
    (sql,) = (each.sql for each in seen if "fewer rows in the staged table" in each.sql)
    if how == "left out":
        named = re.sub("sqlanon_stage_[0-9a-f]+", "sqlanon_stage", sql)
        assert_golden("recount/suppressed", named)
