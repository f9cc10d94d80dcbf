"""`sqlanon check`: what it prints where, what it never prints, and its exit status."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
from command_line import Run, message, process
from small_table import CSV

ROOT = Path(__file__).resolve().parents[2]

# Ann and Bob share a zip; Cid, a patient with three rows, is alone.
VISITS = """
    CREATE TABLE visits AS FROM (VALUES
        ('Ann', '10115', 'secret flu'), ('Bob', '10115', 'secret gout'),
        ('Cid', '99999', 'secret flu'), ('Cid', '99999', 'secret flu'), ('Cid', '99999', NULL)
    ) v (who, zip, ill)
"""
BY_ZIP = ("check", "visits.parquet", "--qi", "zip")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(CSV, encoding="utf-8")
    with duckdb.connect(tmp_path / "ware.duckdb") as connection:
        connection.execute(VISITS)
        connection.execute(f"COPY visits TO '{tmp_path / 'visits.parquet'}'")
    return tmp_path


def words(out: str) -> list[list[str]]:
    return [line.split() for line in out.splitlines() if line.strip()]


def test_it_only_reports_without_a_requirement(run: Run) -> None:
    done = run(*BY_ZIP)
    assert (done.status, done.err) == (0, "")
    lines = words(done.out)
    assert ["k", "2", "rows", "in", "the", "smallest", "class"] in lines
    assert [
        "marketer",
        "risk",
        "40.00%",
        "expected",
        "share",
        "of",
        "rows",
        "re-identified",
    ] in lines
    assert ["2", "1", "2", "█" * 12, "40.0%"] in lines
    assert ["3", "to", "4", "1", "3", "█" * 18, "60.0%"] in lines
    assert "\x1b" not in done.out


def test_rows_are_enough_and_people_are_not(run: Run) -> None:
    done = run(*BY_ZIP, "--k", "2")
    assert (done.status, done.err) == (0, "")
    assert done.out.endswith("k = 2 holds\n")
    done = run(*BY_ZIP, "--k", "2", "--subject", "who")
    assert done.status == 3
    assert done.err == (
        "k is 1, required 2: 1 of 2 classes have fewer than 2 people; 3 of 5 rows are in them\n"
    )
    assert ["people", "3", "distinct", "values", "of", "'who'"] in words(done.out)
    assert ["k", "by", "rows", "2"] in [line[:4] for line in words(done.out)]


def test_json(run: Run) -> None:
    done = run(*BY_ZIP, "--k", "2", "--subject", "who", "--sensitive", "ill", "--json")
    assert done.status == 3
    document = json.loads(done.out)
    assert document["violations"] == done.err.splitlines()
    assert document["holds"] is False
    assert (document["rows"], document["people"], document["k"]) == (5, 3, 1)
    assert document["sizes"] == [
        {"size": 1, "classes": 1, "rows": 3},
        {"size": 2, "classes": 1, "rows": 2},
    ]
    assert document["by_rows"]["k"] == 2
    # Cid, alone, has flu in two of three rows: all people of the class have it.
    assert document["sensitive"] == {"ill": {"largest_share": 1.0, "fewest_values": 2}}


def test_the_example_of_the_documentation(run: Run) -> None:
    page = (ROOT / "docs" / "check.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```text\n(\{.*?)^```$", page, re.MULTILINE | re.DOTALL)
    command = "check people.csv --qi sex --sensitive outcome --k 4 --json"
    assert f"`sqlanon {command}`" in page
    found = json.loads(run(*command.split()).out)
    rounded: Any = json.loads(json.dumps(found), parse_float=lambda text: round(float(text), 4))
    assert rounded == json.loads(block)


def test_quiet(run: Run) -> None:
    done = run(*BY_ZIP, "--k", "3", "--quiet")
    assert (done.status, done.out) == (3, "")
    assert done.err.startswith("k is 2, required 3")
    assert run(*BY_ZIP, "-q").out == ""


@pytest.mark.parametrize(
    "options",
    [[], ["--json"], ["--k", "3"], ["--subject", "who"], ["--sensitive", "ill"], ["--quiet"]],
)
def test_values_are_shown_only_when_asked_for(folder: Path, options: list[str]) -> None:
    shown = ("10115", "99999", "secret", "Ann", "Bob", "Cid")
    quiet = process(folder, "-v", *BY_ZIP, *options)
    assert "GROUP BY" in quiet.err
    assert not any(value in quiet.out + quiet.err for value in shown)
    done = process(folder, "-v", *BY_ZIP, *options, "--show-values")
    assert not any(value in done.err for value in shown)
    if "--quiet" not in options:
        assert all(value in done.out for value in shown)


def test_an_error_shows_no_values(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "sqlanon"):
        said = message(1, run(*BY_ZIP, "--subject", "ill"))
    assert said.startswith("error: subject column 'ill' is NULL in 1 row, so nobody can tell")
    assert "secret" not in caplog.text


def test_the_smallest_classes_and_their_rows(run: Run) -> None:
    lines = words(run(*BY_ZIP, "--subject", "who", "--show-values").out)
    start = lines.index(["The", "smallest", "classes:"])
    assert lines[start + 1] == ["people", "rows", "zip"]
    assert lines[start + 3 : start + 5] == [["1", "3", "99999"], ["2", "2", "10115"]]
    rows = lines[lines.index(["Some", "of", "their", "rows:"]) + 3 :]
    assert rows[:3] == [["Cid", "99999", "secret", "flu"]] * 2 + [["Cid", "99999", "NULL"]]
    assert len(rows) == 5
    document = json.loads(run(*BY_ZIP, "--show-values", "--json").out)
    assert document["smallest"][0] == {"rows": 2, "people": 2, "values": {"zip": "10115"}}
    assert document["samples"][0] == {"who": "Ann", "zip": "10115", "ill": "secret flu"}


def test_at_most_ten_are_shown(run: Run, folder: Path) -> None:
    (folder / "many.csv").write_text("a\n" + "".join(f"{i}\n" for i in range(50)))
    document = json.loads(run("check", "many.csv", "--qi", "a", "--show-values", "--json").out)
    assert (len(document["smallest"]), len(document["samples"])) == (10, 10)


@pytest.mark.parametrize(
    "source",
    [
        ["ware.duckdb", "--table", "visits"],
        ["duckdb:///ware.duckdb", "--table", "main.visits"],
        ["ware.duckdb", "--query", "SELECT zip, who FROM visits"],
        ["duckdb://", "--query", "SELECT * FROM read_parquet('visits.parquet')"],
        ["visits.parquet"],
    ],
)
def test_sources(run: Run, source: list[str]) -> None:
    done = run("check", *source, "--qi", "zip", "--json")
    assert (done.status, done.err) == (0, "")
    assert json.loads(done.out)["k"] == 2


def test_names_of_columns(run: Run, folder: Path) -> None:
    (folder / "odd.csv").write_text('a,b,"a,b",[bold]\n1,1,1,1\n1,2,1,2\n')

    def quasi(*options: str) -> list[str]:
        done = run("check", "odd.csv", "--json", *options)
        assert done.status == 0, done.err
        return list(json.loads(done.out)["quasi"])

    assert quasi("--qi", "a", "--qi", "b", "--qi", "a") == ["a", "b"]
    assert quasi("--qi", "b, a") == ["b", "a"]
    assert quasi("--qi", "a,b") == ["a,b"]  # a column of this very name comes first
    assert quasi("--qi", "[bold]") == ["[bold]"]
    assert "[bold]" in run("check", "odd.csv", "--qi", "a", "--sensitive", "[bold]").out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["visits.parquet", "--qi", "zipp"],
         "error: Source 'visits.parquet' has no column 'zipp'. Did you mean 'zip'?"),
        (["visits.parquet", "--qi", "zip", "--subject", "Who"],
         "error: Source 'visits.parquet' has no column 'Who'. Did you mean 'who'?"),
        (["ware.duckdb", "--qi", "zip", "--table", "visit"],
         "error: There is no table 'visit' in the database. Did you mean 'visits'?"),
    ],
)  # fmt: skip
def test_mistakes(run: Run, arguments: list[str], said: str) -> None:
    assert message(1, run("check", *arguments)) == said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["visits.parquet", "--qi", ","],
         "--qi ',': there is a name missing; write columns as a,b,c, with one comma between two "
         "names"),
        (["visits.parquet", "--qi", "zip", "--table", "t"],
         "visits.parquet is checked as a whole; --table and --query need a database"),
        (["ware.duckdb", "--qi", "zip"],
         "ware.duckdb is taken for a database: give --table or --query; neither is given. Files "
         "end in .csv, .csv.gz, .tsv, .parquet"),
        (["ware.duckdb", "--qi", "zip", "--table", "visits", "--query", "SELECT 1"],
         "ware.duckdb is taken for a database: give --table or --query; both are given. Files end "
         "in .csv, .csv.gz, .tsv, .parquet"),
        (["visits.parquet", "--qi", "zip", "--subject", "zip"],
         "column 'zip' is named by --qi and by --subject; leave one of the two out"),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together(run: Run, arguments: list[str], said: str) -> None:
    assert message(2, run("check", *arguments)).splitlines()[-1] == f"Error: {said}"


def test_files_that_are_not_there(run: Run, folder: Path) -> None:
    said = message(1, run("check", "nowhere.duckdb", "--qi", "a", "--table", "t"))
    assert said == f"error: nowhere.duckdb does not exist in {folder}"
    said = message(1, run("check", "nowhere.csv", "--qi", "a"))
    assert said.startswith("error: File nowhere.csv does not exist")


@pytest.mark.parametrize(
    "options", [[], ["--qi", "zip", "--k", "0"], ["--qi", "zip", "--threshold", "2"]]
)
def test_wrong_usage(run: Run, options: list[str]) -> None:
    assert run("check", "visits.parquet", *options).status == 2


def test_an_empty_table_fails(run: Run, folder: Path) -> None:
    options = ("check", "ware.duckdb", "--query", "SELECT * FROM visits WHERE false", "--qi", "zip")
    assert run(*options, "--show-values").status == 0
    done = run(*options, "--k", "1", "--quiet")
    assert (done.status, done.err) == (3, "the table has no rows, so k = 1 cannot be shown\n")


def test_a_terminal_without_unicode(folder: Path) -> None:
    done = process(folder, *BY_ZIP, PYTHONIOENCODING="ascii")
    assert (done.status, done.err) == (0, "")
    assert "#" * 12 in done.out
