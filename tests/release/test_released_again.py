"""A source whose rows were replaced by their release, released once more."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
import yaml
from command_line import Run, message
from small_table import changed, write_folder

PUBLISH = ("publish", "policy.yml", "--scheme", "scheme.json")
ALREADY = "Table people is a release already: it has the comment 'released by sqlanon'"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    columns = changed()["columns"] | {"outcome": {"role": "sensitive"}}
    source = {"connection": "duckdb:///ware.duckdb", "table": "people"}
    privacy = {"k": 2, "l_diversity": {"l": 2}}
    policy = changed(columns=columns, source=source, privacy=privacy, publish={"mode": "replace"})
    write_folder(tmp_path, policy)
    with duckdb.connect(tmp_path / "ware.duckdb") as connection:
        connection.execute(f"CREATE TABLE people AS FROM '{tmp_path / 'people.csv'}'")
    return tmp_path


@pytest.mark.parametrize(
    "command", [(*PUBLISH, "--yes"), ("search", "policy.yml"), (*PUBLISH, "--dry-run")]
)
def test_a_second_run_says_that_it_is_a_release(
    run: Run, folder: Path, command: tuple[str, ...]
) -> None:
    assert run(*PUBLISH, "--yes").status == 0
    done = run(*command)
    assert done.status != 0
    assert ALREADY in done.err
    assert "Load its original rows anew" in done.err


def test_rows_that_are_loaded_anew_are_released_again(run: Run, folder: Path) -> None:
    for _ in range(2):
        with duckdb.connect(folder / "ware.duckdb") as connection:
            connection.execute(f"CREATE OR REPLACE TABLE people AS FROM '{folder / 'people.csv'}'")
        assert run(*PUBLISH, "--yes").status == 0


def test_a_comment_of_the_users_own_stays(run: Run, folder: Path) -> None:
    with duckdb.connect(folder / "ware.duckdb") as connection:
        connection.execute("COMMENT ON TABLE people IS 'mine'")
    assert run(*PUBLISH, "--yes").status == 0
    with duckdb.connect(folder / "ware.duckdb") as connection:
        found = connection.execute("SELECT comment FROM duckdb_tables()").fetchall()
    assert found == [("mine",)]
    assert ALREADY not in run(*PUBLISH, "--yes").err


def test_a_log_that_is_gone_is_not_spoken_of(run: Run, folder: Path) -> None:
    out = " ".join(run(*PUBLISH, "--yes").out.split())
    assert not (folder / "ware.duckdb.wal").exists()
    assert "remains: rows of the source can be read from the unused space" in out
    assert ".wal" not in out


def test_a_scheme_without_a_name(run: Run, folder: Path) -> None:
    for text in ("", "#2"):
        said = message(1, run("publish", "policy.yml", "--scheme", text))
        assert said == (
            f"error: {text!r} names no scheme; give scheme.json, result.json or result.json#N"
        )


def test_a_release_with_all_columns_is_noted(run: Run, folder: Path) -> None:
    """Text columns whose labels are values again: nothing fails, so only a note can tell."""
    document = {
        "source": {"connection": "duckdb:///ware.duckdb", "table": "people"},
        "columns": {"age": {"role": "quasi"}, "sex": {"role": "quasi"}},
        "others": "drop",
        "one_row_per_person": True,
        "privacy": {"k": 2},
        "publish": {"mode": "replace"},
    }
    with duckdb.connect(folder / "ware.duckdb") as connection:
        connection.execute("ALTER TABLE people ALTER age TYPE VARCHAR")
    (folder / "plain.yml").write_text(yaml.safe_dump(document))
    for again in (False, True):
        found = run("search", "plain.yml", "--output", f"{again}.json")
        assert found.status == 0, found.err
        done = run("publish", "plain.yml", "--scheme", f"{again}.json", "--yes")
        assert done.status == 0, done.err
        assert (ALREADY in done.err, ALREADY in found.out + found.err) == (again, again)
