"""A table that sqlanon cannot reach: its queries are pasted, and the answers are read from files.

The pasted queries run for real on DuckDB, SQLite and PostgreSQL, and must give what sqlanon
finds and makes by itself on the same rows.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import os
import random
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
import yaml
from command_line import Run
from golden_files import assert_golden

import sqlanon
from sqlanon.errors import EngineError, PolicyError, PublishError
from sqlanon.release import DIALECTS

TOWNS = ["Oslo", "oslo", "Bergen", "Rome", "Milan", "O'Neill", "", None]
ILLS = ["flu", "cold", "it's", None]
QUASI = {
    "age": {"role": "quasi", "range": [0, 100], "granularity": 10},
    "town": {"role": "quasi"},
    "year": {"role": "quasi", "hierarchy": {"intervals": [5, 10]}},
}
ILL = {"ill": {"role": "sensitive", "accept": "a test"}}
ACCEPTED = {"homogeneity": {"accept": "a test"}}
POLICIES: dict[str, dict[str, Any]] = {
    "k": {"columns": QUASI | ILL, "privacy": {"k": 4, **ACCEPTED}},
    "left out": {
        "columns": QUASI | ILL,
        "privacy": {"k": 5, **ACCEPTED},
        "suppression": {"limit": 0.1},
    },
    "marked": {
        "columns": QUASI | ILL,
        "privacy": {"k": 5, **ACCEPTED},
        "suppression": {"limit": 0.1, "rows": "mark"},
    },
    "models": {
        "columns": QUASI | ILL,
        "privacy": {"k": 3, "l_diversity": {"l": 2}, "t_closeness": {"t": 0.4}},
    },
    "label": {
        "columns": QUASI | {"ill": {"role": "label", "accept": "a test"}},
        "privacy": {"k": 4},
        "preference": {"loss": "ce", "loss_at": 0.1, "necd": 1},
    },
}


def people(seed: int = 1, rows: int = 300) -> pa.Table:
    rng = random.Random(seed)
    return pa.table(
        {
            "who": pa.array([rng.randint(1, 200) for _ in range(rows)], pa.int64()),
            "age": pa.array([rng.choice([None, *range(18, 95)]) for _ in range(rows)], pa.int64()),
            "town": pa.array([rng.choice(TOWNS) for _ in range(rows)]),
            "year": pa.array([rng.randint(1990, 2009) for _ in range(rows)], pa.int64()),
            "ill": pa.array([rng.choice(ILLS) for _ in range(rows)]),
        }
    )


def policy(name: str, source: dict[str, Any], **more: Any) -> dict[str, Any]:
    usual = {"one_row_per_person": True, "others": "drop", "publish": {"to": "people_anon"}}
    search = {"search": {"evaluations": 200, "exact": 50, "rounds": 1}}
    return {"source": source, **usual, **search, **POLICIES[name], **more}


class Warehouse:
    """A database that answers pasted text, and nothing else."""

    def __init__(self, dialect: str, table: pa.Table, server: Any = None) -> None:
        self.dialect = dialect
        create = "CREATE TABLE people (who INTEGER, age INTEGER, town TEXT, year INTEGER, ill TEXT)"
        rows = [tuple(row.values()) for row in table.to_pylist()]
        if dialect == "sqlite":
            lite = sqlite3.connect(":memory:")
            lite.execute(create)
            lite.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", rows)
            self._run: Callable[[str], Any] = lite.execute
        elif dialect == "postgres":
            server.run(create)
            server.insert("people", rows)
            self._cursor = server.connect().cursor()
            self._run = self._executed
        else:
            duck = duckdb.connect()
            duck.register("given", table)
            duck.execute("CREATE TABLE people AS FROM given")
            self._run = duck.execute

    def _executed(self, text: str) -> Any:
        self._cursor.execute(text)
        return self._cursor

    def close(self) -> None:
        """Ends the connection to a server."""
        if self.dialect == "postgres":
            self._cursor.close()
            self._cursor.connection.close()

    def answer(self, text: str) -> pa.Table:
        """The answer to a query, as a client would export it."""
        cursor = self._run(text.rstrip().rstrip(";"))
        names = [each[0] for each in cursor.description]
        rows = cursor.fetchall()
        return pa.table({name: [row[i] for row in rows] for i, name in enumerate(names)})

    def make(self, text: str) -> None:
        body = text.rstrip().rstrip(";")
        self._run(f"CREATE TABLE people_anon AS {body}")


def paste_count(warehouse: Warehouse, document: dict[str, Any], file: Path) -> None:
    text = sqlanon.count_sql(document, dialect=warehouse.dialect)
    pyarrow.parquet.write_table(warehouse.answer(text), file)
    file.chmod(0o600)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgres"])
@pytest.mark.parametrize("name", POLICIES)
def test_pasted_queries_do_what_sqlanon_does(
    tmp_path: Path, name: str, dialect: str, request: pytest.FixtureRequest
) -> None:
    table, file = people(), tmp_path / "counts.parquet"
    server = request.getfixturevalue("postgres") if dialect == "postgres" else None
    warehouse = Warehouse(dialect, table, server)
    request.addfinalizer(warehouse.close)
    elsewhere = policy(name, {"histogram": str(file), "table": "people"})
    paste_count(warehouse, elsewhere, file)
    with duckdb.connect() as own:
        own.register("given", table)
        own.execute("CREATE TABLE people AS FROM given")
        with sqlanon.load(policy(name, {"table": "people"}), connection=own) as here:
            result = here.search(seed=1)
            counted = here.histogram.fingerprint
            release = here.publish(result)
            made = release.to_arrow()
    with sqlanon.load(elsewhere) as there:
        assert there.histogram.fingerprint == counted
        found = there.search(seed=1)
        assert found.solution.scheme == result.solution.scheme
        assert found.solution.scores == result.solution.scores
        if name != "models":
            (measured,) = warehouse.answer(
                there.sql(found, part="measure", dialect=dialect)
            ).to_pylist()
            for score in ("k", "classes", "suppressed", "nwp", "dcn"):
                assert measured[score] == pytest.approx(found.solution.scores[score])
        warehouse.make(there.sql(found, dialect=dialect))
        names = ", ".join(f'"{each}"' for each in made.column_names)
        rows = warehouse.answer(f"SELECT {names} FROM people_anon").to_pylist()
        assert sorted(map(repr, rows)) == sorted(map(repr, made.to_pylist()))
        answer = warehouse.answer(there.sql(found, part="verify", dialect=dialect))
        verified = there.verify(found, answer)
        if (name, dialect) == ("models", "duckdb"):
            text = there.sql(found, part="verify", dialect="postgres")
            assert_golden(
                "elsewhere/verify", text[text.index("WITH") :]
            )  # the header names the policy
    assert verified.holds, verified.problems
    sizes = Counter((row["age"], row["town"], row["year"]) for row in made.to_pylist())
    assert (verified.k, verified.classes) == (min(sizes.values()), len(sizes))
    assert (verified.k, verified.rows) == (release.k, release.rows)
    reached = [(each.model.describe(), each.value) for each in verified.audit.models]
    assert reached == [(m.model.describe(), m.value) for m in release.facts.audited.models]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A policy with a histogram, as files."""
    document = policy("models", {"histogram": "counts.parquet", "table": "people"})
    (tmp_path / "policy.yml").write_text(yaml.safe_dump(document))
    return tmp_path


