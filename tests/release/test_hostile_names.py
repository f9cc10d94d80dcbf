"""Names and values that would end a statement early if they were not quoted."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from publish_cases import contents, publish, statements
from sqlglot import exp

from sqlanon.domain import Generalized
from sqlanon.domain.atoms import ValueDomain
from sqlanon.domain.column import Column, Partition
from sqlanon.domain.presentation import Mode
from sqlanon.engines.protocol import Kind
from sqlanon.engines.registry import open_engine, open_for_publishing
from sqlanon.release.export import rewrite_database
from sqlanon.release.order import Order, Pseudonym, Verbatim
from sqlanon.release.plan import type_changes

HOSTILE = [
    "'; DROP TABLE canary; --",
    '"; DROP TABLE canary; --',
    "x\"\"y''z",
    "/* */ -- \n; SELECT 1",
    "select",
    "main.people",
    "naïve ☃ 表 \u202e",
    "n" * 200,
    "{{ name }} {% if %} $key_1 ? %s",
    "\\",
    "sqlanon_stage_",
    " ",
]
MODES = ["table", "replace", "view", "csv", "parquet", "elsewhere"]


def quoted(*parts: str) -> str:
    return ".".join(exp.to_identifier(part, quoted=True).sql("duckdb") for part in parts)


def text(value: str) -> str:
    return exp.Literal.string(value).sql("duckdb")


def build(path: Path, name: str) -> None:
    """A schema, table, columns and values that all have the name."""
    with duckdb.connect(path) as connection:
        connection.sql("CREATE TABLE canary AS SELECT 'sings' AS song")
        connection.sql(f"CREATE SCHEMA {quoted(name)}")
        connection.sql(
            f"CREATE TABLE {quoted(name, name)} AS SELECT CASE WHEN i % 2 = 0 THEN {text(name)} "
            f"ELSE 'other' END AS {quoted(name)}, {text(name)} AS {quoted('v ' + name)}, "
            f"i AS {quoted('who ' + name)}, i % 7 AS {quoted('p ' + name)} "
            "FROM range(100) t (i)"
        )
        table = quoted(name, name)
        connection.sql(f"COMMENT ON TABLE {table} IS {text(name)}")
        connection.sql(f"COMMENT ON COLUMN {table}.{quoted(name)} IS {text(name)}")
        connection.sql(f"CREATE VIEW {quoted('reads ' + name)} AS FROM {table}")


def hostile_release(name: str, mode: str, source: exp.Expr, place: dict[str, Any]) -> Order:
    values = tuple(sorted([name, "other", "zzz"]))
    column = Column(ValueDomain(name, Kind.TEXT, values))
    pseudonyms = [] if mode == "view" else [Pseudonym(f"p {name}", "key_1")]
    recipe = Order(
        source,
        (
            Generalized(column, Partition(3, (1,)), "VARCHAR"),
            Verbatim(f"v {name}", "VARCHAR"),
            *pseudonyms,
        ),
        k=5,
        suppress=True,
        subject=f"who {name}",
    )
    accepted = dict.fromkeys([f"v {name}", f"p {name}"], name)
    checks = {"accepted": accepted, "audited": (f"v {name}",)}
    return replace(recipe, **checks, keys={"key_1": name}, **place)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_only_names(name: str, mode: str, tmp_path: Path) -> None:
    path = tmp_path / "ware.duckdb"
    build(path, name)
    target = exp.table_(f"to {name}", name, quoted=True)
    place: dict[str, Any] = {"target": target}
    other = tmp_path / "other.duckdb"
    file = tmp_path / f"it's [a]*; {name.replace('/', '_')[:50]}.{mode}"
    if mode == "elsewhere":
        with duckdb.connect(other) as connection:
            connection.sql(f"CREATE SCHEMA {quoted(name)}")
        opened = open_for_publishing(f"duckdb:///{path}", target=f"duckdb:///{other}")
        engine = opened.engine
        place = {"target": opened.table(quoted(name, f"to {name}"))}
    else:
        engine = open_engine(f"duckdb:///{path}", read_only=False)
        if mode == "replace":
            place = {"mode": Mode.REPLACE}
        elif mode == "view":
            place = {"target": target, "mode": Mode.VIEW}
        elif mode in ("csv", "parquet"):
            place = {"file": file}
    source = engine.source(table=quoted(name, name))
    wanted = hostile_release(name, mode, source.relation, place)
    assert statements(engine, wanted)
    assert type_changes(engine, wanted)
    published = publish(engine, wanted)
    again = None if mode == "replace" else publish(engine, wanted)
    engine.close()
    assert published.rows == 100
    assert again is None or again.table_hash == published.table_hash
    with duckdb.connect(path) as connection:
        assert contents(connection, "FROM canary") == [("sings",)]
        if mode == "elsewhere":
            connection.sql(f"ATTACH '{other}' AS other")
        if mode == "parquet":
            file.rename(tmp_path / "plain.parquet")
        released = {
            "replace": quoted(name, name),
            "parquet": f"'{tmp_path}/plain.parquet'",
            "elsewhere": quoted("other", name, f"to {name}"),
        }.get(mode, quoted(name, f"to {name}"))
        if mode == "csv":
            with file.open(newline="", encoding="utf-8") as opened_file:
                found = {(row[f"v {name}"], 100) for row in csv.DictReader(opened_file)}
        else:
            counted = f"SELECT {quoted('v ' + name)}, count(*) FROM {released} GROUP BY ALL"
            found = set(contents(connection, counted))
        assert found == {(name, 100)}
        if mode == "replace":
            comments = "SELECT comment FROM duckdb_tables() WHERE comment IS NOT NULL"
            assert contents(connection, comments) == [(name,)]
    rewrite_database(path)
