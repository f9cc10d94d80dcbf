"""A search that found nothing feasible, and what is said of it afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Run, message
from small_table import changed, write_folder

import sqlanon
from sqlanon.errors import NoSolutionError

AGE = {"role": "quasi", "range": [20, 40], "granularity": 5}
LIMITED = {"age": AGE | {"max_level": 0}, "sex": {"role": "quasi"}, "outcome": {"role": "label"}}


def test_a_level_limit_is_named_as_what_may_help(run: Run, tmp_path: Path) -> None:
    write_folder(tmp_path, changed(columns=LIMITED))
    for method in ("auto", "optimal"):
        done = run("search", "policy.yml", "-q", "--method", method)
        assert done.status == 3
        assert "a higher max_level of column 'age' (0 of 1), a smaller k" in done.err
        assert "'sex'" not in done.err


def test_more_than_there_are_rows_is_no_matter_of_levels(run: Run, tmp_path: Path) -> None:
    write_folder(tmp_path, changed(columns=LIMITED, privacy={"k": 7}))
    assert "max_level" not in run("search", "policy.yml", "-q").err


@pytest.mark.parametrize(
    "command", [("publish", "policy.yml", "--scheme"), ("sql", "policy.yml", "--scheme"),
                ("choose",)]
)  # fmt: skip
def test_its_result_holds_no_scheme(run: Run, tmp_path: Path, command: tuple[str, ...]) -> None:
    write_folder(tmp_path, changed(columns=LIMITED, publish={"file": "out.csv"}))
    assert run("search", "policy.yml", "-q").status == 3
    assert message(3, run(*command, "result.json")) == (
        "error: result.json: the search found no solution that reaches the required privacy, so "
        "none is chosen; search again with a smaller k or a higher suppression limit; to use one "
        "that falls short, name it, such as result.json#0"
    )


def test_python_says_how_close_the_search_came(tmp_path: Path) -> None:
    write_folder(tmp_path, changed(columns=LIMITED, publish={"file": str(tmp_path / "out.csv")}))
    with sqlanon.load(tmp_path / "policy.yml") as anonymizer:
        result = anonymizer.search()
        assert result.solution is None
        with pytest.raises(NoSolutionError) as refused:
            anonymizer.publish(result)
    assert str(refused.value) == (
        f"{result.shortfall()} To use one that falls short, give it from `solutions`."
    )
    assert "No solution reaches the required privacy" in str(refused.value)
    assert not (tmp_path / "out.csv").exists()
