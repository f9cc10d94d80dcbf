"""Messages that say what was meant, what changed, and which columns are responsible."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Run, message
from small_table import changed, write_folder

PEOPLE = "id,code,city\n" + "".join(f"{i},{i + 100},{c}\n" for i, c in enumerate("abcdefgh"))


def test_a_role_without_its_key(run: Run, tmp_path: Path) -> None:
    policy = changed()
    policy["columns"]["sex"] = "quasi"
    write_folder(tmp_path, policy)
    assert "columns.sex" in message(1, run("search", "policy.yml"))
    assert "{role: quasi}" in message(1, run("search", "policy.yml"))


def test_a_database_without_its_address(run: Run, tmp_path: Path) -> None:
    source = {"connection": "wh.duckdb", "table": "people"}
    write_folder(tmp_path, changed(source=source))
    assert "duckdb:///wh.duckdb?" in message(1, run("search", "policy.yml"))


def test_a_result_of_another_policy(run: Run, tmp_path: Path) -> None:
    write_folder(tmp_path)
    assert run("search", "policy.yml", "-q").status == 0
    policy = changed()
    policy["columns"]["age"]["granularity"] = 4
    write_folder(tmp_path, policy)
    for command in ("measure", "sql"):
        said = run(command, "policy.yml", "--scheme", "result.json").err
        assert "policy has changed in columns.age since" in said
        assert "search again" in said


def test_texts_in_alphabetical_order(run: Run, tmp_path: Path) -> None:
    columns = {"city": {"role": "quasi"}, "id": {"role": "identifying"}}
    policy = changed(columns={**columns, "code": {"role": "identifying"}})
    write_folder(tmp_path, policy, csv=PEOPLE)
    said = " ".join(run("search", "policy.yml").out.split())
    assert "values of 'city' are in alphabetical order" in said
    policy["columns"]["city"]["values"] = list("hgfedcba")
    write_folder(tmp_path, policy, csv=PEOPLE)
    assert "alphabetical" not in run("search", "policy.yml").out


@pytest.mark.parametrize(
    ("kept", "named"),
    [
        # Ids tell all eight rows apart; without them nothing does.
        (["id"], "without 'id' 0.0%"),
        # Either of two does it, so that neither is missed.
        (["id", "code"], "'id', 'code' alone"),
    ],
)
def test_the_columns_that_make_rows_unique(
    run: Run, tmp_path: Path, kept: list[str], named: str
) -> None:
    columns = {name: {"role": "identifying"} for name in ("id", "code")}
    columns |= {name: {"role": "insensitive", "accept": "a test"} for name in kept}
    policy = changed(columns={**columns, "city": {"role": "quasi"}}, publish={"file": "out.csv"})
    write_folder(tmp_path, policy, csv=PEOPLE)
    (tmp_path / "scheme.json").write_text(
        '{"columns": {"city": {"groups": [["a", "b", "c", "d"], ["e", "f", "g", "h"]]}}}'
    )
    done = run("publish", "policy.yml", "--scheme", "scheme.json")
    assert done.status == 0, done.err
    said = " ".join((done.out + done.err).split())
    assert "8 of 8 rows (100.0%) have a combination" in said
    assert named in said
