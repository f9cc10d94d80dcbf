"""Ways out of a local optimum: some small moves at random, or a while of another preference."""

from __future__ import annotations

import numpy as np

from sqlanon.preference import Preference
from sqlanon.scheme import Bits, Space
from sqlanon.search.taxonomy import Splits

FEWEST, MOST = 3, 8
"""Moves of a kick."""
FACTOR = 2.0
"""By so much at most a kick weighs loss against bias differently."""


def kicked(space: Space, bits: Bits, rng: np.random.Generator, *, refining: bool) -> Bits:
    """The scheme after FEWEST to MOST moves at random, coarsening ones only unless `refining`.

    What is coarser than a scheme that needs no suppression needs none either: so a kick does
    not leave what is feasible, and polishing has room to refine. Where rows may be
    suppressed, finer schemes are feasible too.
    """
    splits = Splits.of_space(space)
    made = splits.made(bits).copy()
    for _ in range(int(rng.integers(FEWEST, MOST + 1))):
        can = splits.coarsening(made)
        if refining:
            can |= splits.refining(made)
        moves = np.flatnonzero(can)
        if not len(moves):
            break
        made[moves[int(rng.integers(len(moves)))]] ^= True
    return splits.bits(made)


def another(preference: Preference, rng: np.random.Generator) -> Preference:
    """A preference for somewhat more or less bias.

    ach is the greater of two terms. Where both are equal, few small changes lower both; one
    that lowers the other term first may get around that.
    """
    return Preference(preference.nwp, preference.necd * FACTOR ** (2 * float(rng.random()) - 1))