@pytest.fixture
def warehouse() -> Warehouse:
    return Warehouse("duckdb", people())


def counted_by_command(run: Run, folder: Path, warehouse: Warehouse) -> None:
    text = run("sql", "policy.yml", "--part", "count").out
    pyarrow.parquet.write_table(warehouse.answer(text), folder / "counts.parquet")
    (folder / "counts.parquet").chmod(0o600)


def test_the_way_by_commands(folder: Path, run: Run, warehouse: Warehouse) -> None:
    counted_by_command(run, folder, warehouse)
    done = run("search", "policy.yml")
    assert done.status == 0, done.err
    scheme = ("--scheme", "result.json")
    warehouse.make(run("sql", "policy.yml", *scheme).out)
    refused = run("publish", "policy.yml", *scheme)
    assert refused.status == 1
    assert "sqlanon publish --verified FILE" in refused.err
    verify = run("sql", "policy.yml", *scheme, "--part", "verify").out
    answer = warehouse.answer(verify)
    pyarrow.parquet.write_table(answer, folder / "answer.parquet")
    certified = run("publish", "policy.yml", *scheme, "--verified", "answer.parquet")
    assert certified.status == 0, certified.err
    path = folder / "people_anon.verification.json"
    document = json.loads(path.read_text())
    assert document["holds"]
    assert "was run by hand" in document["how"]
    assert document["release"]["k"] >= 3
    assert document["not_checked"]["columns"] == ["ill"]
    assert [each["holds"] for each in document["models"]] == [True, True]
    if os.name == "posix":
        assert path.stat().st_mode & 0o777 == 0o600
    # One person less in the smallest class, and a row of no group.
    rows = sorted(answer.to_pylist(), key=lambda row: row["sqlanon_rows"])
    fewer = pa.Table.from_pylist([row for row in rows if row["town"] != rows[0]["town"]] + rows[:1])
    pyarrow.csv.write_csv(fewer, folder / "answer.csv")
    failed = run("publish", "policy.yml", *scheme, "--verified", "answer.csv", "--json")
    assert failed.status == 3
    assert "the count of the source expects" in failed.err
    assert not json.loads(failed.out)["holds"]
    assert not path.exists()  # what it certified is gone
    aside = folder / "people_anon.verification.withdrawn.json"
    assert json.loads(aside.read_text()) == document
    assert str(aside.name) in failed.err
    assert run("clean", "counts.parquet").status == 0
    assert not (folder / "counts.parquet").exists()


