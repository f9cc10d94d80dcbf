"""k-map: every class is shared by at least k people of a population.

L. Sweeney, Computational disclosure control, PhD thesis, MIT 2001. The population is another
table with the same quasi-identifiers; the release may be a sample of it. Merging classes adds
their people up, so it is monotone under generalization.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlanon.privacy.model import Measure, Model, Statistic


@dataclass(frozen=True)
class KMap(Model):
    """At least k people of the population fit every class."""

    k: int

    key: ClassVar[str] = "k_map"
    symbol: ClassVar[str] = "k-map"
    at_least: ClassVar[bool] = True
    monotone_by_subject: ClassVar[bool] = True

    @property
    def bound(self) -> float:
        return self.k

    @property
    def statistic(self) -> Statistic:
        return Statistic(Measure.POPULATION, None)

    def describe(self) -> str:
        return f"k-map k = {self.k:,}"
