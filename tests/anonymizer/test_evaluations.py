"""Everything that a search measured, asked for in SQL, beside what its result says."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from search_table import SETTINGS, write_search_folder

import sqlanon
from sqlanon.domain.scheme import Scheme
from sqlanon.errors import EngineError
from sqlanon.search import Progress, Watch

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


def test_several_k_are_runs_of_their_own(tmp_path: Path) -> None:
    policy = write_search_folder(tmp_path, {"method": "front"}, suppression={"limit": 0.1})
    with sqlanon.load(policy) as anonymizer:
        result = anonymizer.search(k=[4, 8])
        runs = anonymizer.evaluations("SELECT run, k FROM run ORDER BY run").to_pylist()
        assert runs == [{"run": 1, "k": 4}, {"run": 2, "k": 8}]
        for run in runs:
            solution = result.solution_for(run["k"])
            assert solution is not None
            row = scores_of(anonymizer, str(run["run"]))[bits_of(solution.scheme), run["k"]]
            assert_same(row, {name: solution.scores[name] for name in ("k", "nwp", "necd", "ach")})


def test_the_tables_can_be_asked_while_a_search_runs(tmp_path: Path) -> None:
    seen: list[int] = []
    search = {"method": "nsga2", **SETTINGS["nsga2"]}
    with sqlanon.load(write_search_folder(tmp_path, search)) as anonymizer:

        def look(_: Progress) -> None:
            (count,) = anonymizer.evaluations("SELECT count(*) AS n FROM evaluation")["n"]
            seen.append(count.as_py())

        result = anonymizer.search(watch=Watch(on_progress=look))
    assert len(seen) > 2
    assert seen == sorted(seen)
    assert 0 < seen[0] < seen[-1] <= result.evaluations["distinct"]


def test_schemes_in_words(tmp_path: Path) -> None:
    with sqlanon.load(write_search_folder(tmp_path, {"method": "optimal"})) as anonymizer:
        result = anonymizer.search()
        ask = "SELECT run, scheme, nwp FROM evaluation"
        found = anonymizer.evaluations(ask, words=True).to_pylist()
        solution = result.solution
        assert solution is not None
        (words,) = (row["words"] for row in found if row["scheme"] == bits_of(solution.scheme))
        assert words == {name: list(solution.labels(name)) for name in words}
        assert set(words) == {"age", "job", "zip", "sex"}
        with pytest.raises(EngineError, match="need the column 'scheme'"):
            anonymizer.evaluations("SELECT run, k FROM evaluation", words=True)
        for other in ("'abc'", "'abc'::BLOB", "k"):
            with pytest.raises(EngineError, match="column 'scheme' as it is in `evaluation`"):
                anonymizer.evaluations(f"SELECT run, {other} AS scheme FROM evaluation", words=True)
        for nothing in ("NULL", "NULL::BLOB"):
            ask = f"SELECT run, {nothing} AS scheme FROM evaluation LIMIT 1"
            (row,) = anonymizer.evaluations(ask, words=True).to_pylist()
            assert row["words"] is None


def test_a_workspace_in_use_is_noted(tmp_path: Path) -> None:
    policy = write_search_folder(tmp_path, {"method": "front"})
    with sqlanon.load(policy, workspace=tmp_path / "work.duckdb") as anonymizer:
        anonymizer.workspace._connection.close()  # what a full disk raises, this raises too
        result = anonymizer.search()
        assert len(anonymizer.evaluations()) == result.evaluations["distinct"]
    notes = [note for note in result.notes if "measurements are kept in memory" in note]
    assert len(notes) == 1


def test_no_variable_of_python_is_in_reach(tmp_path: Path) -> None:
    with sqlanon.load(write_search_folder(tmp_path, {"method": "optimal"})) as anonymizer:
        ask = "SELECT current_setting('python_enable_replacements') AS reach"
        assert anonymizer.evaluations(ask)["reach"].to_pylist() == [False]
