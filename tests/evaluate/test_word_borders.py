"""Keys at the borders of words, and domains far wider than a word, against numpy."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import count
from sqlanon.domain.column import Family
from sqlanon.domain.hierarchy_builders import masked
from sqlanon.domain.histogram import Histogram
from sqlanon.domain.space import Batch
from sqlanon.engines.registry import open_source
from sqlanon.evaluate import layout
from sqlanon.evaluate import query_plan as plan
from sqlanon.evaluate.evaluator import Evaluator
from sqlanon.metrics.suppression import Suppression

WIDE = 5_000
BUDGET = 30


def brute_force(atoms: np.ndarray, sizes: Sequence[int], bits: np.ndarray, budget: int) -> list:
    """k, largest class, classes, suppressed rows, DCN and GLM of one scheme."""
    groups, losses = [], []
    start = 0
    for j, size in enumerate(sizes):
        group = np.concatenate([[0], np.cumsum(bits[start : start + size - 1])])
        per_group = np.bincount(group)
        groups.append(group[atoms[:, j]])
        losses.append((per_group[groups[-1]] - 1) / max(size - 1, 1))
        start += size - 1
    _, which, ec = np.unique(
        np.column_stack(groups), axis=0, return_inverse=True, return_counts=True
    )
    out = 0
    for size in np.unique(ec):
        if ec[ec <= size].sum() <= budget:
            out = size
    kept = ec[ec > out]
    gone = ec[which.ravel()] <= out
    glm = np.where(gone[:, None], 1.0, np.column_stack(losses)).sum()
    dcn = (kept**2).sum() + len(atoms) * gone.sum()
    return [kept.min(), kept.max(), len(kept), gone.sum(), dcn, pytest.approx(glm)]


def table(rng: np.random.Generator, sizes: Sequence[int], rows: int) -> np.ndarray:
    """Atoms of rows, few of them frequent, so that classes differ in size."""
    share = rng.random((rows, len(sizes))) ** 3
    atoms = (share * np.array(sizes)).astype(np.int64)
    atoms[: rows // 2] = atoms[rng.integers(0, 6, rows // 2)]
    return atoms


def counted(atoms: np.ndarray, sizes: Sequence[int]) -> Histogram:
    data = pa.table({f"c{j}": atoms[:, j] for j in range(len(sizes))})
    quasis = [Quasi(f"c{j}", values=tuple(range(size))) for j, size in enumerate(sizes)]
    return count(open_source(data=data), quasis)


def assert_equal(
    histogram: Histogram, atoms: np.ndarray, bits: np.ndarray, batch: Batch | None = None
) -> int:
    """Compares all schemes, without and with suppression; returns the queries of the first."""
    sizes = [c.size for c in histogram.space.columns]
    queries = []
    for budget in (0, BUDGET):
        with Evaluator(histogram, suppression=Suppression(budget=budget)) as evaluator:
            found = evaluator.score(batch or histogram.space.batch_of_bits(bits))
            queries.append(evaluator.effort.queries)
        for i, scheme in enumerate(bits):
            row = found.row(i)
            names = ("k", "k_max", "classes", "suppressed", "dcn", "glm")
            assert [row[name] for name in names] == brute_force(atoms, sizes, scheme, budget)
    return queries[0]


BORDERS = sorted(
    {border + step for border in (53, 64, 116, 128, 179, 242) for step in (-1, 0, 1)} | {1, 63, 600}
)


@pytest.mark.parametrize("cheap_queries", [False, True])
@pytest.mark.parametrize("positions", BORDERS)
def test_borders_of_words(
    positions: int, cheap_queries: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if cheap_queries:
        monkeypatch.setattr(plan, "QUERY", 1)
    rng = np.random.default_rng(positions)
    parts = [positions // 3, positions // 3, positions - 2 * (positions // 3)]
    sizes = [p + 1 for p in parts]
    atoms = table(rng, sizes, 200)
    density = rng.choice([0.05, 0.5, 1.0], (12, 1))
    bits = rng.random((12, positions)) < density
    histogram = counted(atoms, sizes)
    chosen = layout.layout_for(histogram.space.batch_of_bits(bits))
    assert chosen is not None
    assert chosen.bits == positions
    # 53 bits beside the candidate's number, then 63 a word
    assert chosen.words == 1 + sum(positions > border for border in range(53, positions + 1, 63))
    assert_equal(histogram, atoms, bits)


def test_every_candidate_number_is_used() -> None:
    """More schemes than numbers: the batch is divided, and the highest numbers do no harm."""
    rng = np.random.default_rng(1)
    sizes = [30, 26]  # 54 positions: two words
    atoms = table(rng, sizes, 60)
    bits = rng.random((layout.MAX_CANDIDATES + 3, 54)) < 0.3
    histogram = counted(atoms, sizes)
    assert assert_equal(histogram, atoms, bits) >= 2


def test_more_bits_than_a_batch_may_have() -> None:
    rng = np.random.default_rng(2)
    sizes = [201] * 8  # 1,600 positions, narrow columns
    atoms = table(rng, sizes, 120)
    bits = rng.random((3, 1600)) < np.array([[0.02], [0.5], [1.0]])
    assert_equal(counted(atoms, sizes), atoms, bits)


def zips(rng: np.random.Generator) -> np.ndarray:
    return table(rng, [WIDE, 4], 900)


def wide_bits(rng: np.random.Generator, schemes: int, cuts: int) -> np.ndarray:
    bits = np.zeros((schemes, WIDE + 2), dtype=bool)
    for row in bits:
        row[rng.choice(WIDE - 1, cuts, replace=False)] = True
        row[WIDE - 1 :] = rng.random(3) < 0.5
    return bits


@pytest.mark.parametrize(
    ("schemes", "cuts", "least_queries"),
    [
        (20, 6, 1),  # few cuts: all schemes share one layout
        (1, 2500, 1),  # one arbitrary partition: its groups as one number
        (1, WIDE - 1, 1),
        (6, 700, 2),  # several: together they need too many bits, so the batch is divided
        (3, WIDE - 1, 1),
    ],
)
@pytest.mark.parametrize("cheap_queries", [False, True])
def test_wide_contiguous(
    schemes: int,
    cuts: int,
    least_queries: int,
    cheap_queries: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if cheap_queries:
        monkeypatch.setattr(plan, "QUERY", 1)
    rng = np.random.default_rng(cuts)
    atoms = zips(rng)
    bits = wide_bits(rng, schemes, cuts)
    assert assert_equal(counted(atoms, [WIDE, 4]), atoms, bits) >= least_queries


def test_wide_levels() -> None:
    """All levels of a masked code of five digits: a path of 13 bits instead of 5,000."""
    rng = np.random.default_rng(7)
    atoms = zips(rng)
    codes = [f"{7 * n:05}" for n in range(WIDE)]
    data = pa.table({"zip": [codes[a] for a in atoms[:, 0]], "c1": atoms[:, 1]})
    zip_ = Quasi("zip", Family.FULL_DOMAIN, hierarchy=masked(codes))
    histogram = count(open_source(data=data), [zip_, Quasi("c1", values=(0, 1, 2, 3))])
    assert histogram.space.heights == (5, 1)
    nodes = [(level, other) for level in range(6) for other in (0, 1)]
    prefixes = [[code[: 5 - level] for code in codes] for level in range(6)]
    bits = np.array(
        [
            [*(a != b for a, b in pairwise(p)), *[other == 0] * 3]
            for p in prefixes
            for other in (0, 1)
        ]
    )
    batch = histogram.space.batch_of_levels(np.array(nodes))
    assert_equal(histogram, atoms, bits, batch)
    assert_equal(histogram, atoms, bits, histogram.space.batch_of_bits(bits))


def test_levels_and_other_partitions_of_a_wide_column_in_turn() -> None:
    """One evaluator, layouts that come and go: more of them than are kept."""
    rng = np.random.default_rng(8)
    atoms = zips(rng)
    histogram = counted(atoms, [WIDE, 4])
    parts = [wide_bits(rng, 2, cuts) for cuts in (3, 200, 40, 1000, 0, 300, 3)]
    with Evaluator(histogram, suppression=Suppression(budget=BUDGET), workers=2) as evaluator:
        for bits in parts:
            found = evaluator.score(histogram.space.batch_of_bits(bits))
            for i, scheme in enumerate(bits):
                wanted = brute_force(atoms, [WIDE, 4], scheme, BUDGET)
                row = found.row(i)
                names = ("k", "k_max", "classes", "suppressed", "dcn", "glm")
                assert [row[name] for name in names] == wanted
