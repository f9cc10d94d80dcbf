"""What publish would refuse is refused, or said, before a search."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import town_table
from command_line import Run, message

import sqlanon
from sqlanon.errors import CompileError, PolicyError
from sqlanon.release import preview

AGE = {"role": "quasi", "range": [20, 60], "granularity": 10}
MARK = {"limit": 0.5, "rows": "mark"}


def policy(**sections: Any) -> dict[str, Any]:
    usual = {
        "columns": {"age": AGE, "town": {"role": "quasi"}},
        "one_row_per_person": True,
        "privacy": {"k": 2},
        "search": {"method": "optimal"},
    }
    return {**usual, **sections}


def people(towns: list[str], **columns: Any) -> pd.DataFrame:
    rows = 12 * len(towns)
    ages = [20 + n % 40 for n in range(rows)]
    return pd.DataFrame({"age": ages, "town": towns * 12, **columns})


def test_marks_beside_numbers_and_in_views(tmp_path: Path, run: Run) -> None:
    """The words are those with which a release is refused, as tests/release shows."""
    columns = {"age": {"output": "midpoint", **AGE}}
    town_table.make(tmp_path, columns=columns, suppression=MARK)
    said = message(1, run("search", "policy.yml"))
    assert "column 'age': output midpoint has no place for the marker" in said
    town_table.make(tmp_path, suppression=MARK, publish={"to": "seen", "mode": "view"})
    said = message(1, run("search", "policy.yml"))
    assert "suppression.rows: a view leaves small classes out; it cannot mark them" in said
    town_table.make(tmp_path, columns=columns, suppression={"limit": 0.5})
    sqlanon.load(tmp_path / "policy.yml").close()


@pytest.mark.parametrize(
    ("town", "sections", "said"),
    [
        ("(not in the scheme)", {}, "column 'town': the label '(not in the scheme)' is reserved"),
        ("*", {"publish": {"unseen": "top"}}, "column 'town': the top label '*' is also the label"),
        ("(suppressed)", {"suppression": MARK}, "'(suppressed)' is also a label of column 'town'"),
    ],
)
def test_values_that_a_release_needs_as_labels(
    town: str, sections: dict[str, Any], said: str
) -> None:
    data = people(["Bonn", town])
    finest = {"columns": {"age": {"cuts": []}, "town": {"groups": [["Bonn"], [town]]}}}
    with sqlanon.load(policy(**sections), data=data) as anonymizer:
        for refused in (anonymizer.search, anonymizer.walk, lambda: anonymizer.sql(finest)):
            with pytest.raises(CompileError) as caught:
                refused()
            assert said in str(caught.value)
    with sqlanon.load(policy(), data=people(["Bonn", "*"])) as anonymizer:
        assert anonymizer.search().solution is not None  # nothing else is written as *


def test_a_type_that_the_file_has_not(tmp_path: Path) -> None:
    town_table.make(tmp_path, columns={"n": {"role": "insensitive"}}, publish={"file": "a.parquet"})
    town_table.change(tmp_path, "ALTER TABLE people ADD COLUMN n HUGEINT")
    with pytest.raises(PolicyError, match=r"no such type: 'n' \(HUGEINT becomes DOUBLE\); cast it"):
        sqlanon.load(tmp_path / "policy.yml")
    town_table.make(tmp_path, columns={"n": {"role": "insensitive"}}, publish={"file": "a.csv"})
    sqlanon.load(tmp_path / "policy.yml").close()


NOTED = ("town", "mail", "remark", "illness")


def noted(**sections: Any) -> dict[str, str]:
    """By column what a search says of it, over people of whom all mails and remarks differ."""
    remark = [f"came by bus number {n} and had to wait for hours" for n in range(24)]
    data = people(["Bonn", "Oslo"], mail=[f"u{n}@example.org" for n in range(24)], remark=remark,
                  illness=["flu", "cold"] * 12)  # fmt: skip
    columns = {
        **policy()["columns"],
        "mail": {"role": "insensitive"},
        "remark": {"role": "insensitive"},
        "illness": {"role": "sensitive"},
        **sections.pop("columns", {}),
    }
    with sqlanon.load(policy(columns=columns, **sections), data=data) as anonymizer:
        said = anonymizer.search().notes
    return {
        name: " ".join(note for note in said if f"column {name!r}" in note and "publish" in note)
        for name in NOTED
    }


def test_notes_on_columns_that_name_people() -> None:
    said = noted()
    assert "nearly unique: 24 distinct values in 24 rows" in said["mail"]
    assert "looks like e-mail addresses: 24 of 24" in said["mail"]
    assert 'add `accept: "reason"` to columns.mail' in said["mail"]
    assert "looks like free text" in said["remark"]
    assert "no model covers the sensitive column 'illness'" in said["illness"]
    assert not said["town"]


def test_no_notes_on_what_is_accepted() -> None:
    accepted = {"role": "insensitive", "accept": "invented"}
    said = noted(
        columns={"mail": accepted, "remark": {"role": "identifying"}},
        privacy={"k": 2, "l_diversity": {"l": 2}},
    )
    assert said == dict.fromkeys(NOTED, "")


def test_a_part_of_the_values_keeps_the_proportion(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each code has four rows: in a tenth of the rows most would be alone, here none is."""
    monkeypatch.setattr(preview, "WHOLE_UP_TO", 1000)
    rows = 8000
    data = people(["Bonn", "Oslo"] * 334)
    data = data.iloc[:rows].assign(
        code=[f"c{n // 4}" for n in range(rows)], number=[f"n{n}" for n in range(rows)]
    )
    shown = {"code": {"role": "insensitive"}, "number": {"role": "insensitive"}}
    columns = {**policy()["columns"], **shown}
    with sqlanon.load(policy(columns=columns), data=data) as anonymizer:
        (said,) = anonymizer.cautions
    assert "'number' is nearly unique" in said
    assert "one in 16 of its values" in said


def test_the_command_says_it_before_the_search(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path, columns={"name": {"role": "insensitive"}}, search={"seed": 1})
    done = run("search", "policy.yml")
    assert done.status == 0
    assert "note: publish will refuse this: column 'name' is nearly unique" in done.err
    assert "nearly unique" not in done.out
    assert "nearly unique" not in run("search", "policy.yml", "--quiet").err


def test_replace_says_first_what_goes(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path, publish={"mode": "replace"})
    for statement in (
        "ALTER TABLE people ADD PRIMARY KEY (name)",
        "CREATE INDEX by_age ON people (age)",
        "CREATE VIEW seniors AS SELECT name FROM people WHERE age > 50",
    ):
        town_table.change(tmp_path, statement)
    said = message(1, run("publish", "policy.yml", "--scheme", "good.json"))
    for part in ("60 rows", "PRIMARY KEY", "'by_age'", "'main.seniors'"):
        assert part in said.split("there is no terminal to ask")[0]
