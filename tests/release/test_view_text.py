"""The stored text of a view names no value that its rows do not show.

What a label shows is written here anew, from docs/schemes.md: its own text, the members of a
set, the ends of an interval.
"""

from __future__ import annotations

import datetime as dt
import random
import re
from typing import Any

import duckdb
import pytest
import sqlglot
from golden_files import assert_golden
from sqlglot import exp

import sqlanon
from sqlanon import Scheme
from sqlanon.domain.column import Column, Partition
from sqlanon.errors import CompileError, PublishError, SqlanonError, VerificationError

TOWNS = ["aalst", "bergen", "ceuta", "delft", "evora", "fes", "gent", "scurvy-town"]
POOLS: dict[str, list[Any]] = {
    "town": TOWNS,
    "zip": ["10115", "10117", "10243", "20095", "20097", "8001"],
    # Far apart: the number before an end that is shown is no other value.
    "age": [1000 + 7 * n for n in range(9)],
    "born": [dt.date(1931 + 7 * n, 5, 11) for n in range(9)],
    "seen": [dt.datetime(2020 + n, 3, 9, 10, 30) for n in range(6)],
}
HIERARCHIES: dict[str, list[dict[str, Any] | None]] = {
    "town": [None, None, {"mask": {}}],
    "zip": [None, {"mask": {}}, {"mask": {"from": "left"}}],
    "age": [None, None, {"intervals": [20, 100]}, {"mask": {}}],
    "born": [None, {"date": ["decade"]}],
    "seen": [None, {"date": ["year"]}],
}


def text_of(connection: duckdb.DuckDBPyConnection) -> str:
    """The text of the view as its readers find it."""
    ((text,),) = connection.sql(
        "SELECT sql FROM duckdb_views() WHERE view_name = 'anon'"
    ).fetchall()
    return str(text)


def literals(text: str) -> set[str]:
    parsed = sqlglot.parse_one(text, dialect="duckdb")
    return {each.this for each in parsed.find_all(exp.Literal)}


def spelled(label: Any) -> set[str]:
    """What a released value shows: itself, what a set lists, the ends of an interval."""
    text = str(label)
    inside = re.fullmatch(r"[{\[<]?(.*?)[})\]+]?", text)
    assert inside is not None
    return {text, *inside[1].split(", ")}


def shown(connection: duckdb.DuckDBPyConnection, name: str) -> set[str]:
    rows = connection.sql(f'SELECT DISTINCT "{name}" FROM anon').fetchall()
    return {part for (label,) in rows for part in spelled(label)}


