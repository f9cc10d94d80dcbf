"""Privacy models worked out person by person in plain Python, without the package's code.

Shares are fractions. The hierarchical distance is the sum over inner nodes as the paper on
t-closeness has it, from the leaves up.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

Shares = Mapping[Hashable, Fraction]
INFINITE = math.inf


def counts(cells: Sequence[Hashable], people: Sequence[Hashable]) -> Counter[Hashable]:
    """People by value, each once for every value; None among people is nobody."""
    pairs = set(zip(cells, people, strict=True))
    return Counter(cell for cell, person in pairs if person is not None)


def shares(counted: Mapping[Hashable, int]) -> dict[Hashable, Fraction]:
    whole = sum(counted.values())
    return {value: Fraction(count, whole) for value, count in counted.items()}


def distinct(p: Shares) -> float:
    return len(p)


def perplexity(p: Shares) -> float:
    return math.exp(-sum(float(share) * math.log(share) for share in p.values()))


def recursive(counted: Mapping[Hashable, int], least: int) -> Fraction | float:
    ranked = sorted(counted.values(), reverse=True)
    return Fraction(ranked[0], sum(ranked[least - 1 :])) if len(ranked) >= least else INFINITE


def equal(p: Shares, q: Shares) -> Fraction:
    return sum((abs(p.get(v, Fraction(0)) - q[v]) for v in q), Fraction(0)) / 2


def ordered(p: Shares, q: Shares) -> Fraction:
    """None is the last value."""
    values = sorted(q, key=lambda value: (value is None, 0 if value is None else value))
    if len(values) == 1:
        return Fraction(0)
    moved = cumulated = Fraction(0)
    for value in values:
        cumulated += p.get(value, Fraction(0)) - q[value]
        moved += abs(cumulated)
    return moved / (len(values) - 1)


def hierarchical(p: Shares, q: Shares, paths: Mapping[Hashable, Sequence[str]]) -> Fraction:
    """`paths` are the labels above each leaf, the root last; other values are under the root."""
    height = max(len(path) for path in paths.values())
    root = (height, "root")
    parent: dict[Hashable, Hashable] = {}
    extra: dict[Hashable, Fraction] = {}
    for value in q:
        leaf = (0, value)
        extra[leaf] = p.get(value, Fraction(0)) - q[value]
        nodes = [leaf, *((n, label) for n, label in enumerate(paths.get(value, ())[:-1], 1)), root]
        parent.update(pairwise(nodes))
    cost = Fraction(0)
    for level in range(1, height + 1):
        for node in {n for n in parent.values() if n[0] == level}:  # type: ignore[index]
            below = [extra[child] for child, above in parent.items() if above == node]
            much = sum((e for e in below if e > 0), Fraction(0))
            little = sum((-e for e in below if e < 0), Fraction(0))
            cost += Fraction(level, height) * min(much, little)
            extra[node] = much - little
    return cost


def gain(p: Shares, q: Shares) -> Fraction:
    return max((p[v] - q[v]) / q[v] for v in p)


def ratio(p: Shares, q: Shares) -> float:
    if set(p) < set(q):
        return INFINITE
    return max(abs(math.log(p[v] / q[v])) for v in q)


def share(counted: Mapping[Hashable, int], people: int) -> Fraction:
    return Fraction(max(counted.values()), people)


def is_violated(reached: Any, sign: str, bound: float) -> bool:
    """Whether `reached sign bound` is false, where a billionth apart is still equal."""
    if reached == INFINITE:
        return True
    more = Fraction(reached) - Fraction(bound)
    if abs(more) <= Fraction(1, 10**9):
        more = Fraction(0)
    return not {">=": more >= 0, "<=": more <= 0, "<": more < 0}[sign]
