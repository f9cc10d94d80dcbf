"""What an audit finds: counts of rows and people, and the risks that follow from them.

Everything here is derived from integers that SQL counted, so that it is exact and does not
depend on the number of threads. Nothing here holds a value of the table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class Sensitive:
    """What the classes tell about a sensitive column; NULL counts as a value.

    largest_share    the greatest share of one class that has the same value, over all classes:
                     what someone who finds a person's class learns with this probability
    fewest_values    the number of distinct values in the class that has the fewest
    """

    column: str
    largest_share: float
    fewest_values: int

    def to_dict(self) -> dict[str, float | int]:
        return {"largest_share": self.largest_share, "fewest_values": self.fewest_values}


@dataclass(frozen=True)
class Audit:
    """What is known of a table's classes over its quasi-identifiers.

    `by_people` is None without a subject; then every row is a person. `k`, `classes`, `sizes`
    and `risk` speak of people.
    """

    quasi: tuple[str, ...]
    subject: str | None
    by_rows: Spread
    by_people: Spread | None = None
    sensitive: tuple[Sensitive, ...] = field(default=())

    @property
    def spread(self) -> Spread:
        """The classes in people: distinct subjects, or rows where there is no subject."""
        return self.by_rows if self.by_people is None else self.by_people

    @property
    def rows(self) -> int:
        return self.by_rows.total

    @property
    def people(self) -> int:
        return self.spread.total

    @property
    def k(self) -> int:
        """People in the smallest class; 0 for an empty table."""
        return self.spread.k

    @property
    def classes(self) -> int:
        return self.spread.classes

    @property
    def sizes(self) -> tuple[ClassSize, ...]:
        return self.spread.sizes

    @property
    def risk(self) -> Risk:
        return self.spread.risk

    def to_dict(self) -> dict[str, Any]:
        """For JSON. With a subject, `by_rows` repeats the figures for rows."""
        document: dict[str, Any] = {
            "quasi": list(self.quasi),
            "subject": self.subject,
            "rows": self.rows,
            "people": self.people,
            **self.spread.to_dict(),
        }
        if self.by_people is not None:
            document["by_rows"] = self.by_rows.to_dict()
        document["sensitive"] = {each.column: each.to_dict() for each in self.sensitive}
        return document

    def described(self) -> list[tuple[str, str, str]]:
        """What to show a person: name, figure, meaning."""
        spread, risk = self.spread, self.risk
        unit, one = ("rows", "row") if self.by_people is None else ("people", "person")
        most = "expected share" if self.by_people is None else "at most the expected share"
        lines = [("rows", f"{self.rows:,}", "in the table")]
        if self.by_people is not None:
            lines.append(("people", f"{self.people:,}", f"distinct values of {self.subject!r}"))
        lines += [
            ("k", f"{self.k:,}", f"{unit} in the smallest class"),
            ("classes", f"{self.classes:,}", "distinct combinations of the quasi-identifiers"),
            ("largest class", f"{spread.largest:,}", unit),
            ("average class", f"{spread.average:,.1f}", unit),
            ("unique", f"{spread.unique.classes:,}", f"classes of a single {one}"),
            ("highest risk", f"{risk.highest:.2%}", "prosecutor: of the smallest class"),
            ("average risk", f"{risk.average:.2%}", f"prosecutor: over all {unit}"),
            ("above", f"{risk.above:.2%}", f"{unit} with a risk above {risk.threshold:g}"),
            ("marketer risk", f"{risk.marketer:.2%}", f"{most} of {unit} re-identified"),
        ]
        if self.by_people is not None:
            rows = self.by_rows
            lines += [
                ("k by rows", f"{rows.k:,}", "rows in the smallest class: not the privacy"),
                ("unique rows", f"{rows.unique.classes:,}", "rows that are alone in their class"),
                ("average by rows", f"{rows.risk.average:.2%}", "prosecutor: over all rows"),
            ]
        return lines

    def __str__(self) -> str:
        width = max(len(figure) for _, figure, _ in self.described())
        lines = [
            f"{name:<15} {figure:>{width}}  {meaning}" for name, figure, meaning in self.described()
        ]
        lines += [
            f"{each.column}: at most {each.largest_share:.2%} of a class share a value, at least "
            f"{each.fewest_values:,} distinct in every class"
            for each in self.sensitive
        ]
        return "\n".join(lines)


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
