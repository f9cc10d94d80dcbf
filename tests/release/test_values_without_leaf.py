"""A hierarchy that lacks values of its sensitive column is refused in one way everywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Run, message
from model_cases import APART, CASES, write

SAID = (
    "error: Hierarchy ill.csv has no leaf for 2 values of the sensitive column 'ill'. Add a line "
    "for each, or leave the hierarchy out."
)
HIERARCHY = ["--hierarchy", "ill=ill.csv", "--t", "0.25"]


@pytest.mark.parametrize("limit", [0.0, 1.0])
def test_every_command(tmp_path: Path, run: Run, limit: float) -> None:
    write(tmp_path, CASES["hierarchical"], suppression={"limit": limit})
    (tmp_path / "ill.csv").write_text("flu;lung;any\n")
    (tmp_path / "scheme.json").write_text(json.dumps(APART))
    before = (tmp_path / "town.duckdb").read_bytes()
    for name, *options in (
        ("search",),
        ("measure", "--scheme", "scheme.json"),
        ("publish", "--scheme", "scheme.json"),
    ):
        said = message(4, run(name, "policy.yml", *options))
        assert said.startswith(SAID), name
    where = ["town.duckdb", "--table", "patients", "--qi", "town", "--sensitive", "ill"]
    assert message(4, run("check", *where, *HIERARCHY)).startswith(SAID)
    assert (tmp_path / "town.duckdb").read_bytes() == before
