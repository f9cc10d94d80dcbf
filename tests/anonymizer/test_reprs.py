"""A repr is a line: notebooks, debuggers and logs show it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from search_table import write_search_folder

import sqlanon

MOST = 400
WIDE = 12


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One of everything that the Python interface hands out, of a table with many columns."""
    folder = tmp_path_factory.mktemp("reprs")
    numbers = {f"a column with a name of some length, {i}": range(20) for i in range(WIDE)}
    columns = {name: {"role": "quasi"} for name in numbers}
    policy = write_search_folder(
        folder,
        {"method": "nsga2", "evaluations": 200, "population": 40},
        columns=columns,
        privacy={"k": 4},
        publish={"file": str(folder / "released.parquet")},
        source={"file": "wide.parquet"},
    )
    pd.DataFrame(numbers).to_parquet(folder / "wide.parquet")
    with sqlanon.load(policy) as anonymizer:
        result = anonymizer.search()
        release = anonymizer.publish(result)
        utility = anonymizer.utility(result, queries=5)
        walk = anonymizer.walk()
        step = walk.step(n=1, watch=sqlanon.Watch(seconds=0))
        solution = result.solution
        assert solution is not None
        return {
            "anonymizer": anonymizer,
            "policy": anonymizer.policy,
            "source": anonymizer.source,
            "space": anonymizer.space,
            "histogram": anonymizer.histogram,
            "tally": anonymizer.histogram.tally,
            "result": result,
            "solution": solution,
            "scheme": solution.scheme,
            "column": solution.scheme.columns[0],
            "release": release,
            "facts": release.facts,
            "certificate": release.certificate,
            "utility": utility,
            "walk": walk,
            "step": step,
            "solutions": step.solutions,
            "scores": step.scores,
            "check": sqlanon.check(folder / "wide.parquet", quasi=list(numbers), k=2),
        }


def test_reprs_are_short(objects: dict[str, Any]) -> None:
    lengths = {name: len(repr(each)) for name, each in objects.items()}
    assert not {name: n for name, n in lengths.items() if n > MOST}
    assert not [name for name, each in objects.items() if "\n" in repr(each)]


def test_reprs_say_what_matters(objects: dict[str, Any], tmp_path: Path) -> None:
    solution = objects["solution"]
    assert f"k {solution.k}" in repr(solution)
    assert "feasible" in repr(solution)
    assert f"{WIDE} columns" in repr(objects["scheme"])
    assert "20 rows" in repr(objects["release"])
    assert "released.parquet" in repr(objects["certificate"])
    assert "k = 1" in repr(objects["check"])
    assert "1 violation" in repr(objects["check"])