def test_small_classes_and_new_values_do_not_hold(tmp_path: Path) -> None:
    warehouse, file = Warehouse("duckdb", people()), tmp_path / "counts.parquet"
    document = policy("k", {"histogram": str(file), "table": "people"})
    paste_count(warehouse, document, file)
    with sqlanon.load(document) as there:
        found = there.search(seed=1)
        warehouse.make(there.sql(found))
        answer = warehouse.answer(there.sql(found, part="verify"))
        rows = answer.to_pylist()
        rows[0]["sqlanon_rows"] = 1
        rows[1]["town"] = "(not in the scheme)"
        broken = there.verify(found, pa.Table.from_pylist(rows, schema=answer.schema))
        with pytest.raises(EngineError, match=r"is not the answer .* 'sqlanon_rows'; run"):
            there.verify(found, answer.drop_columns("sqlanon_rows"))
        with pytest.raises(EngineError, match=r"is not the answer .* no column 'town'; run"):
            there.verify(found, answer.drop_columns("town"))
    assert not broken.holds
    said = "; ".join(broken.problems)
    assert "a class has 1 row, and 4 are required" in said
    assert "values that belong to no group" in said
    with pytest.raises(sqlanon.SqlanonError, match="is not certified"):
        broken.write(tmp_path)


@pytest.mark.parametrize("name", ["k", "models"])
def test_people_are_counted_with_a_subject(tmp_path: Path, name: str) -> None:
    """The histogram names each person; a count of the release cannot, so that is refused."""
    warehouse, file = Warehouse("sqlite", people()), tmp_path / "counts.parquet"
    by_person = {"subject": "who", "one_row_per_person": None}
    document = policy(name, {"histogram": str(file), "table": "people"}, **by_person)
    document = {key: value for key, value in document.items() if value is not None}
    paste_count(warehouse, document, file)
    with sqlanon.load(document | {"source": {}}, data=people()) as here:
        counted, result = here.histogram, here.search(seed=1)
    with sqlanon.load(document) as there:
        assert there.histogram.fingerprint == counted.fingerprint
        found = there.search(seed=1)
        assert found.solution.scheme == result.solution.scheme
        with pytest.raises(PolicyError, match="which rows are of one person"):
            there.sql(found, part="verify")
    without = pyarrow.parquet.read_table(file).drop_columns("who")
    pyarrow.parquet.write_table(without, file)
    with pytest.raises(PolicyError, match="lacks the column 'who'; count again"):
        sqlanon.load(document)


