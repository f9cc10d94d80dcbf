"""What is not published, and that nothing changes then."""

from __future__ import annotations

import duckdb
import pytest
from publish_cases import (
    OLD_RELEASE,
    contents,
    named,
    publish,
    release,
    tables,
)
from sqlglot import exp

from sqlanon.domain.presentation import Mode, Unseen
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import CertificateError, PublishError, UncoveredValueError, VerificationError


def state(connection: duckdb.DuckDBPyConnection) -> list[object]:
    return [contents(connection, "FROM people"), tables(connection)]


@pytest.mark.parametrize("mode", [Mode.TABLE, Mode.REPLACE, Mode.VIEW])
def test_a_release_that_does_not_hold_is_not_published(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection, mode: Mode
) -> None:
    before = state(connection)
    with pytest.raises(VerificationError) as caught:
        publish(engine, release(mode=mode, limit=-0.005))
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
    left_out = release(unseen=Unseen.LEAVE_OUT, accepted={}, audited=())
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
    with pytest.raises(PublishError, match=r"invalid input.* Nothing was changed\.$") as caught:
        publish(engine, release(source=source))
    assert "boom" not in str(caught.value)  # it may be a value
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
    with pytest.raises(PublishError, match="There is no schema 'nowhere'"):
        publish(engine, release(target=named("x", "nowhere")))


# In place of the source


def test_a_lapse_of_the_verification_gets_no_certificate_and_is_not_published(
    engine: DuckDBEngine, connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Classes have 50 people. The certificate looks at the counted k itself."""
    monkeypatch.setattr("sqlanon.audit.audit_result.KAnonymity.holds", lambda *_: True)
    before = state(connection)
    with pytest.raises(CertificateError, match="lacks what is required"):
        publish(engine, release(k=51))
    assert state(connection) == before
