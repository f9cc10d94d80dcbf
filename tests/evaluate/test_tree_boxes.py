"""Boxes in the regions of a cut tree: the search against brute force, and the release recounted."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tree_oracle import greedy_boxes

import sqlanon
from sqlanon.domain import Histogram
from sqlanon.errors import UncoveredValueError
from sqlanon.evaluate import BestCuts, Care, CutColumn, Demands

TOWNS = ["Oslo", "Bergen", "Rome", "Milan", "Turin"]


def counted(frame: pd.DataFrame) -> Histogram:
    columns = {name: {"role": "quasi"} for name in frame}
    wanted = {"one_row_per_person": True, "columns": columns, "privacy": {"k": 2}}
    with sqlanon.load(wanted, data=frame) as anonymizer:
        return anonymizer.histogram


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_search_makes_the_boxes_that_a_search_of_all_cuts_makes(seed: int, ahead: bool) -> None:
    care = Care(shortlist=1_000, lookahead=1_000 if ahead else 1)
    rng = random.Random(seed)
    # With these the prices of atoms are whole numbers, so that equal gains are equal here too.
    widths, k = (9, 5, 3, 5), rng.randint(2, 5)
    rows = [tuple(rng.randrange(width) for width in widths) for _ in range(50)]
    rows += [tuple(min(i, width - 1) for width in widths) for i in range(max(widths))]
    histogram = counted(pd.DataFrame(rows, columns=["a", "b", "c", "d"]))
    starts = [sorted(rng.sample(range(1, width), width // 2)) for width in widths]
    columns = [CutColumn(np.array([0, *each])) for each in starts]
    best = BestCuts(histogram, columns, Demands(below=k), boxed=True, care=care)
    tree = best.tree()
    best.close()
    region = tree.region_of(histogram.tally.codes)
    found = Counter[tuple[tuple[int, int], ...]]()
    for i, people in zip(region.tolist(), histogram.tally.rows.tolist(), strict=True):
        ends = zip(tree.released.low[i].tolist(), tree.released.high[i].tolist(), strict=True)
        found[tuple(ends)] += people
    wanted = greedy_boxes(rows, widths, starts, k, ahead=ahead)
    assert found == wanted


def people(number: int, seed: int) -> pd.DataFrame:
    rng = random.Random(seed)
    rows = [
        (rng.choice([20, 25, 26, 31, 32, 58]) + rng.randrange(4), rng.choice([*TOWNS, None]))
        for _ in range(number)
    ]
    return pd.DataFrame(rows, columns=["age", "town"]).assign(
        sex=[rng.choice("fm") for _ in range(number)]
    )


def policy(labels: str, k: int, **search: Any) -> dict[str, Any]:
    accept = {"accept": "a test"} if labels == "tight" else {}
    return {
        "one_row_per_person": True,
        "columns": {
            "age": {"role": "quasi", "range": [20, 70], "granularity": 1},
            "town": {"role": "quasi", "values": [*TOWNS, None]},
            "sex": {"role": "quasi", "values": ["f", "m"]},
        },
        "privacy": {"k": k},
        "search": {"recoding": "multidimensional", "labels": labels, **accept, **search},
    }


def named(column: str, label: str | None) -> frozenset[object]:
    """The values that a label names, as a reader understands it."""
    if column == "age":
        if label == "*":
            return frozenset(range(20, 71))
        assert label is not None
        low, high = map(int, label[1:-1].split(", "))
        return frozenset(range(low, high + (label[-1] == "]")))
    every = {"town": [*TOWNS, None], "sex": ["f", "m"]}[column]
    if label is None:
        return frozenset([None])
    if label in ("*", "not NULL"):
        return frozenset(every if label == "*" else TOWNS)
    return frozenset(label.strip("{}").split(", "))


ATOMS = {"age": 50, "town": 6, "sex": 2}
"""Ages from 20 to 70, the last two of them one atom, since a range is closed."""


@pytest.mark.parametrize("labels", ["region", "snapped", "tight"])
@pytest.mark.parametrize("seed", range(4))
def test_a_release_recounted_has_the_scores_of_its_search(labels: str, seed: int) -> None:
    """NWP and NECD from the labels of the released table alone, and every label is true."""
    frame = people(150, seed)
    with sqlanon.load(policy(labels, 4), data=frame) as anonymizer:
        found = anonymizer.search().solution
        assert found is not None
        measured = anonymizer.measure(found)
        released = anonymizer.publish(found).to_pandas()
    released = released.astype(object).where(released.notna(), None)
    classes = Counter(map(tuple, released[list(ATOMS)].to_numpy().tolist()))
    total = Fraction(0)
    for row, number in classes.items():
        for (name, atoms), label in zip(ATOMS.items(), row, strict=True):
            values = named(name, label)
            width = len(values) - (70 in values)
            total += number * Fraction(width - 1, atoms - 1)
    sizes = classes.values()
    assert found.nwp == measured.nwp == pytest.approx(float(total / (150 * 3)), abs=1e-9)
    assert found.necd == pytest.approx((max(sizes) - min(sizes)) / 149)
    assert found.k == min(sizes) >= 4
    boxes = [[named(n, cell) for n, cell in zip(ATOMS, row, strict=True)] for row in classes]
    for one, other in combinations(boxes, 2):
        assert any(not a & b for a, b in zip(one, other, strict=True))
    rows = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
    for row in rows:
        assert sum(all(v in b for v, b in zip(row, box, strict=True)) for box in boxes) == 1


@pytest.mark.parametrize("labels", ["snapped", "tight"])
def test_no_box_can_be_smaller(labels: str) -> None:
    """Every end of a tight box has a row, and lines that no row needs are not in a snapped one."""
    frame = people(150, 7)
    wanted = policy(labels, 5)
    wanted["columns"]["age"] = {
        "role": "quasi",
        "hierarchy": {"intervals": [5, 10, 50]},
    }
    with sqlanon.load(wanted, data=frame) as anonymizer:
        found = anonymizer.search().solution
        assert found is not None
        released = anonymizer.publish(found)
        tree, codes = found.scheme.tree, anonymizer.histogram.tally.codes
        ages = found.scheme.columns[0].domain.left_ends
    assert released.k >= 5
    assert tree is not None
    region = tree.region_of(codes)
    for i in range(len(tree.regions.node)):
        inside = [ages[code] for code in codes[region == i, 0]]
        low, high = ages[tree.released.low[i, 0]], ages[tree.released.high[i, 0] - 1]
        if labels == "tight":
            assert (low, high) == (min(inside), max(inside))
        else:
            assert low // 5 == min(inside) // 5
            assert high // 5 == max(inside) // 5


def test_rows_outside_their_box_are_no_part_of_a_measurement() -> None:
    frame = people(100, 2)
    with sqlanon.load(policy("tight", 4), data=frame) as anonymizer:
        found = anonymizer.search().solution
        assert found is not None
        document = {"recoding": "multidimensional", "version": 3, **found.to_dict()}
    document = {key: document[key] for key in ("recoding", "version", "columns", "tree", "boxes")}
    later = pd.concat([frame, pd.DataFrame([{"age": 69, "town": "Oslo", "sex": "f"}])])
    with (
        sqlanon.load(policy("tight", 4), data=later) as anonymizer,
        pytest.raises(UncoveredValueError, match="1 row outside the boxes"),
    ):
        anonymizer.measure(document)


def test_more_effort_loses_less() -> None:
    """On 600 people each effort loses less than the one before; tests of cuts are above."""
    frame, found = people(600, 1), []
    for effort in ("fast", "default", "thorough"):
        with sqlanon.load(policy("tight", 3, effort=effort), data=frame) as anonymizer:
            found.append(anonymizer.search().solution)
    losses = [each.nwp for each in found if each is not None and each.nwp is not None]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] > losses[2]
    with sqlanon.load(policy("tight", 3), data=frame) as anonymizer:
        assert anonymizer.search(effort="thorough").solution == found[2]
        with pytest.raises(sqlanon.errors.ArgumentError, match="fast, default and thorough"):
            anonymizer.search(effort="slow")


@pytest.mark.parametrize("effort", ["fast", "default", "thorough"])
def test_people_with_several_rows_are_counted_once_on_each_side(effort: str) -> None:
    frame = people(300, 9).assign(person=[i // 2 for i in range(300)])
    wanted = policy("tight", 5, effort=effort) | {"subject": "person"}
    del wanted["one_row_per_person"]
    with sqlanon.load(wanted, data=frame) as anonymizer:
        found = anonymizer.search().solution
        assert found is not None
        released = anonymizer.publish(found)
    assert found.feasible
    assert released.k == found.k
    assert released.k >= 5
    assert released.certificate.to_dict()["scores"]["nwp"] == pytest.approx(found.nwp)


@pytest.mark.parametrize("labels", ["region", "snapped"])
def test_values_of_one_cell_of_the_grid_are_released_alike(labels: str) -> None:
    """Metamorphic: every age is replaced by another between the same edges of its range."""
    frame, rng = people(200, 3), random.Random(3)
    other = frame.assign(age=[age // 5 * 5 + rng.randrange(5) for age in frame["age"]])
    assert (other["age"] != frame["age"]).sum() > 100
    wanted = policy(labels, 4)
    wanted["columns"]["age"]["granularity"] = 5
    released = []
    for data in (frame, other):
        with sqlanon.load(wanted, data=data) as anonymizer:
            found = anonymizer.search().solution
            assert found is not None
            release = anonymizer.publish(found)
            released.append((release.table_hash, release.to_pandas().to_csv()))
    assert released[0] == released[1]


@pytest.mark.parametrize("labels", ["region", "snapped", "tight"])
@pytest.mark.parametrize("effort", ["default", "thorough"])
def test_the_same_boxes_on_one_and_two_threads_and_in_any_order(labels: str, effort: str) -> None:
    frame, found = people(300, 6), set()
    for workers, seed in ((1, 1), (2, 2)):
        shuffled = frame.sample(frac=1, random_state=seed)
        with sqlanon.load(
            policy(labels, 3, effort=effort), data=shuffled, workers=workers
        ) as anonymizer:
            solution = anonymizer.search().solution
            assert solution is not None
            document = solution.to_dict()
            found.add(str((document["tree"], document.get("boxes"))))
    assert len(found) == 1
