"""Regions that stayed whole, against a count over all cuts of the plain rows."""

from __future__ import annotations

import random
from typing import Any

import pandas as pd
import pytest
from tree_oracle import node_of

import sqlanon
from sqlanon.domain import Labels
from sqlanon.search import uncut

TOWNS = ["Oslo", "Bergen", "Rome"]


def frame(seed: int) -> pd.DataFrame:
    rng = random.Random(seed)
    rows = [
        (rng.randrange(20, 40), rng.choice([*TOWNS, None]), rng.choice("xxxy")) for _ in range(150)
    ]
    return pd.DataFrame(rows, columns=["age", "town", "ill"])


def policy(labels: str, **privacy: Any) -> dict[str, Any]:
    accept = {"accept": "a test"} if labels == "tight" else {}
    return {
        "one_row_per_person": True,
        "columns": {
            "age": {"role": "quasi", "range": [20, 40], "granularity": 1},
            "town": {"role": "quasi", "values": [*TOWNS, None]},
            "ill": {"role": "sensitive"},
        },
        "privacy": {"k": 4, **privacy},
        "search": {"recoding": "multidimensional", "labels": labels, **accept},
    }


def can_be_cut(rows: list[dict[str, Any]], k: int) -> bool:
    """Whether some cut leaves k rows on both sides; NULL is parted from the towns first."""
    cuts = [[row["age"] < at for row in rows] for at in range(21, 40)]
    nulls = [row["town"] is None for row in rows]
    if any(nulls) and not all(nulls):
        cuts.append(nulls)
    else:
        cuts += [[row["town"] in TOWNS[:n] for row in rows] for n in (1, 2)]
    return any(min(sum(cut), len(rows) - sum(cut)) >= k for cut in cuts)


@pytest.mark.parametrize("labels", ["region", "tight"])
@pytest.mark.parametrize("seed", range(3))
def test_regions_that_k_alone_would_have_cut(labels: str, seed: int) -> None:
    people = frame(seed)
    with sqlanon.load(policy(labels, l_diversity={"l": 2}), data=people) as anonymizer:
        found = anonymizer.search()
        assert found.solution is not None
        splits = found.solution.to_dict()["tree"]
    by_node: dict[int, list[dict[str, Any]]] = {}
    for row in people.astype(object).where(people.notna(), None).to_dict("records"):
        by_node.setdefault(node_of(row, splits), []).append(row)
    large = sum(len(rows) >= 8 for rows in by_node.values())
    by_k = sum(can_be_cut(rows, 4) for rows in by_node.values())
    assert by_k > 0
    (note,) = [note for note in found.notes if "stay whole" in note]
    assert note.startswith(
        f"{large} of {len(by_node)} regions have 8 people or more and stay whole"
    )
    assert f"; {by_k} of them would be cut if k = 4 alone were required" in note


def test_k_alone_cuts_all_that_it_can() -> None:
    with sqlanon.load(
        policy("tight", homogeneity={"accept": "a test"}), data=frame(5)
    ) as anonymizer:
        found = anonymizer.search()
        assert found.solution is not None
        tree = found.solution.scheme.tree
        assert tree is not None
        counted = uncut(anonymizer.histogram, tree, Labels.TIGHT, 4)
    assert counted is not None
    assert counted.by_k == 0
    assert not any("alone were required" in note for note in found.notes)
