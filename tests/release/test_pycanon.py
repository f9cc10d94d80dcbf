"""pycanon, an independent implementation, finds the same k and classes in released tables."""

from __future__ import annotations

import random
import shutil
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlanon
from sqlanon import resources

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from pycanon import anonymity  # type: ignore[import-untyped]
    from pycanon.anonymity.utils import aux_anonymity  # type: ignore[import-untyped]

ABSENT = "(no value)"


def counted_by_pycanon(frame: pd.DataFrame, quasi: list[str]) -> tuple[int, Counter[int]]:
    """k and how many classes have which size.

    pycanon groups with pandas, which compares NULL with nothing and so leaves its rows out of
    every class. For sqlanon NULL is a value like others: who knows that a cell is empty can use
    that. So NULL is written as a text before pycanon looks.
    """
    texts = frame[quasi].astype(object).where(frame[quasi].notna(), ABSENT).astype(str)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classes = aux_anonymity.get_equiv_class(texts, quasi)
        k = anonymity.k_anonymity(texts, quasi)
    return k, Counter(map(len, classes))


def certified_sizes(release: sqlanon.Release) -> Counter[int]:
    sizes = release.certificate.to_dict()["privacy"]["sizes"]
    return Counter({each["size"]: each["classes"] for each in sizes})


def test_adult_with_its_example_scheme(tmp_path: Path) -> None:
    for name in ("policy.yml", "scheme.json", "adult.parquet"):
        shutil.copy(resources.path("examples", "adult", name), tmp_path)
    with sqlanon.load(tmp_path / "policy.yml") as anonymizer:
        quasi = [column.name for column in anonymizer.space.columns]
        release = anonymizer.publish(tmp_path / "scheme.json")
    frame = release.to_pandas()
    k, sizes = counted_by_pycanon(frame, quasi)
    assert k == release.k >= 5
    assert sizes == certified_sizes(release)
    assert len(frame) == release.rows


QUASI: dict[str, dict[str, Any]] = {
    "age": {"role": "quasi", "range": [0, 80], "granularity": 20},
    "town": {"role": "quasi"},
    "zip": {"role": "quasi", "hierarchy": {"mask": {}}},
}
SCHEME = {
    "columns": {
        "age": {"cuts": [40], "null": "apart"},
        "town": {"level": 0},
        "zip": {"level": 1},
    }
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rows", ["leave_out", "mark"])
def test_random_tables_with_nulls(seed: int, rows: str) -> None:
    rng = random.Random(seed)
    frame = pd.DataFrame(
        {
            "age": pd.array([rng.choice([5, 33, 47, 79, None]) for _ in range(300)], "Int64"),
            "town": [rng.choice(["Rome", "", "O'Fallon", None]) for _ in range(300)],
            "zip": [rng.choice(["11", "12", "21", None]) for _ in range(300)],
        }
    )
    policy = {
        "columns": QUASI,
        "one_row_per_person": True,
        "privacy": {"k": 5},
        "suppression": {"limit": 0.5, "rows": rows},
    }
    with sqlanon.load(policy, data=frame) as anonymizer:
        release = anonymizer.publish(SCHEME)
    released = release.to_pandas()
    k, sizes = counted_by_pycanon(released, list(QUASI))
    assert k == release.k >= 5
    assert sizes == certified_sizes(release)
    assert released["town"].isna().any()


def test_pycanon_alone_does_not_see_rows_with_null() -> None:
    """The difference that `counted_by_pycanon` bridges, by hand: two classes, or one."""
    frame = pd.DataFrame({"town": ["Rome"] * 3 + [None]})
    assert counted_by_pycanon(frame, ["town"]) == (1, Counter({3: 1, 1: 1}))
    assert sqlanon.check(frame, ["town"]).k == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert anonymity.k_anonymity(frame.copy(), ["town"]) == 3
