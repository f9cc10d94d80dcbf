"""t-closeness: the sensitive values of every class are distributed as in the whole source.

N. Li, T. Li & S. Venkatasubramanian, t-closeness: privacy beyond k-anonymity and ℓ-diversity,
ICDE 2007. How far apart two distributions are is the earth mover's distance, which depends on
how far apart two values are: equally for all, by their order, or by a hierarchy. It is convex,
so a mixture is no farther away than the farthest of its parts: monotone under generalization,
except where a person may have rows in both parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from sqlanon.privacy.model import Measure, Model, Statistic


class Distance(StrEnum):
    """How far apart two sensitive values are."""

    EQUAL = "equal"
    ORDERED = "ordered"
    HIERARCHICAL = "hierarchical"


@dataclass(frozen=True)
class Closeness(Model):
    """The distance of every class from the whole source is at most t."""

    t: float
    distance: Distance

    key: ClassVar[str] = "t_closeness"
    symbol: ClassVar[str] = "t"
    at_least: ClassVar[bool] = False

    @property
    def bound(self) -> float:
        return self.t

    @property
    def statistic(self) -> Statistic:
        return Statistic(Measure(self.distance.value), self.column)

    def describe(self) -> str:
        return f"t = {self.t:g} ({self.distance} distance) on {self.column!r}"
