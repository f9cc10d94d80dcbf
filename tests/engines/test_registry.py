"""Engines by the scheme of an address and by the type of a connection; no other room knows one."""

from __future__ import annotations

import inspect
import re
import sqlite3
from pathlib import Path

import duckdb
import pytest
from sqlglot import exp

import sqlanon
from sqlanon import resources
from sqlanon.cli.sql import sql
from sqlanon.domain import exact
from sqlanon.engines import Capabilities
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.registry import (
    EMBEDDED,
    ENGINES,
    EngineEntry,
    file_address,
    is_connection,
    open_engine,
    same_database,
)
from sqlanon.errors import EngineError
from sqlanon.render import COLLATIONS, NATIVE, render_text

PACKAGE = Path(sqlanon.__file__).parent
NAMED = re.compile(
    r"""import duckdb|from duckdb|DuckDBEngine|DuckDBPyConnection|engines\.duckdb|["']duckdb["']"""
)
# The dialect that templates are written in; and an option whose help imports no engine.
ALLOWED = {"render.py": 'NATIVE = "duckdb"\n', "cli/sql.py": '    default="duckdb",\n'}
TYPE_NAME = re.compile(r"""["'](VARCHAR|ENUM|HUGEINT|TIMESTAMP_NS|TIMESTAMPTZ|[A-Z ]*ZONE)\b""")


def test_only_engines_and_the_evaluator_name_duckdb() -> None:
    rooms = {PACKAGE / "engines", PACKAGE / "evaluate"}
    files = [p for p in PACKAGE.rglob("*.py") if not rooms & set(p.parents)]
    assert len(files) > 50
    texts = {p.relative_to(PACKAGE).as_posix(): p.read_text(encoding="utf-8") for p in files}
    for name, line in ALLOWED.items():
        assert line in texts[name]
        texts[name] = texts[name].replace(line, "", 1)
    assert [name for name, text in texts.items() if NAMED.search(text)] == []
    assert [name for name, text in texts.items() if TYPE_NAME.search(text)] == []


def test_no_template_compares_in_a_way_that_postgresql_does_row_by_row() -> None:
    """A join by IS NOT DISTINCT FROM takes 90 s on 100,000 rows there, one by equality 0.3 s."""
    texts = {p: p.read_text(encoding="utf-8") for p in resources.path("sql").rglob("*.sql")}
    assert len(texts) > 20
    assert [p for p, text in texts.items() if "IS NOT DISTINCT FROM" in text.upper()] == []


def test_one_engine_is_the_default_everywhere() -> None:
    (option,) = (each for each in sql.params if each.name == "dialect")
    default = inspect.signature(sqlanon.Anonymizer.sql).parameters["dialect"].default
    assert option.default == default == NATIVE == EMBEDDED == ENGINES[EMBEDDED].load().dialect


def test_an_engine_says_how_texts_are_compared_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COLLATIONS, "trino", "")  # and without it afterwards

    class Trino(DuckDBEngine):
        dialect = "trino"
        can = Capabilities(collation="C")

    EngineEntry(Trino, "", "").load()
    text = exact(exp.column("a", quoted=True))
    assert render_text("{{ text | sql }}", dialect="trino", text=text) == '"a" COLLATE "C"'


def test_every_entry_leads_to_an_engine_of_its_scheme() -> None:
    for scheme, entry in ENGINES.items():
        assert entry.load().dialect
        assert f"{scheme}://" in entry.addresses


def test_a_connection_is_known_by_its_type() -> None:
    with duckdb.connect() as connection:
        assert is_connection(connection)
        assert not is_connection(connection.sql("SELECT 1"))
    assert not is_connection("duckdb://")
    with pytest.raises(EngineError, match="known database, not Connection"):
        open_engine(sqlite3.connect(":memory:"))


def test_addresses_of_one_file_are_one_database(tmp_path: Path) -> None:
    path, link = tmp_path / "a.duckdb", tmp_path / "b.duckdb"
    duckdb.connect(path).close()
    link.symlink_to(path)
    assert same_database(file_address(path), file_address(link))
    assert not same_database(file_address(path), "duckdb://")
    assert not same_database(file_address(path), "mysql://host/db")


@pytest.mark.parametrize(
    "address",
    [
        "postgresql+psycopg://ann:hunter2@host/db",
        "mysql://host/db?password=hunter2",
        "host=h password=hunter2",
        "ann:hunter2@host/data.db",
        "password=hunter2 host=h://",
    ],
)
def test_an_address_that_leads_nowhere_is_not_shown(address: str) -> None:
    with pytest.raises(EngineError) as caught:
        open_engine(address)
    assert "hunter2" not in str(caught.value)
    assert "Use duckdb:///relative.duckdb" in str(caught.value)