def policy_of(columns: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {
        "source": {"table": "people"},
        "columns": {name: {"role": "quasi", **section} for name, section in columns.items()},
        "one_row_per_person": True,
        "privacy": {"k": 2},
        "suppression": {"limit": 1.0},
        "publish": {"to": "anon", "mode": "view"},
    } | keys


def table_of(columns: dict[str, list[Any]]) -> duckdb.DuckDBPyConnection:
    types = {str: "VARCHAR", int: "INTEGER", dt.date: "DATE", dt.datetime: "TIMESTAMP"}
    connection = duckdb.connect()
    kinds = {name: type(next(c for c in cells if c is not None)) for name, cells in columns.items()}
    listed = ", ".join(f"{name} {types[kind]}" for name, kind in kinds.items())
    connection.execute(f"CREATE TABLE people ({listed})")
    marks = ", ".join("?" * len(columns))
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    connection.executemany(f"INSERT INTO people VALUES ({marks})", rows)
    return connection


def any_partition(rng: random.Random, column: Column) -> Partition:
    if rng.random() < 0.4:
        return rng.choice(column.levels)
    cuts = {p for p in range(column.positions) if rng.random() < 0.5}
    if column.domain.has_null and cuts:
        cuts.add(column.positions - 1)
    return Partition(column.size, tuple(sorted(cuts)))


def drawn(seed: int) -> tuple[dict[str, list[Any]], dict[str, Any], random.Random]:
    rng = random.Random(seed)
    names = rng.sample(sorted(POOLS), rng.randint(1, 2))
    rows = rng.randint(4, 30)
    columns, sections = {}, {}
    for name in names:
        few = rng.sample(POOLS[name], rng.randint(2, len(POOLS[name])))
        cells = [rng.choice(few[: 1 + rng.randrange(len(few))]) for _ in range(rows)]
        cells[0] = few[-1]
        if rng.random() < 0.2:
            cells[1] = None
        columns[name] = cells
        hierarchy = rng.choice(HIERARCHIES[name])
        sections[name] = {} if hierarchy is None else {"hierarchy": hierarchy}
        sections[name]["form"] = rng.choice(["auto", "case", "join"])
        if rng.random() < 0.3:
            sections[name]["open_ends"] = rng.random() < 0.5
    return columns, sections, rng


def hidden_in(seed: int) -> int | None:
    """How many values a random view hides, none of them in its text; None where it is refused."""
    columns, sections, rng = drawn(seed)
    connection = table_of(columns)
    unseen = rng.choice(["error", "leave_out", "top"])
    policy = policy_of(sections, publish={"to": "anon", "mode": "view", "unseen": unseen})
    with sqlanon.load(policy, connection=connection) as anonymizer:
        found = anonymizer.space.columns
        scheme = Scheme(found, tuple(any_partition(rng, column) for column in found))
        try:
            anonymizer.publish(scheme)
        except VerificationError as error:
            assert "there is nothing to release" in str(error)  # noqa: PT017
            return 0
        except (CompileError, PublishError) as error:
            assert "the text of the view" in str(error) or "top label" in str(error)  # noqa: PT017
            return None
    named = literals(text_of(connection))
    number = 0
    for name, cells in columns.items():
        hidden = {str(cell) for cell in cells if cell is not None} - shown(connection, name)
        assert not hidden & named, (seed, name, scheme)
        number += len(hidden)
    connection.close()
    return number


def test_no_value_that_is_not_shown() -> None:
    found = [hidden_in(seed) for seed in range(20)]
    views = [number for number in found if number is not None]
    assert len(views) > 10
    assert sum(number > 0 for number in views) > 6
    assert sum(views) > 20


def published(
    columns: dict[str, list[Any]], sections: dict[str, Any], cuts: dict[str, Any], **keys: Any
) -> duckdb.DuckDBPyConnection:
    connection = table_of(columns)
    with sqlanon.load(policy_of(sections, **keys), connection=connection) as anonymizer:
        anonymizer.publish({"columns": cuts})
    return connection


def test_a_town_of_one_person() -> None:
    cells = ["bergen"] * 3 + ["delft"] * 2 + ["scurvy-town"]
    groups = {"town": {"groups": [["bergen"], ["delft"], ["scurvy-town"]]}}
    connection = published({"town": cells}, {"town": {}}, groups)
    assert "scurvy" not in text_of(connection)
    assert "bergen" in text_of(connection)
    # It stays hidden when more people come, who would make it large enough.
    connection.execute("INSERT INTO people SELECT 'scurvy-town' FROM range(5)")
    assert connection.sql("SELECT count(*) FROM anon").fetchall() == [(5,)]


def test_values_that_the_policy_declares_are_named() -> None:
    """The list is the policy's, whether a value occurs or not; so more people make a class."""
    cells = ["bergen"] * 3 + ["scurvy-town"]
    groups = {"town": {"groups": [["bergen"], ["scurvy-town"]]}}
    section = {"town": {"values": ["bergen", "scurvy-town"]}}
    connection = published({"town": cells}, section, groups)
    assert "scurvy-town" in text_of(connection)
    connection.execute("INSERT INTO people SELECT 'scurvy-town' FROM range(5)")
    assert connection.sql("SELECT count(*) FROM anon").fetchall() == [(9,)]


def test_the_lowest_and_the_highest_do_not_show_in_a_join() -> None:
    """Labels of open ends hide them, and so does the list that the view joins."""
    ages = [3, 9, 9, 21, 22, 23, 41, 44, 97]
    cuts = {"age": {"cuts": [21, 41]}}
    connection = published({"age": ages}, {"age": {"form": "join"}}, cuts)
    named = literals(text_of(connection))
    assert {"21", "41"} <= named
    assert not {"3", "97"} & named
    rows = connection.sql("SELECT age, count(*) FROM anon GROUP BY 1 ORDER BY 1").fetchall()
    assert rows == [("41+", 3), ("<21", 3), ("[21, 41)", 3)]
    connection.execute("INSERT INTO people VALUES (-5), (120), (20)")
    rows = connection.sql("SELECT age, count(*) FROM anon GROUP BY 1 ORDER BY 1").fetchall()
    assert rows == [("41+", 4), ("<21", 5), ("[21, 41)", 3)]


def test_a_mask_is_named_by_what_it_leaves() -> None:
    """So a text that is new belongs to the mask that it fits; length counts characters."""
    zips = ["10115", "10117", "10199", "2009\u00e9", "20037", "8001"]
    section = {"zip": {"hierarchy": {"mask": {}}, "family": "full-domain"}}
    connection = published({"zip": zips}, section, {"zip": {"level": 2}})
    with sqlanon.load(policy_of(section), connection=connection) as anonymizer:
        lines = anonymizer.sql({"columns": {"zip": {"level": 2}}}).splitlines()
    shown_before = "\n".join(line for line in lines if not line.startswith("--"))
    assert_golden("release/views/masks", shown_before)
    assert "'8" in shown_before, "which masks have rows is not known yet"
    assert "'8" not in text_of(connection)
    assert not set(zips) & literals(text_of(connection))
    connection.execute("INSERT INTO people VALUES ('10155'), ('101550'), ('8002'), ('')")
    rows = connection.sql("SELECT zip, count(*) FROM anon GROUP BY 1 ORDER BY 1").fetchall()
    assert rows == [("101**", 4), ("200**", 2)]  # 80** had one person, and stays out of the text


def test_a_mask_over_numbers_from_the_left() -> None:
    section = {"age": {"hierarchy": {"mask": {"from": "left"}}, "family": "full-domain"}}
    connection = published({"age": [131, 221, 132, 342, 45]}, section, {"age": {"level": 2}})
    assert not {"131", "221", "132", "342", "45"} & literals(text_of(connection))
    rows = connection.sql("SELECT age, count(*) FROM anon GROUP BY 1 ORDER BY 1").fetchall()
    assert rows == [("**1", 2), ("**2", 2)]


def test_a_view_that_would_list_values_is_refused() -> None:
    """An interval of values with a hierarchy takes no others, so its text would list them."""
    section = {"age": {"hierarchy": {"intervals": [10]}, "family": "contiguous"}}
    with pytest.raises(CompileError, match="'age': the text of the view"):
        published({"age": [1, 1, 12, 12, 25, 25]}, section, {"age": {"cuts": [25]}})


def test_with_top_nothing_can_be_left_out() -> None:
    cells = ["bergen"] * 3 + ["scurvy-town"]
    groups = {"town": {"groups": [["bergen"], ["scurvy-town"]]}}
    keys = {"publish": {"to": "anon", "mode": "view", "unseen": "top"}}
    with pytest.raises(PublishError, match=r"'town': with `unseen: top` .* 1 groups"):
        published({"town": cells}, {"town": {}}, groups, **keys)


def test_nothing_is_released() -> None:
    groups = {"town": {"groups": [["bergen"], ["delft"]]}}
    connection = table_of({"town": ["bergen", "delft"]})
    with (
        sqlanon.load(policy_of({"town": {}}), connection=connection) as anonymizer,
        pytest.raises(SqlanonError, match=r"no rows|nothing"),
    ):
        anonymizer.publish({"columns": groups})
