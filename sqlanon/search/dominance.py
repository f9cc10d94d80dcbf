"""Which of many points are best when two goals pull apart; smaller is better in both.

Dominance is the strong dominance of Dewri et al. (TKDE, Definition 2), read as their Theorem 1
uses it: no greater in either coordinate, and not the same point.
"""

from __future__ import annotations

import moocore
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def pareto_rank(points: Floats) -> Ints:
    """0 for points that nothing dominates, 1 for those that only the former do, and so on."""
    return np.asarray(moocore.pareto_rank(points), dtype=np.int64)


def non_dominated(points: Floats) -> Mask:
    """The points that no other dominates; of equal points only the first."""
    return np.asarray(moocore.is_nondominated(points))


def crowding(points: Floats, ranks: Ints) -> Floats:
    """Crowding distance of NSGA-II (Deb et al. 2002), within the points of equal rank.

    The gap between a point's two neighbours, summed over the coordinates, each in parts of
    the front's extent; infinite at the ends of a front.
    """
    distance = np.zeros(len(points))
    if not len(points):
        return distance
    for values in points.T:
        order = np.lexsort((values, ranks))
        value, rank = values[order], ranks[order]
        new = rank[1:] != rank[:-1]
        first, last = np.append(True, new), np.append(new, True)
        extents = value[last] - value[first]
        extent = np.repeat(extents, np.diff(np.append(np.flatnonzero(first), len(value))))
        gap = np.zeros(len(value))
        np.divide(value[2:] - value[:-2], extent[1:-1], out=gap[1:-1], where=extent[1:-1] > 0)
        gap[first | last] = np.inf
        distance[order] += gap
    return distance
