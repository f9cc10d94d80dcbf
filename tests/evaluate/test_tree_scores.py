"""Cut trees: scores against a row by row oracle, and the search against one that tries all cuts."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tree_oracle import greedy_regions, node_of, nwp, sizes

import sqlanon
from sqlanon.domain import Histogram
from sqlanon.evaluate import BestCuts, Care, CutColumn, Demands

AGES = list(range(20, 30))
EDUCATION = ["10th", "11th", "Bachelors", "Masters"]
DOMAINS: dict[str, list[Any]] = {"age": AGES, "education": [*EDUCATION, None]}
SPLITS: dict[str, Any] = {
    "1": ["age", "<", 25, 2, 3],
    "3": ["education", "not null", None, 4, 5],
    "4": ["education", "in", ["10th", "11th"], 6, 7],
}
TREE = {"recoding": "multidimensional", "version": 3, "columns": {}, "tree": SPLITS}


def people(number: int, seed: int) -> pd.DataFrame:
    """Random people; every value occurs."""
    rng = random.Random(seed)
    rows = [(rng.choice(AGES), rng.choice(DOMAINS["education"])) for _ in range(number)]
    rows += [(age, None) for age in AGES] + [(20, each) for each in EDUCATION]
    frame = pd.DataFrame(rows, columns=["age", "education"])
    return frame.assign(ill=[rng.choice("abc") for _ in range(len(frame))])


def policy(k: int, **privacy: Any) -> dict[str, Any]:
    return {
        "one_row_per_person": True,
        "columns": {
            "age": {"role": "quasi", "range": [20, 30], "granularity": 1},
            "education": {"role": "quasi"},
            "ill": {"role": "sensitive"},
        },
        "privacy": {"k": k, **(privacy or {"homogeneity": {"accept": "a test"}})},
    }


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("limit", [0.0, 0.5])
def test_scores_of_a_tree(seed: int, limit: float) -> None:
    frame = people(40, seed)
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    of_class = sizes(rows, SPLITS)
    smallest = min(of_class, key=lambda node: of_class[node])
    k = of_class[smallest] + 1
    with sqlanon.load(policy(k) | {"suppression": {"limit": limit}}, data=frame) as anonymizer:
        found = anonymizer.measure(TREE)
    out = {node for node, size in of_class.items() if size < k} if limit else set()
    kept = [size for node, size in of_class.items() if node not in out]
    assert found.nwp == pytest.approx(float(nwp(rows, SPLITS, DOMAINS, out)), abs=1e-9)
    assert (found.k, found.k_max, found.classes) == (min(kept), max(kept), len(kept))
    assert found.suppressed == sum(of_class[node] for node in out)
    assert found.necd == pytest.approx((max(kept) - min(kept)) / (len(rows) - 1))
    assert found.feasible is bool(limit)
    by_column = {each.column: each for each in found.kept}
    assert by_column["age"].groups == 2


def test_models_and_labels_of_a_tree() -> None:
    frame = people(60, 7)
    rows = frame.astype(object).where(frame.notna(), None)
    rows = rows.assign(node=[node_of(row, SPLITS) for row in rows.to_dict("records")])
    fewest = int(rows.groupby("node").ill.nunique().min())
    with sqlanon.load(
        policy(
            2,
            l_diversity={"l": 3},
        ),
        data=frame,
    ) as anonymizer:
        found = anonymizer.measure(TREE)
    assert [each.value for each in found.models] == [fewest]


def counted(frame: pd.DataFrame, **columns: Any) -> Histogram:
    wanted = {"one_row_per_person": True, "columns": columns, "privacy": {"k": 2}}
    with sqlanon.load(wanted, data=frame) as anonymizer:
        return anonymizer.histogram


@pytest.mark.parametrize("seed", range(6))
def test_the_search_makes_the_cuts_that_a_search_of_all_cuts_makes(seed: int) -> None:
    rng = random.Random(seed)
    widths, k = (6, 5, 4), rng.randint(2, 5)
    rows = [tuple(rng.randrange(width) for width in widths) for _ in range(60)]
    rows += [tuple(min(i, width - 1) for width in widths) for i in range(max(widths))]
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    histogram = counted(frame, **{name: {"role": "quasi"} for name in "abc"})
    starts = [sorted({0, *rng.sample(range(1, width), 3)}) for width in widths]
    columns = [CutColumn(np.array(each)) for each in starts]
    best = BestCuts(histogram, columns, Demands(below=k), care=Care(lookahead=1))
    tree = best.tree()
    best.close()
    _, low, high = tree.regions
    found = {
        tuple(zip(a, b, strict=True)) for a, b in zip(low.tolist(), high.tolist(), strict=True)
    }
    assert found == greedy_regions(rows, widths, starts, k)


@pytest.mark.parametrize(
    "privacy",
    [
        {"l_diversity": {"l": 2}},
        {"l_diversity": {"kind": "entropy", "l": 1.8}},
        {"l_diversity": {"kind": "recursive", "c": 3, "l": 2}},
        {"t_closeness": {"t": 0.3}},
        {"beta_likeness": {"beta": 1.5}},
        {"delta_disclosure": {"delta": 1.2}},
        {"alpha_k": {"alpha": 0.7}},
    ],
    ids=lambda privacy: next(iter(privacy)),
)
def test_every_region_satisfies_the_models(privacy: dict[str, Any]) -> None:
    """As the release's own audit counts it."""
    frame = people(150, 3)
    wanted = policy(4) | {"search": {"recoding": "multidimensional"}}
    wanted["privacy"] = {"k": 4, **privacy}
    with sqlanon.load(wanted, data=frame) as anonymizer:
        found = anonymizer.search().solution
        assert found is not None
        assert found.classes is not None
        assert found.classes > 1
        released = anonymizer.publish(found)
    assert released.certificate.to_dict()["scores"]["nwp"] == pytest.approx(found.nwp)
    assert released.k >= 4


def test_the_same_tree_on_one_and_two_threads_and_in_any_order() -> None:
    frame = people(400, 5)
    found = set()
    for workers, seed in ((1, 1), (2, 2), (2, 3)):
        shuffled = frame.sample(frac=1, random_state=seed)
        wanted = policy(3) | {"search": {"recoding": "multidimensional"}}
        with sqlanon.load(wanted, data=shuffled, workers=workers) as anonymizer:
            solution = anonymizer.search().solution
            assert solution is not None
            found.add(str(solution.to_dict()["tree"]))
    assert len(found) == 1


def test_people_with_several_rows_are_counted_once() -> None:
    frame = people(200, 9)
    frame["person"] = [i // 2 for i in range(len(frame))]
    wanted = policy(5) | {"subject": "person", "search": {"recoding": "multidimensional"}}
    del wanted["one_row_per_person"]
    with sqlanon.load(wanted, data=frame) as anonymizer:
        found = anonymizer.search().solution
        assert found is not None
        labelled = anonymizer.publish(found).to_pandas()
    assert found.feasible
    assert found.k is not None
    assert found.k >= 5
    assert len(labelled) == len(frame)


def test_nwp_of_the_oracle_by_hand() -> None:
    """Two rows of ages 20 and 29 under one split at 25: regions of 5 of 10 ages and all 5 others.

    Each row loses 4/9 of its age and all of its education.
    """
    rows = [{"age": 20, "education": None}, {"age": 29, "education": "10th"}]
    splits = {"1": ["age", "<", 25, 2, 3]}
    assert nwp(rows, splits, DOMAINS, set()) == (Fraction(4, 9) + 1) / 2
