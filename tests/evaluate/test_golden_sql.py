"""The SQL that counting and scoring run, as text in tests/golden and executed on a few rows.

SQLANON_UPDATE_GOLDEN=1 writes the files anew; read the difference before you commit it. The
expected answers below are worked out by hand and do not follow.
"""

from __future__ import annotations

from typing import Any

import duckdb
import pyarrow as pa
import pytest
from golden_files import GOLDEN, assert_golden

from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import count
from sqlanon.engines.protocol import Source
from sqlanon.engines.registry import open_source
from sqlanon.errors import UncoveredValueError
from sqlanon.evaluate.layout import FIRST_WORD_BITS
from sqlanon.evaluate.scoring_sql import ScoringQuery, class_sizes_sql


def test_the_page_shows_a_part_of_the_query() -> None:
    page = (GOLDEN.parents[1] / "docs" / "evaluation.md").read_text(encoding="utf-8")
    (shown,) = [block for block in page.split("```text\n") if block.startswith("classes AS (")]
    assert shown.split("\n```")[0] in (GOLDEN / "evaluate.sql").read_text(encoding="utf-8")


def test_every_golden_file_is_used() -> None:
    assert {path.stem for path in GOLDEN.glob("*.sql")} == {*COUNTING, *SCORING}


# Counting. The statements are taken from the tracer, so they have run.

PEOPLE = """
    SELECT * FROM (VALUES
        (1, 24, 'Rome', DATE '2001-05-06', 1.5::DOUBLE, 'yes', 0.4),
        (1, 24, 'Rome', DATE '2001-05-06', 1.5, 'no', 0.4),
        (2, 25, 'Rome', DATE '2000-01-01', 1.5, 'no', 0.5),
        (2, 70, 'O''Hare "x"', NULL, '-0'::DOUBLE, 'no', 3.0)
    ) AS people (who, age, "home town", born, score, label, floor)
"""
QUASIS = [
    Quasi("age", range=(0, 70), granularity=25),
    Quasi("home town"),
    Quasi("born", range=("2000-01-01", "2002-07-01"), granularity="year"),
    Quasi("score"),
    Quasi("floor", range=(0, 3), granularity=0.5),
]
COUNTING = {
    "count": {"facets": ["label"]},
    "count_people": {"subject": "who"},
    "count_people_by_value": {"subject": "who", "facets": ["label"]},
    "count_subjects": {"subject": "who"},
    "uncovered": {},
}


@pytest.fixture
def source() -> Source:
    # A view, so that the name in the text is short.
    connection = duckdb.connect()
    connection.execute(f"CREATE VIEW people AS {PEOPLE}")
    return open_source(connection=connection, table="people")


@pytest.mark.parametrize(
    ("name", "position", "wanted"),
    [
        ("count", 0, [(0, "Rome", 1, 1.5, 0, "no", 1), (0, "Rome", 1, 1.5, 0, "yes", 1),
                      (1, "Rome", 0, 1.5, 1, "no", 1), (2, 'O\'Hare "x"', None, 0.0, 5, "no", 1)]),
        ("count_subjects", 0, [(2, 0)]),
        ("count_people", 1, [(0, "Rome", 1, 1.5, 0, None, 1, 2), (1, "Rome", 0, 1.5, 1, 2, 1, 1),
                             (2, 'O\'Hare "x"', None, 0.0, 5, 2, 1, 1)]),
        ("count_people_by_value", 2, [(0, "Rome", 1, 1.5, 0, "no", None, 1, 1),
                                      (0, "Rome", 1, 1.5, 0, "yes", None, 1, 1),
                                      (1, "Rome", 0, 1.5, 1, "no", 2, 1, 1),
                                      (2, 'O\'Hare "x"', None, 0.0, 5, "no", 2, 1, 1)]),
    ],
)  # fmt: skip
def test_counting(source: Source, name: str, position: int, wanted: list[tuple]) -> None:
    with source.engine.tracer.watch() as seen:
        count(source, QUASIS, **COUNTING[name])
    assert_golden(name, seen[position].sql)
    assert rows_of(source.engine.fetch(seen[position].sql)) == wanted


def test_search_for_uncovered_values(source: Source) -> None:
    narrow = [Quasi("age", range=(0, 24), granularity=8)]
    with source.engine.tracer.watch() as seen, pytest.raises(UncoveredValueError):
        count(source, narrow)
    assert_golden("uncovered", seen[1].sql)
    assert rows_of(source.engine.fetch(seen[1].sql)) == [("25", 1), ("70", 1)]


def rows_of(table: pa.Table) -> list[tuple]:
    return sorted((tuple(row.values()) for row in table.to_pylist()), key=repr)


# Scoring. Column A has atoms 0, 1, 2, so bits 0 and 1; B has 0 and 1, so bit 2 (with two words,
# bit 0 of the second). The tuples A0 B0, A1 B0, A2 B0, A2 B1 have the masks 0, 1, 3, 7.
# Scheme 0 cuts A after 1 (bit 1), scheme 1 cuts everywhere.

