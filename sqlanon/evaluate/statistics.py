"""The statistics of privacy models as SQL over the counts of one class.

Every expression is about one row of `classes` in evaluate_models.sql: `size` is its people, the
other names are counts of sets of values. Numbers of the whole source stand in it as literals.
Products of counts are whole numbers; they are at most rows², which fits 64 bits. Sums are
written out, so their order is fixed and the same query gives the same digits.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sqlanon.domain import ValueDomain
from sqlanon.errors import EvaluationError
from sqlanon.evaluate.value_sets import Members, ValueSets
from sqlanon.hierarchy import Hierarchy
from sqlanon.measurement import Ints
from sqlanon.model import format_value, sort_key
from sqlanon.privacy import Measure, Statistic
from sqlanon.render import Sql

INFINITE = "'infinity'::DOUBLE"


class Class:
    """The counts of one column in one class, and how to write statistics of them.

    `pairs` is n, the sum of the counts of all values: the people of the class where each has
    one value, else the pairs of person and value.
    """

    def __init__(self, sets: ValueSets, *, one_value_each: bool) -> None:
        self._sets = sets
        self._totals = sets.totals
        self._all = int(self._totals.sum())
        self._one_value_each = one_value_each

    @property
    def pairs(self) -> str:
        if self._one_value_each:
            return "size"
        return self._sets.count_of(np.ones(self._sets.values, dtype=bool))

    @property
    def counts(self) -> list[str]:
        """c_v of every value."""
        return [self._sets.count_of(row) for row in np.eye(self._sets.values, dtype=bool)]

    def distinct(self) -> str:
        if self._sets.only_occur:
            return " + ".join(f"BIT_COUNT({word})::BIGINT" for word in self._sets.words)
        return " + ".join(f"({c} > 0)::BIGINT" for c in self.counts)

    def perplexity(self) -> str:
        total = " + ".join(f"{c} * LN(GREATEST({c}, 1))" for c in self.counts)
        return f"EXP(LN({self.pairs}) - ({total}) / {self.pairs})"

    def recursive(self, top: int) -> str:
        listed = ", ".join(self.counts)
        before = {1: "0", 2: f"GREATEST({listed})"}.get(
            top, f"LIST_SUM(LIST_SORT([{listed}], 'DESC')[1:{top - 1}])"
        )
        rest = f"({self.pairs} - {before})"
        largest = f"GREATEST({listed})"
        return f"CASE WHEN {rest} = 0 THEN {INFINITE} ELSE {largest} / {rest} END"

    def equal_distance(self) -> str:
        moved = [
            f"GREATEST({self._surplus(c, int(q))}, 0)"
            for c, q in zip(self.counts, self._totals, strict=True)
        ]
        return f"({' + '.join(moved)}) / ({self.pairs}::DOUBLE * {self._all})"

    def ordered_distance(self) -> str:
        steps = self._sets.values - 1
        if not steps:
            return "0.0"
        prefixes = np.tri(steps, self._sets.values, dtype=bool)
        terms = [
            f"ABS({self._surplus(self._sets.count_of(row), int(q))})::DOUBLE"
            for row, q in zip(prefixes, np.cumsum(self._totals)[:-1], strict=True)
        ]
        return f"({' + '.join(terms)}) / ({self.pairs}::DOUBLE * {self._all} * {steps})"

    def gain(self) -> str:
        ratios = ", ".join(self._ratios())
        return f"GREATEST({ratios}) - 1"

    def ratio(self) -> str:
        logs = ", ".join(f"ABS(LN(GREATEST({ratio}, 1e-300)))" for ratio in self._ratios())
        least = f"LEAST({', '.join(self.counts)})"
        return f"CASE WHEN {least} = 0 THEN {INFINITE} ELSE GREATEST({logs}) END"

    def share(self) -> str:
        return f"GREATEST({', '.join(self.counts)}) / size"

    def hierarchical_distance(self, tree: Hierarchy) -> str:
        """Σ over inner nodes of height · min(what flows in, what flows out of their children)."""
        ancestors = ancestors_of(tree, self._sets.facet.domain)
        height = len(ancestors) - 1
        terms = []
        for level in range(1, height + 1):
            for node in np.unique(ancestors[level]):
                inside = ancestors[level] == node
                children = [
                    ancestors[level - 1] == child
                    for child in np.unique(ancestors[level - 1, inside])
                ]
                if len(children) > 1:
                    surplus = [self._surplus_of(child & inside) for child in children]
                    flows_in = " + ".join(f"GREATEST({each}, 0)" for each in surplus)
                    flows_out = " + ".join(f"GREATEST(-({each}), 0)" for each in surplus)
                    terms.append(f"{level} * LEAST({flows_in}, {flows_out})::DOUBLE")
        if not terms:
            return "0.0"
        return f"({' + '.join(terms)}) / ({self.pairs}::DOUBLE * {self._all} * {height})"

    def _ratios(self) -> list[str]:
        """p_v / q_v of every value."""
        return [
            f"{c} * {self._all} / ({self.pairs}::DOUBLE * {int(q)})"
            for c, q in zip(self.counts, self._totals, strict=True)
        ]

    def _surplus_of(self, members: Members) -> str:
        return self._surplus(self._sets.count_of(members), int(self._totals[members].sum()))

    def _surplus(self, count: str, total: int) -> str:
        """(p − q) of a set of values, times n and the whole: a whole number."""
        return f"{count} * {self._all} - {self.pairs} * {total}"


def sql_of(statistic: Statistic, counts: Class, tree: Hierarchy | None) -> Sql:
    """A statistic of a sensitive column.

    It is made of numbers and of names that stand here, so it needs no quoting.
    """
    if statistic.measure is Measure.DISTINCT:
        return Sql(counts.distinct())
    if statistic.measure is Measure.RECURSIVE:
        return Sql(counts.recursive(statistic.top))
    if statistic.measure is Measure.HIERARCHICAL_DISTANCE:
        if tree is None:
            raise EvaluationError(f"there is no hierarchy of column {statistic.column!r}")
        return Sql(counts.hierarchical_distance(tree))
    written: dict[Measure, Callable[[], str]] = {
        Measure.PERPLEXITY: counts.perplexity,
        Measure.EQUAL_DISTANCE: counts.equal_distance,
        Measure.ORDERED_DISTANCE: counts.ordered_distance,
        Measure.GAIN: counts.gain,
        Measure.RATIO: counts.ratio,
        Measure.SHARE: counts.share,
    }
    return Sql(written[statistic.measure]())


def ancestors_of(tree: Hierarchy, domain: ValueDomain) -> Ints:
    """The number of each value's ancestor, one row a level; NULL is alone below the root.

    There are two levels at least: a hierarchy of one value has none above it, for NULL.
    """
    places = {sort_key(leaf): i for i, leaf in enumerate(tree.parsed(domain.kind))}
    missing = [format_value(value) for value in domain.values if sort_key(value) not in places]
    tree.refuse_without_leaf(domain.column, missing)
    groups = np.array([tree.groups(level) for level in range(tree.height + 1)], dtype=np.int64)
    found = groups[:, [places[sort_key(value)] for value in domain.values]]
    if domain.has_null:
        alone = np.full((tree.height + 1, 1), len(tree.leaves))
        alone[-1] = 0
        found = np.concatenate([found, alone], axis=1)
    if not tree.height:
        found = np.stack([np.arange(found.shape[1]), np.zeros(found.shape[1], dtype=np.int64)])
    return found
