"""`sqlanon evaluations`: what a search measured, with the user's condition and order."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from command_line import Run, message
from small_table import changed, write_folder

AUTO = {"method": "auto"}


@pytest.fixture
def searched(run: Run, tmp_path: Path) -> Run:
    """The command, in a folder where a search has left a workspace that the policy names."""
    workspace = {"file": "kept/work.duckdb", "days": 7}
    write_folder(tmp_path, changed(search=AUTO, workspace=workspace))
    assert run("search", "policy.yml", "-q").status == 0
    return run


def rows(run: Run, *options: str) -> list[dict]:
    found: list[dict] = json.loads(run("evaluations", "policy.yml", "--json", *options).out)
    return found


def test_conditions_and_order(searched: Run) -> None:
    everything = rows(searched)
    # Ages have four atoms, so three cuts; sex has one: 16 schemes, all of which are tried.
    assert len(everything) == 16
    assert sorted(row["number"] for row in everything) == list(range(1, 17))
    wanted = sorted(row["nwp"] for row in everything if row["k"] >= 2)
    found = rows(searched, "--where", "k >= 2", "--order", "nwp")
    assert [row["nwp"] for row in found] == wanted
    assert all(row["feasible"] == (row["k"] >= 2) for row in everything)
    assert rows(searched, "--order", "nwp DESC", "--limit", "1")[0]["nwp"] == 1
    assert rows(searched, "--where", "k >= 2 OR true --") == everything, (
        "a comment stays in its line"
    )


def test_the_result_and_the_rows_agree(searched: Run, tmp_path: Path) -> None:
    result = json.loads((tmp_path / "result.json").read_text())
    found = {(row["k"], row["nwp"], row["necd"]) for row in rows(searched)}
    for each in result["solutions"]:
        assert (each["k"], each["nwp"], each["necd"]) in found


def test_a_table_for_people(searched: Run) -> None:
    done = searched("evaluations", "policy.yml", "--where", "k = 6", "--words")
    assert all(name in done.out for name in ("k_max", "nwp", "necd", "feasible"))
    assert "1.0000" in done.out
    assert done.out.splitlines()[-1].endswith("age: *; sex: *")
    assert "no scheme" in searched("evaluations", "policy.yml", "--where", "k > 6").out
    assert "2 of 16 schemes" in searched("evaluations", "policy.yml", "--limit", "2").out


def test_the_policy_may_name_the_workspace(searched: Run, tmp_path: Path) -> None:
    assert (tmp_path / "kept" / ".gitignore").read_text() == "*\n"
    again = json.loads(searched("search", "policy.yml", "--json", "-q").out)["evaluations"]
    assert (again["distinct"], again["recalled"], again["queries"]) == (0, 16, 0)
    assert {row["run"] for row in rows(searched)} == {2}
    assert len(rows(searched, "--run", "1")) == len(rows(searched)) == 16
    said = message(1, searched("search", "policy.yml", "-o", "kept/work.duckdb"))
    assert "is the workspace of the policy" in said
    assert "kept/work.duckdb" in searched("clean", "kept/work.duckdb").out
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--where", "cuts > 3"), "cuts"),
        (("--where", "1 = 1) OR (k = "), "syntax error"),
        (("--where", "true); DROP TABLE run; FROM run WHERE (true"), "one SELECT"),
        (("--where", "k IN (SELECT age FROM 'people.csv')"), "disabled|does not exist"),
        (("--order", "(SELECT count(*) FROM read_csv('people.csv'))"), "disabled"),
    ],
)  # fmt: skip
def test_what_a_condition_may_not(
    searched: Run, tmp_path: Path, options: tuple[str, ...], why: str
) -> None:
    said = message(1, searched("evaluations", "policy.yml", *options))
    assert re.search(why, said), said
    with duckdb.connect(tmp_path / "kept" / "work.duckdb", read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM run").fetchall() == [(1,)]


def test_a_workspace_that_is_open_in_another_process(searched: Run, tmp_path: Path) -> None:
    file = tmp_path / "kept" / "work.duckdb"
    holder = "import sys, duckdb; c = duckdb.connect(sys.argv[1]); print(1, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", holder, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as held:
        assert held.stdout is not None
        held.stdout.readline()
        said = message(1, searched("evaluations", "policy.yml"))
        held.communicate("\n")
    assert "work.duckdb: is open in another process" in said
    assert "once it is free" in said
    assert "in memory" not in said


@pytest.mark.parametrize("share", [0.001, 0.1, 0.5, 0.9])
def test_a_workspace_that_was_cut_short(searched: Run, tmp_path: Path, share: float) -> None:
    file = tmp_path / "kept" / "work.duckdb"
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * share)])
    said = message(1, searched("evaluations", "policy.yml"))
    assert re.search(r"work\.duckdb is damaged\. .* delete it", said), said


def test_without_a_workspace(run: Run, tmp_path: Path) -> None:
    write_folder(tmp_path)
    said = message(1, run("evaluations", "policy.yml"))
    assert "names no workspace" in said
    assert "--workspace FILE" in said


def test_where_everything_is_left_out_json_has_no_infinity(run: Run, tmp_path: Path) -> None:
    columns = changed()["columns"] | {"outcome": {"role": "sensitive"}}
    document = changed(
        search=AUTO,
        workspace={"file": "work.duckdb"},
        columns=columns,
        privacy={"k": 100, "t_closeness": {"t": 0.9}},
        suppression={"limit": 1.0},
    )
    write_folder(tmp_path, document)
    assert run("search", "policy.yml", "-q").status == 3
    printed = run("evaluations", "policy.yml", "--json").out
    found = json.loads(printed, parse_constant=pytest.fail)
    assert [None] in [row["reached"] for row in found if not row["classes"]]