TUPLES = "CREATE TABLE masks_1 AS FROM (VALUES (0, 2), (1, 1), (3, 3), (7, 1)) t (w0, people)"
TWO_WORDS = """
    CREATE TABLE masks_1 AS
    FROM (VALUES (0, 0, 2), (1, 0, 1), (3, 0, 3), (3, 1, 1)) t (w0, w1, people)
"""
LABELS = """
    CREATE TABLE masks_1 AS
    FROM (VALUES (0, 0, 1), (0, 1, 1), (1, 1, 1), (3, 0, 2), (3, 1, 1), (7, 0, 1))
    t (w0, label, people)
"""
# Subject 0 has a row in A1 B0 and two in A2 B0: it moves. The others stay.
MOVERS = """
    CREATE TABLE masks_1 AS
    FROM (VALUES (0, 2, 3, NULL), (1, 0, 1, 0), (3, 0, 2, 0), (3, 2, 2, NULL), (7, 1, 1, NULL))
    t (w0, people, n_rows, mover)
"""
MOVERS_LABELS = """
    CREATE TABLE masks_1_labels AS
    FROM (VALUES (0, 0, 2), (0, 1, 1), (1, 1, 1), (3, 0, 3), (3, 1, 1), (7, 1, 1))
    t (w0, label, n_rows)
"""
ONE = 1 << FIRST_WORD_BITS  # the number of scheme 1
SCHEMES = f"[0, {ONE}], [2, 7]"
SCORING: dict[str, tuple[dict[str, Any], list[str], str, list[tuple]]] = {
    "evaluate": (  # candidate, size, n_rows, n_classes
        {},
        [TUPLES],
        SCHEMES,
        [(0, 3, 3, 1), (0, 4, 4, 1), (1, 1, 2, 2), (1, 2, 2, 1), (1, 3, 3, 1)],
    ),
    "evaluate_rolled_up_in_two_words": (  # scheme 1 is one group here; the union keeps bit 1
        {"words": 2, "rolled_up": True},
        [TWO_WORDS],
        f"[0, {ONE}], [2, 0], [0, 0], 2, 0",
        [(0, 3, 3, 1), (0, 4, 4, 1), (1, 7, 7, 1)],
    ),
    "evaluate_details_in_two_words": (  # … is_class, k0, k1, …; below 3, at most 2 rows
        {"words": 2, "details": True},
        [TWO_WORDS],
        f"[0, {ONE}], [2, 3], [0, 1], 3, 2",
        [
            (0, 3, 0, 0, 0, 3, 1),
            (0, 4, 0, 0, 0, 4, 1),
            (1, 1, 0, 0, 0, 2, 2),
            (1, 1, 1, ONE | 1, 0, 1, 1),
            (1, 1, 1, ONE | 3, 1, 1, 1),
            (1, 2, 0, 0, 0, 2, 1),
            (1, 3, 0, 0, 0, 3, 1),
        ],
    ),
    "evaluate_labels": (  # candidate, size, n_rows, minority, n_classes
        {"labelled": True},
        [LABELS],
        SCHEMES,
        [(0, 3, 3, 1, 1), (0, 4, 4, 1, 1), (1, 1, 2, 0, 2), (1, 2, 2, 1, 1), (1, 3, 3, 1, 1)],
    ),
    "evaluate_movers": (  # candidate, size, n_rows, n_rows_squared, n_classes
        {"subjects": True, "movers": True},
        [MOVERS],
        SCHEMES,
        [(0, 3, 4, 16, 1), (0, 4, 5, 25, 1), (1, 1, 2, 2, 2), (1, 2, 3, 9, 1), (1, 3, 4, 16, 1)],
    ),
    "evaluate_movers_rolled_up": (  # both schemes cut A after 1, scheme 1 cuts B too
        {"subjects": True, "movers": True, "rolled_up": True},
        [MOVERS],
        f"[0, {ONE}], [2, 6], 6",
        [(0, 3, 4, 16, 1), (0, 4, 5, 25, 1), (1, 1, 1, 1, 1), (1, 3, 8, 32, 2)],
    ),
    "evaluate_movers_labels_details": (
        {"subjects": True, "movers": True, "labelled": True, "details": True},
        [MOVERS, MOVERS_LABELS],
        f"{SCHEMES}, 3, 2",
        [
            (0, 3, 0, 0, 4, 16, 2, 1),
            (0, 4, 0, 0, 5, 25, 2, 1),
            (1, 1, 0, 0, 2, 2, 0, 2),
            (1, 1, 1, ONE | 1, 1, 0, 0, 1),
            (1, 1, 1, ONE | 7, 1, 0, 0, 1),
            (1, 2, 0, 0, 3, 9, 1, 1),
            (1, 3, 0, 0, 4, 16, 1, 1),
        ],
    ),
}


@pytest.mark.parametrize("name", SCORING)
def test_scoring(name: str) -> None:
    changes, tables, arguments, wanted = SCORING[name]
    flags = dict.fromkeys(("subjects", "movers", "labelled"), False) | {"words": 1, **changes}
    query = ScoringQuery(*(flags.pop(name, False) for name in ("words", "rolled_up", "details")))
    sql = class_sizes_sql(query, "masks_1", **flags)
    assert_golden(name, sql)
    with duckdb.connect() as connection:
        for table in tables:
            connection.execute(table)
        connection.execute(f"PREPARE score AS {sql}")
        answer = connection.execute(f"EXECUTE score({arguments})").fetchall()
    assert sorted(answer) == wanted
