"""Lists that are too long for a statement are loaded as tables: the same release, a short text.

That the forms of a list give the same rows is what CASE, join and loaded table are compared for;
what a release must hold is counted by hand.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import sqlite3
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from command_line import Run
from golden_files import assert_golden
from sqlglot import exp

import sqlanon
from sqlanon import Scheme
from sqlanon.domain.column import Partition
from sqlanon.engines import insert_rows
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import CompileError, PublishError, VerificationError
from sqlanon.release import generalize, lists

LEAVES = 12


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A statement may hold three rows of a list."""
    for module in (generalize, lists):
        monkeypatch.setattr(module, "MOST_WRITTEN", 3)


def hierarchy(folder: Path) -> str:
    lines = [f"place {i},district {i // 3},*\n" for i in range(LEAVES)]
    (folder / "places.csv").write_text("".join(lines))
    return str(folder / "places.csv")


def people(path: str = ":memory:") -> duckdb.DuckDBPyConnection:
    """Two people in each of twelve places, none from the thirteenth."""
    connection = duckdb.connect(path)
    connection.execute(
        "CREATE TABLE people AS SELECT i AS id, 'place ' || (i // 2) AS place, "
        "i % 3 AS ill FROM range(24) AS r(i)"
    )
    return connection


def policy_of(folder: Path, **keys: Any) -> dict[str, Any]:
    return {
        "source": {"table": "people"},
        "columns": {
            "id": {"role": "identifying"},
            "place": {"role": "quasi", "hierarchy": hierarchy(folder), "form": "join"},
            "ill": {"role": "sensitive"},
        },
        "one_row_per_person": True,
        "privacy": {"k": 2, "l_diversity": {"l": 2}},
        "publish": {"to": "anon"},
    } | keys


# Districts of three places, the last two of them as single places.
CUTS = {"place": {"groups": [
    *([f"place {3 * d + i}" for i in range(3)] for d in range(2)),
    *([f"place {i}"] for i in range(6, LEAVES)),
]}}  # fmt: skip
RELEASED = [("district 0", 6), ("district 1", 6), *((f"place {i}", 2) for i in range(6, LEAVES))]


