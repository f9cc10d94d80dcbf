"""Names and values that would do harm if they were ever read as SQL, from policy to release."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from command_line import Run

HOSTILE = [
    "'; DROP TABLE canary; --",
    '"; DROP TABLE canary; --',
    "/* canary */ -- \\",
    "two\nlines\n-- DROP TABLE canary;\nDROP TABLE canary;",
    "naïve ☃ 數據 😀 e\u0301",
    "select",
    "x" * 70,
    "${HOME} {{ 7 * 7 }} {% raw %} %s %(x)s $1 :a ?",
    ":smile: [bold red]not red[/] \x1b[31m",
    "a.b.c",
]


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


class Hostile:
    """A database whose every name and value is hostile, and its policy."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name, self.file = folder, name, folder / "it's; here.duckdb"
        self.table = f"{quoted(name + ' schema')}.{quoted(name)}"
        self.target = f"{quoted(name + ' schema')}.{quoted(name + ' out')}"
        self.values = [f"{name} one", f"{name} two", f"{name} three", f"{name} rare"]
        with duckdb.connect(self.file) as connection:
            connection.execute("CREATE TABLE canary AS SELECT 42 AS answer")
            connection.execute(f"CREATE SCHEMA {quoted(name + ' schema')}")
            columns = (
                f"{quoted(name)} TEXT, {quoted(name + ' kept')} TEXT, {quoted('who ' + name)} TEXT"
            )
            connection.execute(f"CREATE TABLE {self.table} ({columns})")
            for row in self.rows():
                shown = ", ".join("NULL" if cell is None else text(cell) for cell in row)
                connection.execute(f"INSERT INTO {self.table} VALUES ({shown})")
        with (folder / "tree.csv").open("w", newline="", encoding="utf-8") as file:
            nodes = [f"{name} node", f"{name} node", f"{name} other", f"{name} other"]
            rows = ([v, node, f"{name} all"] for v, node in zip(self.values, nodes, strict=True))
            csv.writer(file, delimiter=";").writerows(rows)

    def rows(self) -> list[tuple[str | None, str, str]]:
        """One and two three times each, three four times, NULL three times, rare once."""
        one, two, three, rare = self.values
        cells = [one] * 3 + [two] * 3 + [three] * 4 + [None] * 3 + [rare]
        return [(cell, self.name, f"person {self.name} {n}") for n, cell in enumerate(cells)]

    def write(self, **publish: Any) -> None:
        name = self.name
        policy = {
            "source": {"connection": f"duckdb:///{self.file.name}", "table": self.table},
            "columns": {
                name: {"role": "quasi", "hierarchy": "tree.csv", "null_label": f"{name} null"},
                f"{name} kept": {"role": "sensitive"},
                f"who {name}": {"role": "pseudonym", "accept": f"{name} reason"},
            },
            "one_row_per_person": True,
            "privacy": {"k": 3, "homogeneity": {"accept": f"{name} reason"}},
            "suppression": {"limit": 0.5, "rows": "mark", "marker": f"{name} gone"},
            "publish": {"to": self.target} | publish,
        }
        (self.folder / "policy.yml").write_text(
            yaml.safe_dump(policy, allow_unicode=True), encoding="utf-8"
        )
        groups = [self.values[:2], self.values[2:], [None]]
        scheme = {"version": 1, "columns": {name: {"groups": groups}}}
        (self.folder / "scheme.json").write_text(json.dumps(scheme), encoding="utf-8")

    def expected(self) -> Counter[str]:
        return Counter({f"{self.name} node": 6, f"{self.name} other": 5, f"{self.name} null": 3})

    def fetch(self, query: str) -> list[tuple[Any, ...]]:
        with duckdb.connect(self.file, read_only=True) as connection:
            assert connection.sql("FROM canary").fetchall() == [(42,)]
            return connection.sql(query).fetchall()


