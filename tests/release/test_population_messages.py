"""What is said where a population does not go with a policy or with its release."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
from command_line import Run, message
from model_cases import APART, CASES, TOGETHER, write

CASE = CASES["k-map"]
"""Of Rome the population has too few people."""


def test_marked_rows_are_nobody_of_a_population(tmp_path: Path, run: Run) -> None:
    write(tmp_path, CASE, suppression={"limit": 1.0, "rows": "mark"})
    (tmp_path / "scheme.json").write_text(json.dumps(APART))
    said = message(3, run("publish", "policy.yml", "--scheme", "scheme.json"))
    assert (
        "\n  12 rows would be marked, and nobody of the population fits the marker: "
        "`suppression.rows: mark` does not go with k-map k = 13 where rows have to be marked. "
        "Leave them out with `suppression.rows: leave_out`, or take a coarser scheme, which marks "
        "none\n"
    ) in said
    (tmp_path / "scheme.json").write_text(json.dumps(TOGETHER))
    assert run("publish", "policy.yml", "--scheme", "scheme.json").status == 0


def test_left_out_rows_need_no_word_of_it(tmp_path: Path, run: Run) -> None:
    """Without a limit the class of Rome is released, and violates k-map by itself."""
    write(tmp_path, CASE, suppression={"limit": 0.0, "rows": "mark"})
    (tmp_path / "scheme.json").write_text(json.dumps(APART))
    said = message(3, run("publish", "policy.yml", "--scheme", "scheme.json"))
    assert "k-map k = 13: the worst class has 12" in said
    assert "marked" not in said


def test_another_database_is_refused_before_a_search(tmp_path: Path, run: Run) -> None:
    """Without k_map too, where only the release counts the population."""
    elsewhere = {"connection": "duckdb:///other.duckdb", "table": "everybody"}
    write(tmp_path, CASES["distinct"], population=elsewhere)
    said = message(1, run("search", "policy.yml"))
    assert said.startswith("error: policy.yml: population.connection: is another database than")


def test_columns_that_the_population_lacks_are_one_message(tmp_path: Path, run: Run) -> None:
    columns = {
        "town": {"role": "quasi"},
        "pay": {"role": "quasi"},
        "ill": {"role": "sensitive", "accept": "it is in the test"},
        "who": {"role": "identifying"},
    }
    write(tmp_path, CASE, columns=columns, population={"table": "others"})
    with duckdb.connect(tmp_path / "town.duckdb") as connection:
        connection.execute("CREATE TABLE others AS SELECT 1 AS towns")
    said = message(1, run("search", "policy.yml")).splitlines()
    assert said[0] == "error: policy.yml: population: 2 things do not fit the table"
    assert [line.split(" is not in ")[0] for line in said[1:]] == [
        "  column 'town'",
        "  column 'pay'",
    ]
