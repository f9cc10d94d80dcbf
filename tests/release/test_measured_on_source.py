"""The query that measures a scheme: its text, its answer on seven rows, and where it is offered.

Expected answers are worked out by hand on the rows of small_recipes.PEOPLE.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from command_line import Run
from golden_files import assert_golden
from small_recipes import AGE, PEOPLE, age, any_sex, city, recipe, sex
from small_table import POLICY, SCHEME, SCORES, changed, write_folder
from sqlglot import exp

import sqlanon
from sqlanon.domain.column import Column, Partition
from sqlanon.domain.scheme import Scheme
from sqlanon.engines import Kind
from sqlanon.engines.protocol import ColumnInfo
from sqlanon.errors import ArgumentError, CompileError
from sqlanon.metrics import METRICS, Metric, Remaining, formula
from sqlanon.release.compile import statement_text
from sqlanon.release.measured_on_source import _in_limit, compile_measurement, measurement_text
from sqlanon.release.order import Order

ILLNESS = ColumnInfo("disease", "VARCHAR", Kind.TEXT, nullable=True)
WEIGHTED = Column(AGE.domain, weight=3.0)


def weighted_age(**options: Any) -> Any:
    return replace(age(**options), column=WEIGHTED)


PLAIN = recipe(weighted_age(), sex(), k=1, name="people")
LABELLED = replace(PLAIN, k=3, limit=0.5, columns=(ILLNESS,), label="disease")
BY_PERSON = recipe(age(), any_sex(), k=2, limit=0.3, subject="person", name="people")
ORDERS: dict[str, Order] = {
    "plain": PLAIN,
    "suppression_and_labels": LABELLED,
    "people": BY_PERSON,
    "null": recipe(city(), k=2, limit=0.1, name="people"),
}
# Ages 20 24 24 | 25 39 | 60 90: groups of 5, 7 and 6 of 18 atoms. With sex the classes are
# (low, F) 3, (middle, M) 2, (high, F) 1, (high, M) 1.
LOST = 3 * 4 + 2 * 6 + 2 * 5
ANSWERS: dict[str, dict[str, Any]] = {
    "plain": {
        "k": 1, "k_max": 3, "classes": 4, "suppressed": 0, "dcn": 9 + 4 + 1 + 1,
        "nwp": 0.75 * LOST / 17 / 7, "glm": LOST / 17, "glm_share": LOST / 17 / 14,
        "necd": 2 / 6, "class_size": (7 / 4 - 1) / 6,
    },
    # Sizes 1 (2 rows) and 2 (2 rows) are below 3; only the first fits into 3.5 of 7 rows.
    "suppression_and_labels": {
        "k": 2, "k_max": 3, "classes": 2, "suppressed": 2, "dcn": 9 + 4 + 7 * 2,
        "nwp": (2 + 0.75 * (3 * 4 + 2 * 6) / 17) / 7, "glm": 4 + 24 / 17,
        "glm_share": (4 + 24 / 17) / 14, "necd": 1 / 6, "class_size": (7 / 3 - 1) / 6,
        # flu, flu, cold: one is in the minority; flu, cold: one.
        "ce": (2 + 2) / 7,
    },
    # Six people: two in each group of ages, one of them with two rows.
    "people": {
        "k": 2, "k_max": 2, "classes": 3, "suppressed": 0, "dcn": 9 + 4 + 4,
        "nwp": (LOST / 17 + 7) / 2 / 7, "glm": LOST / 17 + 7, "glm_share": (LOST / 17 + 7) / 14,
        "necd": 0, "class_size": (7 / 3 - 1) / 6,
    },
    # Italy 4 (2 of 5 atoms), Norway 2 (2 of 5), NULL 1, which stays: 0.7 rows may go.
    "null": {
        "k": 1, "k_max": 4, "classes": 3, "suppressed": 0, "dcn": 16 + 4 + 1,
        "nwp": 6 / 4 / 7, "glm": 6 / 4, "glm_share": 6 / 4 / 7, "necd": 3 / 6,
        "class_size": (7 / 3 - 1) / 6,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", ORDERS)
def test_the_text_and_its_answer(name: str) -> None:
    text = measurement_text(ORDERS[name])
    assert_golden(f"release/measure/{name}", text)
    with duckdb.connect() as connection:
        connection.execute(PEOPLE)
        (found,) = connection.sql(text.rstrip().rstrip(";")).to_arrow_table().to_pylist()
    whole = {"source_rows": 7, "source_people": 6 if name == "people" else 7, "uncovered": 0}
    assert found == pytest.approx(ANSWERS[name] | whole)


@pytest.mark.parametrize(
    "dialect", ["postgres", "spark", "sqlite", "snowflake", "bigquery", "tsql"]
)
def test_every_dialect_can_write_it(dialect: str) -> None:
    """Nothing in it that databases lack; the text in PostgreSQL's dialect is a golden file."""
    for name, order in ORDERS.items():
        text = statement_text(compile_measurement(replace(order, standard=True)), dialect)
        assert not any(
            word in text for word in ("QUALIFY", "DISTINCT FROM", "ASOF", "GROUP BY ALL")
        )
        if (dialect, name) == ("postgres", "people"):
            assert_golden("release/measure/people_postgres", text)


