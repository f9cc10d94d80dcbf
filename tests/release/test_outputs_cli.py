"""Every output through the commands, SQL for other databases, and awkward places."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import sqlglot
import yaml
from command_line import Run, message
from sqlglot import exp

import sqlanon

HEADERS = {
    "label": ["age", "born", "income"],
    "lower": ["age", "born", "income"],
    "midpoint": ["age", "born", "income"],
    "bounds": ["age_low", "age_high", "born_low", "born_high", "income"],
}


def write(folder: Path, output: str = "label", file: str = "out.csv") -> None:
    lines = [f"{20 + i % 40},{1950 + i % 50}-03-{10 + i % 9},{i * 100}" for i in range(100)]
    (folder / "people.csv").write_text("age,born,income\n" + "\n".join(lines) + "\n")
    policy = {
        "source": {"file": "people.csv"},
        "columns": {
            "age": {"role": "quasi", "range": [0, 100], "granularity": 20, "output": output},
            "born": {
                "role": "quasi",
                "range": ["1950-01-01", "2000-01-01"],
                "granularity": "decade",
                "output": output,
            },
            "income": {"role": "quasi", "range": [0, 10000], "granularity": 5000,
                       "open_ends": True},
        },
        "one_row_per_person": True,
        "privacy": {"k": 5},
        "search": {"evaluations": 500},
        "publish": {"file": file},
    }  # fmt: skip
    (folder / "policy.yml").write_text(yaml.safe_dump(policy))


@pytest.mark.parametrize("output", HEADERS)
def test_searched_published_and_checked(output: str, tmp_path: Path, run: Run) -> None:
    write(tmp_path, output)
    assert run("search", "policy.yml", "--quiet").status == 0
    done = run("publish", "policy.yml", "--scheme", "result.json")
    assert (done.status, done.err) == (0, "")
    done = run("check", "out.csv", "--certificate", "out.csv.shareable.json")
    assert (done.status, done.err) == (0, "")
    with (tmp_path / "out.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == HEADERS[output]
    assert {row[-1] for row in rows} <= {"<5000", "5000+", "*"}
    assert run("check", "out.csv", "--qi", ",".join(header), "--k", "5").status == 0


SCHEME = {
    "version": 1,
    "columns": {
        "age": {"cuts": [40]},
        "born": {"cuts": ["1980-01-01"]},
        "income": {"cuts": [5000]},
    },
}


def test_sql_for_another_database_reads_a_table(tmp_path: Path, run: Run) -> None:
    write(tmp_path, "bounds")
    (tmp_path / "scheme.json").write_text(json.dumps(SCHEME))
    done = run("sql", "policy.yml", "--scheme", "scheme.json", "--dialect", "postgres")
    assert (done.status, done.err) == (0, "")
    assert "-- reads a table 'people'; copy people.csv into it" in done.out
    (select,) = sqlglot.parse(done.out, dialect="postgres")
    assert select is not None
    assert [table.sql("postgres") for table in select.find_all(exp.Table)] == [
        '"people" AS "source"'
    ]
    assert "READ_CSV" in run("sql", "policy.yml", "--scheme", "scheme.json").out.upper()


def test_sql_of_data_in_this_process_reads_a_table(tmp_path: Path) -> None:
    write(tmp_path)
    policy = yaml.safe_load((tmp_path / "policy.yml").read_text())
    with sqlanon.load(tmp_path / "policy.yml") as anonymizer:
        data = anonymizer.source.engine.fetch(exp.select("*").from_(anonymizer.source.relation))
    with sqlanon.load({**policy, "source": {}}, data=data) as anonymizer:
        text = anonymizer.sql(SCHEME, dialect="postgres")
    assert 'FROM "source" AS "source"' in text
    assert "sqlanon_data" not in text


def test_links(tmp_path: Path, run: Run) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "scheme.json").write_text(json.dumps(SCHEME))
    command = ("publish", "policy.yml", "--scheme", "scheme.json")
    for link, leads in [("link.csv", "real/target.csv"), ("folder", "real")]:
        (tmp_path / link).symlink_to(leads)
        write(tmp_path, file="link.csv" if link == "link.csv" else "folder/a.csv")
        for _ in range(2):
            done = run(*command)
            assert done.status == 0, done.err
        assert (tmp_path / link).is_symlink()
    assert {path.name for path in (tmp_path / "real").iterdir()} == {"target.csv", "a.csv"}
    write(tmp_path, file="loop.csv")
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    assert "file loop.csv is a link that leads to no place" in message(1, run(*command))


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["search", "nosuch.yml"], 1),
        (["search", "policy.yml", "-o", "people.csv/x.json"], 1),
        (["search", "policy.yml", "-o", "/proc/x.json"], 1),
        (["publish", "policy.yml", "--scheme", "nosuch.json"], 1),
        (["check", "people.csv"], 2),
        (["check", "people.csv", "--qi", "age", "--k", "99"], 3),
        (["clean", "nosuch"], 1),
        (["measure", "policy.yml"], 2),
    ],
)
def test_an_error_is_a_document_too(
    arguments: list[str], status: int, tmp_path: Path, run: Run
) -> None:
    write(tmp_path)
    done = run(*arguments, "--json")
    document = json.loads(done.out)
    assert done.status == status
    if "error" in document:
        assert document["status"] == status
        assert document["error"] in done.err
    else:
        assert document["holds"] is False
    assert run(*arguments).status == status