def test_what_is_refused_and_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    warehouse, file = Warehouse("duckdb", people()), tmp_path / "counts.parquet"
    document = policy("k", {"histogram": str(file), "table": "people"})
    paste_count(warehouse, document, file)
    file.chmod(0o644)
    with caplog.at_level(logging.WARNING), sqlanon.load(document) as there:
        result = there.search(seed=1)
        with pytest.raises(PublishError, match="--part verify"):
            there.publish(result)
        with pytest.raises(PublishError, match="--part verify"):
            there.dry_run(result)
    if os.name == "posix":
        assert "chmod 600" in caplog.text
    assert any("keep it private" in note for note in result.notes)
    nameless = policy("k", {"histogram": str(file)})
    with pytest.raises(PolicyError, match=r"source\.table: is missing"):
        sqlanon.count_sql(nameless)
    with pytest.raises(PolicyError, match="others: insensitive needs the columns"):
        sqlanon.load(document | {"others": "insensitive"})
    for other in ("file", "query", "connection"):
        with pytest.raises(PolicyError, match=f"needs no {other}"):
            sqlanon.load(document | {"source": {"histogram": str(file), other: "x"}})
    wrong = pyarrow.parquet.read_table(file).to_pylist()
    wrong[0]["sqlanon_rows"] = 0
    pyarrow.parquet.write_table(pa.Table.from_pylist(wrong), file)
    with pytest.raises(EngineError, match="below 1"):
        sqlanon.load(document)


@pytest.mark.parametrize("dialect", ["duckdb", "snowflake"])
def test_the_text_of_a_count(dialect: str) -> None:
    document = policy("models", {"histogram": "counts.parquet", "table": "sales.people"})
    assert_golden(f"elsewhere/count_{dialect}", sqlanon.count_sql(document, dialect=dialect))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_can_write_the_count(dialect: str) -> None:
    text = sqlanon.count_sql(
        policy("k", {"histogram": "h.csv", "table": "a.people"}), dialect=dialect
    )
    assert "sqlanon_rows" in text


def test_every_dialect_can_write_the_other_queries(tmp_path: Path) -> None:
    file = tmp_path / "counts.parquet"
    document = policy("left out", {"histogram": str(file), "table": "people"})
    paste_count(Warehouse("duckdb", people()), document, file)
    with sqlanon.load(document) as there:
        found = there.search(seed=1)
        for dialect in DIALECTS:
            for part, column in (
                ("release", "town"),
                ("measure", "necd"),
                ("verify", "sqlanon_rows"),
            ):
                assert column in there.sql(found, part=part, dialect=dialect), (dialect, part)


def test_a_table_that_can_be_reached_is_counted_by_the_same_query(tmp_path: Path) -> None:
    """Texts are compared exactly there, because their type is known."""
    file = tmp_path / "people.parquet"
    pyarrow.parquet.write_table(people(), file)
    document = policy("k", {"file": str(file)})
    text = sqlanon.count_sql(document)
    assert '"town" COLLATE "binary"' in text
    counts = tmp_path / "counts.parquet"
    with duckdb.connect() as connection:
        pyarrow.parquet.write_table(
            connection.sql(text.rstrip().rstrip(";")).to_arrow_table(), counts
        )
    again = policy("k", {"histogram": str(counts)})
    with sqlanon.load(document) as here, sqlanon.load(again) as there:
        assert here.histogram.fingerprint == there.histogram.fingerprint


