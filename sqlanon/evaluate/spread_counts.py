"""The statistics of privacy models from lists of values, for columns with very many of them.

Where a column has few values, SQL keeps a count for each of them in every class (see
`statistics`). Of thousands most would be 0: here a class has an entry for each value that it
holds, and numpy goes through these entries once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlanon.errors import EvaluationError
from sqlanon.evaluate.statistics import ancestors_of
from sqlanon.evaluate.value_sets import ValueSets
from sqlanon.hierarchy import Hierarchy
from sqlanon.measurement import Floats, Ints
from sqlanon.privacy import Measure, Statistic


@dataclass(frozen=True)
class SpreadCounts:
    """The values of one column in many classes: entries sorted by class, then by value.

    Every class has an entry. `start` is where its entries begin, `people` how many are in it;
    `value` and `count` are of the entries. `totals` counts the values of the whole source.
    """

    start: Ints
    people: Ints
    value: Ints
    count: Ints
    totals: Ints

    @property
    def pairs(self) -> Ints:
        """n: the people of each class, each as often as they have values."""
        return np.add.reduceat(self.count, self.start)

    @property
    def _whole(self) -> int:
        return int(self.totals.sum())

    @property
    def _class(self) -> Ints:
        """The class of each entry."""
        lengths = np.diff(np.append(self.start, len(self.value)))
        return np.repeat(np.arange(len(self.start)), lengths)

    def distinct(self) -> Floats:
        return np.diff(np.append(self.start, len(self.value))).astype(np.float64)

    def perplexity(self) -> Floats:
        total = np.add.reduceat(self.count * np.log(self.count), self.start)
        return np.asarray(np.exp(np.log(self.pairs) - total / self.pairs))

    def recursive(self, top: int) -> Floats:
        order = np.lexsort((-self.count, self._class))
        ranked = self.count[order]
        place = np.arange(len(ranked)) - self.start[self._class]
        rest = np.add.reduceat(np.where(place >= top - 1, ranked, 0), self.start)
        largest = ranked[self.start].astype(np.float64)
        found: Floats = np.full(len(rest), np.inf)
        np.divide(largest, rest, out=found, where=rest > 0)
        return found

    def equal_distance(self) -> Floats:
        surplus = np.maximum(self._surplus(self.count, self.totals[self.value], self._class), 0)
        return np.asarray(np.add.reduceat(surplus, self.start) / (self.pairs * float(self._whole)))

    def ordered_distance(self) -> Floats:
        """Between two values of a class its cumulated share stays, and that of the source grows.

        So up to some value in between the difference has one sign, and the other one after it.
        """
        steps = len(self.totals) - 1
        if not steps:
            return np.zeros(len(self.start))
        cumulated = np.cumsum(self.totals)
        sums = np.concatenate([[0.0], np.cumsum(cumulated.astype(np.float64))])
        number, pairs = self._class, self.pairs
        before = np.concatenate([[0], np.cumsum(self.count)])
        own = before[1:] - before[self.start][number]
        follows = np.append(self.value[1:], len(self.totals))
        follows[np.append(self.start[1:], len(self.value)) - 1] = len(self.totals)
        level = own * self._whole
        turn = np.searchsorted(cumulated, level // pairs[number], side="right")
        turn = np.clip(turn, self.value, follows)
        n = pairs[number].astype(np.float64)
        flat = level.astype(np.float64) * (2 * turn - self.value - follows)
        grown = n * (sums[self.value] + sums[follows] - 2 * sums[turn])
        work = np.add.reduceat(flat + grown, self.start)
        work += pairs * sums[self.value[self.start]]  # below its first value a class has nobody
        return np.asarray(work / (pairs * float(self._whole) * steps))

    def hierarchical_distance(self, ancestors: Ints) -> Floats:
        height = len(ancestors) - 1
        work = np.zeros(len(self.start))
        number, pairs = self._class, self.pairs
        for level in range(1, height + 1):
            parents, children = ancestors[level], ancestors[level - 1]
            below = np.bincount(children, self.totals, minlength=children.max() + 1)
            parent_of = np.zeros(children.max() + 1, dtype=np.int64)
            parent_of[children] = parents
            # The children that a class has, and what each has more than its share.
            key = number * len(below) + children[self.value]
            held, entry = np.unique(key, return_inverse=True)
            count = np.bincount(entry, self.count).astype(np.int64)
            owner, child = held // len(below), held % len(below)
            surplus = self._surplus(count, below[child].astype(np.int64), owner)
            # What flows in exceeds what flows out by the surplus of the parent.
            width = int(parents.max()) + 1
            node = owner * width + parent_of[child]
            held, entry = np.unique(node, return_inverse=True)
            inwards = np.bincount(entry, np.maximum(surplus, 0).astype(np.float64))
            above = np.bincount(parents, self.totals, minlength=width)
            whole = np.bincount(entry, count.astype(np.float64))
            excess = whole * self._whole - pairs[held // width] * above[held % width]
            flow = np.minimum(inwards, inwards - excess)
            work += level * np.bincount(held // width, flow, minlength=len(work))
        return work / (pairs * float(self._whole) * max(height, 1))

    def gain(self) -> Floats:
        return np.maximum.reduceat(self._ratios(), self.start) - 1

    def ratio(self) -> Floats:
        worst = np.maximum.reduceat(np.abs(np.log(self._ratios())), self.start)
        return np.where(self.distinct() < len(self.totals), np.inf, worst)

    def share(self) -> Floats:
        return np.maximum.reduceat(self.count, self.start) / self.people

    def _ratios(self) -> Floats:
        """p_v / q_v of every entry."""
        below = self.pairs[self._class].astype(np.float64) * self.totals[self.value]
        return np.asarray(self.count * float(self._whole) / below)

    def _surplus(self, count: Ints, total: Ints, owner: Ints) -> Ints:
        """(p − q) of sets of values, times n and the whole: whole numbers."""
        return np.asarray(count * self._whole - self.pairs[owner] * total)


def reached(
    statistic: Statistic, counts: SpreadCounts, sets: ValueSets, tree: Hierarchy | None
) -> Floats:
    """A statistic of every class."""
    if statistic.measure is Measure.RECURSIVE:
        return counts.recursive(statistic.top)
    if statistic.measure is Measure.HIERARCHICAL_DISTANCE:
        if tree is None:
            raise EvaluationError(f"there is no hierarchy of column {statistic.column!r}")
        return counts.hierarchical_distance(ancestors_of(tree, sets.facet.domain))
    return {
        Measure.DISTINCT: counts.distinct,
        Measure.PERPLEXITY: counts.perplexity,
        Measure.EQUAL_DISTANCE: counts.equal_distance,
        Measure.ORDERED_DISTANCE: counts.ordered_distance,
        Measure.GAIN: counts.gain,
        Measure.RATIO: counts.ratio,
        Measure.SHARE: counts.share,
    }[statistic.measure]()
