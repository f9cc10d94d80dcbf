"""(α, k)-anonymity: no sensitive value is too frequent in a class of at least k people.

R. Wong, J. Li, A. Fu & K. Wang, (α, k)-anonymity: an enhanced k-anonymity model for privacy
preserving data publishing, KDD 2006. The k is that of k-anonymity beside it. The share is of
people: how sure one can be that a person of the class has the value. Of a mixture it is no
larger than the largest of its parts: monotone under generalization, except where a person may
have rows in both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlanon.privacy.model import Measure, Model, Statistic


@dataclass(frozen=True)
class AlphaAnonymity(Model):
    """At most the share α of every class has the same value."""

    alpha: float

    key: ClassVar[str] = "alpha_k"
    symbol: ClassVar[str] = "alpha"
    at_least: ClassVar[bool] = False

    @property
    def bound(self) -> float:
        return self.alpha

    @property
    def statistic(self) -> Statistic:
        return Statistic(Measure.SHARE, self.column)

    def describe(self) -> str:
        return f"alpha = {self.alpha:g} on {self.column!r}"
