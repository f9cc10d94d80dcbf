"""What conditions of a reader may see of the rows that a view leaves out: nothing.

A database may evaluate a condition before the view has left a row out. If it fails on that row,
by an error of its own making, a cast or an overflow, then the reader learns a hidden value.
"""

from __future__ import annotations

from typing import Any

import duckdb
import pytest
from publish_cases import DISEASE, age, contents, publish, release, town

from sqlanon.domain.presentation import Mode
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.protocol import Kind
from sqlanon.privacy.l_diversity import DistinctDiversity
from sqlanon.privacy.t_closeness import Closeness, Distance
from sqlanon.release.order import MeasuredColumn, Verbatim

MODELS = {"sensitive": (MeasuredColumn("disease", "VARCHAR", Kind.TEXT),)}
# By kind of view: what its recipe says besides, and how many rows of how many people it hides.
# Of five people with one disease a class has k = 5 and no diversity.
VIEWS: dict[str, tuple[dict[str, Any], int, int]] = {
    "by rows": ({}, 4, 4),
    "by subject": ({"subject": "name"}, 100, 4),
    "l-diversity": ({"models": (DistinctDiversity("disease", 2),), **MODELS}, 5, 5),
    "t-closeness by subject": (
        {"models": (Closeness("disease", 0.5, Distance.EQUAL),), "subject": "name", **MODELS},
        10,
        5,
    ),
}
PLAGUE = "CASE WHEN disease = 'plague' THEN error(disease) ELSE true END"
NUMBER = "CAST(replace(replace(disease, 'flu', '1'), 'cold', '2') AS INTEGER) > 0"
SMALL = "CAST(income AS SMALLINT) >= 0"
QUESTIONS = {
    "an error of its own": f"SELECT count(*) FROM {{}} WHERE {PLAGUE}",
    "a cast of text": f"SELECT count(*) FROM {{}} WHERE {NUMBER}",
    "a cast of a number": f"SELECT count(*) FROM {{}} WHERE {SMALL}",
    "an overflow": "SELECT count(*) FROM {} WHERE income * income >= income",
    "a pattern": "SELECT count(*) FROM {} WHERE regexp_matches('x', replace(disease, 'pl', '('))",
    "a label": "SELECT count(*) FROM {} WHERE CASE WHEN age = '[50, 60]' THEN error(age) "
    "ELSE true END",
    "a label that few have": f"SELECT count(*) FROM {{}} WHERE age = '[50, 60]' AND {SMALL}",
    "either of two": f"SELECT count(*) FROM {{}} WHERE disease = 'none' OR {SMALL}",
    "a join": f"SELECT count(*) FROM {{}} v JOIN names ON v.disease = names.d AND {PLAGUE}",
    "an outer join": f"SELECT count(*) FROM names LEFT JOIN {{}} v ON v.disease = d AND {PLAGUE}",
    "a join by a cast": "SELECT count(*) FROM {} JOIN names ON CAST(income AS SMALLINT) = n",
    "a join by any condition": f"SELECT count(*) FROM {{}} v, names WHERE {PLAGUE} OR v.age = d",
    "HAVING": f"SELECT disease FROM {{}} GROUP BY ALL HAVING {PLAGUE}",
    "HAVING by class": f"SELECT age, town FROM {{}} GROUP BY ALL HAVING min({SMALL})",
    "ORDER BY": f"SELECT disease FROM {{}} ORDER BY {PLAGUE}",
    "LIMIT": "SELECT disease FROM {} ORDER BY CAST(income AS SMALLINT) LIMIT 1",
    "FILTER": f"SELECT count(*) FILTER (WHERE {PLAGUE}) FROM {{}}",
    "an aggregate": "SELECT sum(CAST(income AS SMALLINT)) FROM {}",
    "DISTINCT": "SELECT DISTINCT CAST(income AS SMALLINT) FROM {}",
    "EXISTS": f"SELECT d FROM names WHERE EXISTS (FROM {{}} v WHERE v.disease = d AND {PLAGUE})",
    "a scalar subquery": "SELECT (SELECT max(CAST(income AS SMALLINT)) FROM {} v "
    "WHERE v.disease = d) FROM names",
    "a lateral join": "SELECT count(*) FROM names, LATERAL (FROM {} WHERE "
    "CAST(income AS SMALLINT) > n)",
    "IN": f"SELECT count(*) FROM {{}} WHERE disease IN (SELECT d FROM names) AND {SMALL}",
    "QUALIFY": "FROM {} QUALIFY row_number() OVER (ORDER BY CAST(income AS SMALLINT)) = 1",
    "a materialized part": f"WITH m AS MATERIALIZED (FROM {{}}) SELECT count(*) FROM m "
    f"WHERE {SMALL}",
    "a volatile condition": f"SELECT count(*) FROM {{}} WHERE random() < 2 AND {SMALL}",
}  # fmt: skip


@pytest.mark.parametrize("kind", VIEWS)
def test_no_condition_sees_what_a_view_leaves_out(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection, kind: str
) -> None:
    connection.sql("DELETE FROM people WHERE age >= 50")
    connection.sql("ALTER TABLE people ADD COLUMN income INTEGER DEFAULT 100")
    keys, rows, people = VIEWS[kind]
    publish(
        engine,
        release(
            age((0, 1, 2)),
            town(),
            DISEASE,
            Verbatim("income", "INTEGER"),
            mode=Mode.VIEW,
            accepted={"disease": None, "income": None},
            audited=("disease",),
            **keys,
        ),
    )
    shown = contents(connection, "FROM people_anon")
    connection.sql(f"INSERT INTO people SELECT 'late ' || i % {people}, 55, 'Rome', 'plague', "
                   f"70000 FROM range({rows}) AS t (i)")  # fmt: skip
    connection.sql("CREATE TABLE names AS FROM (VALUES ('plague', 1), ('flu', 2)) AS t (d, n)")
    connection.sql("CREATE TABLE everyone AS FROM people_anon UNION ALL "
                   "VALUES ('[50, 60]', '{Oslo, Rome}', 'plague', 70000)")  # fmt: skip
    assert contents(connection, "FROM people_anon") == shown
    # A question that fails on a table with one such row would show that row.
    assert [name for name in QUESTIONS if not _fails(connection, name, "everyone")] == []
    assert [name for name in QUESTIONS if _fails(connection, name, "people_anon")] == []


def _fails(connection: duckdb.DuckDBPyConnection, name: str, table: str) -> bool:
    try:
        contents(connection, QUESTIONS[name].format(table))
    except duckdb.Error:
        return True
    return False
