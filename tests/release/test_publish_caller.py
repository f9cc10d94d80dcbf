"""Keys, and the connection and transaction of the caller."""

from __future__ import annotations

from itertools import count

import duckdb
import pytest
from publish_cases import (
    DISEASE,
    SECRET,
    age,
    contents,
    named,
    pseudonym,
    publish,
    release,
    tables,
    town,
)

from sqlanon.domain.atoms import ValueDomain
from sqlanon.domain.presentation import Mode
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.protocol import Kind
from sqlanon.errors import PublishError, VerificationError
from sqlanon.release import pipeline
from sqlanon.release.order import Verbatim


def state(connection: duckdb.DuckDBPyConnection) -> list[object]:
    return [contents(connection, "FROM people"), tables(connection)]


def test_pseudonyms_and_their_key(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    accepted = {"name": "links years", "disease": None}
    wanted = release(age(), town(), DISEASE, pseudonym(), keys={"key_1": SECRET}, accepted=accepted)
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
    for statement, said in [("SELECT error($key_1)", "not shown"), (f"SELEKT '{SECRET}'", "…")]:
        with pytest.raises(Exception, match=said) as caught:
            engine.run(statement, {"key_1": SECRET})
        assert SECRET not in str(caught.value)
        assert caught.value.__cause__ is None


def test_a_view_has_no_key(engine: DuckDBEngine) -> None:
    with pytest.raises(PublishError, match="a view has no place for the key"):
        publish(engine, release(age(), pseudonym(), keys={"key_1": SECRET}, mode=Mode.VIEW))


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
        publish(engine, release(k=51, mode=mode))
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
        if stage == "certifying":
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
    hashes = map(str, count())
    monkeypatch.setattr(pipeline, "table_hash", lambda *_, **__: next(hashes))
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


def test_values_that_are_kept(engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection) -> None:
    domain = ValueDomain("age", Kind.INTEGER, tuple(range(20, 60)))
    from sqlanon.domain import Generalized
    from sqlanon.domain.column import Column, Partition

    kept = Generalized(Column(domain), Partition.atoms(40), "BIGINT")
    published = publish(engine, release(kept, Verbatim("disease", "VARCHAR")))
    assert published.columns[0].type == "BIGINT"


# Macros with the names of built-in functions


@pytest.mark.parametrize("kind", ["MACRO", "TEMP MACRO"])
def test_a_hidden_function_is_refused_in_the_transaction(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection, kind: str
) -> None:
    connection.sql(f"CREATE {kind} count(x) AS 99")
    with pytest.raises(PublishError, match=r'DROP MACRO .*"main"."count".* Nothing was changed'):
        publish(engine, release())
    assert not engine.in_transaction()
    assert tables(connection) == ["people"]


@pytest.mark.parametrize("mode", [Mode.TABLE, Mode.VIEW])
def test_one_that_comes_during_the_publish_is_not_used(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection, mode: Mode
) -> None:
    """It is committed by another connection between the check and the counts."""
    others = connection.cursor()

    def interfere(stage: str) -> None:
        if stage.startswith("counting"):
            others.execute("CREATE MACRO count(x) AS 99; CREATE MACRO count_star() AS 99")

    published = publish(engine, release(mode=mode), on_stage=interfere)
    assert (published.k, published.rows) == (50, 200)
