"""Publisher preferences: how well a solution meets the loss and bias it was hoped to have.

The achievement function of Dewri et al. (GECCO 2009; TKDE): the weighted distance from the
utopian point (−ε, −ε) in the direction of the preference point. The point is always given by
name, because one paper writes (NWP, NECD) and the other (NECD, NWP).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

EPSILON = 1e-6


@dataclass(frozen=True)
class Preference:
    """The loss (NWP) and bias (NECD) that the publisher would still accept."""

    nwp: float
    necd: float

    @property
    def weight(self) -> float:
        """w of the achievement function: the weight on NWP."""
        loss, bias = 1 / (self.nwp + EPSILON), 1 / (self.necd + EPSILON)
        return loss / (loss + bias)

    def ach(self, nwp: Floats, necd: Floats) -> Floats:
        """The achievement function; the smaller the better."""
        return np.maximum(*self.terms(nwp, necd))

    def terms(self, nwp: Floats, necd: Floats) -> tuple[Floats, Floats]:
        """Loss and bias as the achievement function compares them."""
        w = self.weight
        return w * (nwp + EPSILON), (1 - w) * (necd + EPSILON)

    def pref_dev(self, nwp: Floats, necd: Floats) -> Floats:
        """Preference deviation: breaks ties of ach; negative when the hopes are exceeded."""
        return nwp + necd - self.nwp - self.necd
