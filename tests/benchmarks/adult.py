"""What the benchmarks share: Adult as the papers use it, the yardsticks, and a search's trace."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from sqlanon import datasets, render, resources
from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import count
from sqlanon.domain.column import Family, Partition
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.hierarchy_builders import intervals
from sqlanon.domain.hierarchy_files import read
from sqlanon.domain.histogram import Histogram
from sqlanon.domain.values import Value
from sqlanon.engines.protocol import Kind
from sqlanon.engines.registry import open_source
from sqlanon.evaluate.evaluator import Evaluator
from sqlanon.metrics.preference import Preference

NAMES = (
    "age", "workclass", "education", "marital-status", "occupation",
    "race", "sex", "native-country", "salary-class",
)  # fmt: skip
LATTICE = tuple(name for name in NAMES if name != "occupation")

Bits = npt.NDArray[np.bool_]


def nine_columns(weights: Sequence[float] = (1.0,) * len(NAMES)) -> Histogram:
    """The bit-string space of the NSGA-II papers: nine columns, 5-year ages, 105 bits.

    Lattice searches may use it too: ages have levels of 5, 10, 20, 40 and 80 years.
    """
    named = dict(zip(NAMES, weights, strict=True))
    age = Quasi("age", weight=named["age"], range=(0, 100), granularity=5, hierarchy=_age_levels)
    others = [Quasi(n, weight=named[n], hierarchy=hierarchy_of(n)) for n in NAMES[1:]]
    return _count([age, *others])


def with_sensitive(name: str) -> Histogram:
    """The same with one of the columns as a sensitive one instead."""
    age = Quasi("age", range=(0, 100), granularity=5, hierarchy=_age_levels)
    others = [Quasi(n, hierarchy=hierarchy_of(n)) for n in NAMES[1:] if n != name]
    source = open_source(data=pq.read_table(datasets.adult_path()))
    return count(source, [age, *others], facets=[name])


def lattice() -> Histogram:
    """The lattice of the POkA paper: eight columns, 17,920 nodes."""
    return _count([Quasi(n, hierarchy=hierarchy_of(n), family=Family.FULL_DOMAIN) for n in LATTICE])


def lattice_nodes(histogram: Histogram) -> npt.NDArray[np.int64]:
    return np.array(list(itertools.product(*(range(h + 1) for h in histogram.space.heights))))


def hierarchy_of(name: str) -> Hierarchy:
    return read(resources.path("hierarchies", "adult", f"{name}.csv"))


def _age_levels(values: Sequence[Value], kind: Kind) -> Hierarchy:
    return intervals(values, kind, [10, 20, 40, 80])


def _count(quasis: list[Quasi]) -> Histogram:
    return count(open_source(file=datasets.adult_path()), quasis)


@dataclass
class NumpyYardstick:
    """One scheme at a time on one core: gather, pack into one integer, np.unique, bincount."""

    histogram: Histogram

    def __call__(self, bits: Bits) -> tuple[int, int, int]:
        codes, weights = self.histogram.tally.codes, self.histogram.tally.rows
        key = np.zeros(len(codes), dtype=np.int64)
        for j in range(codes.shape[1]):
            cuts = bits[self.histogram.space.segment(j)]
            groups = np.concatenate([[0], np.cumsum(cuts)])
            key = key * (groups[-1] + 1) + groups[codes[:, j]]
        _, inverse = np.unique(key, return_inverse=True)
        sizes = np.bincount(inverse, weights=weights).astype(np.int64)
        return int(sizes.min()), int(sizes.max()), len(sizes)


class CaseYardstick:
    """One query a scheme: a CASE on the values of every column, as a release is written."""

    def __init__(self, histogram: Histogram) -> None:
        self.histogram = histogram
        self.connection = duckdb.connect()
        columns = histogram.space.columns
        frame = {
            f"c{j}": pa.array(column.domain.left_ends).take(pa.array(histogram.tally.codes[:, j]))
            for j, column in enumerate(columns)
        }
        self.connection.register("incoming", pa.table(frame | {"n": histogram.tally.rows}))
        self.connection.execute("CREATE TABLE counted AS FROM incoming")

    def __call__(self, bits: Bits) -> tuple[int, int, int]:
        keys = []
        for j, column in enumerate(self.histogram.space.columns):
            values = [render.literal(v, "duckdb") for v in column.domain.left_ends]
            runs = Partition.from_bits(bits[self.histogram.space.segment(j)]).runs
            if column.domain.is_sorted:
                whens = [f"WHEN c{j} BETWEEN {values[a]} AND {values[b - 1]}" for a, b in runs]
            else:
                whens = [f"WHEN c{j} IN ({', '.join(values[a:b])})" for a, b in runs]
            groups = " ".join(f"{when} THEN {i}" for i, when in enumerate(whens))
            keys.append(f"CASE {groups} END")
        query = (
            "SELECT MIN(n), MAX(n), COUNT(*) "
            f"FROM (SELECT SUM(n) AS n FROM counted GROUP BY {', '.join(keys)})"
        )
        found = self.connection.execute(query).fetchone()
        assert found is not None
        return int(found[0]), int(found[1]), int(found[2])


def random_schemes(histogram: Histogram, number: int, seed: int = 1) -> Bits:
    """Fine schemes: two of five positions cut."""
    rng = np.random.default_rng(seed)
    return rng.random((number, histogram.space.positions)) < 0.4


def converging_schemes(histogram: Histogram, generations: int = 60, seed: int = 1) -> list[Bits]:
    """The distinct schemes that an evolving population asks for, generation by generation.

    A plain (μ+λ) strategy of 100 with one-point crossover and rare mutation, which minimizes
    the achievement function among 5-anonymous schemes: enough to converge as a search does.
    """
    rng = np.random.default_rng(seed)
    preference = Preference(loss=0.2, bias=1.0)
    positions = histogram.space.positions
    seen: set[bytes] = set()
    trace: list[Bits] = []
    with Evaluator(histogram) as evaluator:

        def fitness(bits: Bits) -> npt.NDArray[np.float64]:
            fresh = [b for b in bits if b.tobytes() not in seen]
            fresh = list({b.tobytes(): b for b in fresh}.values())
            seen.update(b.tobytes() for b in fresh)
            if fresh:
                trace.append(np.array(fresh))
            scores = evaluator.score(histogram.space.batch_of_bits(bits))
            ach = preference.ach(scores.nwp, scores.necd)
            return np.where(scores.k >= 5, ach, 10.0 - scores.k)

        population = rng.random((100, positions)) < rng.random((100, 1))
        values = fitness(population)
        for _ in range(generations):
            pairs = rng.integers(0, 100, (2, 200))
            winners = population[np.where(values[pairs[0]] <= values[pairs[1]], *pairs)]
            points = rng.integers(1, positions, 100)
            first = np.arange(positions) < points[:, None]
            children = np.where(first, winners[:100], winners[100:])
            children ^= rng.random(children.shape) < 0.01
            everyone = np.concatenate([population, children])
            everyone_values = np.concatenate([values, fitness(children)])
            best = np.argsort(everyone_values, kind="stable")[:100]
            population, values = everyone[best], everyone_values[best]
    return trace


def median_seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """The median of several runs: the machine may be noisy."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return float(np.median(times))
