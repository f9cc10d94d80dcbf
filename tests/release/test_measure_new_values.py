"""`sqlanon measure` on data that hold values which the scheme does not cover."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_line import Run, message

POLICY: dict[str, Any] = {
    "source": {"file": "people.csv"},
    "columns": {
        "age": {"role": "quasi", "range": [20, 40], "granularity": 5},
        "city": {"role": "quasi"},
    },
    "one_row_per_person": True,
    "privacy": {"k": 2},
    "publish": {"file": "out.csv"},
}
ROWS = "age,city\n21,Oslo\n22,Oslo\n31,Rome\n32,Rome\n"


@pytest.mark.parametrize(
    ("more", "listed"),
    [
        ("33,Paris\n23,Paris\n34,Bari\n", "'city' in 3 rows"),
        (",Rome\n", "'age' in 1 row"),
        (",Rome\n24,Paris\n,Bari\n", "'age' in 2 rows, 'city' in 2 rows"),
        ("31,\n", "'city' in 1 row"),
    ],
)
def test_the_data_are_at_fault(tmp_path: Path, run: Run, more: str, listed: str) -> None:
    (tmp_path / "policy.yml").write_text(yaml.safe_dump(POLICY), encoding="utf-8")
    (tmp_path / "people.csv").write_text(ROWS, encoding="utf-8")
    assert run("search", "policy.yml", "--quiet").status == 0
    (tmp_path / "people.csv").write_text(ROWS + more, encoding="utf-8")
    for reference in ("result.json", "result.json#0"):
        said = message(4, run("measure", "policy.yml", "--scheme", reference))
        assert f"values that the scheme in {reference} does not cover: {listed}." in said
        assert "Search again" in said
    assert listed in message(4, run("publish", "policy.yml", "--scheme", "result.json#0"))


def test_a_column_of_one_group_has_new_values_too(tmp_path: Path, run: Run) -> None:
    """A release would hide them; but the scores are relative to the values that there are."""
    (tmp_path / "policy.yml").write_text(yaml.safe_dump(POLICY), encoding="utf-8")
    (tmp_path / "people.csv").write_text(ROWS + "39,Bari\n", encoding="utf-8")
    scheme = {
        "columns": {"age": {"cuts": []}, "city": {"groups": [["Oslo", "Rome"]]}},
        "domains": {"city": ["Oslo", "Rome"]},
    }
    (tmp_path / "scheme.json").write_text(json.dumps(scheme), encoding="utf-8")
    said = message(4, run("measure", "policy.yml", "--scheme", "scheme.json"))
    assert "the scheme in scheme.json does not cover: 'city' in 1 row." in said


def test_a_file_that_is_wrong_by_itself_is_still_at_fault(tmp_path: Path, run: Run) -> None:
    (tmp_path / "policy.yml").write_text(yaml.safe_dump(POLICY), encoding="utf-8")
    (tmp_path / "people.csv").write_text(ROWS, encoding="utf-8")
    columns = {"age": {"cuts": [33]}, "city": {"groups": [["Oslo", "Rome"]]}}
    (tmp_path / "scheme.json").write_text(json.dumps({"columns": columns}), encoding="utf-8")
    said = message(1, run("measure", "policy.yml", "--scheme", "scheme.json"))
    assert "scheme.json: column 'age': 33 is not a place to cut" in said
