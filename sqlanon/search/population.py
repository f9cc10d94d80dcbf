"""GENITOR's population: individuals sorted best first, entered one at a time.

D. Whitley, The GENITOR algorithm and selection pressure: why rank-based allocation of
reproductive trials is best, ICGA 1989.
"""

from __future__ import annotations

import math
from bisect import bisect_right

import numpy as np

from sqlanon.scheme import Bits

Fitness = tuple[int | float, int | float, int | float]
"""What is missing to k or a model and the rows in classes that violate it, both 0 when feasible,
then the loss: the smaller the better."""


class Population:
    """At most `size` bit strings, rank 0 the best; among equals the older ranks first."""

    def __init__(self, size: int, positions: int, *, duplicates: bool = False) -> None:
        self.size = size
        self.duplicates = duplicates
        self.fitness: list[Fitness] = []
        self._rows: list[int] = []  # where the individual of each rank is stored
        self._stored = np.zeros((size, positions), dtype=bool)
        self._names: set[bytes] = set()  # of all individuals, unless duplicates are allowed

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, rank: int) -> Bits:
        bits: Bits = self._stored[self._rows[rank]]
        return bits

    def __contains__(self, name: bytes) -> bool:
        """Whether an individual with these bytes is there; only without duplicates."""
        return name in self._names

    @property
    def bits(self) -> Bits:
        """All individuals by rank."""
        return self._stored[self._rows]

    def offer(self, bits: Bits, fitness: Fitness) -> bool:
        """Lets an individual in, and says whether it came in.

        A full population takes only what is better than its worst, which makes room. What is
        there already is turned away, unless duplicates are allowed.
        """
        full = len(self) == self.size
        if full and not fitness < self.fitness[-1]:
            return False
        name = bits.tobytes()
        if not self.duplicates and name in self._names:
            return False
        row = len(self)
        if full:
            row = self._rows.pop()
            self.fitness.pop()
            self._names.discard(self._stored[row].tobytes())
        rank = bisect_right(self.fitness, fitness)
        self.fitness.insert(rank, fitness)
        self._rows.insert(rank, row)
        self._stored[row] = bits
        self._names.add(name)
        return True


def biased_rank(size: int, bias: float, rng: np.random.Generator) -> int:
    """A rank by Whitley's linear selection: the best is `bias` times as likely as the median.

    With u uniform in [0, 1) the rank is the floor of

        size · (bias − √(bias² − 4 (bias − 1) u)) / (2 (bias − 1)),

    and uniform in the limit of bias 1.
    """
    u = rng.random()
    if bias == 1:
        return int(size * u)
    root = math.sqrt(bias * bias - 4 * (bias - 1) * u)
    return min(int(size * (bias - root) / (2 * (bias - 1))), size - 1)


def parents(size: int, bias: float, rng: np.random.Generator) -> tuple[int, int]:
    """The ranks of two different individuals, each drawn by `biased_rank`."""
    first = second = biased_rank(size, bias, rng)
    while second == first:
        second = biased_rank(size, bias, rng)
    return first, second
