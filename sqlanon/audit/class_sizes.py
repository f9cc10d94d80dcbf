"""The sizes of classes in rows and people, and the risks that follow from them: for the people of
the table, and with regard to the population that it is a sample of.

Everything here is derived from integers that SQL counted, so that it is exact and does not
depend on the number of threads. Nothing here holds a value of the table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sqlanon.errors import CheckError

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, order=True)
class ClassSize:
    """The number of classes of one size, and of the rows in them.

    `size` counts rows or people, whatever the classes are measured in.
    """

    size: int
    classes: int
    rows: int


@dataclass(frozen=True)
class Risk:
    """The risk that a record is re-identified by someone who knows its quasi-identifiers.

    highest    that of a record in the smallest class: 1 / k
    average    the mean of 1 / class size over rows; over people, of 1 / the person's smallest
               class
    above      the share of rows, or of people, whose risk is above `threshold`
    marketer   the expected share of correct matches if someone matches all records: classes /
               rows. Over people it is at most classes / people, and 1
    """

    threshold: float
    highest: float
    average: float
    above: float
    marketer: float

    def to_dict(self) -> dict[str, float]:
        return asdict(self)


@dataclass(frozen=True)
class Spread:
    """The classes of a table, measured in rows or in people.

    `total` is the number of rows, or of people. A person with rows in several classes counts
    in each of them, but only once in `total`. `sizes` ascends.
    """

    total: int
    sizes: tuple[ClassSize, ...]
    risk: Risk

    @property
    def k(self) -> int:
        """The size of the smallest class; 0 without classes."""
        return self.sizes[0].size if self.sizes else 0

    @property
    def largest(self) -> int:
        return self.sizes[-1].size if self.sizes else 0

    @property
    def classes(self) -> int:
        return sum(each.classes for each in self.sizes)

    @property
    def average(self) -> float:
        """The mean size of a class; 0 without classes."""
        members = sum(each.size * each.classes for each in self.sizes)
        return members / self.classes if self.sizes else 0.0

    @property
    def unique(self) -> ClassSize:
        """The classes of one row or person, and the rows in them."""
        return self.sizes[0] if self.k == 1 else ClassSize(1, 0, 0)

    def below(self, k: int) -> ClassSize:
        """The classes smaller than k and the rows in them, as if they had one size."""
        small = [each for each in self.sizes if each.size < k]
        return ClassSize(k, sum(s.classes for s in small), sum(s.rows for s in small))

    def to_dict(self) -> dict[str, Any]:
        return {
            "k": self.k,
            "classes": self.classes,
            "largest": self.largest,
            "average": self.average,
            "unique": {"classes": self.unique.classes, "rows": self.unique.rows},
            "sizes": [asdict(each) for each in self.sizes],
            "risk": self.risk.to_dict(),
        }


def spread_of_rows(sizes: Sequence[ClassSize], threshold: float) -> Spread:
    """The classes measured in rows: every row is in exactly one."""
    ordered = tuple(sorted(sizes))
    total = sum(each.rows for each in ordered)
    people = [(each.size, each.rows) for each in ordered]
    return Spread(total, ordered, _risk(people, sum(s.classes for s in ordered), threshold))


def spread_of_people(
    sizes: Sequence[ClassSize], smallest: Sequence[tuple[int, int]], threshold: float
) -> Spread:
    """The classes measured in people; `smallest` has (size, people whose smallest class it is)."""
    ordered = tuple(sorted(sizes))
    total = sum(people for _, people in smallest)
    return Spread(total, ordered, _risk(smallest, sum(s.classes for s in ordered), threshold))


def _risk(records: Sequence[tuple[int, int]], classes: int, threshold: float) -> Risk:
    """The risk of records that are given as (size of the class, number of records)."""
    total = sum(number for _, number in records)
    if not total:
        return Risk(threshold, 0.0, 0.0, 0.0, 0.0)
    return Risk(
        threshold,
        highest=1 / min(size for size, _ in records),
        # fsum, so that the rounding does not depend on the order in which an engine answers.
        average=math.fsum(number / size for size, number in records) / total,
        above=sum(number for size, number in records if 1 / size > threshold) / total,
        marketer=min(1.0, classes / total),
    )


@dataclass(frozen=True)
class Journalist:
    """The re-identification risk from someone who does not know whether a person is in the table.

    That attacker must choose among all people of the population who match the class. Records are
    the rows, or with a subject the people of every class. A class that matches no one in the
    population counts with a risk of 1.

    k          people of the population in the class that matches the fewest
    unmatched  classes that match no one in the population
    highest, average, above
               of the records: the highest and mean risk, the share of those above the threshold
    marketer   Σ records / people of the population in the class, divided by the records of the
               table: the expected share of correct matches if all are matched
    uniques    classes that match exactly one person of the population
    """

    k: int
    unmatched: int
    highest: float
    average: float
    above: float
    marketer: float
    uniques: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "k_map": self.k,
            "unmatched": self.unmatched,
            "highest": self.highest,
            "average": self.average,
            "above": self.above,
            "marketer": self.marketer,
        }

    def described(self, threshold: float) -> Iterator[tuple[str, str, str]]:
        yield "k-map", f"{self.k:,}", "people of the population in the smallest class"
        if self.unmatched:
            yield "  unmatched", f"{self.unmatched:,}", "classes that nobody of it fits"
        yield "journalist risk", f"{self.highest:.2%}", "highest: 1 / k-map"
        yield "  average", f"{self.average:.2%}", "journalist: over all records"
        yield "  above", f"{self.above:.2%}", f"records with a journalist risk above {threshold:g}"
        yield "  marketer", f"{self.marketer:.2%}", "expected share, among the population"


@dataclass(frozen=True)
class Uniques:
    """The people who are alone in a class: in the table, and by an estimate in the population.

    sample           classes of one person in the table
    population_size  people of the population
    estimated        how many people are alone in the population, by `zayatz`
    counted          classes of the table that one person of a given population fits
    """

    sample: int
    population_size: int
    estimated: float
    counted: int | None = None

    def to_dict(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "population_size": self.population_size,
            "estimated": self.estimated,
        }
        return document | ({} if self.counted is None else {"counted": self.counted})

    def described(self) -> Iterator[tuple[str, str, str]]:
        among = f"estimate: alone among {self.population_size:,} people (Zayatz)"
        yield "uniques", f"{self.estimated:,.1f}", among
        if self.counted is not None:
            yield "  counted", f"{self.counted:,}", "classes that one person of it fits"


@dataclass(frozen=True)
class Matched:
    """By class of the audited table its rows, its people, and people of the population.

    `size` is the number of people in the whole population.
    """

    rows: Ints
    people: Ints
    population: Ints
    size: int


def journalist(matched: Matched, records: int, threshold: float) -> Journalist:
    """`records` are the rows of the table, or its people, who may be in several classes."""
    if not records:
        return Journalist(0, 0, 0.0, 0.0, 0.0, 0.0, 0)
    fitting = matched.population
    risks = 1 / np.maximum(fitting, 1)
    members = int(matched.people.sum())
    expected = math.fsum((matched.people * risks).tolist())
    return Journalist(
        int(fitting.min()),
        int(np.count_nonzero(fitting == 0)),
        float(risks.max()),
        expected / members,
        int(matched.people[risks > threshold].sum()) / members,
        min(1.0, expected / records),
        int(np.count_nonzero(fitting == 1)),
    )


def uniques(spread: Spread, population_size: int, counted: int | None = None) -> Uniques:
    """Sample uniques, and population uniques as far as they can be estimated from them."""
    if population_size < spread.total:
        raise CheckError(
            f"the population has {population_size:,} people, and the table {spread.total:,}; a "
            "population holds at least the people of the table"
        )
    estimated = zayatz(spread.sizes, spread.total, population_size)
    return Uniques(spread.unique.classes, population_size, estimated, counted)


def zayatz(sizes: Iterable[ClassSize], sample: int, population: int) -> float:
    """The estimated number of people who are alone in their class of the population.

    L. Zayatz, Estimation of the number of unique population elements using a sample, Proceedings
    of the Survey Research Methods Section, American Statistical Association, 1991. Of u classes in
    a sample of n out of N people, u_i have i people. That a class of i people of the population
    has exactly one in the sample is hypergeometric,

        P(1 | i) = i · C(N − i, n − 1) / C(N, n)
                 = i · n / N · Π_{j=0}^{i−2} (N − n − j) / (N − 1 − j),

    and the sizes of classes in the population are taken to be distributed as in the sample, u_i /
    u. By Bayes a person who is unique in the sample is unique in the population with probability

        P = (u_1 / u) · P(1 | 1) / Σ_i (u_i / u) · P(1 | i),       P(1 | 1) = n / N.

    So u_1 · P of the sample are unique in the population, and in all of it u_1 · P · N / n.
    """
    numbers = {each.size: each.classes for each in sizes}
    alone = numbers.get(1, 0)
    if not alone:
        return 0.0
    largest = max(numbers)
    steps = np.arange(largest - 1, dtype=np.float64)
    left = np.maximum(population - sample - steps, 0)  # none can be left: C(N − i, n − 1) = 0
    with np.errstate(divide="ignore"):
        logarithms = np.log(left) - np.log(population - 1 - steps)
    products = np.exp(np.concatenate([[0.0], np.cumsum(logarithms)]))  # of i − 1 factors
    # The common factors 1 / u and n / N cancel out.
    single = math.fsum(number * size * products[size - 1] for size, number in numbers.items())
    return float(alone * alone / single * population / sample)
