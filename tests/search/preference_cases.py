"""Problems for the searches that aim at a preference: the paper's table, and random ones."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pyarrow as pa
from random_cases import random_levels
from scheme_columns import allows

from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import count
from sqlanon.domain.atoms import ValueDomain
from sqlanon.domain.column import Bits, Column, Family, Partition
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.hierarchy_builders import masked
from sqlanon.domain.histogram import Histogram
from sqlanon.domain.space import Batch, Space
from sqlanon.engines.protocol import Kind
from sqlanon.engines.registry import open_source
from sqlanon.evaluate.evaluator import Evaluator
from sqlanon.metrics.preference import Preference
from sqlanon.metrics.suppression import Suppression
from sqlanon.search.problem import Problem

# Table 1 of Dewri et al. (TKDE), left half.
EMPLOYEES = pa.table(
    {
        "emp": [
            *("81521", "81522", "81523", "82635", "82636", "82647", "82648"),
            *("81634", "81631", "81632", "81639", "81630"),
        ],
        "sal": [*["C1"] * 3, *["C2"] * 4, *["C3"] * 5],
    }
)
# Table 2: emp without its last 1 to 4 digits, sal as it is or with C1 and C2 merged.
NODES = {
    f"G_{i}": (emp, sal) for i, (sal, emp) in enumerate(itertools.product((0, 1), range(1, 5)), 1)
}
POINTS = {  # q̄_1 to q̄_5, which the paper writes (NECD, NWP)
    1: Preference(bias=0.3, loss=0.08),
    2: Preference(bias=0.2, loss=0.15),
    3: Preference(bias=0.15, loss=0.05),
    4: Preference(bias=0.25, loss=0.05),
    5: Preference(bias=0.1, loss=0.5),
}


def employees() -> Histogram:
    classes = Hierarchy.from_rows([["C1", "C12", "*"], ["C2", "C12", "*"], ["C3", "C3", "*"]], "")
    return count(
        open_source(data=EMPLOYEES),
        [
            Quasi("emp", Family.FULL_DOMAIN, 0.3, hierarchy=lambda values, kind: masked(values)),
            Quasi("sal", Family.FULL_DOMAIN, 0.7, hierarchy=classes),
        ],
    )


def table_2(space: Space) -> Batch:
    return space.batch_of_levels(np.array(list(NODES.values())))


def names(solutions: Batch) -> list[str]:
    """Which of G_1 … G_8 the solutions are."""
    known = dict(zip(table_2(solutions.space).keys, NODES, strict=True))
    return [known[key] for key in solutions.keys]


@contextmanager
def problem_of(
    histogram: Histogram, k: int, preference: Preference, workers: int | None = None
) -> Iterator[Problem]:
    with Evaluator(histogram, workers=workers) as evaluator:
        yield Problem(
            histogram.space, evaluator.score, evaluator.column_loss, histogram.rows, k, preference
        )


@contextmanager
def ruled_problem(
    seed: int, limit: float | None, preference: Preference = POINTS[1], k: int = 4
) -> Iterator[Problem]:
    """A random table under the suppression rule of a policy; None: without a rule.

    Every second table has level limits.
    """
    histogram = random_histogram(seed, limits=seed % 2 == 1)
    rule = None if limit is None else Suppression.given_k(k, limit, histogram.rows)
    with Evaluator(histogram, suppression=rule, workers=1) as evaluator:
        yield Problem(
            histogram.space, evaluator.score, evaluator.column_loss, histogram.rows, k, preference,
            budget=evaluator.suppression.budget,
        )  # fmt: skip


def random_hierarchy(rng: random.Random, width: int) -> Hierarchy:
    levels = random_levels(rng, width)
    return Hierarchy.from_rows(
        [
            [str(i), *(f"{level} {groups[i]}" for level, groups in enumerate(levels[1:], 1))]
            for i in range(width)
        ],
        "of the test",
    )


def random_column(rng: random.Random, name: str, most: int = 7) -> Column:
    has_null = rng.random() < 0.5
    width = rng.randint(0 if has_null else 1, most)
    domain = ValueDomain(name, Kind.INTEGER, tuple(range(width)), has_null)
    hierarchy = random_hierarchy(rng, width) if width and rng.random() < 0.8 else None
    column = Column(domain, hierarchy, rng.choice(list(Family)))
    if rng.random() < 0.5:
        return column
    low, high = random_limits(rng, column.height)
    return replace(column, min_level=low, max_level=high)


def random_limits(rng: random.Random, height: int) -> tuple[int, int | None]:
    low = rng.choice([0, rng.randint(0, height)])
    return low, rng.choice([None, rng.randint(low, height)])


def random_histogram(seed: int, *, limits: bool = False) -> Histogram:
    """A small table with at most a few thousand schemes, of all three families."""
    rng = random.Random(seed)
    rows = rng.randint(30, 80)
    quasis, columns = [], {}
    for name, family in zip("abc", rng.sample(list(Family), 3), strict=True):
        width = rng.randint(3, 6)
        nulls = rng.random() < 0.3
        cells = [min(int(rng.expovariate(0.5)), width - 1) for _ in range(rows)]
        columns[name] = pa.array(
            [None if nulls and rng.random() < 0.2 else c for c in cells], pa.int64()
        )
        hierarchy = random_hierarchy(rng, width)
        weight = rng.choice([1.0, 2.0, 0.5])
        low, high = random_limits(rng, hierarchy.height) if limits else (0, None)
        quasis.append(
            Quasi(name, family, weight, hierarchy=hierarchy, min_level=low, max_level=high)
        )
    return count(open_source(data=pa.table(columns)), quasis)


def allowed(column: Column) -> Bits:
    """Every partition that a column allows, by trying all bit strings."""
    strings = itertools.product([False, True], repeat=column.positions)
    rows = [bits for bits in strings if allows(column, Partition.from_bits(bits))]
    return np.array(rows, dtype=bool).reshape(len(rows), column.positions)


def every_scheme(space: Space) -> Batch:
    combinations = itertools.product(*(allowed(column) for column in space.columns))
    return space.batch_of_bits(np.stack([np.concatenate(parts) for parts in combinations]))
