"""Releases as tables: new ones, over former ones, and in place of their source."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from publish_cases import (
    DISEASE,
    OLD_RELEASE,
    SECRET,
    age,
    contents,
    make,
    named,
    pseudonym,
    recipe,
    release,
    tables,
    town,
)
from sqlglot import exp

from sqlanon.compile import Verbatim
from sqlanon.domain import ValueDomain
from sqlanon.engines import DuckDBEngine
from sqlanon.errors import PublishError, UncoveredValueError, VerificationError
from sqlanon.model import Kind, Mode, Unseen
from sqlanon.publish import Checks, Release, publish, publishing, type_changes
from sqlanon.verify import table_hash


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        make(connection)
        yield connection


@pytest.fixture
def engine(connection: duckdb.DuckDBPyConnection) -> DuckDBEngine:
    return DuckDBEngine(connection, owned=False)


RELEASED = """
    SELECT age, town, count(*) AS n, count(DISTINCT disease) AS diseases
    FROM people_anon GROUP BY ALL ORDER BY ALL
"""
GROUPS = [
    ("[20, 40)", "{Bonn, Lima}", 50, 2),
    ("[20, 40)", "{Oslo, Rome}", 50, 2),
    ("[40, 60]", "{Bonn, Lima}", 50, 2),
    ("[40, 60]", "{Oslo, Rome}", 50, 2),
]


def test_a_new_table(engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection) -> None:
    published = publish(engine, release())
    assert contents(connection, RELEASED) == GROUPS
    assert tables(connection) == ["people", "people_anon"]
    assert published.target == "memory.main.people_anon"
    assert (published.rows, published.source_rows, published.left_out) == (200, 200, 0)
    assert published.unseen == {"age": 0, "town": 0}
    assert published.verification.audit is not None
    assert published.verification.audit.k == 50
    assert published.table_hash == table_hash(
        engine, named("people_anon"), ["age", "town", "disease"]
    )
    assert [column.name for column in published.columns] == ["age", "town", "disease"]
    assert published.lost == published.remains == published.removed == ()
    assert contents(connection, "SELECT comment FROM duckdb_tables()") == [
        (None,),
        ("released by sqlanon",),
    ]
    assert not engine.in_transaction()


def test_rows_do_not_keep_the_order_of_the_source(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    publish(engine, release())
    rows = contents(connection, "FROM people_anon")
    assert rows == sorted(rows)


def test_a_former_release_is_replaced(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    connection.sql("CREATE TABLE people_anon (town VARCHAR NOT NULL, age INTEGER DEFAULT 3)")
    connection.sql("COMMENT ON TABLE people_anon IS 'released by sqlanon'")
    connection.sql("COMMENT ON COLUMN people_anon.town IS 'where'")
    connection.sql("CREATE INDEX by_town ON people_anon (town)")
    published = publish(engine, release())
    assert contents(connection, RELEASED) == GROUPS
    assert contents(connection, "SELECT comment FROM duckdb_tables() ORDER BY table_name") == [
        (None,),
        ("released by sqlanon",),
    ]
    columns = "SELECT column_name, is_nullable, comment FROM duckdb_columns() WHERE NOT internal"
    assert contents(connection, f"{columns} AND table_name = 'people_anon'") == [
        ("age", True, None),
        ("town", False, "where"),
        ("disease", True, None),
    ]
    assert published.lost == (
        "the index 'by_town' is gone",
        "the default 3 of column 'age' is gone",
    )
    assert published.remains == (
        "rows of the former release are in every backup and copy of the database",
    )


@pytest.mark.parametrize("comment", ["NULL", "'for the analysts'"])
def test_a_table_of_somebody_is_not_replaced(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection, comment: str
) -> None:
    connection.sql("CREATE TABLE people_anon AS SELECT 1 AS mine")
    connection.sql(f"COMMENT ON TABLE people_anon IS {comment}")
    with pytest.raises(PublishError, match=r"people_anon' exists and was not made by sqlanon"):
        publish(engine, release())
    assert contents(connection, "FROM people_anon") == [(1,)]
    connection.sql("DROP TABLE people_anon")
    for _ in range(2):
        publish(engine, release())


def test_a_table_that_the_plan_leaves_out_is_not_replaced(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    connection.sql("ALTER TABLE people RENAME TO p0")
    connection.sql("CREATE TABLE archive AS FROM p0 LIMIT 0")
    connection.sql("COMMENT ON TABLE archive IS 'released by sqlanon'")
    connection.sql("CREATE VIEW whole AS FROM p0 UNION ALL FROM archive WHERE false")
    connection.sql("CREATE VIEW people AS FROM whole")
    with pytest.raises(PublishError, match="or one of the tables that it reads"):
        publish(engine, release(target=named("archive")))
    connection.sql("CREATE OR REPLACE VIEW whole AS WITH archive AS (FROM p0) FROM archive")
    publish(engine, release(target=named("archive")))


def test_people_are_counted_by_subject_and_no_subject_is_released(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    connection.sql("CREATE OR REPLACE TABLE people AS SELECT * FROM people, range(3)")
    published = publish(engine, release(subject="name"))
    audit = published.verification.audit
    assert audit is not None
    assert (audit.k, audit.by_rows.k) == (50, 150)
    assert contents(connection, "DESCRIBE people_anon")[0][0] == "age"
    assert [row[0] for row in contents(connection, "DESCRIBE people_anon")] == [
        "age",
        "town",
        "disease",
    ]


def test_small_classes_are_left_out(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    connection.sql("INSERT INTO people VALUES ('lone', 55, 'Rome', 'flu')")
    connection.sql("DELETE FROM people WHERE age >= 50 AND name <> 'lone'")
    allowed = release(
        age((0, 1, 2)), town(), DISEASE, suppress=True, checks=Checks(most_left_out=1)
    )
    published = publish(engine, allowed)
    assert (published.rows, published.left_out) == (150, 1)
    with pytest.raises(VerificationError, match="1 are left out, at most 0 may be"):
        publish(engine, release(age((0, 1, 2)), town(), DISEASE, suppress=True))


# Refusals that leave everything as it was


def state(connection: duckdb.DuckDBPyConnection) -> list[object]:
    return [contents(connection, "FROM people"), tables(connection)]


@pytest.mark.parametrize("mode", [Mode.TABLE, Mode.REPLACE, Mode.VIEW])
def test_a_release_that_does_not_hold_is_not_published(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection, mode: Mode
) -> None:
    before = state(connection)
    with pytest.raises(VerificationError) as caught:
        publish(engine, release(mode=mode, checks=Checks(most_left_out=-1)))
    assert "at most -1 may be" in str(caught.value)
    assert str(caught.value).endswith("Nothing was changed.")
    assert caught.value.exit_status == 3
    assert state(connection) == before
    assert not engine.in_transaction()


def test_a_class_that_is_too_small_is_not_published(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    connection.sql("UPDATE people SET age = 59 WHERE name = 'name 7'")
    before = state(connection)
    with pytest.raises(VerificationError, match=r"not published:\n.*k"):
        publish(engine, release(k=51))
    assert state(connection) == before


def test_values_that_the_scheme_does_not_cover(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    connection.sql(
        "INSERT INTO people VALUES ('x', 99, 'Atlantis', 'flu'), ('y', 98, 'Rome', 'flu')"
    )
    before = state(connection)
    with pytest.raises(UncoveredValueError) as caught:
        publish(engine, release())
    assert "'age' in 2 rows, 'town' in 1 row." in str(caught.value)
    assert "Atlantis" not in str(caught.value)
    assert "99" not in str(caught.value)
    assert caught.value.exit_status == 4
    assert state(connection) == before
    left_out = release(unseen=Unseen.LEAVE_OUT, checks=Checks(most_left_out=2))
    published = publish(engine, left_out)
    assert published.unseen == {"age": 2, "town": 1}
    assert (published.rows, published.left_out) == (200, 2)


def test_a_failing_statement_changes_nothing(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    source = named("shaky")
    connection.sql(
        "CREATE VIEW shaky AS SELECT name, age, town, "
        "CASE WHEN name = 'name 150' THEN error('boom') ELSE disease END AS disease FROM people"
    )
    before = state(connection)
    with pytest.raises(PublishError, match=r"boom.* Nothing was changed\.$"):
        publish(engine, release(source=source))
    assert state(connection) == before
    assert not engine.in_transaction()


@pytest.mark.parametrize(
    "target",
    [
        named("people"),
        named("PEOPLE"),
        named("People", "main"),
        named("people", "memory"),
        named("people", "MAIN", "Memory"),
        exp.to_table("people"),
    ],
)
@pytest.mark.parametrize("mode", [Mode.TABLE, Mode.VIEW])
def test_the_source_is_no_target(engine: DuckDBEngine, target: exp.Table, mode: Mode) -> None:
    with pytest.raises(PublishError, match=r"'memory\.main\.people' is the source itself"):
        publish(engine, release(target=target, mode=mode))


def test_a_table_below_the_source_is_no_target(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    connection.sql("CREATE VIEW lens AS FROM (SELECT * FROM people)")
    for source in (named("lens"), exp.select("*").from_(named("lens")).subquery("source")):
        with pytest.raises(PublishError, match="or one of the tables that it reads"):
            publish(engine, release(source=source, target=named("people")))


def test_a_view_is_no_target_for_a_table_nor_a_table_for_a_view(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    connection.sql("CREATE VIEW people_anon AS SELECT 1")
    with pytest.raises(PublishError, match=r"'memory\.main\.people_anon' is a view, not a table"):
        publish(engine, release())
    connection.sql("DROP VIEW people_anon")
    connection.sql(OLD_RELEASE)
    with pytest.raises(PublishError, match=r"'memory\.main\.people_anon' is a table, not a view"):
        publish(engine, release(mode=Mode.VIEW))
    assert contents(connection, "FROM people_anon") == [(1, "former")]


def test_a_missing_schema(engine: DuckDBEngine) -> None:
    with pytest.raises(PublishError, match="no database or schema"):
        publish(engine, release(target=named("x", "nowhere")))


# In place of the source


def test_the_source_is_replaced(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    connection.sql("DROP TABLE people")
    connection.sql(
        "CREATE TABLE people (name VARCHAR PRIMARY KEY, age BIGINT NOT NULL CHECK (age > 0), "
        "town VARCHAR DEFAULT 'Rome', disease VARCHAR UNIQUE, "
        "years BIGINT GENERATED ALWAYS AS (age))"
    )
    connection.sql("INSERT INTO people (name, age) SELECT i, 20 + i % 40 FROM range(80) t (i)")
    connection.sql("COMMENT ON TABLE people IS 'everyone'")
    connection.sql("COMMENT ON COLUMN people.age IS 'in years'")
    connection.sql("COMMENT ON COLUMN people.name IS 'gone'")
    connection.sql("CREATE INDEX by_town ON people (town)")
    connection.sql("CREATE VIEW kept AS SELECT town FROM people")
    connection.sql("CREATE VIEW broken AS SELECT name FROM main.people")
    wanted = release(age(), town((1,)), mode=Mode.REPLACE)
    assert [str(change) for change in type_changes(engine, wanted)] == [
        "name: VARCHAR, removed",
        "age: BIGINT becomes VARCHAR",
        "disease: VARCHAR, removed",
        "years: BIGINT, removed",
    ]
    published = publish(engine, wanted)
    assert tables(connection) == ["people"]
    assert contents(
        connection, "SELECT age, town, count(*) FROM people GROUP BY ALL ORDER BY 1"
    ) == [
        ("[20, 40)", "{Oslo, Rome}", 40),
        ("[40, 60]", "{Oslo, Rome}", 40),
    ]
    assert contents(connection, "SELECT comment FROM duckdb_tables()") == [("everyone",)]
    columns = "SELECT column_name, is_nullable, comment FROM duckdb_columns() WHERE NOT internal"
    assert contents(connection, f"{columns} AND table_name = 'people'") == [
        ("age", False, "in years"),
        ("town", True, None),
    ]
    assert published.lost == (
        "the constraint CHECK((age > 0)) is gone",
        'the constraint PRIMARY KEY("name") is gone',
        "the constraint UNIQUE(disease) is gone",
        "the index 'by_town' is gone",
        "the default 'Rome' of column 'town' is gone",
        "the generated column 'years' is gone",
        "the view 'main.broken' reads the table and no longer works",
        "the view 'main.kept' reads the table and shows the release now",
    )
    assert published.remains == ("rows of the source are in every backup and copy of the database",)


def test_what_cannot_be_replaced(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    query = exp.select("*").from_(named("people")).subquery("source")
    with pytest.raises(PublishError, match="not a query, a file or data"):
        release(mode=Mode.REPLACE, source=query)
    connection.sql("CREATE VIEW lens AS FROM people")
    with pytest.raises(PublishError, match=r"'memory\.main\.lens' is a view"):
        publish(engine, release(mode=Mode.REPLACE, source=named("lens")))
    connection.sql(
        "CREATE TABLE parent (name VARCHAR PRIMARY KEY, age INT, town TEXT, disease TEXT)"
    )
    connection.sql("CREATE TABLE child (parent VARCHAR REFERENCES parent (name))")
    with pytest.raises(PublishError, match=r"foreign keys of other tables refer to it \('child'\)"):
        publish(engine, release(mode=Mode.REPLACE, source=named("parent")))


def test_rows_that_come_in_meanwhile_are_not_lost(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    other = connection.cursor()
    refused: list[str] = []

    def insert(stage: str) -> None:
        if stage in ("staging", "verifying"):
            try:
                other.sql("INSERT INTO people VALUES ('late', 30, 'Rome', 'flu')")
            except duckdb.Error as error:
                refused.append(str(error))

    published = publish(engine, release(mode=Mode.REPLACE), on_stage=insert)
    assert len(refused) == 2
    assert published.rows == 200


# Pseudonyms


def test_pseudonyms_and_their_key(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    accepted = Checks(verbatim={"name": "links years", "disease": None})
    wanted = release(age(), town(), DISEASE, pseudonym(), keys={"key_1": SECRET}, checks=accepted)
    published = publish(engine, wanted)
    expected = contents(
        connection,
        f"SELECT left(sha256('{SECRET}' || sha256('{SECRET}' || name)), 32) FROM people ORDER BY 1",
    )
    assert contents(connection, "SELECT name FROM people_anon ORDER BY 1") == expected
    assert "$key_1" in "".join(published.statements)
    said = [
        caplog.text,
        repr(wanted),
        repr(published),
        *published.statements,
        *(statement.sql for statement in engine.tracer.statements),
    ]
    assert not any(SECRET in text for text in said)
    assert SECRET not in str(contents(connection, "FROM duckdb_variables()"))


def test_the_key_is_in_no_message(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    with pytest.raises(Exception, match="…") as caught:
        engine.run("SELECT error($key_1)", {"key_1": SECRET})
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None


def test_keys_are_checked() -> None:
    with pytest.raises(PublishError, match="keys of pseudonyms are missing: key_1"):
        release(age(), pseudonym())
    with pytest.raises(PublishError, match="a view has no place for the key"):
        release(age(), pseudonym(), keys={"key_1": SECRET}, mode=Mode.VIEW)


# The caller's transaction


def test_inside_a_transaction_of_the_caller(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    other = connection.cursor()
    connection.sql("BEGIN")
    connection.sql("INSERT INTO people SELECT * FROM people")
    published = publish(engine, release())
    assert published.rows == 400
    assert engine.in_transaction()
    assert tables(other) == ["people"]
    connection.sql("ROLLBACK")
    assert tables(connection) == ["people"]
    connection.sql("BEGIN")
    publish(engine, release(mode=Mode.REPLACE))
    connection.sql("COMMIT")
    assert contents(other, "SELECT count(*), count(DISTINCT age) FROM people") == [(200, 2)]


@pytest.mark.parametrize("mode", [Mode.TABLE, Mode.REPLACE, Mode.VIEW])
def test_a_refusal_leaves_the_callers_transaction_usable(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection, mode: Mode
) -> None:
    connection.sql("BEGIN")
    connection.sql("CREATE TABLE mine (i INT)")
    with pytest.raises(VerificationError):
        publish(engine, release(k=51, mode=mode, checks=Checks(most_left_out=0)))
    assert tables(connection) == ["mine", "people"]
    connection.sql("COMMIT")
    assert tables(connection) == ["mine", "people"]


def test_a_failure_in_the_callers_transaction_says_what_to_do(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    connection.sql("CREATE VIEW shaky AS SELECT * REPLACE (error('boom') AS disease) FROM people")
    connection.sql("BEGIN")
    with pytest.raises(PublishError, match="The transaction is yours: roll it back"):
        publish(engine, release(source=named("shaky")))
    connection.sql("ROLLBACK")
    assert tables(connection) == ["people"]


@pytest.mark.parametrize("lent", [True, False])
@pytest.mark.parametrize("mode", [Mode.TABLE, Mode.REPLACE, Mode.VIEW])
def test_an_interruption_changes_nothing(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection, mode: Mode, lent: bool
) -> None:
    def interrupt(stage: str) -> None:
        if stage == "hashing":
            raise KeyboardInterrupt

    before = state(connection)
    if lent:
        connection.sql("BEGIN")
    with pytest.raises(KeyboardInterrupt):
        publish(engine, release(mode=mode), on_stage=interrupt)
    assert engine.in_transaction() == lent
    if lent:
        connection.sql("COMMIT")
    assert state(connection) == before


def test_a_view_that_shows_something_else_is_not_published(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "table_hash", lambda *_: "another")
    with pytest.raises(PublishError, match=r"differs from what was verified\. Nothing was changed"):
        publish(engine, release(mode=Mode.VIEW))
    assert contents(connection, "SELECT count(*) FROM duckdb_views() WHERE NOT internal") == [(0,)]
    connection.sql("BEGIN")
    with pytest.raises(PublishError, match="The transaction is yours: roll it back"):
        publish(engine, release(mode=Mode.VIEW))
    connection.sql("ROLLBACK")


def test_settings_of_the_caller_stay(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    settings = "SELECT name, value FROM duckdb_settings() ORDER BY 1"
    connection.sql("SET preserve_insertion_order = false")
    before = contents(connection, settings)
    publish(engine, release())
    publish(engine, release(mode=Mode.VIEW, target=named("v")))
    assert contents(connection, settings) == before


def test_nothing_but_counts_is_fetched(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    connection.sql("INSERT INTO people SELECT people.* FROM people, range(50)")
    with engine.tracer.watch() as seen:
        publish(engine, release())
    fetched = [s for s in seen if s.rows is not None and not s.sql.startswith("CREATE")]
    assert max(s.rows or 0 for s in fetched) < 100


def test_a_column_of_one_group_needs_no_count(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection
) -> None:
    connection.sql("INSERT INTO people VALUES ('x', 99, 'Rome', 'flu')")
    published = publish(engine, release(age(()), DISEASE))
    assert published.unseen == {"age": 0}


def test_a_release_without_a_place() -> None:
    with pytest.raises(PublishError, match="needs a target"):
        Release(recipe())
    with pytest.raises(PublishError, match=r"none of the known suffixes: \.csv, \.parquet"):
        Release(recipe(), file=Path("x.xlsx"))
    with pytest.raises(PublishError, match="with no other target"):
        Release(recipe(), file=Path("x.csv"), target=named("t"))
    with pytest.raises(PublishError, match="source's own table"):
        Release(recipe(), mode=Mode.REPLACE, target=named("t"))


def test_values_that_are_kept(engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection) -> None:
    domain = ValueDomain("age", Kind.INTEGER, tuple(range(20, 60)))
    from sqlanon.compile import Generalized
    from sqlanon.scheme import Column, Partition

    kept = Generalized(Column(domain), Partition.atoms(40), "BIGINT")
    published = publish(engine, release(kept, Verbatim("disease", "VARCHAR")))
    assert published.columns[0].type == "BIGINT"
