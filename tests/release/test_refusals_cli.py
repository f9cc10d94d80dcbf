"""What stops a release: exit statuses, messages that name the place, and nothing changed."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import town_table
from command_line import Run, message
from town_table import by_class, rows, tables

import sqlanon
from sqlanon.errors import EngineError

HOLDER = """
import sys, duckdb
connection = duckdb.connect(sys.argv[1], read_only=sys.argv[2] == "reading")
print("open", flush=True)
sys.stdin.readline()
"""


@contextmanager
def held(file: Path, how: str) -> Iterator[int]:
    """The database is open in another process, whose number is yielded."""
    command = [sys.executable, "-c", HOLDER, str(file), how]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        try:
            yield process.pid
        finally:
            process.communicate("\n")


def test_too_few_people(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path)
    said = message(3, run("publish", "policy.yml", "--scheme", "fine.json"))
    assert "k is 3, required 5: 2 of 8 classes have fewer than 5 rows" in said
    assert said.endswith("Nothing was changed.")
    assert tables(tmp_path) == ["people"]
    assert not list(tmp_path.glob("released*"))


def test_a_failed_release_leaves_the_former_one(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path)
    assert run("publish", "policy.yml", "--scheme", "good.json").status == 0
    before = (tmp_path / "released.certificate.json").read_bytes()
    assert run("publish", "policy.yml", "--scheme", "fine.json").status == 3
    assert by_class(tmp_path) == {("[20, 40)", "*"): 40, ("[40, 60]", "*"): 20}
    assert (tmp_path / "released.certificate.json").read_bytes() == before


def test_columns_that_would_tell_who_it_is(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path, columns={"name": {"role": "insensitive"}})
    said = message(3, run("publish", "policy.yml", "--scheme", "good.json"))
    assert "column 'name' is nearly unique: 60 distinct values in 60 rows" in said
    assert 'add `accept: "reason"` to columns.name' in said


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ({"without": "privacy"}, "policy.yml: privacy: is missing"),
        ({"without": "publish"}, "policy.yml: publish: says no place for the release"),
        ({"publish": {"to": "people"}}, "publish.to: 'people' is the source itself"),
        ({"publish": {"to": "nowhere.released"}}, "There is no schema 'nowhere' for the table"),
        ({"publish": {"file": "no/such/folder.csv"}}, "there is no folder"),
        ({"publish": {"file": "out.xlsx"}}, "publish.file: found 'out.xlsx', expected a name"),
        ({"publish": {"to": "a", "connection": "mysql://x"}}, "'mysql' is not a known engine"),
        ({"columns": {"nane": {"role": "identifying"}}}, "column 'nane' is not in people; did you"),
        (
            {"columns": {"illness": {"role": "quasi"}}, "privacy": {"l_diversity": None}},
            "no partition for 'illness'",
        ),
        ({"columns": {"age": {"role": "quasi", "granularity": 3}}}, "columns.age: range and"),
    ],
)
def test_mistakes_are_named(
    sections: dict[str, object], words: str, tmp_path: Path, run: Run
) -> None:
    policy = town_table.make(tmp_path, **sections)  # type: ignore[arg-type]
    said = message(1, run("publish", "policy.yml", "--scheme", "good.json"))
    assert words in said, said
    assert "Traceback" not in said
    assert policy.exists()
    assert tables(tmp_path) == ["people"]


def test_schemes_that_do_not_fit(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path)
    said = message(1, run("publish", "policy.yml", "--scheme", "none.json"))
    assert said == "error: none.json: cannot be read (No such file or directory)"
    (tmp_path / "odd.json").write_text(json.dumps({"columns": {"age": {"cuts": [33]}, "town": 1}}))
    said = message(1, run("sql", "policy.yml", "--scheme", "odd.json"))
    assert said.startswith("error: odd.json: column 'age': 33 is not a place to cut")


def test_wrong_usage(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path)
    assert "--scheme" in message(2, run("publish", "policy.yml"))
    assert "--dialect" in message(2, run("sql", "policy.yml", "--scheme", "a", "--dialect", "C"))
    assert message(2, run("choose"))


def test_a_town_that_the_scheme_does_not_know(tmp_path: Path, run: Run) -> None:
    """Yesterday's scheme, today's table: seven people have moved to Lima."""
    town_table.make(tmp_path, search={"method": "optimal"})
    assert run("search", "policy.yml", "--quiet", "-o", "yesterday.json").status == 0
    found = json.loads((tmp_path / "yesterday.json").read_text())
    assert found["domains"]["town"]["values"] == ["Bonn", "Oslo", "Rome"]
    town_table.change(
        tmp_path, "UPDATE people SET town = 'Lima' WHERE age % 40 IN (20, 21, 22, 23)"
    )
    said = message(4, run("publish", "policy.yml", "--scheme", "apart.json"))
    assert "values that the scheme does not cover: 'town' in 8 rows" in said
    assert "publish.unseen" in said
    assert "Lima" not in said
    town_table.make(tmp_path, publish={"to": "released", "unseen": "leave_out"})
    done = run("publish", "policy.yml", "--scheme", "apart.json", "--json")
    assert done.status == 0, done.err
    document = json.loads(done.out)
    assert (document["rows"], document["left_out"]) == (52, 8)
    assert document["certificate"]["suppression"]["unseen"] == 8
    assert sum(by_class(tmp_path).values()) == 52
    assert {town for _, town in by_class(tmp_path)} == {"Bonn", "Oslo", "Rome"}
    town_table.make(tmp_path, publish={"to": "released", "unseen": "top"})
    assert run("publish", "policy.yml", "--scheme", "apart.json").status == 0
    assert by_class(tmp_path)["*", "*"] == 8
    assert sum(by_class(tmp_path).values()) == 60


def test_an_age_outside_the_declared_range(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path)
    town_table.change(tmp_path, "UPDATE people SET age = 104 WHERE name = 'Name 3'")
    said = message(4, run("publish", "policy.yml", "--scheme", "good.json"))
    assert "'age' in 1 row" in said
    assert tables(tmp_path) == ["people"]


def test_a_database_that_another_process_writes(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path)
    with held(tmp_path / "people.duckdb", "writing") as number:
        for command in ("publish", "sql", "measure"):
            said = message(1, run(command, "policy.yml", "--scheme", "good.json"))
            assert f"is open in another process (PID {number})" in said
            assert "people.duckdb" in said


def test_a_database_that_another_process_reads(tmp_path: Path, run: Run) -> None:
    """Everything but publishing goes on beside it, and what was read before can be used again."""
    policy = town_table.make(tmp_path)
    with held(tmp_path / "people.duckdb", "reading") as number:
        assert run("search", "policy.yml", "--quiet").status == 0
        assert run("sql", "policy.yml", "--scheme", "good.json").status == 0
        said = message(1, run("publish", "policy.yml", "--scheme", "good.json"))
        assert f"is open in another process (PID {number})" in said
        with sqlanon.load(policy) as anonymizer:
            with pytest.raises(EngineError, match=f"PID {number}"):
                anonymizer.publish(town_table.GOOD)
            assert anonymizer.measure(town_table.GOOD).k == 20
    assert run("publish", "policy.yml", "--scheme", "good.json").status == 0


def test_others_can_read_while_a_search_runs(tmp_path: Path) -> None:
    policy = town_table.make(tmp_path)
    read = (
        "import duckdb, sys; print(duckdb.connect(sys.argv[1], read_only=True).sql('FROM people'))"
    )
    with sqlanon.load(policy) as anonymizer:
        anonymizer.search()
        command = [sys.executable, "-c", read, str(tmp_path / "people.duckdb")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert rows(tmp_path, "SELECT count(*) FROM people") == [(60,)]


def test_an_address_from_the_environment_is_not_told(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_FILE", "people.duckdb")
    source = {"connection": "duckdb:///${TEST_FILE}", "table": "people"}
    town_table.make(tmp_path, source=source)
    with held(tmp_path / "people.duckdb", "reading"):
        said = message(1, run("publish", "policy.yml", "--scheme", "good.json"))
    assert "people.duckdb" not in said
    assert "${TEST_FILE}" in said


def test_a_schema_that_does_not_exist(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path, publish={"to": "nosuch.released"})
    said = message(1, run("publish", "policy.yml", "--scheme", "good.json"))
    assert said == (
        "error: There is no schema 'nosuch' for the table 'released'. Make it with CREATE SCHEMA "
        '"nosuch", or name the table without a schema or with one that exists. Nothing was changed.'
    )


def test_more_people_required_than_there_are(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path, privacy={"k": 61, "l_diversity": {"l": 1}})
    done = run("search", "policy.yml", "--quiet")
    assert (done.status, done.out) == (3, "")
    assert (
        "in a source of 60 rows; the policy requires k = 61, distinct l = 1 on 'illness'. There "
        "are fewer rows than k = 61"
    ) in done.err
    assert "longer" not in done.err
    town_table.change(tmp_path, "DELETE FROM people WHERE name != 'Name 1'")
    assert "in a source of 1 row; the" in run("search", "policy.yml", "--quiet").err


def test_a_no_changes_nothing(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    town_table.make(tmp_path, publish={"mode": "replace"})

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    done = run("publish", "policy.yml", "--scheme", "good.json")
    assert (done.status, "stopped" in done.err) == (1, False)
    assert done.err.endswith("Nothing was changed: people is as it was.\n")
    assert town_table.rows(tmp_path, "SELECT count(name) FROM people") == [(60,)]
