"""δ-disclosure privacy: no class tells much more about any value than the whole source.

J. Brickell & V. Shmatikov, The cost of privacy: destruction of data-mining utility in anonymized
data publishing, KDD 2008. |ln (p_v / q_v)| < δ for every value v of the source, so every class
has every value. The ratio of a mixture lies between those of its parts: monotone under
generalization, except where a person may have rows in both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlanon.privacy.model import Measure, Model, Statistic


@dataclass(frozen=True)
class DeltaDisclosure(Model):
    """|ln (p_v / q_v)| < δ for every value of the source, in every class."""

    delta: float

    key: ClassVar[str] = "delta_disclosure"
    symbol: ClassVar[str] = "delta"
    at_least: ClassVar[bool] = False
    strict: ClassVar[bool] = True

    @property
    def bound(self) -> float:
        return self.delta

    @property
    def statistic(self) -> Statistic:
        return Statistic(Measure.RATIO, self.column)

    def describe(self) -> str:
        return f"delta = {self.delta:g} on {self.column!r}"
