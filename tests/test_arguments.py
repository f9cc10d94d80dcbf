"""Arguments of the Python interface that are not what they must be: named, and refused."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sqlanon
from sqlanon.errors import ArgumentError

TABLE = pd.DataFrame({"sex": [*"FFMM"], "ill": [*"abab"]})
POLICY = {
    "columns": {"sex": {"role": "quasi"}},
    "others": "drop",
    "one_row_per_person": True,
    "privacy": {"k": 2},
}
SCHEME = {"columns": {"sex": {"groups": [["F", "M"]]}}}
WHOLE = "a whole number of at least"


def refused(given: dict[str, Any], said: str, call: Any) -> None:
    name = [*given][-1]
    with pytest.raises(ArgumentError) as caught:
        call(**given)
    value, _, allowed = said.partition("; give ")
    words = str(caught.value)
    assert words.startswith(f"`{name}`")
    assert value.lower() in words.lower()
    assert allowed.removeprefix("a ") in words
    assert caught.value.exit_status == 2
    assert isinstance(caught.value, sqlanon.SqlanonError)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"l": "2"}, "'2'; give a number of at least 1"),
        ({"l": True}, "True; give a number of at least 1"),
        ({"l": math.inf}, "inf; give a finite number of at least 1"),
        ({"l": 2.5}, "2.5; give a whole number"),
        ({"t": [1]}, "[1]; give a number from 0 to 1"),
        ({"t": math.nan}, "nan; give a number from 0 to 1"),
        ({"l": 2, "l_kind": "recursive", "c": "x"}, "'x'; give a number above 1e-9"),
        ({"beta": math.inf}, "inf; give a finite number above 0"),
        ({"population": TABLE, "k_map": "3"}, f"'3'; give {WHOLE} 1"),
        ({"population": TABLE, "k_map": 2.5}, f"2.5; give {WHOLE} 1"),
        ({"population_size": "x"}, f"'x'; give {WHOLE} 1"),
        ({"population_size": 12.5}, f"12.5; give {WHOLE} 1"),
        ({"population_size": -3}, f"-3; give {WHOLE} 1"),
        ({"threshold": "a"}, "'a'; give a number from 0 to 1"),
        ({"k": True}, f"True; give {WHOLE} 1"),
        ({"k": "3"}, f"'3'; give {WHOLE} 1"),
        ({"subject": 5}, "5; give the name of a column"),
        ({"sensitive": [5]}, "[5]; give the name of a column, or a list of them"),
        ({"quasi": 5}, "5; give the name of a column, or a list of them"),
        ({"hierarchy": "dis.csv"}, "'dis.csv'; give a mapping from columns to hierarchies or "
         "files, such as {'ill': 'ill.csv'}"),
        ({"source": 5}, "5; give a file, an address, a table of data, or a connection"),
        ({"source": None, "connection": "duckdb:///:memory:", "table": 5},
         "5; give the name of a table"),
    ],
)  # fmt: skip
def test_check(given: dict[str, Any], said: str) -> None:
    usual = {"source": TABLE, "quasi": "sex", "sensitive": "ill"}
    refused(given, said, lambda **more: sqlanon.check(**usual | more))


def test_numbers_of_numpy_are_numbers() -> None:
    found = sqlanon.check(
        TABLE, "sex", np.int64(2), sensitive="ill", l=np.int32(2), t=np.float32(0.5),
        population=TABLE, k_map=np.int64(2),
    )  # type: ignore[arg-type]  # fmt: skip
    assert found.holds
    described = {each.describe() for each in found.required}
    assert {"k = 2", "k-map k = 2", "distinct l = 2 on 'ill'"} <= described


@pytest.fixture
def anonymizer() -> Iterator[sqlanon.Anonymizer]:
    with sqlanon.load(POLICY, data=TABLE) as opened:
        yield opened


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"queries": "x"}, f"'x'; give {WHOLE} 1"),
        ({"queries": 0}, f"0; give {WHOLE} 1"),
        ({"sql": 5}, "5; give a SELECT, or a list of them"),
        ({"sql": [5]}, "[5]; give a SELECT, or a list of them"),
        ({"seed": 1.5}, f"1.5; give {WHOLE} 0"),
        ({"seed": -1}, f"-1; give {WHOLE} 0"),
        ({"target": 5}, "5; give the name of a column"),
        ({"model": "oracle"}, "'oracle'; give logistic or forest"),
        ({"on_stage": 5}, "5; give a function"),
    ],
)
def test_utility(anonymizer: sqlanon.Anonymizer, given: dict[str, Any], said: str) -> None:
    refused(given, said, lambda **more: anonymizer.utility(SCHEME, **more))


@pytest.mark.parametrize("seed", ["x", 1.5, 1.0, -1, True])
def test_seeds(anonymizer: sqlanon.Anonymizer, seed: Any) -> None:
    refused({"seed": seed}, f"{seed!r}; give {WHOLE} 0", anonymizer.search)
    refused({"seed": seed}, f"{seed!r}; give {WHOLE} 0", anonymizer.walk)


def test_other_calls(anonymizer: sqlanon.Anonymizer, tmp_path: Path) -> None:
    refused({"method": 5}, "5; give the name of a method", anonymizer.search)
    refused({"schemes": "a.json"}, "'a.json'; give a list of schemes", anonymizer.measure_all)
    refused({"schemes": 5}, "5; give a list of schemes", anonymizer.measure_all)
    refused({"scheme": SCHEME, "certificates": 5}, "5; give the path of a folder",
            anonymizer.publish)  # fmt: skip
    refused({"policy": 5}, "5; give the path of a policy file, or a mapping", sqlanon.load)
    refused({"policy": POLICY, "data": TABLE, "workers": 1.5}, f"1.5; give {WHOLE} 1", sqlanon.load)
    refused({"policy": POLICY, "data": TABLE, "workspace": 5}, "5; give the path of a DuckDB file",
            sqlanon.load)  # fmt: skip
