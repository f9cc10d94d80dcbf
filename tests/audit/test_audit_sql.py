"""The SQL of the audit, as text in tests/golden/audit and executed on a few rows.

SQLANON_UPDATE_GOLDEN=1 writes the files anew; read the difference before you commit it. The
expected answers below are worked out by hand and do not follow.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from decimal import Decimal

import duckdb
import golden_files
import pytest
from golden_files import assert_golden
from sqlglot import exp

from sqlanon.audit.auditor import Population, audit, reference_of, smallest_classes
from sqlanon.audit.column_findings import (
    column_findings,
    rows_unique_over,
    rows_unique_over_each,
)
from sqlanon.audit.staged_release import Expected, pseudonym_problems, verify_release
from sqlanon.audit.table_hash import hashed_rows, table_hash
from sqlanon.engines.protocol import Source
from sqlanon.engines.registry import open_source

GOLDEN = golden_files.GOLDEN / "audit"

# Ann has rows in both classes of ages, Bob in one; two towns differ in case alone.
VISITS = """
    CREATE TABLE visits AS
    SELECT * FROM (VALUES
        ('Ann', 24, 'Rome', 0.0::DOUBLE, 'flu'),
        ('Ann', 24, 'Rome', '-0'::DOUBLE, NULL),
        ('Bob', 24, 'Rome', 0.0, 'flu'),
        ('Ann', NULL, 'rome', 'nan'::DOUBLE, 'flu')
    ) AS v (who, age, "the ""town"" of", score, ill)
"""
QUASI = ["age", 'the "town" of', "score"]


@pytest.fixture
def source() -> Iterator[Source]:
    with duckdb.connect() as connection:
        connection.execute(VISITS)
        connection.execute("CREATE VIEW hashed AS SELECT who, md5(who) AS p FROM visits")
        yield open_source(connection=connection, table="visits")


def run(source: Source, name: str) -> None:
    if name in ("classes", "values_of_classes"):
        audit(source, QUASI, sensitive=["ill"])
    elif name.startswith(("classes", "values_of_classes", "values_of_table", "people", "unnamed")):
        audit(source, QUASI, subject="who", sensitive=["ill"])
    elif name in ("all_people", "labelled_classes"):
        audit(source, QUASI, population=Population(source, "who"))
    elif name == "values_of_a_float":
        reference_of(source, "score")
    elif name in ("smallest", "samples"):
        smallest_classes(source, QUASI, subject="who", limit=2)
    elif name == "values_of_a_text":
        column_findings(source, ["ill"], subject="who")
    elif name == "values_of_a_number":
        column_findings(source, ["score"])
    elif name == "values_of_columns":
        column_findings(source, ["ill", "score"])
    elif name == "unique_rows":
        rows_unique_over(source, QUASI, subject="who")
    elif name == "unique_rows_of_lists":
        rows_unique_over_each(source, [["age"], ["who", "age"]])
    elif name in ("held_values", "majority"):
        expected = Expected(("score",), 1, {"score": frozenset()}, 4, 0, label="ill")
        verify_release(source, expected)
    elif name.startswith("pseudonyms") or name == "pieces_of_keys":
        hashed = Source.of(source.engine, exp.to_table("hashed", quoted=True), "hashed")
        behind = hashed.column("who") if name == "pseudonyms_of_people" else None
        key = "my key " + MD5_OF_BOB[4:22]
        list(pseudonym_problems(source.engine, hashed.relation, hashed.column("p"), key, behind))
    elif name in ("held_pairs", "majority_without_marked", "marked"):
        pair = ('the "town" of', "age")
        quasi = {pair[0]: None, pair[1]: frozenset({"rome"})}
        wanted = Expected(pair, 1, quasi, 4, 0, marker="rome", pairs=(pair,), label="ill")
        verify_release(source, wanted)
    elif name == "fingerprint_of_people":
        hashed_rows(source, ["who"], subject="who")
    else:
        version = 1 if name.endswith("_1") else 2
        table_hash(source, ["age", "score"], version, grouped=name != "fingerprint_by_rows")


def sums(*texts: str) -> list[Decimal]:
    """The sums of the quarters of the MD5 of the rows' texts."""
    digits = [hashlib.md5(text.encode()).hexdigest() for text in texts]
    return [Decimal(sum(int(d[i : i + 8], 16) for d in digits)) for i in range(0, 32, 8)]


# The texts of the rows over age and score: the bits of 0.0 are all 0.
TEXTS = ["2:241:0", "2:241:0", "2:241:0", "-1:3:nan"]
TEXTS_1 = ["2:243:0.0", "2:243:0.0", "2:243:0.0", "-1:3:nan"]
MD5_OF_BOB = hashlib.md5(b"Bob").hexdigest()

