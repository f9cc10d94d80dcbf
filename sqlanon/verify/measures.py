"""The numbers of every class that privacy models bound (see privacy.Measure for the formulas).

They are derived from whole numbers, which stay exact as long as they fit into 64 bits. A class is
looked at only where it has values, so that the work follows the pairs of class and value that
occur and not the product of both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sqlanon.privacy import Measure, Statistic
from sqlanon.verify.profile import Floats, Ints, Profile

Numbers: TypeAlias = npt.NDArray[Any]
"""Whole numbers, or floats where they would be too large."""

_EXACT = 2**62


def measure(profile: Profile, statistic: Statistic) -> Floats:
    """What every class reaches, in the order of the classes."""
    if not profile.rows.size:
        return np.zeros(0)
    if statistic.measure is Measure.RECURSIVE:
        return recursive(profile, statistic.top)
    return _MEASURES[statistic.measure](profile)


def distinct(profile: Profile) -> Floats:
    return profile.summed(np.ones_like(profile.counts)).astype(np.float64)


def perplexity(profile: Profile) -> Floats:
    # H = ln n − Σ c_v ln c_v / n
    weighted = profile.summed(profile.counts * np.log(profile.counts))
    return np.asarray(np.exp(np.log(profile.n) - weighted / profile.n))


def recursive(profile: Profile, top: int) -> Floats:
    """r_1 / (r_top + … + r_m), infinite where a class has fewer than `top` values."""
    order = np.lexsort((-profile.counts, profile.of_class))
    counts = profile.counts[order]
    rank = np.arange(counts.size) - profile.starts[profile.of_class]
    tail = profile.summed(np.where(rank >= top - 1, counts, 0))
    most = counts[profile.starts]
    return _divided(most, tail)


def share(profile: Profile) -> Floats:
    return profile.largest(profile.counts / profile.people[profile.of_class])


def gain(profile: Profile) -> Floats:
    """The most is gained by a value that the class has: together they gain at least 0."""
    more, base = _compared(profile)
    return profile.largest(_divided(more, base))


def ratio(profile: Profile) -> Floats:
    more, base = _compared(profile)
    logarithms = np.log1p(_divided(more, base))  # p / q = 1 + (p − q) / q
    known = profile.whole[profile.of_value] > 0
    complete = profile.summed(known.astype(np.int64)) == np.count_nonzero(profile.whole)
    return np.where(complete, profile.largest(np.abs(logarithms)), np.inf)


def equal_distance(profile: Profile) -> Floats:
    return _moved(profile, profile.of_class, profile.of_value, profile.counts, profile.whole)


def ordered_distance(profile: Profile) -> Floats:
    """Σ_i |P_i − Q_i| / (m − 1), where P and Q are the cumulative shares.

    From one value that a class has to the next, P is constant while Q ascends: there is one place
    up to which P is the larger. With prefix sums over Q a stretch takes one search.
    """
    m = len(profile.keys)
    if m < 2:
        return np.zeros(profile.rows.size)
    total = profile.total
    below = np.cumsum(profile.whole)  # Q_i, times the total
    sums = np.concatenate([[0], np.cumsum(below)])  # below[:i].sum()
    held = np.cumsum(profile.counts)  # P, times n
    held = held - (held[profile.starts] - profile.counts[profile.starts])[profile.of_class]
    start = profile.of_value
    stop = np.append(start[1:], m)
    stop[profile.starts[1:] - 1] = m
    first = profile.of_value[profile.starts]
    n = _wide(profile.n, total, m)[profile.of_class]
    level = _wide(held, total, m) * total
    cross = np.clip(np.searchsorted(below, level // n, side="right"), start, stop)
    over = (cross - start) * level - n * (sums[cross] - sums[start])
    under = n * (sums[stop] - sums[cross]) - (stop - cross) * level
    before = _wide(profile.n, total, m) * sums[first]
    moved = profile.summed(over + under) + before
    return np.asarray(moved / (_wide(profile.n, total) * total) / (m - 1))


def hierarchical_distance(profile: Profile) -> Floats:
    """The mean of the equal distances on the levels below the root.

    Two values whose ancestors meet on level h are h / H apart: this is the length of a path in
    the tree whose every edge is 1 / 2H long. Over each edge must go what the subtree below it has
    too much or too little, so the earth mover's distance is Σ over all nodes but the root of
    |p − q| / 2H: for every level its equal distance, divided by H. The recursion of the paper,
    which pays height / H for what is moved among the children of a node, yields the same.
    """
    assert profile.hierarchy is not None
    levels = range(max(1, profile.hierarchy.height))
    distances = np.zeros(profile.rows.size)
    for level in levels:
        group = profile.groups(level)
        _, group = np.unique(group, return_inverse=True)
        whole = np.bincount(group, profile.whole).astype(np.int64)
        pairs, place = np.unique(
            profile.of_class * whole.size + group[profile.of_value], return_inverse=True
        )
        counts = np.zeros(pairs.size, np.int64)
        np.add.at(counts, place, profile.counts)
        distances += _moved(profile, pairs // whole.size, pairs % whole.size, counts, whole)
    return distances / len(levels)


def _moved(profile: Profile, of_class: Ints, of_value: Ints, counts: Ints, whole: Ints) -> Floats:
    """Σ |p − q| / 2 = Σ max(p − q, 0), which only values that the class has can add to."""
    total = profile.total
    n = _wide(profile.n, total)
    more = _wide(counts, total) * total - whole[of_value] * n[of_class]
    starts = np.flatnonzero(np.diff(of_class, prepend=-1))
    return np.asarray(np.add.reduceat(np.maximum(more, 0), starts) / (n * total))


def _compared(profile: Profile) -> tuple[Numbers, Numbers]:
    """p_v − q_v and q_v of every pair, both times n and the total of the reference."""
    total = profile.total
    n = _wide(profile.n, total)[profile.of_class]
    base = profile.whole[profile.of_value] * n
    return _wide(profile.counts, total) * total - base, base


def _divided(more: Numbers, base: Numbers) -> Floats:
    """The quotients, infinite where the divisor is 0."""
    out = np.full(more.size, np.inf)
    np.divide(more, base, out=out, where=base > 0)
    return out


def _wide(values: Ints, *factors: int) -> Numbers:
    """The values as they are if products with the factors fit into 64 bits, else as floats."""
    size = max(1, int(values.max(initial=0)))
    for factor in factors:
        size *= max(1, factor)
    return values if size < _EXACT else values.astype(np.float64)


_MEASURES: dict[Measure, Callable[[Profile], Floats]] = {
    Measure.DISTINCT: distinct,
    Measure.PERPLEXITY: perplexity,
    Measure.SHARE: share,
    Measure.GAIN: gain,
    Measure.RATIO: ratio,
    Measure.EQUAL_DISTANCE: equal_distance,
    Measure.ORDERED_DISTANCE: ordered_distance,
    Measure.HIERARCHICAL_DISTANCE: hierarchical_distance,
}
