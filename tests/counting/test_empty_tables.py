"""Sources and populations without rows, or with less than a policy asks for: what is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Run, message
from small_table import changed, write_folder

EMPTY = "age,sex,outcome\n"
WITH_SCHEME = ("--scheme", "scheme.json")
AGE = {"role": "quasi", "range": [20, 40], "granularity": 5}
ILL: dict[str, Any] = {
    "age": AGE,
    "sex": {"role": "quasi", "values": ["F", "M"]},
    "outcome": {"role": "sensitive", "accept": "it is in the test"},
}


@pytest.mark.parametrize("columns", [None, {"age": {"role": "quasi"}}])
@pytest.mark.parametrize("command", ["search", "measure", "sql", "utility", "publish"])
def test_every_command_says_that_there_are_no_rows(
    run: Run, tmp_path: Path, command: str, columns: dict[str, Any] | None
) -> None:
    """With a range, which needs numbers, and without: an empty CSV file holds nothing but text."""
    policy = changed(publish={"file": "out.csv"})
    if columns is not None:
        policy |= {"columns": columns, "others": "drop"}
    write_folder(tmp_path, policy, EMPTY)
    if columns is not None:
        scheme = {"version": 1, "columns": {"age": {"groups": [["20", "30"]]}}}
        listed = {"domains": {"age": ["20", "30"]}}
        (tmp_path / "scheme.json").write_text(json.dumps(scheme | listed), encoding="utf-8")
    said = message(1, run(command, "policy.yml", *(() if command == "search" else WITH_SCHEME)))
    assert "people.csv has no rows; there is nothing to anonymize" in said
    assert not (tmp_path / "out.csv").exists()


def population(folder: Path, text: str, **keys: Any) -> None:
    (folder / "all.csv").write_text(text, encoding="utf-8")
    section = {"file": "all.csv", **keys}
    write_folder(folder, changed(population=section, privacy={"k": 2, "k_map": 2}))


def test_an_empty_population(run: Run, tmp_path: Path) -> None:
    population(tmp_path, "age,sex\n")
    said = message(1, run("search", "policy.yml"))
    assert said.startswith("error: policy.yml: population: ")
    assert "all.csv has no rows; name a table of the people" in said


def test_somebody_of_the_population_without_a_name(run: Run, tmp_path: Path) -> None:
    population(tmp_path, "age,sex,who\n21,F,1\n23,F,\n", subject="who")
    said = message(1, run("search", "policy.yml"))
    assert said.startswith("error: policy.yml: population: ")
    assert "all.csv: subject column 'who' is NULL in 1 row" in said


def test_a_single_row(run: Run, tmp_path: Path) -> None:
    policy = changed(columns=ILL, privacy={"k": 2, "l_diversity": {"l": 2}})
    write_folder(tmp_path, policy, EMPTY + "21,F,yes\n")
    done = run("search", "policy.yml", "-q")
    assert done.status == 3
    assert (
        "In the closest, k = 2 does not hold: reached 1; distinct l = 2 on 'outcome' does not "
        "hold: reached 1. There are fewer rows than k = 2, so nothing can reach it: choose a "
        "smaller privacy.k, or a source with more rows. No release can satisfy distinct l = 2 on "
        "'outcome': the column has 1 distinct value. Require less.\n"
    ) in done.err


def test_a_missing_hierarchy_of_a_sensitive_column(run: Run, tmp_path: Path) -> None:
    columns = ILL | {"outcome": ILL["outcome"] | {"hierarchy": "none.csv"}}
    policy = changed(columns=columns, privacy={"k": 2, "t_closeness": {"t": 0.5}})
    write_folder(tmp_path, policy)
    said = message(1, run("search", "policy.yml"))
    assert said.startswith("error: policy.yml: columns.outcome.hierarchy: ")
    assert "none.csv" in said


@pytest.mark.parametrize(("models", "wanted"), [
    ({}, "k"), ({"l_diversity": {"l": 2}}, "k and satisfies every model"),
])  # fmt: skip
def test_what_is_exact(run: Run, tmp_path: Path, models: dict[str, Any], wanted: str) -> None:
    write_folder(tmp_path, changed(columns=ILL, privacy={"k": 2, **models}))
    done = run("search", "policy.yml", "--method", "optimal")
    assert f"exact: no node that reaches {wanted} has less loss" in done.out


def test_every_model_has_its_column(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eleven models take more than the 80 characters of a line."""
    monkeypatch.setenv("COLUMNS", "80")
    several = [{"t": 0.9 + i / 100} for i in range(11)]
    write_folder(tmp_path, changed(columns=ILL, privacy={"k": 2, "t_closeness": several}))
    done = run("search", "policy.yml")
    heads = [line.split("  ") for line in done.out.splitlines() if " t 1 " in f"{line} "
             or " t 11 " in f"{line} "]  # fmt: skip
    titles = {title.strip() for line in heads for title in line}
    assert titles >= {f"t {i}" for i in range(1, 12)}
    assert "…" not in done.out
    assert max(map(len, done.out.splitlines())) <= 80
