"""The SQL of a release as text in tests/golden/release, and executed on seven rows.

SQLANON_UPDATE_GOLDEN=1 writes the files anew; read the difference before you commit it. The
expected answers are worked out by hand and do not follow.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot
from small_recipes import AGE, PEOPLE, RECIPES, age, recipe, sex
from sqlglot import exp

from sqlanon.domain import Generalized
from sqlanon.domain.atoms import IntervalDomain
from sqlanon.domain.column import Column, Partition
from sqlanon.domain.presentation import Form, Output
from sqlanon.engines.protocol import Kind
from sqlanon.errors import CompileError
from sqlanon.release.compile import compile_release, compile_uncovered, release_text, statement_text
from sqlanon.release.order import Order, Pseudonym

GOLDEN = Path(__file__).parent.parent / "golden" / "release"
KEY = "secret"
N = None


def pseudonym(value: str) -> str:
    inner = hashlib.sha256(f"{KEY}{value}".encode()).hexdigest()
    return hashlib.sha256(f"{KEY}{inner}".encode()).hexdigest()[:32]


UNKNOWN = "(not in the scheme)"
LOW, MIDDLE, HIGH = "[0, 25)", "[25, 60)", "[60, 90]"
ANSWERS: dict[str, list[tuple[Any, ...]]] = {
    "case": [
        (LOW, "Italy", "*", "cold"), (LOW, "Italy", "*", "flu"), (LOW, "Italy", "*", "flu"),
        (MIDDLE, "Norway", "*", "cold"), (MIDDLE, "Norway", "*", "flu"),
        (HIGH, "Italy", "*", "cold"), (HIGH, N, "*", "flu"),
    ],
    "range_join": [
        (LOW, "F", "cold"), (LOW, "F", "flu"), (LOW, "F", "flu"), (MIDDLE, "M", "cold"),
        (MIDDLE, "M", "flu"), (HIGH, "F", "cold"), (HIGH, "M", "flu"),
    ],
    "range_join_with_gaps": [("[20, 25)",)] * 3 + [("25",)] + [("[39, 90]",)] * 3,
    "mapping_join": [
        ("Italy", "cold"), ("Italy", "cold"), ("Italy", "flu"), ("Italy", "flu"),
        ("Norway", "cold"), ("Norway", "flu"), (N, "flu"),
    ],
    # The last two rows are alone in their classes.
    "suppression_by_rows": [(LOW, "Italy")] * 3 + [(MIDDLE, "Norway")] * 2,
    # Below 25 are three rows of two people; every class has two.
    "suppression_by_subject": [(LOW,)] * 3 + [(MIDDLE,)] * 2 + [(HIGH,)] * 2,
    "marker": [
        ("(too few)", "(too few)", "cold"), ("(too few)", "(too few)", "flu"),
        (LOW, "F", "cold"), (LOW, "F", "flu"), (LOW, "F", "flu"),
        (MIDDLE, "M", "cold"), (MIDDLE, "M", "flu"),
    ],
    "pseudonym": [
        (pseudonym(person), sex)
        for person, sex in ("1F", "1F", "2F", "3M", "4M", "5F", "6M")
    ],
    "bounds": [(0, 25, "F")] * 3 + [(25, 60, "M")] * 2 + [(60, 90, "F"), (60, 90, "M")],
    "midpoint": [(Decimal("12.5"), "F")] * 3 + [(Decimal("42.5"), "M")] * 2
    + [(Decimal(75), "F"), (Decimal(75), "M")],
    "open_ends": [("60+", "Italy"), ("60+", "unknown")]
    + [("<25", "Italy")] * 3 + [(MIDDLE, "Norway")] * 2,
    "unseen_left_out": [
        (LOW, "Italy", "F"), (LOW, "Italy", "F"), (LOW, "Italy", "F"), (MIDDLE, "Norway", "M"),
        (MIDDLE, "Norway", "M"), (HIGH, "Italy", "F"), (HIGH, N, "M"),
    ],
    "unseen_at_top": [(LOW, "Italy")] * 3 + [(MIDDLE, "Norway")] * 2 + [(HIGH, "Italy"), (HIGH, N)],
    "guarded": [(LOW, "F")] * 3 + [(MIDDLE, "M")] * 2,
    "guarded_by_subject": [
        (LOW, "F", "cold"), (LOW, "F", "flu"), (LOW, "F", "flu"),
        (MIDDLE, "M", "cold"), (MIDDLE, "M", "flu"),
    ],
}  # fmt: skip
ANSWERS["open_ends_join"] = ANSWERS["open_ends"]
# Later an age beyond the range, a city and a sex that nobody knew, and a NULL that is known.
NEWCOMERS = "INSERT INTO people VALUES (7, 91, 'Rome', 'F', 'flu'), (8, 24, 'Paris', NULL, 'flu')"
LATER = {
    "case": [(UNKNOWN, "Italy", "*", "flu"), (LOW, UNKNOWN, "*", "flu")],
    "range_join_with_gaps": [(UNKNOWN,), ("[20, 25)",)],
    "open_ends": [("60+", "Italy"), ("<25", UNKNOWN)],
    "open_ends_join": [("60+", "Italy"), ("<25", UNKNOWN)],
    "unseen_left_out": [],
    "unseen_at_top": [("*", "Italy"), (LOW, "Europe")],
    "bounds": [(N, N, "F"), (0, 25, N)],
    "midpoint": [(N, "F"), (Decimal("12.5"), N)],
    "guarded": [],
    "guarded_by_subject": [],
}  # fmt: skip
UNSEEN = {
    "case": (1, 1, 0), "open_ends": (0, 1), "unseen_at_top": (0, 0), "bounds": (1, 1),
    "range_join": (1, 1), "open_ends_join": (0, 1), "range_join_with_gaps": (1,),
}  # fmt: skip


@pytest.fixture
def connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(PEOPLE)
    return connection


def text_of(name: str, dialect: str = "duckdb") -> str:
    return release_text(RECIPES[name], dialect, guarded=name.startswith("guarded"))


def assert_golden(name: str, text: str) -> None:
    path = GOLDEN / f"{name}.sql"
    if os.environ.get("SQLANON_UPDATE_GOLDEN") == "1":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def rows_of(connection: duckdb.DuckDBPyConnection, text: str) -> list[tuple[Any, ...]]:
    parameters = {"sqlanon_key_1": KEY} if "$sqlanon_key_1" in text else None
    return connection.execute(text, parameters).fetchall()


def in_order(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """By code point, NULL last."""
    return sorted(rows, key=lambda row: [(cell is None, cell) for cell in row])


@pytest.mark.parametrize("name", RECIPES)
def test_text_and_answer(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    text = text_of(name)
    assert_golden(name, text)
    assert rows_of(connection, text) == in_order(ANSWERS[name])


@pytest.mark.parametrize("name", LATER)
def test_rows_that_came_later(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    connection.execute(NEWCOMERS)
    wanted = in_order([*ANSWERS[name], *LATER[name]])
    assert in_order(rows_of(connection, text_of(name))) == wanted


@pytest.mark.parametrize("name", UNSEEN)
def test_the_count_of_unseen_values(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    statement = statement_text(compile_release(RECIPES[name]).counts, "duckdb")

    def counted() -> tuple[int, ...]:
        """The rows, the people where each row is one, and the unseen values of each column."""
        (row,) = connection.execute(statement).fetchall()
        return tuple(row)

    nobody = tuple(0 for _ in UNSEEN[name])
    assert counted() == (7, 7, *nobody)
    connection.execute(NEWCOMERS)
    assert counted()[2:] == UNSEEN[name]
    connection.execute("DELETE FROM people")
    assert counted() == (0, 0, *nobody)


@pytest.mark.parametrize("form", [Form.CASE, Form.JOIN])
def test_values_of_no_group_are_listed(connection: duckdb.DuckDBPyConnection, form: Form) -> None:
    """Most rows first; beyond both ends of the range, and NULL where there was none."""
    connection.execute(
        "INSERT INTO people SELECT 9, unnest([-1, 91, 91, 91, NULL, NULL]), 'Rome', 'F', 'flu'"
    )
    statement = compile_uncovered(recipe(age(form=form), sex()), "age")
    found = connection.execute(statement_text(statement, "duckdb")).fetchall()
    assert found == [("91",), (None,), ("-1",)]


def test_a_gap_between_groups(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("INSERT INTO people VALUES (9, 30, 'Rome', 'F', 'flu')")
    wanted = in_order([*ANSWERS["range_join_with_gaps"], (UNKNOWN,)])
    assert rows_of(connection, text_of("range_join_with_gaps")) == wanted


@pytest.mark.parametrize("dialect", ["postgres", "spark"])
@pytest.mark.parametrize("name", RECIPES)
def test_other_dialects_read_back_the_same(name: str, dialect: str) -> None:
    lines = [line for line in text_of(name, dialect).splitlines() if not line.startswith("--")]
    text = "\n".join(lines)
    parsed = sqlglot.parse_one(text, dialect=dialect)
    assert parsed.sql(dialect, pretty=True, identify=True) + ";" == text


@pytest.mark.parametrize(
    ("name", "dialect"),
    [
        ("suppression_by_rows", "spark"),
        ("pseudonym", "postgres"),
        ("range_join", "postgres"),
        ("range_join_with_gaps", "postgres"),
        ("open_ends_join", "postgres"),
        ("guarded", "postgres"),
        ("guarded_by_subject", "postgres"),
    ],
)
def test_text_in_another_dialect(name: str, dialect: str) -> None:
    assert_golden(f"{name}_{dialect}", text_of(name, dialect))


def test_parameters_are_numbered_where_the_database_numbers_them() -> None:
    """By the order of the statement; and a percent sign is one, as no driver reads it."""
    items = (Pseudonym("person", "one"), Pseudonym("city", "two"), *RECIPES["pseudonym"].items[1:])
    several = replace(RECIPES["pseudonym"], items=items, marker="5 %", suppress=True, header=("x",))
    text = release_text(several, "postgres")
    _, person, city, *_ = text.splitlines()
    assert person == "-- $1 is the key of the pseudonyms in 'person', not written here"
    assert city == "-- $2 is the key of the pseudonyms in 'city', not written here"
    assert (text.count("$1 ||"), text.count("$2 ||")) == (2, 2)
    assert ("%(" in text, "'5 %'" in text) == (False, True)
    statement = sqlglot.parse_one(text, dialect="postgres")
    assert len(list(statement.find_all(exp.Parameter))) == 4
    assert "-- $one is the key of the pseudonyms in 'person'" in release_text(several)


AMOUNT = IntervalDomain.of_range("amount", Kind.DECIMAL, Decimal(0), Decimal(10), Decimal("2.5"))


@pytest.mark.parametrize("form", [Form.CASE, Form.JOIN])
@pytest.mark.parametrize(
    ("domain", "output", "type_"),
    [
        (AGE.domain, Output.MIDPOINT, "DECIMAL(18,1)"),
        (AMOUNT, Output.MIDPOINT, "DECIMAL(18,2)"),
        (AMOUNT, Output.LOWER, "DECIMAL(18,1)"),
        (AMOUNT, Output.BOUNDS, "DECIMAL(18,1)"),
        (IntervalDomain.of_range("big", Kind.INTEGER, 0, 10**20, 10**19), Output.MIDPOINT,
         "DECIMAL(38,1)"),
    ],
)  # fmt: skip
def test_numbers_have_the_same_type_under_every_scheme(
    domain: IntervalDomain, output: Output, type_: str, form: Form
) -> None:
    column, size = Column(domain), domain.width
    for partition in (Partition.whole(size), Partition(size, (0,)), Partition(size, (1,)),
                      Partition.atoms(size)):  # fmt: skip
        item = Generalized(column, partition, "HUGEINT", output=output, form=form)
        made = Order(exp.table_("t", quoted=True), (item,), k=1)
        with duckdb.connect() as connection:
            connection.execute(f"CREATE TABLE t AS SELECT 1::HUGEINT AS {domain.column}")
            answer = connection.execute(release_text(made))
            assert [str(each[1]) for each in answer.description or ()] == [type_] * len(
                item.released_names
            )


def test_an_asof_join_is_never_printed_for_another_database() -> None:
    select = compile_release(RECIPES["range_join"]).select
    with pytest.raises(CompileError, match="ASOF join cannot be written in postgres"):
        statement_text(select, "postgres")


def test_every_golden_file_is_used() -> None:
    others = {
        "suppression_by_rows_spark", "pseudonym_postgres", "range_join_postgres",
        "range_join_with_gaps_postgres", "open_ends_join_postgres",
        "guarded_postgres", "guarded_by_subject_postgres",
    }  # fmt: skip
    assert {path.stem for path in GOLDEN.glob("*.sql")} == {*RECIPES, *others}


def test_suppression_joins_by_plain_equality() -> None:
    """PostgreSQL compares row by row for a NULL-safe join, and BigQuery refuses one."""
    for path in GOLDEN.rglob("*.sql"):
        assert "IS NOT DISTINCT FROM" not in path.read_text(encoding="utf-8"), path.name
