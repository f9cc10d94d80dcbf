"""Suppression: leaving out the rows of some classes instead of generalizing more.

Two rules, both of whole class sizes, smallest first, and both bounded by a number of rows:
given k, classes smaller than k are left out (Bayardo & Agrawal, ICDE 2005; used by the
GENITOR paper); with no k given, as many sizes as the bound allows (POkA's limit η), and k is
the smallest size left. Sizes are people, the bound is rows.

Where models beyond k are required, a class that violates one is bad, and so is, given k, one
smaller than k. Bad classes are left out before others, the smallest sizes first.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from sqlanon.errors import EvaluationError
from sqlanon.measurement import Detail, Ints, Measurements
from sqlanon.model import counted

UNBOUNDED = 2**62
"""`below` of a rule without k."""


@dataclass(frozen=True)
class Suppression:
    """Leave out classes smaller than `below`, smallest sizes first, at most `budget` rows."""

    below: int = UNBOUNDED
    budget: int = 0

    @classmethod
    def given_k(cls, k: int, limit: float | Decimal, rows: int) -> Suppression:
        """At most the share `limit` of all rows, classes smaller than k only."""
        return cls(below=k, budget=_share(limit, rows))

    @classmethod
    def up_to(cls, limit: float | Decimal, rows: int) -> Suppression:
        """POkA's rule: η = the share `limit` of all rows, no k given."""
        return cls(budget=_share(limit, rows))

    @property
    def detail(self) -> Detail:
        """The classes a measurement must know one by one for this rule."""
        return Detail(self.below, self.budget) if self.budget else Detail()

    def check(self, rows: int) -> None:
        """Refuses a rule that could leave out the whole table without a k to stop it."""
        if self.below == UNBOUNDED and self.budget >= rows:
            raise EvaluationError(
                f"the suppression limit of {counted(self.budget, 'row')} does not leave any of the "
                f"{counted(rows, 'row')}; choose a smaller limit"
            )

    def mask(self, measured: Measurements) -> npt.NDArray[np.bool_]:
        """Which entries of the measurements, a scheme and class size each, are left out."""
        before = np.concatenate([[0], np.cumsum(measured.rows)])
        starts = np.repeat(measured.offsets[:-1], np.diff(measured.offsets))
        up_to: Ints = before[1:] - before[starts]
        may = (measured.bad > 0) | (measured.size < self.below)
        return np.asarray(may & (up_to <= self.budget))


def _share(limit: float | Decimal, rows: int) -> int:
    """floor(limit · rows), of the decimal number that was written."""
    share = Decimal(str(limit))
    if not 0 <= share <= 1:
        raise EvaluationError(f"the suppression limit {limit} is not between 0 and 1")
    return int(share * rows)