def released(connection: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    rows = connection.sql("SELECT place, count(*) FROM anon GROUP BY 1").fetchall()
    return sorted(rows, key=RELEASED.index)


def tables(connection: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    return connection.sql("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("begun", [False, True], ids=["own transaction", "the caller's"])
def test_a_list_is_loaded_and_goes(tmp_path: Path, begun: bool) -> None:
    connection = people()
    if begun:
        connection.execute("BEGIN TRANSACTION")
    with sqlanon.load(policy_of(tmp_path), connection=connection) as anonymizer:
        shown = anonymizer.dry_run({"columns": CUTS})
        release = anonymizer.publish({"columns": CUTS})
    if begun:
        connection.execute("COMMIT")
    assert released(connection) == RELEASED
    assert tables(connection) == [("anon",), ("people",)]
    assert connection.sql("SELECT count(*) FROM duckdb_views() WHERE NOT internal").fetchall() == [
        (0,)
    ]
    for statements in (shown, release.statements):
        assert not any("'place 7'" in statement for statement in statements)
        (made,) = (each for each in statements if "with 12 rows" in each)
        assert made.splitlines()[2:] == ['  "value" TEXT,', '  "label" TEXT', ")"]
    name = '"temp"."main"."sqlanon_stage_list_1"'
    assert shown[1].splitlines()[1] == f"CREATE TEMPORARY TABLE {name} ("
    assert shown[-2] == f"DROP TABLE {name}"
    assert_golden("release/lists/loaded", shown[1])


@pytest.mark.usefixtures("short")
def test_values_that_are_in_no_group_are_counted(tmp_path: Path) -> None:
    connection = people()
    connection.execute("INSERT INTO people VALUES (99, 'place 99', 1)")
    policy = policy_of(tmp_path, publish={"to": "anon", "unseen": "leave_out"})
    scheme = tmp_path / "scheme.json"
    scheme.write_text('{"columns": {"place": {"level": 1}}}')
    with sqlanon.load(policy, connection=connection) as anonymizer:
        release = anonymizer.publish(scheme)
    assert (release.rows, release.left_out, release.unseen) == (24, 1, {"place": 1})


@pytest.mark.usefixtures("short")
def test_a_release_that_fails_leaves_no_list(tmp_path: Path) -> None:
    connection = people()
    policy = policy_of(tmp_path, privacy={"k": 3, "homogeneity": {"accept": "a test"}})
    connection.execute("BEGIN TRANSACTION")
    with (
        sqlanon.load(policy, connection=connection) as anonymizer,
        pytest.raises(VerificationError),
    ):
        anonymizer.publish({"columns": CUTS})
    assert tables(connection) == [("people",)]
    connection.execute("COMMIT")


@pytest.mark.usefixtures("short")
def test_the_sql_says_what_it_reads(tmp_path: Path) -> None:
    connection = people()
    with sqlanon.load(policy_of(tmp_path), connection=connection) as anonymizer:
        text = anonymizer.sql({"columns": CUTS})
        release = anonymizer.publish({"columns": CUTS})
    header = "-- reads the table 'place_list' (value, label): 12 rows, too many to be written here"
    for shown in (text, release.certificate.to_dict()["sql"]):
        assert header in shown
        assert 'FROM "place_list"' in shown
        assert "place 7" not in shown
    # With such a table the statement yields the release.
    rows = [(f"place {i}", f"district {i // 3}" if i < 6 else f"place {i}") for i in range(LEAVES)]
    connection.execute("CREATE TABLE place_list (value TEXT, label TEXT)")
    connection.executemany("INSERT INTO place_list VALUES (?, ?)", rows)
    connection.execute(f"CREATE OR REPLACE TABLE anon AS {text.rstrip().rstrip(';')}")
    assert released(connection) == RELEASED


@pytest.mark.usefixtures("short")
def test_lists_are_written_for_a_database_elsewhere(tmp_path: Path, run: Run) -> None:
    """Loaded as the tables that the printed query reads, they make the same release."""
    path = tmp_path / "people.duckdb"
    with duckdb.connect(path) as made, closing(people()) as source:
        made.register("source", source.sql("SELECT * FROM people").to_arrow_table())
        made.execute("CREATE TABLE people AS SELECT * FROM source")
    policy = policy_of(tmp_path)
    policy["source"] = {"connection": f"duckdb:///{path}", "table": "people"}
    (tmp_path / "policy.yml").write_text(json.dumps(policy))
    (tmp_path / "cuts.json").write_text(json.dumps({"columns": CUTS}))
    done = run("sql", "policy.yml", "--scheme", "cuts.json", "--lists", ".")
    assert done.status == 0, done.err
    written = tmp_path / "place_list.parquet"
    assert "12 rows of the table 'place_list'" in done.err
    if os.name == "posix":
        assert written.stat().st_mode & 0o777 == 0o600
    with duckdb.connect(path) as made:
        made.execute(f"CREATE TABLE place_list AS FROM '{written}'")
        made.execute(f"CREATE TABLE anon AS {done.out.rstrip().rstrip(';')}")
        assert released(made) == RELEASED


def test_a_view_keeps_its_list_up_to_a_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, short: None
) -> None:
    connection = people()
    policy = policy_of(tmp_path, publish={"to": "anon", "mode": "view"})
    with sqlanon.load(policy, connection=connection) as anonymizer:
        anonymizer.publish({"columns": CUTS})
        assert released(connection) == RELEASED
        monkeypatch.setattr(lists, "MOST_IN_VIEW", 11)
        for use in (anonymizer.publish, anonymizer.sql):
            with pytest.raises((CompileError, PublishError), match="'place': the view would list"):
                use({"columns": CUTS})


KINDS: list[tuple[str, list[Any]]] = [
    ("INTEGER", [*range(-6, 6)]),
    ("HUGEINT", [n * 10**25 for n in range(12)]),
    ("HUGEINT", [2**126 + n for n in range(12)]),  # too long for a decimal: stays in the text
    ("DECIMAL(9, 3)", [Decimal(n) / 8 for n in range(12)]),
    ("DOUBLE", [*(n / 10 for n in range(10)), float("inf"), float("nan")]),
    ("DATE", [dt.date(1890 + 11 * n, 2, 28) for n in range(12)]),
    ("TIMESTAMP", [dt.datetime(1890 + n, 2, 28, 1, 2, 3, 456789) for n in range(12)]),
    ("TIMESTAMPTZ", [dt.datetime(1990 + n, 2, 28, 1, tzinfo=dt.UTC) for n in range(12)]),
    ("TIMESTAMP_NS", [f"2001-01-01 00:00:00.{n:09}" for n in range(100, 112)]),
    ("VARCHAR", [*"abcdefghij", "ä", "'"]),
]


@pytest.mark.parametrize("open_ends", [False, True])
@pytest.mark.parametrize(("type_", "values"), KINDS, ids=lambda each: str(each)[:14])
def test_every_kind_of_value(
    monkeypatch: pytest.MonkeyPatch, type_: str, values: list[Any], open_ends: bool
) -> None:
    """Loaded or written, a list releases the same: single values and groups of several."""
    found = []
    for most in (3, 5_000):
        for module in (generalize, lists):
            monkeypatch.setattr(module, "MOST_WRITTEN", most)
        connection = duckdb.connect()
        connection.execute(f"CREATE TABLE people (v {type_})")
        connection.executemany("INSERT INTO people VALUES (?)", [[v] for v in values] * 2)
        policy = {
            "source": {"table": "people"},
            "columns": {"v": {"role": "quasi", "form": "join", "open_ends": open_ends}},
            "one_row_per_person": True,
            "privacy": {"k": 2},
            "publish": {"to": "anon"},
        }
        with sqlanon.load(policy, connection=connection) as anonymizer:
            columns = anonymizer.space.columns
            for cuts in ((1, 2, 5, 6, 8), tuple(range(11))):
                anonymizer.publish(Scheme(columns, (Partition(12, cuts),)))
                rows = connection.sql("SELECT v::TEXT, count(*) FROM anon GROUP BY 1").fetchall()
                assert len(rows) == len(cuts) + 1
                found.append(sorted(rows))
    assert found[:2] == found[2:]


def test_rows_by_insert_statements() -> None:
    """The way of engines that have none of their own, over more rows than one statement takes."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE list (value TEXT, day DATE, number DECIMAL(5, 2))")
    rows = [(f"it's {n}", dt.date(2020, 1, 1), Decimal(n) / 4) for n in range(1_100)]
    columns = [pa.array(column) for column in zip(*rows, strict=True)]
    table = pa.Table.from_arrays(columns, ["value", "day", "number"])
    insert_rows(DuckDBEngine(connection, owned=False), exp.table_("list", quoted=True), table)
    assert connection.sql("FROM list").fetchall() == rows


def test_on_sqlite_the_text_is_standard(tmp_path: Path) -> None:
    """Other databases take the statement of INSERT as it is written for them."""

    class Recorded:
        dialect = "sqlite"

        def run(self, statement: str) -> None:
            connection.execute(statement)

    connection = sqlite3.connect(tmp_path / "list.sqlite")
    connection.execute('CREATE TABLE "li""st" (value TEXT, number INTEGER)')
    table = pa.table({"value": ["a'b", "c"], "number": [1, 2]})
    insert_rows(Recorded(), exp.table_('li"st', quoted=True), table)  # type: ignore[arg-type]
    assert connection.execute('SELECT * FROM "li""st"').fetchall() == [("a'b", 1), ("c", 2)]
