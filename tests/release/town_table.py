"""Sixty people in three towns, their policy and schemes, in a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import yaml

SQL = """
    CREATE TABLE people AS
    SELECT
        'Name ' || i AS name,
        (20 + i % 40)::INTEGER AS age,
        ['Bonn', 'Oslo', 'Rome'][i % 3 + 1] AS town,
        ['flu', 'cold'][i % 2 + 1] AS illness
    FROM range(60) AS t (i)
"""
"""Ages 20 to 39 twice, 40 to 59 once; twenty people a town."""

POLICY: dict[str, Any] = {
    "source": {"connection": "duckdb:///people.duckdb", "table": "people"},
    "columns": {
        "name": {"role": "identifying"},
        "age": {"role": "quasi", "range": [20, 60], "granularity": 10},
        "town": {"role": "quasi"},
        "illness": {"role": "sensitive"},
    },
    "one_row_per_person": True,
    "privacy": {"k": 5, "l_diversity": {"l": 2}},
    "publish": {"to": "released"},
}
GOOD = {
    "version": 1,
    "columns": {"age": {"cuts": [40]}, "town": {"groups": [["Bonn", "Oslo", "Rome"]]}},
    "domains": {"town": ["Bonn", "Oslo", "Rome"]},
}
"""Two classes: 40 people below 40, 20 from 40 on."""
APART: dict[str, Any] = {
    **GOOD,
    "columns": {"age": {"cuts": []}, "town": {"groups": [["Bonn"], ["Oslo"], ["Rome"]]}},
}
"""Three classes of 20."""
FINE: dict[str, Any] = {
    **GOOD,
    "columns": {"age": {"cuts": [30, 40, 50]}, "town": {"groups": [["Bonn"], ["Oslo", "Rome"]]}},
}
"""From 40 on there are ten people a decade, three or four of them in Bonn."""


def make(folder: Path, *, without: str = "", **sections: Any) -> Path:
    """Writes database, policy and schemes; sections are merged into the policy's."""
    file = folder / "people.duckdb"
    if not file.exists():
        with duckdb.connect(file) as connection:
            connection.sql(SQL)
    policy = {key: value for key, value in POLICY.items() if key != without}
    for name, section in sections.items():
        merged = isinstance(section, dict) and name not in ("publish", "source")
        policy[name] = {**policy.get(name, {}), **section} if merged else section
    (folder / "policy.yml").write_text(yaml.safe_dump(policy, sort_keys=False))
    for name, scheme in (("good", GOOD), ("apart", APART), ("fine", FINE)):
        (folder / f"{name}.json").write_text(json.dumps(scheme))
    return folder / "policy.yml"


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(folder / "people.duckdb", read_only=True) as connection:
        return connection.sql(query).fetchall()


def change(folder: Path, statement: str) -> None:
    with duckdb.connect(folder / "people.duckdb") as connection:
        connection.execute(statement)


def tables(folder: Path) -> list[str]:
    listed = rows(folder, "SELECT table_name FROM information_schema.tables ORDER BY 1")
    return [name for (name,) in listed]


def by_class(folder: Path, table: str = "released") -> dict[tuple[Any, ...], int]:
    counted = rows(folder, f"SELECT age, town, count(*) FROM {table} GROUP BY ALL")
    return {(age, town): count for age, town, count in counted}
