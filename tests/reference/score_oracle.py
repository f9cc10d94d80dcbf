"""Scores by their definitions, row by row on the raw table: slow, obvious, independent.

Nothing here knows the package. A column is the list of its cells, the groups its atoms are
put into, and a function that says which atom a cell is. A class is the list of rows whose
cells fall into the same groups everywhere; its size counts people (distinct subjects) when
there is a subject column, rows otherwise.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction

Group = frozenset[Hashable]


def plain_atom(cell: object) -> Hashable:
    """A cell as something that equals itself: NaN is one value, and so are 0.0 and -0.0."""
    if isinstance(cell, float):
        return "NaN" if math.isnan(cell) else cell + 0.0
    return cell


@dataclass
class OracleColumn:
    """`groups` are disjoint sets of atoms that together are the whole domain.

    `levels` are those of the hierarchy, atoms first, everything in one group last.
    """

    cells: Sequence[object]
    groups: Sequence[Group]
    weight: float = 1.0
    atom_of: Callable[[object], Hashable] = plain_atom
    levels: Sequence[Sequence[Group]] = ()

    @property
    def domain(self) -> Group:
        return frozenset().union(*self.groups)

    @property
    def domain_size(self) -> int:
        return sum(len(group) for group in self.groups)

    def group_of(self, row: int) -> Group:
        atom = self.atom_of(self.cells[row])
        (group,) = [group for group in self.groups if atom in group]
        return group

    def penalty(self, row: int) -> Fraction:
        """(|g| − 1) / (|Σ| − 1), without the weight."""
        if self.domain_size == 1:
            return Fraction(0)
        return Fraction(len(self.group_of(row)) - 1, self.domain_size - 1)

    def height(self, group: Group) -> int:
        return min(
            number
            for number, level in enumerate(self.levels)
            if any(group <= node for node in level)
        )

    def raised(self, row: int) -> float:
        whole = self.height(self.domain)
        return self.height(self.group_of(row)) / (len(self.levels) - 1) if whole else 0.0

    def entropy(self, group: Group) -> float:
        atoms = map(self.atom_of, self.cells)
        counts = Counter(atom for atom in atoms if atom in group)
        total = sum(counts.values())
        return -sum(n / total * math.log2(n / total) for n in counts.values())

    def hidden(self, row: int) -> float:
        whole = self.entropy(self.domain)
        return self.entropy(self.group_of(row)) / whole if whole > 1e-12 else 0.0


@dataclass
class Rule:
    """Suppression. With k: sizes below k, at most `limit` rows; without: any size."""

    limit: int = 0
    k: int | None = None


def scores(
    columns: Sequence[OracleColumn],
    *,
    subject: Sequence[Hashable] | None = None,
    label: Sequence[Hashable] | None = None,
    rule: Rule | None = None,
) -> dict[str, float | Fraction | int | None]:
    """All scores of one generalization; GLM is exact."""
    n = len(columns[0].cells)
    rule = rule or Rule()
    classes: dict[Hashable, list[int]] = {}
    for row in range(n):
        classes.setdefault(tuple(c.group_of(row) for c in columns), []).append(row)

    def size(members: list[int]) -> int:
        return len(members) if subject is None else len({subject[row] for row in members})

    suppressed = suppressed_sizes([(size(m), len(m)) for m in classes.values()], rule)
    kept = [m for m in classes.values() if size(m) not in suppressed]
    out = {row for m in classes.values() if size(m) in suppressed for row in m}
    sizes = [size(m) for m in kept]
    people = n if subject is None else len(set(subject))
    k, k_max = min(sizes, default=0), max(sizes, default=0)

    total_weight = sum(c.weight for c in columns)
    nwp, glm = 0.0, Fraction(0)
    for row in range(n):
        for column in columns:
            penalty = Fraction(1) if row in out else column.penalty(row)
            nwp += float(penalty) * column.weight / total_weight
            glm += penalty
    return {
        "k": k,
        "k_max": k_max,
        "classes": len(kept),
        "suppressed": len(out),
        "nwp": nwp / n,
        "necd": (k_max - k) / (people - 1) if people > 1 else 0.0,
        "glm": glm,
        "glm_share": glm / (n * len(columns)),
        "dcn": sum(len(m) ** 2 for m in kept) + n * len(out),
        "rows_below": sum(len(m) for m in classes.values() if rule.k and size(m) < rule.k),
        "ce": None if label is None else (len(out) + strangers(kept, label)) / n,
    }


def suppressed_sizes(classes: Sequence[tuple[int, int]], rule: Rule) -> set[int]:
    """The class sizes left out; classes are given as (size, rows)."""
    chosen: set[int] = set()
    total = 0
    for size in sorted({size for size, _ in classes}):
        total += sum(rows for other, rows in classes if other == size)
        if total > rule.limit or (rule.k is not None and size >= rule.k):
            break
        chosen.add(size)
    return chosen


def strangers(kept: Sequence[Sequence[int]], label: Sequence[Hashable]) -> int:
    """Rows that do not carry the most frequent label of their class."""
    return sum(
        len(members) - max(Counter(plain_atom(label[row]) for row in members).values())
        for members in kept
    )


def measures(
    columns: Sequence[OracleColumn], released: Sequence[tuple[Sequence[int], int]]
) -> dict[str, float]:
    """The further measures of loss and bias, scaled.

    `released` has the rows and the number of people of every class that is left; every other row
    is suppressed.
    """
    n = len(columns[0].cells)
    level = {row: people for rows, people in released for row in rows}
    cells = [(column, row) for column in columns for row in range(n)]
    tuples = math.prod(len(column.domain) for column in columns)
    possible = sum(
        math.prod(len(c.group_of(row)) for c in columns) if row in level else tuples
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
    """Of the privacy levels of all released rows: the sizes of their classes."""
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
