"""Privacy models by their definitions, person by person: slow, exact and independent.

Shares are fractions; only logarithms are floats. Nothing but Python itself is imported here, which
a test holds: the oracle of the attacks counts by these definitions too.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

NEAR = Fraction(1, 10**9)
"""How far a fractional number may be from its bound and still count as equal to it."""


@dataclass(frozen=True)
class Shares:
    """How many people of a class have each value; a person counts once for each of their values.

    The distances and ratios compare a class with the whole, `q`.
    """

    counts: Mapping[Hashable, int]
    people: int

    @classmethod
    def of(cls, pairs: Iterable[tuple[Hashable, Hashable]]) -> Shares:
        """From (person, value) pairs, one per row."""
        distinct = {*pairs}
        return cls(Counter(value for _, value in distinct), len({who for who, _ in distinct}))

    def __getitem__(self, value: Hashable) -> Fraction:
        return Fraction(self.counts.get(value, 0), sum(self.counts.values()))

    def distinct(self) -> int:
        return len(self.counts)

    def perplexity(self) -> float:
        """The exponential of the entropy."""
        shares = [float(self[v]) for v in self.counts]
        return math.exp(-math.fsum(p * math.log(p) for p in shares))

    def recursive(self, top: int) -> Fraction | float:
        """The least c for which (c, top)-diversity almost holds."""
        r = sorted(self.counts.values(), reverse=True)
        rest = sum(r[top - 1 :])
        return Fraction(r[0], rest) if rest else math.inf

    def share(self) -> Fraction:
        """The largest share of people who have one value."""
        return Fraction(max(self.counts.values()), self.people)

    def equal(self, q: Shares) -> Fraction:
        values = {*self.counts, *q.counts}
        return sum((abs(self[v] - q[v]) for v in values), Fraction(0)) / 2

    def ordered(self, q: Shares, values: Sequence[Hashable]) -> Fraction:
        """Earth is moved one step at a time along the order of all values."""
        if len(values) == 1:
            return Fraction(0)
        p_total, q_total = sum(self.counts.values()), sum(q.counts.values())
        moved = carried = 0  # in units of 1 / (p_total * q_total), which is much faster
        for v in values:
            carried += self.counts.get(v, 0) * q_total - q.counts.get(v, 0) * p_total
            moved += abs(carried)
        return Fraction(moved, p_total * q_total * (len(values) - 1))

    def hierarchical(self, q: Shares, lines: Sequence[Sequence[Hashable]]) -> Fraction:
        """Li, Li and Venkatasubramanian (2007), section 4.3.

        A line is a leaf and the labels above it, the root last; values without a line, such as
        NULL, are leaves under the root.
        """
        height = len(lines[0]) - 1
        values = {*self.counts, *q.counts, *(line[0] for line in lines)}
        extra: dict[Hashable, Fraction] = {(0, v): self[v] - q[v] for v in values}
        below: list[dict[Hashable, set[Hashable]]] = [defaultdict(set) for _ in range(height + 1)]
        for line in lines:
            for level in range(1, height + 1):
                below[level][line[level]].add((level - 1, line[level - 1]))
        for value in values - {line[0] for line in lines}:
            below[height][lines[0][-1]].add((0, value))
        total = Fraction(0)
        for level in range(1, height + 1):
            for node, children in below[level].items():
                surplus = sum((extra[c] for c in children if extra[c] > 0), Fraction(0))
                shortage = -sum((extra[c] for c in children if extra[c] < 0), Fraction(0))
                total += Fraction(level, height) * min(surplus, shortage)
                extra[level, node] = surplus - shortage
        return total

    def gain(self, q: Shares) -> Fraction | float:
        """The largest gain of a value over its share in the whole: β."""
        return max((self[v] - q[v]) / q[v] if q[v] else math.inf for v in self.counts)

    def ratio(self, q: Shares) -> float:
        """The largest logarithm of a ratio of shares: δ."""
        if {*self.counts} != {*q.counts}:
            return math.inf
        return max(abs(math.log(self[v] / q[v])) for v in q.counts)


def is_violated(reached: Any, sign: str, bound: float) -> bool:
    """Whether `reached sign bound` is false, where a billionth apart is still equal."""
    if reached == math.inf:
        return True
    more = Fraction(reached) - Fraction(bound)
    if abs(more) <= NEAR:
        more = Fraction(0)
    return not {">=": more >= 0, "<=": more <= 0, "<": more < 0}[sign]
