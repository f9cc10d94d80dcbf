"""`sqlanon publish`, `sql` and `choose` as users run them."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
import town_table
from command_line import Run, message, process
from town_table import by_class, rows, tables

GOOD = {("[20, 40)", "*"): 40, ("[40, 60]", "*"): 20}


def test_a_table(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path)
    done = run("publish", "policy.yml", "--scheme", "good.json")
    assert (done.status, done.err) == (0, "")
    assert "published 60 rows, 0 left out, to people.main.released" in done.out
    assert "wrote released.certificate.json" in done.out
    assert by_class(tmp_path) == GOOD
    columns = rows(tmp_path, "SELECT column_name FROM (DESCRIBE released)")
    assert columns == [("age",), ("town",), ("illness",)]
    assert rows(tmp_path, "SELECT count(DISTINCT name) FROM people") == [(60,)]


def test_the_certificate_goes_beside_the_policy_or_where_it_is_wanted(
    tmp_path: Path, run: Run
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "other").mkdir()
    town_table.make(tmp_path / "sub")
    files = [f"released.{f}.{s}" for f in ("certificate", "shareable") for s in ("html", "json")]
    command = ("publish", "sub/policy.yml", "--scheme", "sub/good.json", "--quiet")
    assert run(*command) == run(*command, "--certificates", "other")
    for folder in ("sub", "other"):
        assert sorted(p.name for p in (tmp_path / folder).glob("released*")) == files
    internal = json.loads((tmp_path / "other/released.certificate.json").read_text())
    assert (internal["privacy"]["k"], internal["release"]["rows"]) == (20, 60)
    wrong = message(1, run(*command, "--certificates", "nowhere"))
    assert wrong == "error: nowhere: there is no such folder for the certificate"


def test_a_folder_that_takes_no_certificate_is_refused_before_anything_is_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    town_table.make(tmp_path)

    def full(**_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sqlanon.release.pending.TemporaryFile", full)
    said = message(1, run("publish", "policy.yml", "--scheme", "good.json"))
    assert said == "error: .: the certificate cannot be written there (No space left on device)"
    assert tables(tmp_path) == ["people"]


def test_a_second_release_lists_the_first(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path)
    first = run("publish", "policy.yml", "--scheme", "good.json", "--json")
    second = run("publish", "policy.yml", "--scheme", "apart.json", "--json")
    documents = [json.loads(done.out) for done in (first, second)]
    prior = documents[1]["certificate"]["lineage"]["earlier"]
    assert [each["id"] for each in prior] == [documents[0]["certificate"]["release"]["id"]]
    assert by_class(tmp_path) == {("*", town): 20 for town in ("Bonn", "Oslo", "Rome")}


def test_json_and_quiet(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path)
    done = run("publish", "policy.yml", "--scheme", "good.json", "--json")
    assert done.err == ""
    document = json.loads(done.out)
    assert (document["rows"], document["left_out"], document["k"]) == (60, 0, 20)
    assert (document["mode"], document["target"]) == ("table", "people.main.released")
    quiet = run("publish", "policy.yml", "--scheme", "good.json", "--quiet")
    assert (quiet.status, quiet.out, quiet.err) == (0, "", "")


@pytest.mark.parametrize(
    "publish",
    [
        {"to": "released"},
        {"mode": "replace"},
        {"file": "out.csv"},
        {"to": "seen", "mode": "view"},
        {"to": "released", "connection": "duckdb:///new.duckdb"},
    ],
)
def test_a_dry_run_changes_nothing(publish: dict[str, str], tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path, publish=publish)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    done = run("publish", "policy.yml", "--scheme", "good.json", "--dry-run")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("BEGIN TRANSACTION;\n")
    assert done.out.endswith("COMMIT;\n\n")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_replace_asks(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path, publish={"mode": "replace"})
    said = message(1, run("publish", "policy.yml", "--scheme", "good.json"))
    assert "name: VARCHAR, removed" in said
    assert "age: INTEGER becomes VARCHAR" in said
    assert "people would be replaced, and there is no terminal to ask" in said
    assert "--yes" in said
    assert rows(tmp_path, "SELECT count(name) FROM people") == [(60,)]
    done = run("publish", "policy.yml", "--scheme", "good.json", "--yes")
    assert done.status == 0, done.err
    assert by_class(tmp_path, "people") == GOOD
    assert "remains: rows of the source can be read from the unused space" in done.out


def test_replace_without_any_standard_input(tmp_path: Path) -> None:
    town_table.make(tmp_path, publish={"mode": "replace"})
    command = f"{sys.executable} -m sqlanon publish policy.yml --scheme good.json <&-"
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "no terminal to ask" in done.stderr
    assert "Traceback" not in done.stderr


def test_rewritten_files_hold_no_dropped_rows(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path, publish={"mode": "replace"})
    town_table.change(tmp_path, "UPDATE people SET name = 'a name to be forgotten ' || name")
    done = run("publish", "policy.yml", "--scheme", "good.json", "--yes", "--rewrite")
    assert done.status == 0, done.err
    assert "unused space" not in done.out
    content = b"".join(path.read_bytes() for path in tmp_path.glob("people.duckdb*"))
    assert b"to be forgotten" not in content
    assert by_class(tmp_path, "people") == GOOD


def test_rewrite_is_for_database_files(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path, publish={"file": "out.csv"})
    said = message(1, run("publish", "policy.yml", "--scheme", "good.json", "--rewrite"))
    assert "only a database that sqlanon opens itself" in said
    assert not (tmp_path / "out.csv").exists()


def test_a_view_follows_its_table_and_stays_safe(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path, publish={"to": "seen", "mode": "view"})
    assert run("publish", "policy.yml", "--scheme", "good.json").status == 0
    assert by_class(tmp_path, "seen") == GOOD
    town_table.change(tmp_path, "DELETE FROM people WHERE age >= 40 AND name != 'Name 20'")
    assert by_class(tmp_path, "seen") == {("[20, 40)", "*"): 40}


def test_files(tmp_path: Path, run: Run) -> None:
    for name in ("out.csv", "out.parquet"):
        town_table.make(tmp_path, publish={"file": name})
        done = run("publish", "policy.yml", "--scheme", "good.json")
        assert (done.status, done.err) == (0, "")
        query = f"SELECT age, town, count(*) FROM '{tmp_path / name}' GROUP BY ALL"
        with duckdb.connect() as connection:
            found = connection.execute(query).fetchall()
        assert {(age, town): count for age, town, count in found} == GOOD
    with (tmp_path / "out.csv").open(newline="") as file:
        assert next(csv.reader(file)) == ["age", "town", "illness"]
    assert tables(tmp_path) == ["people"]


def test_sql_is_what_publish_runs(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path)
    done = run("sql", "policy.yml", "--scheme", "good.json")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("-- release of people, written by sqlanon ")
    assert "-- k = 20, required 5\n" in done.out
    printed = rows(tmp_path, done.out)
    assert run("publish", "policy.yml", "--scheme", "good.json", "--quiet").status == 0
    assert sorted(printed) == sorted(rows(tmp_path, "FROM released"))
    other = run("sql", "policy.yml", "--scheme", "good.json", "--dialect", "postgres", "--json")
    assert json.loads(other.out)["dialect"] == "postgres"


def test_choose_makes_a_scheme_of_a_solution(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path, search={"method": "front"})
    assert run("search", "policy.yml", "--quiet").status == 0
    result = json.loads((tmp_path / "result.json").read_text())
    assert run("choose", "result.json", "0", "-o", "first.json").err == "written to first.json\n"
    scheme = json.loads((tmp_path / "first.json").read_text())
    assert scheme["columns"] == result["solutions"][0]["columns"]
    assert scheme["domains"] == {"town": {"values": ["Bonn", "Oslo", "Rome"], "null": False}}
    shown = run("choose", "result.json", "--json")
    assert json.loads(shown.out)["columns"] == result["solutions"][result["chosen"]]["columns"]
    said = message(1, run("choose", "result.json", "99"))
    assert said.startswith("error: result.json#99: there is no solution 99; they are numbered 0 to")
    assert run("publish", "policy.yml", "--scheme", "result.json").status == 0


def test_streams_in_a_process_of_its_own(tmp_path: Path) -> None:
    town_table.make(tmp_path)
    done = process(tmp_path, "-v", "publish", "policy.yml", "--scheme", "good.json", "--json")
    assert done.status == 0, done.err
    assert json.loads(done.out)["k"] == 20
    assert "CREATE TABLE" in done.err
    assert not [path for path in tmp_path.iterdir() if "tmp" in path.name or "sqlanon" in path.name]
