"""Basic β-likeness: no class makes a sensitive value much likelier than the whole source.

J. Cao & P. Karras, Publishing microdata with a robust privacy guarantee, PVLDB 5(11), 2012. The
gain in confidence (p_v − q_v) / q_v is bounded for every value. A mixture gains no more than the
most of its parts: monotone under generalization, except where a person may have rows in both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlanon.privacy.model import Measure, Model, Statistic


@dataclass(frozen=True)
class BetaLikeness(Model):
    """(p_v − q_v) / q_v ≤ β for every value of every class."""

    beta: float

    key: ClassVar[str] = "beta_likeness"
    symbol: ClassVar[str] = "beta"
    at_least: ClassVar[bool] = False

    @property
    def bound(self) -> float:
        return self.beta

    @property
    def statistic(self) -> Statistic:
        return Statistic(Measure.GAIN, self.column)

    def describe(self) -> str:
        return f"beta = {self.beta:g} on {self.column!r}"
