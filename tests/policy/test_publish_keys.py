"""Where a release goes: what goes together, and what is said of the rest."""

from __future__ import annotations

from typing import Any

import pytest
from policy_mistakes import BASE, of

from sqlanon.policy.policy import parse_policy

FILE = {"file": "people.csv"}
TABLE = {"connection": "duckdb:///ware.duckdb", "table": "people"}


def of_publish(source: Any = FILE, **keys: Any) -> list[str]:
    return of(source=source, publish=keys)


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"mode": "copy"}, "mode: found 'copy', expected 'table', 'replace' or 'view'"),
        ({"mode": "views"}, "mode: found 'views', expected 'table', 'replace' or 'view'; did you "
         "mean view?"),
        ({"order": "random"}, "order: found 'random', expected 'sorted' or 'shuffled'"),
        ({"order": "shuffle"}, "order: found 'shuffle', expected 'sorted' or 'shuffled'; did you "
         "mean shuffled?"),
        ({"unseen": "leave out"}, "unseen: found 'leave out', expected 'error', 'leave_out' or "
         "'top'; did you mean leave_out?"),
        ({"form": 1}, "form: found 1, expected 'auto', 'case' or 'join'"),
        ({"to": ""}, "to: found '', expected text that is not blank"),
        ({"to": ["a", "b"]}, "to: found ['a', 'b'], expected text that is not blank"),
        ({"tabel": "x"}, "tabel: unknown key; known here: to, mode, connection, file, order, "
         "unseen, form"),
        ({"modus": "view"}, "modus: unknown key; did you mean mode?"),
        ({"file": "a.xlsx"}, "file: found 'a.xlsx', expected a name ending in .csv or .parquet"),
        ({"file": "a.csv", "to": "t"}, "to: a release goes to a file or to a database; leave "
         "file or this out"),
        ({"file": "a.csv", "connection": "duckdb:///b.duckdb"}, "connection: a release goes to a "
         "file or to a database; leave file or this out"),
        ({"connection": "duckdb:///b.duckdb"}, "to: is missing; with a connection it needs the "
         "name of the table to make"),
    ],
)  # fmt: skip
def test_mistakes_in_publish(keys: dict[str, Any], line: str) -> None:
    assert of_publish(**keys) == [f"publish.{line}"]


@pytest.mark.parametrize("mode", ["replace", "view"])
def test_a_file_has_no_mode(mode: str) -> None:
    assert of_publish(TABLE, file="a.parquet", mode=mode) == [
        f"publish.mode: found '{mode}', but a file is always written as a table"
    ]


def test_replacing_the_source() -> None:
    alone = "mode replace writes to the source's own table; leave it out"
    assert of_publish(TABLE, mode="replace", to="t", connection="duckdb:///b.duckdb") == [
        f"publish.to: {alone}",
        f"publish.connection: {alone}",
    ]
    for source in (FILE, {"query": "SELECT 1"}, {}):
        assert of_publish(source, mode="replace") == [
            "publish.mode: replace needs source.table, the table that is replaced"
        ]


def test_views() -> None:
    assert of_publish(TABLE, mode="view") == [
        "publish.to: is missing; mode view needs the name of the view"
    ]
    assert of_publish(TABLE, mode="view", to="v", connection="duckdb:///b.duckdb") == [
        "publish.connection: a view stays in the database of its source; leave it out, or take "
        "mode table"
    ]
    for source in (FILE, {}):
        assert of_publish(source, mode="view", to="v") == [
            "publish.mode: view needs source.table or source.query on a connection, because a "
            "view reads what is in its own database"
        ]
    columns = {"age": {"role": "quasi"}, "id": {"role": "pseudonym"}}
    publish = {"mode": "view", "to": "v"}
    assert of(columns=columns, source=TABLE, publish=publish) == [
        "publish.mode: a view would show the secret of its pseudonyms to everyone who can read "
        "its definition; take mode table"
    ]


def test_the_source_is_not_overwritten_by_accident() -> None:
    line = (
        "publish.to: 'people' is the source itself; take another name, or mode: replace without "
        "this"
    )
    assert of_publish(TABLE, to="people") == [line]
    assert of_publish(TABLE, to="people", connection=TABLE["connection"]) == [line]


@pytest.mark.parametrize(
    ("source", "publish"),
    [
        (TABLE, {"mode": "replace"}),
        (TABLE, {"mode": "view", "to": "v"}),
        ({"connection": "duckdb:///a.duckdb", "query": "SELECT 1"}, {"mode": "view", "to": "v"}),
        (TABLE, {"to": "people", "connection": "duckdb:///other.duckdb"}),
        (FILE, {"file": "out/People.CSV", "mode": "table"}),
        (FILE, {"to": "t", "connection": "duckdb:///other.duckdb"}),
        (FILE, {"order": "shuffled"}),
        ({}, {}),
    ],
)
def test_places_that_go_together(source: Any, publish: Any) -> None:
    parse_policy({**BASE, "source": source, "publish": publish})
