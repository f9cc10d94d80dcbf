"""ℓ-diversity: every class has several well-represented sensitive values.

A. Machanavajjhala, D. Kifer, J. Gehrke & M. Venkitasubramaniam, ℓ-diversity: privacy beyond
k-anonymity, ACM TKDD 1(1), 2007. All three readings are monotone under generalization (their
Theorems 4.1 and 4.2): a merge adds values, mixes shares, and an entropy of a mixture is no less
than the least of its parts. With several rows a person mixing is not adding up, so only the
number of distinct values keeps that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlanon.privacy.model import Measure, Model, Statistic


@dataclass(frozen=True)
class DistinctDiversity(Model):
    """At least l distinct values in every class."""

    l: int  # noqa: E741  (the letter of the paper)

    key: ClassVar[str] = "l_diversity"
    symbol: ClassVar[str] = "l"
    at_least: ClassVar[bool] = True
    monotone_by_subject: ClassVar[bool] = True

    @property
    def bound(self) -> float:
        return self.l

    @property
    def statistic(self) -> Statistic:
        return Statistic(Measure.DISTINCT, self.column)

    def describe(self) -> str:
        return f"distinct l = {self.l:,} on {self.column!r}"


@dataclass(frozen=True)
class EntropyDiversity(Model):
    """The entropy of every class is at least ln l; l need not be whole."""

    l: float  # noqa: E741

    key: ClassVar[str] = "l_diversity"
    symbol: ClassVar[str] = "entropy l"
    at_least: ClassVar[bool] = True

    @property
    def bound(self) -> float:
        return self.l

    @property
    def statistic(self) -> Statistic:
        return Statistic(Measure.PERPLEXITY, self.column)

    def describe(self) -> str:
        return f"entropy l = {self.l:g} on {self.column!r}"


@dataclass(frozen=True)
class RecursiveDiversity(Model):
    """Recursive (c, l)-diversity: r_1 < c (r_l + … + r_m) in every class."""

    c: float
    l: int  # noqa: E741

    key: ClassVar[str] = "l_diversity"
    symbol: ClassVar[str] = "c"
    at_least: ClassVar[bool] = False
    strict: ClassVar[bool] = True

    @property
    def bound(self) -> float:
        return self.c

    @property
    def statistic(self) -> Statistic:
        return Statistic(Measure.RECURSIVE, self.column, top=self.l)

    def describe(self) -> str:
        return f"recursive (c, l) = ({self.c:g}, {self.l:,}) on {self.column!r}"
