"""`sqlanon utility`: what it prints where, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Run, message
from small_table import changed, write_folder

import sqlanon

UTILITY = ("utility", "policy.yml", "--scheme", "scheme.json")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_folder(tmp_path)
    return tmp_path


def test_tables(run: Run, folder: Path) -> None:
    done = run(*UTILITY, "--query", "SELECT COUNT(*) FROM data WHERE age < 35")
    assert (done.status, done.err) == (0, "")
    lines = [line.split() for line in done.out.splitlines() if line.strip()]
    assert ["1,000", "random", "counts", "relative", "error"] in lines
    # All below 35 are in one group.
    assert ["SELECT", "COUNT(*)", "FROM", "data", "WHERE", "age", "<", "35", "4", "4", "0.00%"] in (
        lines
    )
    assert ["predicting", "outcome", "accuracy"] in lines
    assert ["the", "most", "frequent", "value", "50.00%"] in lines
    assert lines[-1] == ["6", "of", "6", "rows", "are", "released"]


def test_json_is_the_document_of_python(run: Run, folder: Path) -> None:
    (folder / "own.sql").write_text("SELECT COUNT(*) FROM data;\nSELECT 2;\n", encoding="utf-8")
    options = ("--workload", "50", "--seed", "3", "--queries", "own.sql", "--model", "forest")
    done = run(*UTILITY, *options, "--json")
    assert (done.status, done.err) == (0, "")
    document = json.loads(done.out)
    assert list(document) == [
        "rows", "released", "marked", "feasible", "workload", "queries", "accuracy",
        "guesses", "notes",
    ]  # fmt: skip
    assert [query["sql"] for query in document["queries"]] == [
        "SELECT COUNT(*) FROM data", "SELECT 2",
    ]  # fmt: skip
    assert document["workload"]["queries"] == 50
    assert document["accuracy"]["model"] == "forest"
    with sqlanon.load(folder / "policy.yml") as anonymizer:
        found = anonymizer.utility(
            folder / "scheme.json", queries=50, seed=3, model="forest",
            sql=["SELECT COUNT(*) FROM data", "SELECT 2"],
        )  # fmt: skip
    assert found.to_dict() == document
    frame = found.to_pandas()
    assert list(frame) == ["columns", "count", "estimate", "relative_error"]
    assert frame["relative_error"].median() == pytest.approx(document["workload"]["median"])
    assert "<table>" in found._repr_html_()
    assert "50 random counts" in str(found)


def test_privacy_that_does_not_hold(run: Run, tmp_path: Path) -> None:
    write_folder(tmp_path, changed(privacy={"k": 3}))
    done = run(*UTILITY, "--workload", "5")
    assert done.status == 3
    assert done.err == "The scheme reaches k = 2; the policy requires 3.\n"
    assert "6 of 6 rows" in done.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--query", "DROP TABLE data"], "error: query 1 is no SELECT"),
        (["--query", "SELECT agee FROM data"], "error: query 1 on the source fails."),
        (["--queries", "none.sql"], "error: none.sql: cannot be read (No such file"),
        (["--queries", "latin.sql"], "error: latin.sql: is not UTF-8 text"),
        (["--queries", "empty.sql"], "error: query 1 is empty"),
        (["--queries", "."], "error: .: cannot be read"),
        (["--target", "age"], "error: column 'age' cannot be predicted"),
        (["--target", "nobody"], "error: column 'nobody' cannot be predicted"),
    ],
)
def test_mistakes(run: Run, folder: Path, options: list[str], said: str) -> None:
    (folder / "latin.sql").write_bytes("SELECT 'é' FROM data".encode("latin-1"))
    (folder / "empty.sql").write_text("")
    assert message(1, run(*UTILITY, *options)).startswith(said)


def test_a_model_that_is_not_there(run: Run, folder: Path) -> None:
    assert "'oracle' is not one of" in message(2, run(*UTILITY, "--model", "oracle"))


def test_an_option_is_one_query(run: Run, folder: Path) -> None:
    two = "SELECT COUNT(*) FROM data; SELECT 1"
    said = message(2, run(*UTILITY, "--query", "SELECT ';' = '';", "--query", two))
    assert "--query number 2 holds 2 statements; give one SELECT, and --query again" in said


@pytest.mark.parametrize(("number", "shown"), [("NaN", "nan"), ("inf", "inf"), ("-inf", "-inf")])
def test_what_is_not_finite_is_not_null(run: Run, folder: Path, number: str, shown: str) -> None:
    said = message(1, run(*UTILITY, "--query", f"SELECT '{number}'::DOUBLE FROM data LIMIT 1"))
    assert said.startswith(f"error: query 1 yields {shown} on the source, which nothing can be")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--workload", "0"], "'--workload': 0 is not a whole number of at least 1"),
        (["--workload", "-5"], "'--workload': -5 is not a whole number of at least 1"),
        (["--seed", "-1"], "'--seed': -1 is not a whole number of at least 0"),
    ],
)
def test_an_option_out_of_its_range_is_wrong_usage(
    run: Run, folder: Path, options: list[str], said: str
) -> None:
    assert message(2, run(*UTILITY, *options)).endswith(said)


def test_an_error_is_a_document_with_json(run: Run, folder: Path) -> None:
    done = run(*UTILITY, "--json", "--query", "SELECT 1, 2")
    assert done.status == 1
    assert json.loads(done.out)["error"].startswith("query 1 on the source yields 2 columns")
