"""Guesses of a column from all others: by hand, and by looking through all classes for each row."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import sqlanon

TOWNS = ["Oslo", "Bergen", "Rome"]
AGES = list(range(20, 30))


def policy(**changes: Any) -> dict[str, Any]:
    return {
        "one_row_per_person": True,
        "columns": {
            "age": {"role": "quasi", "range": [20, 30], "granularity": 1},
            "town": {"role": "quasi", "values": TOWNS},
            "sex": {"role": "quasi", "values": ["f", "m"]},
            "ill": {"role": "sensitive"},
        },
        "privacy": {"k": 2, "l_diversity": {"l": 1}},
        **changes,
    }


def test_by_hand() -> None:
    """Two classes: ages 20 to 24 are of Oslo, two rows; the others of Bergen or Rome, three rows.

    Who knows age and sex knows the town of the first, and guesses Bergen of the others, which is
    right for two of the three. Who knows town and sex has five ages left, and guesses the first:
    20 is right, 21 is not; 25 is right, 26 and 27 are not. All classes have both sexes, so the
    guess is the first, f, right for three of five. In the first class all are ill with a, in the
    second two of three with b.
    """
    rows = [
        (20, "Oslo", "f", "a"), (21, "Oslo", "m", "a"),
        (25, "Bergen", "f", "b"), (26, "Bergen", "m", "b"), (27, "Rome", "f", "a"),
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["age", "town", "sex", "ill"])
    splits = {"1": ["age", "<", 25, 2, 3]}
    boxes = {"2": {"town": ["Oslo"]}, "3": {"town": ["Bergen", "Rome"]}}
    scheme = {"recoding": "multidimensional", "columns": {}, "tree": splits, "boxes": boxes}
    with sqlanon.load(policy(), data=frame) as anonymizer:
        found = {each.column: each for each in anonymizer.utility(scheme, queries=1).guesses}
    shares = {n: (g.base, g.best, g.mostly, g.certain) for n, g in found.items()}
    assert shares["town"] == pytest.approx((2 / 5, 4 / 5, 2 / 5, 2 / 5))
    assert shares["age"] == pytest.approx((1 / 5, 2 / 5, 0, 0))
    assert shares["sex"] == pytest.approx((3 / 5, 3 / 5, 0, 0))
    assert shares["ill"] == pytest.approx((3 / 5, 4 / 5, 2 / 5, 2 / 5))


def atoms_of(column: str, label: str) -> frozenset[object]:
    if column == "age":
        low, high = (20, 31) if label == "*" else map(int, label[1:-1].split(", "))
        return frozenset(range(low, min(high, 30)))
    every = TOWNS if column == "town" else ["f", "m"]
    return frozenset(every if label == "*" else label.strip("{}").split(", "))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("recoding", ["global", "multidimensional"])
def test_against_all_classes_of_the_released_table(seed: int, recoding: str) -> None:
    rng = random.Random(seed)
    rows = [
        (rng.choice(AGES), rng.choice(TOWNS), rng.choice("ffm"), rng.choice("aab"))
        for _ in range(70)
    ]
    frame = pd.DataFrame(rows, columns=["age", "town", "sex", "ill"])
    wanted = policy(search={"recoding": recoding}, suppression={"limit": 0.1})
    wanted["privacy"] = {"k": 3, "l_diversity": {"l": 1}}
    if recoding == "multidimensional":
        wanted["search"] |= {"labels": "snapped"}
    with sqlanon.load(wanted, data=frame) as anonymizer:
        scheme = anonymizer.search().solution
        assert scheme is not None
        guesses = anonymizer.utility(scheme, queries=1).guesses
        released = anonymizer.publish(scheme).to_pandas()
    found = {each.column: each for each in guesses}
    names = ["age", "town", "sex"]
    classes = Counter(map(tuple, released[names].to_numpy().tolist()))
    boxes = [
        (number, [atoms_of(n, cell) for n, cell in zip(names, row, strict=True)])
        for row, number in classes.items()
    ]
    order: dict[str, list[Any]] = {"age": AGES, "town": TOWNS, "sex": ["f", "m"]}
    for j, name in enumerate(names):
        usual = max(order[name], key=lambda v: frame[name].tolist().count(v))
        right = mostly = certain = 0
        for row in rows:
            weight: Counter[object] = Counter()
            for number, box in boxes:
                if all(row[i] in box[i] for i in range(3) if i != j):
                    for value in box[j]:
                        weight[value] += Fraction(number, len(box[j]))
            guess = max(order[name], key=lambda v: weight[v]) if weight else usual
            total = sum(weight.values())
            right += guess == row[j]
            mostly += bool(weight) and max(weight.values()) >= Fraction(4, 5) * total
            certain += len(weight) == 1 and guess == row[j]
        assert found[name].best == pytest.approx(right / 70)
        assert found[name].mostly == pytest.approx(mostly / 70)
        assert found[name].certain == pytest.approx(certain / 70)
    by_class: dict[object, list[str]] = {}
    for row in released[[*names, "ill"]].to_numpy().tolist():
        by_class.setdefault(tuple(row[:3]), []).append(row[3])
    most = sum(max(Counter(ill).values()) for ill in by_class.values())
    alone = sum(len(ill) for ill in by_class.values() if len(set(ill)) == 1)
    left_out = 70 - len(released)
    assert most / 70 <= found["ill"].best <= (most + left_out) / 70
    assert found["ill"].certain == pytest.approx(alone / 70)


def test_a_sample_depends_on_the_seed_and_not_on_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlanon.utility.inference.MOST_PEOPLE", 20)
    rng = random.Random(1)
    rows = [(rng.choice(AGES), rng.choice(TOWNS), rng.choice("fm"), "a") for _ in range(90)]
    frame = pd.DataFrame(rows, columns=["age", "town", "sex", "ill"])
    splits = {"1": ["age", "<", 25, 2, 3], "2": ["town", "in", ["Oslo"], 4, 5]}
    scheme = {"recoding": "multidimensional", "columns": {}, "tree": splits}
    found = []
    for data, seed in ((frame, 1), (frame.sample(frac=1, random_state=2), 1), (frame, 2)):
        with sqlanon.load(policy(), data=data) as anonymizer:
            found.append(anonymizer.utility(scheme, queries=1, seed=seed).guesses)
    assert found[0] == found[1]
    assert found[0] != found[2]
