"""Before a release its groups are shown as they will be released, and so in its certificate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from command_line import Run

import sqlanon

ROWS = [("21", "1.5"), ("24", "2.5"), ("33", "3.5"), ("36", "nan"), ("", "4.5"), ("", "1.5")]
RANGE = {"role": "quasi", "range": [20, 40], "granularity": 10}
WAYS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "open ends": ({**RANGE, "open_ends": True}, ["<30", "30+", "NULL"]),
    "null label": ({**RANGE, "null_label": "unknown"}, ["[20, 30)", "[30, 40]", "unknown"]),
    "observed": ({"role": "quasi"}, ["<33", "33+", "NULL"]),
    "closed": ({"role": "quasi", "open_ends": False}, ["[21, 33)", "[33, 36]", "NULL"]),
    "bounds": ({**RANGE, "output": "bounds"}, ["20, 30", "30, 40", "NULL"]),
    "lower": ({**RANGE, "output": "lower", "open_ends": True}, ["20", "30", "NULL"]),
}  # fmt: skip


def write(folder: Path, columns: dict[str, Any], cuts: dict[str, Any]) -> None:
    lines = "\n".join(",".join(row) for row in ROWS)
    (folder / "people.csv").write_text(f"age,level\n{lines}\n", encoding="utf-8")
    policy = {
        "source": {"query": "SELECT age, level::DOUBLE AS level FROM read_csv('people.csv')"},
        "columns": columns,
        "others": "drop",
        "one_row_per_person": True,
        "privacy": {"k": 2},
        "publish": {"file": "out.parquet"},
    }
    (folder / "policy.yml").write_text(yaml.safe_dump(policy), encoding="utf-8")
    (folder / "scheme.json").write_text(json.dumps({"columns": cuts}), encoding="utf-8")


@pytest.mark.parametrize("way", WAYS)
def test_labels_are_those_of_the_release(tmp_path: Path, run: Run, way: str) -> None:
    section, wanted = WAYS[way]
    cut = 33 if "range" not in section else 30
    write(tmp_path, {"age": section}, {"age": {"cuts": [cut], "null": "apart"}})
    done = run("measure", "policy.yml", "--scheme", "scheme.json")
    assert done.status == 0, done.err
    assert " · ".join(wanted) in done.out
    with sqlanon.load(tmp_path / "policy.yml") as anonymizer:
        solution = anonymizer.measure(tmp_path / "scheme.json")
        assert ["NULL" if each is None else each for each in solution.labels("age")] == wanted
        (line,) = [each for each in str(solution).splitlines() if each.startswith("age: ")]
        assert line.startswith(f"age: 3 of {solution.scheme.columns[0].size} groups")
        assert line.endswith(f": {' · '.join(wanted)}")
        release = anonymizer.publish(tmp_path / "scheme.json")
    rows = duckdb.sql(
        f"SELECT DISTINCT * FROM '{tmp_path / 'out.parquet'}' ORDER BY ALL"
    ).fetchall()
    released = {"NULL" if row[0] is None else ", ".join(map(str, row)) for row in rows}
    assert released == set(wanted)
    (column,) = release.certificate.to_dict()["columns"][:1]
    assert ["NULL" if label is None else label for label in column["labels"]] == wanted


def test_the_search_shows_them_too(tmp_path: Path, run: Run) -> None:
    write(tmp_path, {"age": WAYS["open ends"][0]}, {})
    done = run("search", "policy.yml")
    assert done.status == 0, done.err
    assert "<30 · 30+ · NULL" in done.out
    assert "[20, 30)" not in done.out


@pytest.mark.parametrize(("open_ends", "first"), [(True, "<3.5"), (False, "[1.5, 3.5)")])
def test_nan_is_named_and_is_no_end(tmp_path: Path, run: Run, open_ends: bool, first: str) -> None:
    section = {"role": "quasi", "open_ends": open_ends}
    write(tmp_path, {"level": section}, {"level": {"cuts": [3.5]}})
    assert run("publish", "policy.yml", "--scheme", "scheme.json").status == 0
    released = duckdb.sql(f"SELECT level, count(*) FROM '{tmp_path / 'out.parquet'}' GROUP BY 1")
    assert sorted(released.fetchall()) == sorted([(first, 3), ("3.5+ or NaN", 3)])
