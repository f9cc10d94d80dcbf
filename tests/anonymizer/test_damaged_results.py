"""Result files that nobody wrote like this, and references that name nothing: told, not trusted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Run, message
from small_table import SCHEME, changed, write_folder

COMMANDS = [("choose",), ("measure", "policy.yml", "--scheme"), ("sql", "policy.yml", "--scheme")]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Path:
    write_folder(tmp_path)
    return tmp_path


def solutions(*feasible: bool) -> dict[str, Any]:
    listed = [{"columns": SCHEME["columns"], "feasible": each} for each in feasible]
    return {"version": 1, "method": "auto", "solutions": listed, "chosen": 0}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("damaged", [-1, "abc", {}, None, [-1], ["abc"], [None], [[]]])
def test_solutions_that_are_none(run: Run, folder: Path, command: Any, damaged: Any) -> None:
    (folder / "bad.json").write_text(json.dumps({"solutions": damaged, "chosen": 0}))
    assert message(1, run(*command, "bad.json")) == (
        "error: bad.json: is damaged: solutions is not a list of solutions; search again"
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_no_solutions_at_all(run: Run, folder: Path, command: Any) -> None:
    (folder / "bad.json").write_text(json.dumps(solutions()))
    said = "error: bad.json#0: is damaged: it has no solutions; search again"
    assert message(1, run(*command, "bad.json#0")) == said


@pytest.mark.parametrize("text", ["{}", "[]", "3", "null", '{"columns": 3}'])
def test_what_is_no_result_is_not_written_as_a_scheme(run: Run, folder: Path, text: str) -> None:
    (folder / "bad.json").write_text(text)
    assert "is no result of a search" in message(1, run("choose", "bad.json", "-o", "new.json"))
    assert not (folder / "new.json").exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_result_of_another_version_is_refused(run: Run, folder: Path, command: Any) -> None:
    (folder / "new.json").write_text(json.dumps(solutions(True) | {"version": 99}))
    assert "format version 99 is not supported" in message(1, run(*command, "new.json"))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_number_that_is_missing_is_not_taken_for_the_chosen_one(
    run: Run, folder: Path, command: Any
) -> None:
    """As a shell variable that is not set leaves it."""
    (folder / "result.json").write_text(json.dumps(solutions(True, False)))
    assert "'result.json#' names no solution" in message(1, run(*command, "result.json#"))


@pytest.mark.parametrize("command", COMMANDS)
def test_of_a_walk_that_was_left_a_solution_must_be_named(
    run: Run, folder: Path, command: Any
) -> None:
    """What reaches the required privacy is there, so it is not said to be missing."""
    (folder / "left.json").write_text(json.dumps(solutions(False, True) | {"chosen": None}))
    assert message(1, run(*command, "left.json")) == (
        "error: left.json: none of its solutions was chosen; name one, such as left.json#1"
    )


def test_a_number_is_given_once(run: Run, folder: Path) -> None:
    (folder / "result.json").write_text(json.dumps(solutions(True, False)))
    done = run("choose", "result.json#0", "1")
    assert done.status == 2
    assert "result.json#0 names a solution, and so does 1; give one number" in done.err


def test_who_chooses_what_falls_short_is_told(run: Run, folder: Path) -> None:
    (folder / "result.json").write_text(json.dumps(solutions(True, False)))
    assert run("choose", "result.json", "-o", "a.json").err == "written to a.json\n"
    for options in (("-o", "b.json"), ("--json",)):
        done = run("choose", "result.json", "1", *options)
        assert done.status == 0
        assert "falls short of the privacy that was required" in done.err


def test_the_sql_of_a_scheme_that_falls_short_says_so(run: Run, folder: Path) -> None:
    """By hand: ages up to 34 have four people, others two, so k is 2."""
    done = run("sql", "policy.yml", "--scheme", "scheme.json")
    assert done.status == 0
    assert "falls short" not in done.out
    write_folder(folder, changed(privacy={"k": 3}))
    for options in ((), ("--json",)):
        done = run("sql", "policy.yml", "--scheme", "scheme.json", *options)
        assert done.status == 3
        assert done.err == "The scheme reaches k = 2; the policy requires 3.\n"
        text = json.loads(done.out)["sql"] if options else done.out
        assert "-- k = 2, required 3\n" in text
        assert "-- the scheme falls short of the policy: publish refuses it\n" in text
        assert "beyond the limit" not in text  # there is no limit, so nothing is left out


def test_it_says_what_becomes_of_rows_beyond_the_limit(run: Run, folder: Path) -> None:
    """The limit is one row of six, and the class of the two elder people is below 3."""
    write_folder(folder, changed(privacy={"k": 3}, suppression={"limit": 0.2}))
    done = run("sql", "policy.yml", "--scheme", "scheme.json")
    assert done.status == 3
    assert "-- classes that fall short are left out all the same, beyond the limit\n" in done.out
