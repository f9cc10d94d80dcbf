"""What the result of a search says beside its solutions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from search_table import POLICY, SETTINGS, write_search_folder

import sqlanon

LATTICE = ("poka", "front", "exhaustive", "optimal")


def notes(folder: Path, method: str, columns: dict[str, Any] | None = None) -> tuple[str, ...]:
    section = {"method": method, **SETTINGS[method]}
    changed = POLICY["columns"] | (columns or {})
    with sqlanon.load(write_search_folder(folder, section, columns=changed)) as anonymizer:
        return anonymizer.search().notes


@pytest.mark.parametrize("method", SETTINGS)
def test_columns_without_a_hierarchy(tmp_path: Path, method: str) -> None:
    said = [note for note in notes(tmp_path, method) if "hierarchy" in note]
    wanted = ["age, sex have no hierarchy: they are kept or hidden whole"]
    assert said == (wanted if method in LATTICE else [])


def test_a_single_column_without_a_hierarchy(tmp_path: Path) -> None:
    tens = POLICY["columns"]["age"] | {"hierarchy": {"intervals": [10]}, "family": "full-domain"}
    said = notes(tmp_path, "front", {"age": tens})
    assert "sex has no hierarchy: it is kept or hidden whole" in said


def test_a_column_that_the_limits_leave_one_level(tmp_path: Path) -> None:
    columns = {name: POLICY["columns"][name] | {"min_level": 1} for name in ("age", "sex")}
    assert not any("hierarchy" in note for note in notes(tmp_path, "optimal", columns))


def test_every_node_is_exact(tmp_path: Path) -> None:
    # 2 levels of age, 3 of job, 4 of zip (z, two digits), 2 of sex.
    first, second, *_ = notes(tmp_path, "exhaustive")
    assert first == "48 of 48 lattice nodes evaluated (100.0%)"
    assert second == "exact: every node was evaluated"
