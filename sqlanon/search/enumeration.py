"""All schemes of a space, where there are few enough to try them one by one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sqlanon.scheme import Bits, Space
from sqlanon.search.taxonomy import Splits


def space_size(space: Space) -> int:
    """How many schemes the families and limits of the columns allow."""
    return Splits.of_space(space).count


def all_schemes(space: Space, rows: int = 1_000) -> Iterator[Bits]:
    """Every scheme of a space once, as rows of bits in ascending order, so many at a time."""
    splits = Splits.of_space(space)
    made = np.zeros((1, len(splits)), dtype=bool)
    for split, above in enumerate(splits.above[: splits.choices]):
        # Splits follow those above them, so all that can be below is still to come.
        more = made[made[:, above]] if above >= 0 else made.copy()
        more[:, split] = True
        made = np.concatenate([made, more])
    if len(splits):  # strings differ first where the first positions of their splits do
        made = made[np.lexsort(made[:, np.argsort(splits.first)[::-1]].T)]
    for start in range(0, len(made), rows):
        yield splits.bits(made[start : start + rows])
