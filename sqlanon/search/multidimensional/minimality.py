"""What the cuts that were not made say.

A tree is cut as far as its requirements allow. So a region that k alone would have cut shows that
a privacy model forbade it, which says something about the sensitive values in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.domain import Column, CutTree, Histogram, Ints, Labels
from sqlanon.search.multidimensional.public_lines import starts_of


class Uncut(NamedTuple):
    """Regions that stayed whole.

    large    those of 2k people or more
    by_k     those of them that a search for k alone would have cut
    regions  all regions with people
    """

    large: int
    by_k: int
    regions: int


def uncut(histogram: Histogram, tree: CutTree, labels: Labels, k: int) -> Uncut | None:
    """Counts the regions that stayed whole; None where people cannot be added up."""
    tally = histogram.tally
    if tally.has_movers:
        return None
    region = tree.region_of(tally.codes)
    people = np.bincount(region, tally.people, len(tree.regions.node)).astype(np.int64)
    allowed = np.zeros(len(people), dtype=bool)
    for j, column in enumerate(histogram.space.columns):
        starts = starts_of(column, labels)
        segment = np.searchsorted(starts, tally.codes[:, j], side="right") - 1
        allowed |= _cut_by_k(region, segment, len(starts), tally.people, people, column, k)
    return Uncut(int((people >= 2 * k).sum()), int(allowed.sum()), int((people > 0).sum()))


def _cut_by_k(
    region: Ints, segment: Ints, segments: int, counted: Ints, people: Ints, column: Column, k: int
) -> npt.NDArray[np.bool_]:
    """The regions in which a cut between two segments leaves k people on both sides."""
    parts, inverse = np.unique(region * segments + segment, return_inverse=True)
    size = np.bincount(inverse.reshape(-1), counted, len(parts)).astype(np.int64)
    of, at = np.divmod(parts, segments)
    first = np.searchsorted(of, of)  # where the segments of the region begin
    total = np.cumsum(size)
    before = total - (total - size)[first]
    fits = (before >= k) & (people[of] - before >= k)
    if column.domain.has_null and column.domain.width:
        # As long as a region has NULL and values, it is cut between these or not at all.
        last = np.searchsorted(of, of, side="right") - 1
        is_mixed = (at[last] == segments - 1) & (first < last)
        fits &= ~is_mixed | (np.arange(len(parts)) == last - 1)
    found = np.zeros(len(people), dtype=bool)
    found[of[fits]] = True
    return found