# The name of a golden file, the words its statement begins with, and the answer.
CASES: dict[str, tuple[str, list[tuple]]] = {
    # n_rows, n_people, n_classes
    "classes": ("the number of classes", [(1, 1, 1), (3, 3, 1)]),
    "classes_of_people": ("the number of classes", [(1, 1, 1), (3, 2, 1)]),
    # the size of the smallest class of Ann, and of Bob
    "people": ("people whose smallest class has it", [(1, 1), (2, 1)]),
    "unnamed": ("of rows without a subject", [(4, 0)]),
    # class, is_class, value, people, rows
    "values_of_classes": (
        "one row per class and value",
        [(1, 0, "flu", 2, 2), (1, 0, None, 1, 1), (1, 1, None, 3, 3),
         (2, 0, "flu", 1, 1), (2, 1, None, 1, 1)],
    ),
    "values_of_classes_of_people": (
        "one row per class and value",
        [(1, 0, "flu", 2, 2), (1, 0, None, 1, 1), (1, 1, None, 2, 3),
         (2, 0, "flu", 1, 1), (2, 1, None, 1, 1)],
    ),
    "values_of_table": ("the people with that value; NULL", [("flu", 2), (None, 1)]),
    "values_of_a_float": ("the people with that value; NULL", [("0.0", 3), ("nan", 1)]),
    "all_people": ("one row: its people", [(2,)]),
    "labelled_classes": (
        "one row per class, its values as text",
        [("24", "Rome", "0.0", 3, 2), (None, "rome", "nan", 1, 1)],
    ),
    "smallest": (
        "its smallest classes",
        [("24", "Rome", "0.0", 3, 2), (None, "rome", "nan", 1, 1)],
    ),
    "samples": (
        "rows of its smallest classes",
        [("Ann", "24", "Rome", "-0.0", None), ("Ann", None, "rome", "nan", "flu")],
    ),
    # place, values, entries, alone, characters; blanks, and the six forms
    "values_of_a_text": ("one row per column", [(0, 1, 2, 0, 6, *[0] * 7)]),
    "values_of_a_number": ("one row per column", [(0, 2, 4, 1, 0)]),
    "values_of_columns": (
        "one row per column", [(0, 1, 3, 0, 9, *[0] * 7), (1, 2, 4, 1, *[0] * 8)],
    ),
    "unique_rows": ("rows whose combination", [(0, 1)]),
    # one row has no age; one Ann has none, and Bob is alone
    "unique_rows_of_lists": ("rows whose combination", [(0, 1), (1, 2)]),
    # value, rows, of which marked
    "held_values": ("per distinct value of one column, or pair", [(0.0, 3, 0), ("nan", 1, 0)]),
    "held_pairs": (
        "per distinct value of one column, or pair", [("Rome", 24, 3, 0), ("rome", None, 1, 1)],
    ),
    # of 0.0 two rows have the flu and one NULL, of NaN one has the flu
    "majority": ("the most frequent label of their class", [(3,)]),
    "majority_without_marked": ("the most frequent label of their class", [(2,)]),
    "marked": ("the rows that are marked as suppressed, and their people", [(1, 1)]),
    # pseudonyms, values (unless they are known: none), pairs of both, and rows of another form
    "pseudonyms": ("distinct pseudonyms", [(2, 0, 2, 0)]),
    "pseudonyms_of_people": ("distinct pseudonyms", [(2, 2, 2, 0)]),
    # rows, those that are unique, and the sums
    "fingerprint": ("quarter of the rows'", [(4, 1, *sums(*TEXTS))]),
    "fingerprint_1": ("quarter of the rows'", [(4, 1, *sums(*TEXTS_1))]),
    "fingerprint_by_rows": ("quarter of the rows'", [(4, 0, *sums(*TEXTS))]),
    # three rows have the values of Ann alone, one has those of Bob alone
    "fingerprint_of_people": ("quarter of the rows'", [(4, 4, *sums(*3 * ["3:Ann"], "3:Bob"))]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_statements(source: Source, name: str) -> None:
    opening, wanted = CASES[name]
    with source.engine.tracer.watch() as seen:
        run(source, name)
    sql = next(each.sql for each in seen if opening in each.sql)
    assert_golden(f"audit/{name}", sql)
    rows = [tuple(row.values()) for row in source.engine.fetch(sql).to_pylist()]
    plain = [tuple("nan" if value != value else value for value in row) for row in rows]
    assert sorted(plain, key=repr) == sorted(wanted, key=repr)


def test_the_search_for_pieces_of_a_key(source: Source) -> None:
    """Four rows, one of Bob, whose hash holds a part of the key; the log does not have it."""
    with source.engine.tracer.watch() as seen:
        run(source, "pieces_of_keys")
    sql = seen[-1].sql
    assert_golden("audit/pieces_of_keys", sql)
    assert MD5_OF_BOB[4:20] not in sql
    names = sorted(set(re.findall(r"piece_\d+", sql)))
    pieces = {name: MD5_OF_BOB[4 + i : 20 + i] for i, name in enumerate(names)}
    assert source.engine.fetch(sql, pieces).to_pylist() == [{"n_rows": 1}]


def test_every_golden_file_is_used() -> None:
    assert {path.stem for path in GOLDEN.glob("*.sql")} == {*CASES, "pieces_of_keys"}


def test_no_statement_holds_a_value(source: Source) -> None:
    """Logs carry statements: names of columns, and never what is in them."""
    with source.engine.tracer.watch() as seen:
        for name in (*CASES, "pieces_of_keys"):
            run(source, name)
    for each in seen:
        assert not any(value in each.sql for value in ("Ann", "Bob", "Rome", "flu"))
