"""The sizes of classes in rows and people, and the risks that follow from them.

Everything here is derived from integers that SQL counted, so that it is exact and does not
depend on the number of threads. Nothing here holds a value of the table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, order=True)
class ClassSize:
    """How many classes have one size, and how many rows are in them.

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
    marketer   the share of all records that someone who matches them all expects to match
               rightly: classes / rows. Over people it is at most classes / people, and 1
    """

    threshold: float
    highest: float
    average: float
    above: float
    marketer: float

    def to_dict(self) -> dict[str, float]:
        return {
            "threshold": self.threshold,
            "highest": self.highest,
            "average": self.average,
            "above": self.above,
            "marketer": self.marketer,
        }


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
        """The size of the smallest class; 0 where there is none."""
        return self.sizes[0].size if self.sizes else 0

    @property
    def largest(self) -> int:
        return self.sizes[-1].size if self.sizes else 0

    @property
    def classes(self) -> int:
        return sum(each.classes for each in self.sizes)

    @property
    def average(self) -> float:
        """The mean size of a class; 0 where there is none."""
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
            "sizes": [
                {"size": each.size, "classes": each.classes, "rows": each.rows}
                for each in self.sizes
            ],
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
