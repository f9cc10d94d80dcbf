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

Mask = npt.NDArray[np.bool_]

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

    def is_below(self, measured: Measurements) -> Mask:
        """Which entries are of classes smaller than k; none where the rule has no k."""
        if self.below == UNBOUNDED:
            return np.zeros(len(measured.size), dtype=bool)
        return np.asarray(measured.size < self.below)

    def mask(self, measured: Measurements) -> Mask:
        """Which entries of the measurements, a scheme and class size each, are left out."""
        may = (measured.bad > 0) | (measured.size < self.below)
        return np.asarray(may & (_up_to(measured) <= self.budget))


@dataclass(frozen=True)
class EachForItsK:
    """As `Suppression`, with a k for every scheme; where models are required, it has no meaning."""

    below: Ints
    budget: int

    def is_below(self, measured: Measurements) -> Mask:
        """Which entries are of classes smaller than the scheme's k."""
        return np.asarray(measured.size < np.repeat(self.below, np.diff(measured.offsets)))

    def mask(self, measured: Measurements) -> Mask:
        """Which entries of the measurements, a scheme and class size each, are left out."""
        return np.asarray(self.is_below(measured) & (_up_to(measured) <= self.budget))


Rule = Suppression | EachForItsK


def reachable(measured: Measurements, budget: int) -> tuple[Ints, Ints]:
    """Every k that a scheme reaches by leaving out at most so many rows: (scheme, k) pairs.

    The smaller classes are then left out whole, the smallest first, so a scheme reaches each of
    its class sizes until the budget is used up.
    """
    fits = np.flatnonzero(_up_to(measured) - measured.rows <= budget)
    schemes = np.repeat(np.arange(len(measured)), np.diff(measured.offsets))
    return schemes[fits], measured.size[fits]


def _up_to(measured: Measurements) -> Ints:
    """The rows of a scheme's entries up to each of them, that one included."""
    before = np.concatenate([[0], np.cumsum(measured.rows)])
    starts = np.repeat(measured.offsets[:-1], np.diff(measured.offsets))
    return np.asarray(before[1:] - before[starts])


def _share(limit: float | Decimal, rows: int) -> int:
    """floor(limit · rows), of the decimal number that was written."""
    share = Decimal(str(limit))
    if not 0 <= share <= 1:
        raise EvaluationError(f"the suppression limit {limit} is not between 0 and 1")
    return int(share * rows)