def codes(*values: Any) -> pa.Table:
    """Three people of each of the first two values, and six of every other one."""
    rows = [value for place, value in enumerate(values) for _ in range(3 if place < 2 else 6)]
    return pa.table({"code": pa.array(rows), "age": pa.array([30] * len(rows), pa.int64())})


def of_codes(file: Path, k: int = 5) -> dict[str, Any]:
    return {
        "source": {"histogram": str(file), "table": "people"},
        "one_row_per_person": True,
        "others": "drop",
        "columns": {"code": {"role": "quasi"}, "age": {"role": "quasi"}},
        "privacy": {"k": k},
        "publish": {"to": "people_anon"},
        "search": {"evaluations": 200},
    }


def save_csv(table: pa.Table, file: Path) -> None:
    """As DuckDB and PostgreSQL export: NULL is an empty field, an empty text is quoted."""
    with duckdb.connect() as connection:
        connection.register("saved", table)
        connection.execute(f"COPY (FROM saved) TO '{file}' (HEADER)")
    file.chmod(0o600)


READ_AS_ONE = {
    "an empty text": ("", None, "x", "y"),
    "a space": ("10", " 10", "7", "8"),
    "decimals": ("1.0", "1.00", "7", "8"),
    "dates": ("2020-01-02", "2020-1-2", "2020-01-03", "2020-01-04"),
}


@pytest.mark.parametrize("values", READ_AS_ONE.values(), ids=READ_AS_ONE)
def test_texts_that_a_csv_file_joins_are_two_classes(
    tmp_path: Path, values: tuple[Any, ...]
) -> None:
    """A reader of the table sees two values, so these are two classes of 3 rows, not one of 6."""
    histogram, answer = tmp_path / "counts.parquet", tmp_path / "answer.csv"
    warehouse = Warehouse("duckdb", codes(*values))
    paste_count(warehouse, of_codes(histogram, k=3), histogram)
    with sqlanon.load(of_codes(histogram, k=3)) as there:
        scheme = there.search(seed=1)
        warehouse.make(there.sql(scheme))
        save_csv(warehouse.answer(there.sql(scheme, part="verify")), answer)
        found = there.verify(scheme, answer)
        assert (found.k, found.classes, found.problems) == (3, 4, ())
    counts = tmp_path / "counts.csv"
    save_csv(pyarrow.parquet.read_table(histogram), counts)
    with pytest.raises(EngineError, match="column 'code' has texts that a CSV file cannot keep"):
        sqlanon.load(of_codes(counts))


def test_no_answer_has_a_tuple_twice(tmp_path: Path) -> None:
    file, warehouse = tmp_path / "counts.parquet", Warehouse("duckdb", codes("x", "x", "y"))
    paste_count(warehouse, of_codes(file), file)
    halves = {"code": ["x", "y", "y"], "age": [30] * 3, "sqlanon_rows": [6, 3, 3]}
    with sqlanon.load(of_codes(file)) as there:
        found = there.search(seed=1)
        save_csv(pa.table(halves), tmp_path / "answer.csv")
        for answer in (pa.table(halves), tmp_path / "answer.csv"):
            with pytest.raises(EngineError, match="several rows for 1 of its combinations of 'co"):
                there.verify(found, answer)
            with pytest.raises(EngineError, match="several rows"):  # whatever stands beside them
                there.verify(found, pa.table(halves | {"row": [1, 2, 3]}))
    pyarrow.parquet.write_table(pa.table(halves), file)
    with pytest.raises(EngineError, match=r"counts\.parquet has several rows for 1"):
        sqlanon.load(of_codes(file))