def test_rows_of_no_group_are_counted() -> None:
    """Rome, 4 rows, is no more in the hierarchy than an age of 90 in the range up to 85."""
    with duckdb.connect() as connection:
        connection.execute(PEOPLE)
        connection.execute("UPDATE people SET city = 'Paris' WHERE city = 'Rome'")
        connection.execute("UPDATE people SET age = 91 WHERE age = 24 AND city = 'Paris'")
        text = measurement_text(recipe(age(), city(), k=1))
        (found,) = connection.sql(text.rstrip().rstrip(";")).to_arrow_table().to_pylist()
    assert found["uncovered"] == 3


def test_names_of_the_user_hide_nothing() -> None:
    """Columns and a table with the names that the query has for its own."""
    renamed = Column(replace(AGE.domain, column="n_rows"))
    hostile = replace(age(), column=renamed)
    with duckdb.connect() as connection:
        connection.execute(PEOPLE)
        connection.execute("ALTER TABLE people RENAME age TO n_rows")
        connection.execute("ALTER TABLE people RENAME person TO people")
        connection.execute("ALTER TABLE people RENAME TO classes")
        order = recipe(hostile, any_sex(), k=2, subject="people")
        order = replace(order, source=exp.table_("classes", quoted=True))
        text = measurement_text(order)
        (found,) = connection.sql(text.rstrip().rstrip(";")).to_arrow_table().to_pylist()
    assert {name: found[name] for name in ANSWERS["people"]} == pytest.approx(ANSWERS["people"])


MEASURE = ("measure", "policy.yml", "--scheme", "scheme.json", "--on-source")


def test_the_source_measures_what_the_page_of_scores_works_out(tmp_path: Path, run: Run) -> None:
    write_folder(tmp_path)
    found = json.loads(run(*MEASURE, "--json").out)
    scores = {name: found.pop(name) for name in SCORES if name in found}
    assert {"k", "nwp", "necd", "glm", "dcn", "ce", "class_size", "ach"} <= scores.keys()
    assert scores == pytest.approx({name: SCORES[name] for name in scores}, abs=1e-11)
    assert run(*MEASURE).status == 0
    write_folder(tmp_path, changed(privacy={"k": 3}))
    assert run(*MEASURE).status == 3


def test_the_query_of_a_file_is_printed_for_its_engine(tmp_path: Path, run: Run) -> None:
    write_folder(tmp_path)
    printed = run("sql", "policy.yml", "--scheme", "scheme.json", "--part", "measure").out
    with duckdb.connect() as connection:
        (found,) = connection.sql(printed.rstrip().rstrip(";")).to_arrow_table().to_pylist()
    assert (found["k"], found["nwp"]) == (2, pytest.approx(SCORES["nwp"]))
    elsewhere = run(
        "sql", "policy.yml", "--scheme", "scheme.json", "--part", "measure", "--dialect", "spark"
    )
    assert "reads a table 'people'; copy people.csv into it" in elsewhere.out


