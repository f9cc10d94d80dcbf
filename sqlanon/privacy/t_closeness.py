"""t-closeness: the sensitive values of every class are distributed as in the whole source.

N. Li, T. Li & S. Venkatasubramanian, t-closeness: privacy beyond k-anonymity and ℓ-diversity,
ICDE 2007. The distance of two distributions is the earth mover's distance, which depends on the
distance of two values: equal for all, by their order, or by a hierarchy. It is convex, so a
mixture is no farther away than the farthest of its parts: so the model is monotone under
generalization, unless a person may have rows in both parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import numpy as np
from sqlglot import exp

from sqlanon.domain import Hierarchy
from sqlanon.errors import PrivacyError
from sqlanon.keys import Share, about
from sqlanon.privacy.model import (
    AuditedColumn,
    Cell,
    ClassCounts,
    Figure,
    Floats,
    ForColumns,
    Model,
    Option,
    Released,
    SensitiveColumn,
    ValueRows,
    excess,
    positive,
    quotient,
    reached_words,
    register,
    times,
    wide,
)
from sqlanon.wording import figure


class Distance(StrEnum):
    """How far apart two sensitive values are."""

    EQUAL = "equal"
    ORDERED = "ordered"
    HIERARCHICAL = "hierarchical"


class TClosenessSection(ForColumns):
    """The sensitive values of every class are distributed as in the whole source."""

    t: Annotated[Share, about("The greatest distance of the two distributions.")]
    distance: Annotated[
        Distance | None,
        about(
            "How far apart values are: equally, by their order, or by the column's hierarchy. "
            "Unless given: by the hierarchy where there is one, by order for numbers and dates, "
            "else equally."
        ),
    ] = None


@register
@dataclass(frozen=True)
class Closeness(Model):
    """The distance of every class from the whole source is at most t."""

    t: float
    distance: Distance

    key, parameter, symbol = "t_closeness", "t", "t"
    at_least = False
    is_compared = True
    section = TClosenessSection
    summary = "Sensitive values distributed as in the whole source; several in a list."
    options = (
        Option("t", "t", "Greatest distance of a class from the whole source: t-closeness."),
        Option(
            "distance",
            "distance",
            "How far apart values are for --t. By default: by the --hierarchy, else by the order "
            "of numbers and dates, else equally.",
            tuple(Distance),
        ),
    )

    @property
    def measure(self) -> str:  # type: ignore[override]
        return self.distance.value

    @property
    def needs_hierarchy(self) -> bool:
        return self.distance is Distance.HIERARCHICAL

    @property
    def needs_order(self) -> bool:
        return self.distance is Distance.ORDERED

    @classmethod
    def bind(cls, given: TClosenessSection, column: SensitiveColumn) -> Closeness:
        has_order = column.kind is not None and column.kind.is_ordered
        distance = given.distance
        if distance is None and column.has_hierarchy:
            distance = Distance.HIERARCHICAL
        elif distance is None:
            distance = Distance.ORDERED if has_order else Distance.EQUAL
        elif distance is Distance.HIERARCHICAL and not column.has_hierarchy:
            raise PrivacyError(
                f".distance: hierarchical needs a hierarchy of column {column.name!r}"
            )
        elif distance is Distance.ORDERED and not has_order:
            raise PrivacyError(
                f".distance: ordered needs numbers or dates, and column {column.name!r} holds "
                f"{column.type}; take equal or hierarchical"
            )
        return cls(column.name, given.t, distance)

    @classmethod
    def measures(cls) -> tuple[str, ...]:
        return tuple(Distance)

    @classmethod
    def certified(cls, measure: str, column: str | None, bound: float, top: int) -> Closeness:
        return cls(column, bound, Distance(measure))

    def reached(self, c: ClassCounts) -> Cell:
        if self.distance is Distance.EQUAL:
            return _equal(c)
        if self.distance is Distance.ORDERED:
            return c.along() / (c.pairs * c.whole) / max(c.values - 1, 1)
        # On every level below the root, what a node has too much must leave it.
        return sum(_equal(c.grouped(level)) for level in c.levels) / len(c.levels)

    def released(self, v: ValueRows) -> Released:
        if self.distance is Distance.ORDERED:
            parts = ("places", "line", "held", "marks", "turns", "stops", "steps", "order")
            same = {"same_value": ("counts", "line")}
            return Released(v.by_template("release/ordered_distance.sql", parts, same))
        if self.distance is Distance.HIERARCHICAL and v.hierarchy.height > 1:
            return Released(_by_levels(v, v.hierarchy))
        moved = exp.Sum(this=positive(excess(v)))
        whole = exp.Max(this=times(v.total, v.source_total))
        return Released(v.per_class("distance", quotient(moved, whole)))

    def audited(self, a: AuditedColumn) -> Floats:
        if self.distance is Distance.ORDERED:
            return _along_the_order(a)
        if self.distance is Distance.HIERARCHICAL:
            return _up_the_tree(a)
        # Only values that the class has can be too much.
        moved = a.summed(np.maximum(a.excess, 0)) / (wide(a.n, a.total) * a.total)
        return np.asarray(moved)

    def describe(self) -> str:
        return f"t = {self.t:g} ({self.distance} distance) on {self.column!r}"

    def promise(self, reached: float | None) -> str:
        return (
            f"The values of {self.column} are distributed in every group as in the whole source, "
            f"up to a distance of {figure(self.t)} ({self.distance} distance)"
            f"{reached_words(reached, 'the farthest group is {} away')}."
        )

    @classmethod
    def figures(cls, column: str) -> tuple[Figure, ...]:
        meanings = ("distance from all", "by order", "by the hierarchy")
        return tuple(
            Figure(
                f"t_{each}",
                f"t, {each}",
                meaning,
                (("t", "{column}", each.value),),
                cls(column, 1.0, each),
            )
            for each, meaning in zip(Distance, meanings, strict=True)
        )


def _equal(c: ClassCounts) -> Cell:
    return c.summed(c.positive(c.surplus)) / (c.pairs * c.whole)


def _by_levels(v: ValueRows, hierarchy: Hierarchy) -> exp.Expr:
    """The hierarchical distance; the levels are numbered as the hierarchy does."""
    _ = v.total, v.leaf  # the template reads both
    levels = [hierarchy.groups(level) for level in range(1, hierarchy.height)]
    titles = [f"level_{level}" for level in range(1, hierarchy.height)]
    rows = (
        (leaf, *(node + 1 for node in nodes))
        for leaf, *nodes in zip(hierarchy.parsed(v.kind), *levels, strict=True)
    )
    v.listed("tree", ["value", *titles], rows)
    return v.by_template(
        "release/hierarchical_distance.sql",
        ("nodes", "node_source", "node_counts", "levels"),
        {"same_value": ("counts", "nodes"), "equal_value": ("source", "tree")},
        titles=titles,
        height=hierarchy.height,
    )


def _along_the_order(a: AuditedColumn) -> Floats:
    """Σ_i |P_i − Q_i| / (m − 1), where P and Q are the cumulative shares.

    From one value that a class has to the next, P is constant while Q ascends: there is one place
    up to which P is the larger. With prefix sums over Q a stretch takes one search.
    """
    m = len(a.whole)
    if m < 2:
        return np.zeros(a.rows.size)
    total = a.total
    below = np.cumsum(a.whole)  # Q_i, times the total
    sums = np.concatenate([[0], np.cumsum(below)])  # below[:i].sum()
    held = np.cumsum(a.counts)  # P, times n
    held = held - (held[a.starts] - a.counts[a.starts])[a.of_class]
    start = a.of_value
    stop = np.append(start[1:], m)
    stop[a.starts[1:] - 1] = m
    first = a.of_value[a.starts]
    n = wide(a.n, total, m)[a.of_class]
    level = wide(held, total, m) * total
    cross = np.clip(np.searchsorted(below, level // n, side="right"), start, stop)
    over = (cross - start) * level - n * (sums[cross] - sums[start])
    under = n * (sums[stop] - sums[cross]) - (stop - cross) * level
    before = wide(a.n, total, m) * sums[first]
    moved = a.summed(over + under) + before
    return np.asarray(moved / (wide(a.n, total) * total) / (m - 1))


def _up_the_tree(a: AuditedColumn) -> Floats:
    """The recursion of the paper: level / height is paid for what moves among a node's children.

    That is the lesser of what some children have too much, and what the others lack.
    """
    assert a.hierarchy is not None
    height = max(1, a.hierarchy.height)
    work = np.zeros(a.rows.size)
    for level in range(1, height + 1):
        children, parents = a.groups(level - 1), a.groups(level)
        parent_of = np.zeros(children.max() + 1, np.int64)
        parent_of[children] = parents
        of_class, child, excess = a.held_groups(children)
        owner, _, balance = a.held_groups(parents)
        nodes = of_class * (parents.max() + 1) + parent_of[child]
        _, place = np.unique(nodes, return_inverse=True)
        too_much = np.bincount(place, np.maximum(excess, 0))
        moved = np.minimum(too_much, too_much - balance)
        work += level * np.bincount(owner, moved, minlength=work.size)
    return np.asarray(work / (wide(a.n, a.total) * a.total) / height)
