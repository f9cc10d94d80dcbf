"""The further measures of loss and bias by their definitions, row by row: slow and independent.

Nothing here knows the package. What is released is given as the classes left, each a list of
rows with the number of people in it; every other row is suppressed.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

Group = frozenset[Hashable]


@dataclass
class TwinColumn:
    """`atoms` has the atom of every row; `groups` is the partition that is released, `levels`
    those of the hierarchy, atoms first, everything in one group last."""

    atoms: Sequence[Hashable]
    groups: Sequence[Group]
    levels: Sequence[Sequence[Group]]

    @property
    def domain(self) -> Group:
        return frozenset().union(*self.groups)

    def group(self, row: int) -> Group:
        (group,) = [group for group in self.groups if self.atoms[row] in group]
        return group

    def height(self, group: Group) -> int:
        return min(
            number
            for number, level in enumerate(self.levels)
            if any(group <= node for node in level)
        )

    def raised(self, row: int) -> float:
        whole = self.height(self.domain)
        return self.height(self.group(row)) / (len(self.levels) - 1) if whole else 0.0

    def entropy(self, group: Group) -> float:
        counts = Counter(atom for atom in self.atoms if atom in group)
        total = sum(counts.values())
        return -sum(n / total * math.log2(n / total) for n in counts.values())

    def hidden(self, row: int) -> float:
        whole = self.entropy(self.domain)
        return self.entropy(self.group(row)) / whole if whole > 1e-12 else 0.0


def measures(
    columns: Sequence[TwinColumn], released: Sequence[tuple[Sequence[int], int]]
) -> dict[str, float]:
    """All seven, scaled; `released` has the rows and the people of every class that is left."""
    n = len(columns[0].atoms)
    level = {row: people for rows, people in released for row in rows}
    cells = [(column, row) for column in columns for row in range(n)]
    tuples = math.prod(len(column.domain) for column in columns)
    possible = sum(
        math.prod(len(c.group(row)) for c in columns) if row in level else tuples
        for row in range(n)
    )
    classes = len(released) + (len(level) < n)
    return {
        "class_size": (n / classes - 1) / (n - 1) if n > 1 else 0.0,
        "precision": statistics.fmean(c.raised(r) if r in level else 1.0 for c, r in cells),
        "entropy": statistics.fmean(c.hidden(r) if r in level else 1.0 for c, r in cells),
        "ambiguity": math.log(possible / n) / math.log(tuples) if tuples > 1 else 0.0,
        **bias(list(level.values())),
    }


def bias(levels: Sequence[int]) -> dict[str, float]:
    """Of the privacy levels of all released rows."""
    if not levels:
        return {"gini": 0.0, "variation": 0.0, "minimum": 0.0}
    mean = statistics.fmean(levels)
    cv = statistics.pstdev(levels) / mean
    differences = sum(abs(a - b) for a in levels for b in levels)
    return {
        "gini": differences / (2 * len(levels) ** 2 * mean),
        "variation": cv / (1 + cv),
        "minimum": 1 - levels.count(min(levels)) / len(levels),
    }