def test_a_new_measure_appears_by_its_own_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    class Largest(Metric):
        """The share of the rows in the largest class."""

        key, kind, title, meaning, citation = "largest", "loss", "largest", "largest", "none"
        measure_sums: ClassVar[Mapping[str, str]] = {"largest_rows": "MAX(n_rows)"}

        def of(self, left: Remaining) -> Any:
            raise NotImplementedError

        @classmethod
        def measure_sql(cls, shares: Sequence[tuple[Column, exp.Expr]]) -> dict[str, exp.Expr]:
            return {"largest": formula("CAST(largest_rows AS DOUBLE) / source_rows")}

    monkeypatch.setitem(METRICS, "largest", Largest)
    with duckdb.connect() as connection:
        connection.execute(PEOPLE)
        text = measurement_text(ORDERS["plain"]).rstrip().rstrip(";")
        (found,) = connection.sql(text).to_arrow_table().to_pylist()
    assert found["largest"] == pytest.approx(3 / 7)


def test_models_are_not_measured_on_the_source() -> None:
    privacy = {"k": 2, "l_diversity": {"l": 2, "columns": ["outcome"]}}
    columns = POLICY["columns"] | {"outcome": {"role": "sensitive", "accept": "a test"}}
    policy = changed(privacy=privacy, columns=columns, source={})
    rows = pa.table({"age": [21, 23], "sex": ["F", "M"], "outcome": ["yes", "no"]})
    with sqlanon.load(policy, data=rows) as anonymizer:
        with pytest.raises(CompileError, match="without --on-source"):
            anonymizer.measure(SCHEME, on_source=True)
        with pytest.raises(ArgumentError, match="one of release, measure"):
            anonymizer.sql(SCHEME, part="counts")


LIMITS = [1 / 3, 0.33333333333333337, 0.12345678901234567, 0.07, 1e-7, 0.1 + 0.2, 1.0]
MANY = [3, 2999, 3000, 12_345_678, 10**11 + 1]


def run_of(dialect: str, request: pytest.FixtureRequest) -> Callable[[str], Any]:
    if dialect == "postgres":
        cursor = request.getfixturevalue("postgres").connect().cursor()
        request.addfinalizer(cursor.connection.close)
        request.addfinalizer(cursor.close)
        return lambda text: cursor.execute(text).fetchone()
    connection: Any = sqlite3.connect(":memory:") if dialect == "sqlite" else duckdb.connect()
    request.addfinalizer(connection.close)
    return lambda text: connection.execute(text).fetchone()


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgres"])
def test_a_limit_of_many_digits_is_exact(dialect: str, request: pytest.FixtureRequest) -> None:
    """More than floor(limit · rows) rows are above the limit, as Python's fractions say."""
    run = run_of(dialect, request)
    for limit, rows in product(LIMITS, MANY):
        parts, times, most = _in_limit(limit, exp.column("n"))
        table = exp.select(exp.cast(exp.convert(rows), "bigint").as_("n")).subquery("t")
        fitting = math.floor(Fraction(str(limit)) * rows)
        for number in (fitting - 1, fitting, fitting + 1):
            above = exp.GT(
                this=exp.cast(exp.convert(number), "bigint") * parts, expression=times * most.copy()
            )
            (found,) = run(exp.select(above).from_(table).sql(dialect))
            assert bool(found) == (number > fitting), (limit, rows, number)


def test_a_limit_of_many_digits_is_measured_on_the_source() -> None:
    """Of 3,000 rows 999 may be left out: those of 333 classes of 3, and not those of 334."""
    for small, suppressed in ((333, 999), (334, 0)):
        ages = [i // 3 for i in range(3 * small)] + [1000] * (3000 - 3 * small)
        document = {
            "one_row_per_person": True, "others": "drop", "columns": {"age": {"role": "quasi"}},
            "privacy": {"k": 5}, "suppression": {"limit": 0.3333333333333333},
        }  # fmt: skip
        with sqlanon.load(document, data=pa.table({"age": ages})) as anonymizer:
            column = anonymizer.histogram.space.columns[0]
            scheme = Scheme((column,), (Partition.from_bits(np.ones(column.size - 1, bool)),))
            assert anonymizer.measure(scheme, on_source=True).scores["suppressed"] == suppressed
