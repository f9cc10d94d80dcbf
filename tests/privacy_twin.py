"""Privacy models by their definitions, class by class on plain lists: slow and independent.

A class is a list of (person, value) pairs, one a row. Nothing here knows the package.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

Pair = tuple[Hashable, Hashable]


def value_counts(pairs: Sequence[Pair]) -> Counter[Hashable]:
    """How many people have each value; a person counts once for each of theirs."""
    return Counter(value for _, value in set(pairs))


def shares(counts: Counter[Hashable]) -> dict[Hashable, float]:
    whole = sum(counts.values())
    return {value: number / whole for value, number in counts.items()}


@dataclass
class Twin:
    """A class held against the whole: `order` lists all values, `tree` has their ancestors.

    `tree[value]` are the names of the value's nodes from level 0 to the root.
    """

    members: Sequence[Pair]
    whole: Sequence[Pair]
    order: Sequence[Hashable] = ()
    tree: dict[Hashable, Sequence[Hashable]] | None = None

    @property
    def p(self) -> dict[Hashable, float]:
        return shares(value_counts(self.members))

    @property
    def q(self) -> dict[Hashable, float]:
        return shares(value_counts(self.whole))

    def distinct(self) -> float:
        return len({value for _, value in self.members})

    def perplexity(self) -> float:
        return math.exp(-math.fsum(p * math.log(p) for p in self.p.values()))

    def recursive(self, l: int) -> float:  # noqa: E741
        ranked = sorted(value_counts(self.members).values(), reverse=True)
        rest = sum(ranked[l - 1 :])
        return ranked[0] / rest if rest else math.inf

    def equal(self) -> float:
        p, q = self.p, self.q
        return math.fsum(abs(p.get(v, 0) - q.get(v, 0)) for v in {*p, *q}) / 2

    def ordered(self) -> float:
        """By moving earth one step at a time along the order."""
        if len(self.order) < 2:
            return 0.0
        p, q = self.p, self.q
        carried, work = 0.0, []
        for value in self.order[:-1]:
            carried += p.get(value, 0) - q.get(value, 0)
            work.append(abs(carried))
        return math.fsum(work) / (len(self.order) - 1)

    def hierarchical(self) -> float:
        """Along the edges of the tree, each of which is half a level long."""
        assert self.tree is not None
        height = len(next(iter(self.tree.values()))) - 1
        if not height:
            return 0.0
        p, q = self.p, self.q
        work = []
        for level in range(height):
            for node in {path[level] for path in self.tree.values()}:
                below = [value for value, path in self.tree.items() if path[level] == node]
                work.append(abs(sum(p.get(v, 0) - q.get(v, 0) for v in below)))
        return math.fsum(work) / (2 * height)

    def gain(self) -> float:
        p, q = self.p, self.q
        return max((p[v] - q[v]) / q[v] for v in p)

    def ratio(self) -> float:
        p, q = self.p, self.q
        if set(p) != set(q):
            return math.inf
        return max(abs(math.log(p[v] / q[v])) for v in q)

    def share(self) -> float:
        people = len({person for person, _ in self.members})
        return max(value_counts(self.members).values()) / people
