"""Everything that a search measured, asked for in SQL, beside what its result says."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from search_table import SETTINGS, write_search_folder

import sqlanon
from sqlanon.domain.scheme import Scheme

TRADE_OFF = "SELECT k, nwp, necd FROM evaluation ORDER BY nwp"
CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "suppression": {"suppression": {"limit": 0.1}},
    "models": {
        "columns": {
            "age": {"role": "quasi", "range": [20, 70], "granularity": 10},
            "job": {"role": "quasi", "hierarchy": "jobs.csv"},
            "sex": {"role": "quasi", "values": ["F", "M"]},
            "zip": {"role": "identifying"},
            "outcome": {"role": "sensitive"},
        },
        "privacy": {"k": 4, "l_diversity": {"l": 2}},
        "suppression": {"limit": 0.1},
    },
    "subjects": {
        "columns": {
            "age": {"role": "quasi", "range": [20, 70], "granularity": 10},
            "job": {"role": "quasi", "hierarchy": "jobs.csv"},
            "sex": {"role": "quasi", "values": ["F", "M"]},
            "zip": {"role": "identifying"},
            "outcome": {"role": "label"},
        },
        "subject": "zip",
        "one_row_per_person": None,
        "privacy": {"k": 2},
        "suppression": {"limit": 0.1},
    },
}


def scores_of(anonymizer: sqlanon.Anonymizer, run: str = "1") -> dict[tuple[bytes, Any], Any]:
    """The rows of a run by scheme and by the k that its classes are suppressed for."""
    found = anonymizer.evaluations(f"FROM evaluation WHERE run = {run}").to_pylist()
    rows = {(row["scheme"], row["suppressed_below"]): row for row in found}
    assert len(rows) == len(found), "a row for each"
    return rows


def bits_of(scheme: Scheme) -> bytes:
    return b"".join(bytes(_packed(p.bits.tolist())) for p in scheme.partitions)


def _packed(bits: list[bool]) -> list[int]:
    """A bit for each place, eight to the byte."""
    padded = bits + [False] * (-len(bits) % 8)
    return [
        int("".join("01"[bit] for bit in padded[i : i + 8]), 2) for i in range(0, len(padded), 8)
    ]


def assert_same(row: dict[str, Any], scores: dict[str, Any]) -> None:
    for name, value in scores.items():
        if value is None:
            assert row[name] is None, name
        else:
            assert row[name] == pytest.approx(value, rel=1e-12, abs=1e-12), name


@pytest.mark.parametrize("method", SETTINGS)
@pytest.mark.parametrize("case", CASES)
def test_the_view_says_what_the_result_says(tmp_path: Path, case: str, method: str) -> None:
    search = {"method": method, **SETTINGS[method]}
    with sqlanon.load(write_search_folder(tmp_path, search, **CASES[case])) as anonymizer:
        result = anonymizer.search()
        rows = scores_of(anonymizer)
        (run,) = anonymizer.evaluations("FROM run WHERE method IS NOT NULL").to_pylist()
        asked = anonymizer.evaluations(TRADE_OFF).to_pylist()
    budget = run["budget"]
    assert (run["method"], run["seed"], run["asked"]) == (method, 1, result.evaluations["asked"])
    assert result.solutions
    for each in result.solutions:
        below = each.scheme.required_k or anonymizer.required_k if budget else run["below"]
        row = rows[bits_of(each.scheme), below if below < 2**62 else None]
        assert_same(row, {name: value for name, value in each.scores.items() if name in row})
        assert row["feasible"] == each.feasible
        assert row["reached"] == pytest.approx([model.value for model in each.models])
        point = {name: each.scores[name] for name in ("k", "nwp", "necd")}
        assert any(
            found["k"] == point["k"]
            and math.isclose(found["nwp"], point["nwp"], abs_tol=1e-12)
            and math.isclose(found["necd"], point["necd"], abs_tol=1e-12)
            for found in asked
        )
    assert [row["nwp"] for row in asked] == sorted(row["nwp"] for row in asked)
