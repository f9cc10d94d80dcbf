"""Publisher preferences: how well a solution meets the loss and bias it was hoped to have.

The achievement function of Dewri et al. (GECCO 2009; TKDE): the weighted distance from the
utopian point (−ε, −ε) in the direction of the preference point. The point is always given by
name, because one paper writes (NWP, NECD) and the other (NECD, NWP). Their loss and bias are
these two; any other measures whose ideal is 0 and whose worst is 1 can take their places.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sqlanon.model import BiasName, LossName

Floats = npt.NDArray[np.float64]

EPSILON = 1e-6


@dataclass(frozen=True)
class Preference:
    """The loss and bias that the publisher would still accept, in measures of choice."""

    loss: float
    bias: float
    loss_by: LossName = LossName.NWP
    bias_by: BiasName = BiasName.NECD

    @property
    def weight(self) -> float:
        """w of the achievement function: the weight on the loss."""
        loss, bias = 1 / (self.loss + EPSILON), 1 / (self.bias + EPSILON)
        return loss / (loss + bias)

    def ach(self, loss: Floats, bias: Floats) -> Floats:
        """The achievement function; the smaller the better."""
        return np.maximum(*self.terms(loss, bias))

    def terms(self, loss: Floats, bias: Floats) -> tuple[Floats, Floats]:
        """Loss and bias as the achievement function compares them."""
        w = self.weight
        return w * (loss + EPSILON), (1 - w) * (bias + EPSILON)

    def pref_dev(self, loss: Floats, bias: Floats) -> Floats:
        """Preference deviation: breaks ties of ach; negative when the hopes are exceeded."""
        return loss + bias - self.loss - self.bias
