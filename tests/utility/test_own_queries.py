"""Own SELECTs on the source and on the release: what they yield, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from small_table import POLICY, SCHEME, changed

import sqlanon
from sqlanon.errors import UtilityError

PEOPLE = pa.table(
    {
        "age": [21, 23, 27, 34, 38, 39],
        "sex": ["F", "F", "M", "M", "M", "F"],
        "outcome": ["yes", "no", "yes", "no", "no", "yes"],
    }
)
FINEST = {"columns": {"age": {"level": 0}, "sex": {"level": 0}}}


def asked(
    *sql: str, scheme: Any = SCHEME, policy: Any = POLICY, **more: Any
) -> list[tuple[Any, Any]]:
    with sqlanon.load(policy, data=PEOPLE) as anonymizer:
        found = anonymizer.utility(scheme, queries=1, sql=sql, **more)
    return [(answer.source, answer.release) for answer in found.queries]


@pytest.mark.parametrize(
    ("sql", "number"),
    [
        ("SELECT COUNT(*) FROM data", 6),
        ("SELECT COUNT(*) FILTER (outcome = 'yes') FROM data", 3),
        ("SELECT SUM(2)::HUGEINT FROM data;", 12),
        ("SELECT AVG(n) FROM (SELECT COUNT(*) AS n FROM data GROUP BY outcome) -- three each", 3),
        ("WITH people AS (FROM data) SELECT COUNT(DISTINCT outcome) FROM people", 2),
        ("SELECT 1.5", 1.5),
        ("SELECT COUNT(*) FROM data AS a JOIN data AS b USING (outcome)", 18),
    ],
)
def test_what_no_generalization_touches(sql: str, number: float) -> None:
    assert asked(sql) == [(number, number)]


def test_what_it_does_touch_stays_within_the_groups() -> None:
    """Of the ages 20 to 34 there are four, of 35 to 40 two."""
    texts = ("SELECT COUNT(*) FROM data WHERE age < 35; SELECT MIN(age) FROM data",
             "SELECT MAX(age) FROM data")  # fmt: skip
    young, least, most = asked(*texts)
    assert young == (4, 4)
    assert least[0] == 21
    assert 20 <= least[1] < 35
    assert most[0] == 39
    assert 35 <= most[1] <= 40


def test_categories_that_are_not_grouped_are_exact() -> None:
    sql = "SELECT COUNT(*) FROM data WHERE sex = 'F' AND age BETWEEN 20 AND 24"
    assert asked(sql, scheme=FINEST) == [(2, 2)]


def test_suppressed_rows_are_missing_and_marked_ones_are_not() -> None:
    """Two people are 35 or older, fewer than three."""
    sql = "SELECT COUNT(*) FROM data"
    rule = {"privacy": {"k": 3}, "suppression": {"limit": 0.4}}
    assert asked(sql, policy=changed(**rule)) == [(6, 4)]
    rule["suppression"] = {"limit": 0.4, "rows": "mark"}
    assert asked(sql, policy=changed(**rule)) == [(6, 6)]


def test_relative_errors() -> None:
    """Four of six rows; nothing of something; and NULL, which is no number."""
    rule = {"privacy": {"k": 3}, "suppression": {"limit": 0.4}}
    texts = [
        "SELECT COUNT(*) FROM data",
        "SELECT COUNT(*) - 6 FROM data",
        "SELECT 0",
        "SELECT AVG(age) FROM data WHERE age > 35",
        "SELECT -COUNT(*) FROM data",
    ]
    with sqlanon.load(changed(**rule), data=PEOPLE) as anonymizer:
        found = anonymizer.utility(SCHEME, queries=1, sql=texts)
    errors = [answer.relative_error for answer in found.queries]
    assert errors == [pytest.approx(1 / 3), None, 0.0, None, pytest.approx(1 / 3)]
    assert found.queries[3].release is None
    assert "NULL" in str(found)


@pytest.mark.parametrize("name", ["data", "people", "sqlanon_table", "sqlanon_rows"])
def test_whatever_the_table_is_called(name: str) -> None:
    connection = duckdb.connect()
    connection.register("arriving", PEOPLE)
    connection.execute(f"CREATE TABLE {name} AS FROM arriving")
    policy = changed(source={"table": name})
    sql = "WITH people AS (SELECT * FROM data WHERE age < 35) SELECT COUNT(*) FROM people"
    with sqlanon.load(policy, connection=connection) as anonymizer:
        (answer,) = anonymizer.utility(SCHEME, queries=1, sql=sql).queries
    assert (answer.source, answer.release) == (4, 4)
    connection.unregister("arriving")
    assert connection.sql("SHOW TABLES").fetchall() == [(name,)]  # nothing was created


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("DROP TABLE data", "query 1 is no SELECT"),
        ("DELETE FROM data", "query 1 is no SELECT"),
        ("COPY data TO 'x.csv'", "query 1 is no SELECT"),
        ("SELECT 1; INSERT INTO data SELECT 1", "query 2 is no SELECT"),
        ("WITH x AS (DELETE FROM data RETURNING 1) SELECT 1 FROM x", "query 1 is no SELECT"),
        ("SELEKT 1 FROM data", "query 1 "),
        ("SELECT FROM WHERE", "query 1 "),
        ("SELECT 'open FROM data", "query 1 is no SQL"),
        ("", "query 1 is empty"),
        (" ; -- nothing", "query 1 is empty"),
        ("SELECT age FROM data", "query 1 on the source yields several rows, not one number"),
        ("SELECT age FROM data WHERE age > 99", "query 1 on the source yields no row"),
        ("SELECT 1, 2", "query 1 on the source yields 2 columns"),
        ("SELECT MIN(sex) FROM data", "query 1 on the source yields a string, not a number"),
        ("SELECT AVG(age) FROM data WHERE age > 99", "query 1 yields NULL on the source"),
        ("SELECT AVG(agee) FROM data", "query 1 on the source fails"),
        ("SELECT COUNT(*) FROM dater", "query 1 on the source fails"),
    ],
)
def test_refusals(sql: str, said: str) -> None:
    with pytest.raises(UtilityError) as caught:
        asked(sql)
    assert str(caught.value).startswith(said)


def test_a_column_that_is_not_released() -> None:
    columns = {**POLICY["columns"], "outcome": {"role": "identifying"}}
    with pytest.raises(UtilityError, match=r"query 1 on the release fails.*outcome"):
        asked("SELECT COUNT(outcome) FROM data", policy=changed(columns=columns))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(CAST(outcome AS INTEGER)) FROM data",
        "SELECT SUM(CAST(sex AS DATE) - DATE '2020-01-01') FROM data",
        "SELECT COUNT(*) FROM data WHERE error(outcome) IS NULL",
    ],
)
def test_messages_quote_no_values(sql: str) -> None:
    with pytest.raises(UtilityError) as caught:
        asked(sql)
    words = str(caught.value).replace("'", " ").replace('"', " ").split()
    assert not {"yes", "no", "F", "M"} & set(words)


def test_nothing_is_changed(tmp_path: Path) -> None:
    file = tmp_path / "people.duckdb"
    with duckdb.connect(file) as connection:
        connection.register("arriving", PEOPLE)
        connection.execute("CREATE TABLE people AS FROM arriving")
    before = file.read_bytes()
    policy = changed(source={"connection": f"duckdb:///{file}", "table": "people"})
    with sqlanon.load(policy) as anonymizer:
        anonymizer.utility(SCHEME, queries=5, sql="SELECT AVG(age) FROM data")
    assert file.read_bytes() == before