@pytest.mark.parametrize("name", HOSTILE)
def test_table(name: str, tmp_path: Path, run: Run) -> None:
    hostile = Hostile(tmp_path, name)
    hostile.write()
    dry = run("publish", "policy.yml", "--scheme", "scheme.json", "--dry-run", "--json")
    assert dry.status == 0, dry.err
    assert len(hostile.fetch("SELECT * FROM duckdb_tables()")) == 2
    done = run("publish", "policy.yml", "--scheme", "scheme.json")
    assert (done.status, done.err) == (0, "")
    assert "\x1b" not in done.out
    columns = [quoted(each) for each in (name, f"{name} kept", f"who {name}")]
    rows = hostile.fetch(f"SELECT {', '.join(columns)} FROM {hostile.target}")
    assert Counter(row[0] for row in rows) == hostile.expected()
    assert {row[1] for row in rows} == {name}
    assert len({row[2] for row in rows}) == 14
    source = hostile.fetch(f"FROM {hostile.table}")
    assert Counter(source) == Counter(hostile.rows())
    assert len(hostile.fetch("SELECT * FROM duckdb_tables()")) == 3
    printed = run("sql", "policy.yml", "--scheme", "scheme.json")
    assert printed.status == 0, printed.err
    statement = printed.out.replace("$sqlanon_key_1", "'a key'")
    again = hostile.fetch(statement)
    assert Counter(row[0] for row in again) == hostile.expected()


@pytest.mark.parametrize("name", HOSTILE[:5])
def test_file(name: str, tmp_path: Path, run: Run) -> None:
    hostile = Hostile(tmp_path, name)
    file = "it's; -- [out].csv"
    hostile.write(to=None, file=file)
    done = run("publish", "policy.yml", "--scheme", "scheme.json", "--quiet")
    assert (done.status, done.out, done.err) == (0, "", "")
    with (tmp_path / file).open(newline="", encoding="utf-8") as opened:
        header, *rows = csv.reader(opened)
    assert header == [name, f"{name} kept", f"who {name}"]
    assert Counter(row[0] for row in rows) == hostile.expected()
    assert len(hostile.fetch("SELECT * FROM duckdb_tables()")) == 2


@pytest.mark.parametrize("name", [*HOSTILE[:2], HOSTILE[-2]])
def test_marker(name: str, tmp_path: Path, run: Run) -> None:
    """The values one by one: `rare` is alone and becomes the marker, and that is too few."""
    hostile = Hostile(tmp_path, name)
    hostile.write()
    scheme = {"columns": {name: {"groups": [*([v] for v in hostile.values), [None]]}}}
    (tmp_path / "scheme.json").write_text(json.dumps(scheme))
    done = run("publish", "policy.yml", "--scheme", "scheme.json")
    assert (done.status, done.out) == (3, "")
    assert "k is 1, required 3" in done.err
    policy = (tmp_path / "policy.yml").read_text(encoding="utf-8").replace("k: 3", "k: 4")
    (tmp_path / "policy.yml").write_text(policy.replace("limit: 0.5", "limit: 1.0"))
    assert run("publish", "policy.yml", "--scheme", "scheme.json").status == 0
    rows = hostile.fetch(f"SELECT {quoted(name)} FROM {hostile.target}")
    assert Counter(row[0] for row in rows) == {f"{name} three": 4, f"{name} gone": 10}


@pytest.mark.parametrize("name", HOSTILE[1:4])
def test_replace(name: str, tmp_path: Path, run: Run) -> None:
    hostile = Hostile(tmp_path, name)
    hostile.write(to=None, mode="replace")
    done = run("publish", "policy.yml", "--scheme", "scheme.json", "--yes", "--rewrite")
    assert (done.status, done.err) == (0, "")
    rows = hostile.fetch(f"SELECT {quoted(name)} FROM {hostile.table}")
    assert Counter(row[0] for row in rows) == hostile.expected()


def test_a_long_name_has_certificates_too(tmp_path: Path, run: Run) -> None:
    for name in ("é" * 300, "é" * 299 + "e"):
        hostile = Hostile(tmp_path, name)
        hostile.write()
        done = run("publish", "policy.yml", "--scheme", "scheme.json")
        assert (done.status, done.err) == (0, "")
        hostile.file.unlink()
    assert len(list(tmp_path.glob("é*.certificate.json"))) == 2
