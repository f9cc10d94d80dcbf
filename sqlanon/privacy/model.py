"""What a privacy model is: a number that every class reaches, and a bound on it.

The modules beside this one state the models, one paper each. They say what is to be measured;
how it is measured is written three times and on purpose: for searches (evaluate), for the SQL
of a release (compile) and for the audit of the released table (verify).

All models speak of the classes of a release. c_v is how many people of a class have the
sensitive value v, n = Σ c_v and p_v = c_v / n; q_v is the same share in the whole source. NULL
is a value like any other. Where a subject has several rows, a person counts once for every
value that the person has in the class. The classes that are suppressed do not count, and they
stay in the q_v.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sqlanon.errors import PrivacyError

Floats = npt.NDArray[np.float64]

TOLERANCE = 1e-9
"""Numbers that are no farther apart count as equal, so that the order of a sum cannot decide
whether a bound is met. What is compared is never rounded: a tie could go either way."""

DIGITS = 9
"""Reports round numbers that are not whole to so many digits behind the point. The last one may
differ where two reports speak of the same table."""


class Measure(StrEnum):
    """What can be measured of a class."""

    POPULATION = "population"
    """People of the population who fit the class."""
    DISTINCT = "distinct"
    """The number of distinct values."""
    PERPLEXITY = "perplexity"
    """exp(−Σ p_v ln p_v), the number of equally frequent values with that entropy."""
    RECURSIVE = "recursive"
    """r_1 / (r_l + … + r_m), the c_v being r_1 ≥ r_2 ≥ …; infinite for fewer than l values."""
    EQUAL_DISTANCE = "equal"
    """Σ |p_v − q_v| / 2: the earth mover's distance where all values are equally far apart."""
    ORDERED_DISTANCE = "ordered"
    """Σ_i |Σ_{j≤i} (p_j − q_j)| / (m − 1) over the m values in order; 0 for a single one."""
    HIERARCHICAL_DISTANCE = "hierarchical"
    """The earth mover's distance where two values are as far apart as the height of their
    lowest common ancestor, in parts of the height of the tree."""
    GAIN = "gain"
    """The greatest (p_v − q_v) / q_v."""
    RATIO = "ratio"
    """The greatest |ln (p_v / q_v)| over all values of the source; infinite where one of them
    is missing."""
    SHARE = "share"
    """The greatest c_v / people of the class."""

    @property
    def is_whole(self) -> bool:
        """Whether it counts something."""
        return self in (Measure.POPULATION, Measure.DISTINCT)


@dataclass(frozen=True)
class Statistic:
    """A measure of one column; `top` is l of RECURSIVE."""

    measure: Measure
    column: str | None
    top: int = 0


@dataclass(frozen=True)
class Model(ABC):
    """A privacy model for one sensitive column (None: it needs none).

    key               how policies name it
    symbol            the letter of its bound, for the heads of tables
    at_least          whether the reached number must be at least the bound, or at most
    strict            whether the bound itself is not enough
    monotone          whether classes that satisfy it satisfy it after a merge
    monotone_by_subject  the same where a person may have rows in both
    """

    column: str | None

    key: ClassVar[str]
    symbol: ClassVar[str]
    at_least: ClassVar[bool]
    strict: ClassVar[bool] = False
    monotone: ClassVar[bool] = True
    monotone_by_subject: ClassVar[bool] = False

    def __post_init__(self) -> None:
        # Nothing that is reached is below 0, and what is nearly 0 counts as equal to it.
        if self.strict and not self.at_least and not self.bound > TOLERANCE:
            raise PrivacyError(
                f"{self.key}.{self.symbol} is {self.bound:g}, and no class stays below that; "
                "give a number above 1e-9"
            )

    @property
    @abstractmethod
    def bound(self) -> float:
        """What is compared with the reached number."""

    @property
    @abstractmethod
    def statistic(self) -> Statistic:
        """What is measured of every class."""

    @abstractmethod
    def describe(self) -> str:
        """What is required, in words."""

    @property
    def limit(self) -> float:
        """The bound, moved to where numbers end to count as equal to it.

        It is compared as the bound would be. The sum is one of decimals: 0.2 + 1e-9 is written
        0.200000001.
        """
        if self.statistic.measure.is_whole:
            return self.bound
        is_lower = self.at_least is not self.strict
        moved = Decimal(repr(-TOLERANCE if is_lower else TOLERANCE))
        return float(Decimal(repr(float(self.bound))) + moved)

    def holds(self, reached: float) -> bool:
        """Whether a class, or the worst of all, satisfies the model."""
        return not self.violated(np.array([reached]))[0]

    def violated(self, reached: Floats) -> npt.NDArray[np.bool_]:
        """Which of the reached numbers do not satisfy the model."""
        limit = self.limit
        if self.at_least:
            return np.asarray(reached <= limit if self.strict else reached < limit)
        return np.asarray(reached >= limit if self.strict else reached > limit)

    def shortfall(self, reached: Floats) -> Floats:
        """What is missing to the bound, on the model's own scale; at most 0 where it holds."""
        missing = self.bound - reached if self.at_least else reached - self.bound
        missing = np.round(missing, DIGITS)
        return np.where(
            self.violated(reached), np.maximum(missing, TOLERANCE), np.minimum(missing, 0.0)
        )

    def worst(self) -> float:
        """What no class can fall short of: the reached number of a table without a class."""
        return 0.0 if self.at_least else np.inf
