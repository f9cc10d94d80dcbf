"""The tracer sees every statement, the failed ones too."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from sqlanon.engines.duckdb import DuckDBEngine, open_memory
from sqlanon.engines.statements import UNREADABLE, Statement, Tracer, without_literals
from sqlanon.errors import EngineError


@pytest.fixture
def engine() -> Iterator[DuckDBEngine]:
    engine = open_memory()
    yield engine
    engine.close()


def test_counts_times_and_rows(engine: DuckDBEngine) -> None:
    engine.run("CREATE TABLE t (a INTEGER)")
    engine.run("INSERT INTO t VALUES (1), (2), (3)")
    engine.fetch("SELECT * FROM t WHERE a > 1")
    tracer = engine.tracer
    assert tracer.count == 3
    assert [(each.sql, each.rows) for each in tracer.statements] == [
        ("CREATE TABLE t (a INTEGER)", None),
        ("INSERT INTO t VALUES (1), (2), (3)", 3),
        ("SELECT * FROM t WHERE a > 1", 2),
    ]
    assert all(each.seconds > 0 for each in tracer.statements)
    assert tracer.seconds == pytest.approx(sum(each.seconds for each in tracer.statements))


def test_a_failed_statement_is_seen(engine: DuckDBEngine) -> None:
    with pytest.raises(EngineError):
        engine.fetch("SELECT * FROM nowhere")
    assert engine.tracer.count == 1
    assert engine.tracer.statements[0].rows is None


def test_watch_collects_the_statements_of_a_block(engine: DuckDBEngine) -> None:
    tracer = engine.tracer
    engine.fetch("SELECT 1")
    with tracer.watch() as outer:
        engine.fetch("SELECT 2")
        with tracer.watch() as inner:
            engine.fetch("SELECT 3")
        engine.fetch("SELECT 4")
    engine.fetch("SELECT 5")
    assert [each.sql for each in outer] == ["SELECT 2", "SELECT 3", "SELECT 4"]
    assert [each.sql for each in inner] == ["SELECT 3"]


def test_a_block_that_fails_stops_watching(engine: DuckDBEngine) -> None:
    with pytest.raises(EngineError), engine.tracer.watch() as seen:
        engine.fetch("SELECT * FROM nowhere")
    engine.fetch("SELECT 1")
    assert [each.sql for each in seen] == ["SELECT * FROM nowhere"]


def test_only_the_last_statements_are_kept() -> None:
    tracer = Tracer(keep=2)
    with tracer.watch() as seen:
        for number in range(5):
            with tracer.running(f"SELECT {number}") as running:
                running.rows = number
    assert tracer.count == 5
    assert [each.sql for each in tracer.statements] == ["SELECT 3", "SELECT 4"]
    assert [each.rows for each in seen] == [0, 1, 2, 3, 4]


def test_statements_are_logged_at_debug_without_literals(
    engine: DuckDBEngine, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):  # of everything, as many programs set it
        engine.fetch("SELECT 42 AS answer, 'zq7' AS name -- of zq7")
    (record,) = caplog.records
    assert record.levelno == logging.DEBUG
    assert record.getMessage().endswith(" s, 1 rows: SELECT ? AS answer, ? AS name")
    assert engine.tracer.statements[0].sql.startswith("SELECT 42 AS answer, 'zq7'")


def test_literals_are_logged_when_asked_for(
    engine: DuckDBEngine, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        caplog.at_level(logging.DEBUG, logger="sqlanon.sql"),
        caplog.at_level(logging.DEBUG, logger="sqlanon.sql.literals"),
    ):
        engine.fetch("SELECT 42 AS answer")
    assert caplog.records[0].getMessage().endswith(": SELECT 42 AS answer")


def test_literals_are_those_of_the_dialect(caplog: pytest.LogCaptureFixture) -> None:
    """What MySQL puts into double quotes is a text."""
    with caplog.at_level(logging.DEBUG), Tracer("mysql").running('SELECT "zq7" FROM `t`'):
        pass
    assert caplog.records[0].getMessage().endswith(": SELECT ? FROM `t`")


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("SELECT 'it''s', \"it's\" FROM t", 'SELECT ?, "it\'s" FROM t'),
        ("SELECT $$zq7$$, $a$zq7$a$, E'zq\\'7', 0x1F, 1e5, -1_000", "SELECT ?, ?, ?, ?, ?, -?"),
        ("SELECT $1::BIGINT[], $key /* zq7 */ FROM t", "SELECT $1::BIGINT[], $key FROM t"),
        ("SELECT DATE '2020-01-01', q0\n-- zq7\nFROM t2", "SELECT DATE ?, q0\nFROM t2"),
        ("SELECT 'zq7", UNREADABLE),
    ],
)
def test_without_literals(sql: str, shown: str) -> None:
    assert without_literals(sql) == shown


def test_engines_may_share_a_tracer(engine: DuckDBEngine) -> None:
    second = engine.private()
    second.fetch("SELECT 1")
    engine.fetch("SELECT 2")
    second.close()
    assert [each.sql for each in engine.tracer.statements] == ["SELECT 1", "SELECT 2"]


def test_statements_are_values() -> None:
    assert Statement("SELECT 1", 0.5, 1) == Statement("SELECT 1", 0.5, 1)