def test_invented_values_are_not_certified(tmp_path: Path) -> None:
    file, warehouse = tmp_path / "counts.parquet", Warehouse("duckdb", codes("x", "x", "y"))
    paste_count(warehouse, of_codes(file), file)
    invented = {"code": ["secret", "y"], "age": [30, 31], "sqlanon_rows": [6, 6]}
    with sqlanon.load(of_codes(file)) as there:
        found = there.search(seed=1)
        save_csv(pa.table(invented), tmp_path / "answer.csv")
        for answer in (pa.table(invented), tmp_path / "answer.csv"):
            assert there.verify(found, answer).problems == (
                "column 'code' holds 1 value in 6 rows that no group of the scheme has",
                "column 'age' holds 1 value in 6 rows that no group of the scheme has",
            )


@pytest.mark.parametrize("name", POLICIES)
def test_a_csv_answer_is_as_good_as_the_rows(tmp_path: Path, name: str) -> None:
    warehouse, file = Warehouse("duckdb", people()), tmp_path / "counts.parquet"
    document = policy(name, {"histogram": str(file), "table": "people"})
    paste_count(warehouse, document, file)
    with sqlanon.load(document) as there:
        found = there.search(seed=1)
        warehouse.make(there.sql(found))
        answer = warehouse.answer(there.sql(found, part="verify"))
        save_csv(answer, tmp_path / "answer.csv")
        of_file, of_rows = there.verify(found, tmp_path / "answer.csv"), there.verify(found, answer)
    assert of_file.holds, of_file.problems
    assert of_file.audit.to_dict() == of_rows.audit.to_dict()


TYPED: dict[str, tuple[str, dict[str, Any]]] = {
    "a DATE": ("DATE '2020-01-01' + i::INT", {}),
    "a TIMESTAMP": ("TIMESTAMP '2020-01-01 00:00:00' + INTERVAL 1 HOUR * i", {}),
    "midnights": ("TIMESTAMP '2020-01-01 00:00:00' + INTERVAL 24 HOUR * i", {}),
    "a DOUBLE": ("i / 10", {}),
    "a DECIMAL": ("CAST(i / 10 AS DECIMAL(9, 2))", {}),
    "a BOOLEAN": ("i % 2 = 0", {}),
    "numbers as text": ("CAST(i AS TEXT)", {}),
    "bounds of a DOUBLE": ("i / 10", {"range": [0, 0.8], "granularity": 0.1}),
    "bounds of an INTEGER": ("i", {"range": [0, 8], "granularity": 2}),
    "bounds of a DATE": (
        "DATE '2020-01-01' + i::INT",
        {"range": [dt.date(2020, 1, 1), dt.date(2020, 1, 9)], "granularity": 1},
    ),
    "bounds of a TIMESTAMP": (
        "TIMESTAMP '2020-01-01 00:00:00' + INTERVAL 24 HOUR * i",
        {"range": [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 9)], "granularity": 1},
    ),
}


@pytest.mark.parametrize(("value", "section"), TYPED.values(), ids=TYPED)
def test_values_of_every_type_are_found_again(
    tmp_path: Path, value: str, section: dict[str, Any]
) -> None:
    file = tmp_path / "counts.parquet"
    with duckdb.connect() as connection:
        made = f"SELECT {value} AS code, 30 AS age FROM range(8) AS t(i), range(5)"
        warehouse = Warehouse("duckdb", connection.sql(made).to_arrow_table())
    document = of_codes(file)
    if section:
        document["columns"]["code"] |= section | {"output": "bounds"}
    paste_count(warehouse, document, file)
    with sqlanon.load(document) as there:
        found = there.search(seed=1)
        warehouse.make(there.sql(found))
        answer = warehouse.answer(there.sql(found, part="verify"))
        save_csv(answer, tmp_path / "answer.csv")
        for given in (answer, tmp_path / "answer.csv"):
            assert there.verify(found, given).problems == ()
