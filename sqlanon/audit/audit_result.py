"""The results of an audit, the requirements on a table, and the verdict.

All results are derived from integers that SQL counted; nothing here holds a value of the table.
Every audit counts k-anonymity. The Audit holds what the table reaches in any other privacy model
(package privacy) that it was given. The sizes of classes, in rows and in people, carry the risks
that follow from them: for the people of the table, and with regard to the population that it is a
sample of.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sqlanon.errors import CheckError
from sqlanon.privacy import DIGITS, TOLERANCE, AuditedColumn, Figure, Model, Reached, figures
from sqlanon.wording import brief_list, counted

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
    return spread_of_people(sizes, [(each.size, each.rows) for each in sizes], threshold)


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
            yield "  unmatched", f"{self.unmatched:,}", "classes without anyone from the population"
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


WHERE_NO_CLASS_IS = {"share": 0.0}
"""Figures of a table without a class, by unit; the others are as bad as can be."""


@dataclass(frozen=True)
class Sensitive:
    """The worst figures of a column's classes, one per `Figure` that a model declares.

    A figure is an attribute: `largest_share`, `fewest_values`, `entropy_l`, `recursive_c` (for
    l = 2), `t_equal`, `t_ordered`, `t_hierarchical`, `beta` and `delta`. NULL is a value. A figure
    that needs an order or a hierarchy of the values has the value None without one. It is infinite
    without a bound: if a class has only one value, or lacks one of the reference.
    """

    column: str
    figures: Mapping[str, float | None]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.figures[name]
        except KeyError:
            raise AttributeError(name) from None

    def stated(self) -> dict[str, float | None]:
        """The figures for JSON, which has no infinity."""
        return {name: finite(value) for name, value in self.figures.items()}

    def add_to(self, document: dict[str, Any]) -> None:
        """Writes the figures into the JSON of a check."""
        stated = self.stated()
        for figure in figures(self.column):
            for *path, last in figure.places:
                section = document
                for step in path:
                    section = section.setdefault(step.format(column=self.column), {})
                section[last.format(column=self.column)] = stated[figure.name]

    def described(self) -> list[tuple[str, str, str]]:
        """The rows of a report: name, figure ("" if missing), meaning."""
        return [
            (each.title, _shown(self.figures[each.name], each.unit), each.meaning)
            for each in figures(self.column)
        ]


def sensitive_figures(column: str, counted: AuditedColumn) -> Sensitive:
    """The figures of one column."""
    return Sensitive(column, {each.name: _worst(each, counted) for each in figures(column)})


def _worst(figure: Figure, counted: AuditedColumn) -> float | None:
    model = figure.model
    if model.needs_order and not counted.is_ordered:
        return None
    if model.needs_hierarchy and counted.hierarchy is None:
        return None
    if not counted.rows.size:
        return WHERE_NO_CLASS_IS.get(figure.unit, model.worst())
    reached = model.audited(counted)
    worst = float(np.min(reached) if model.at_least else np.max(reached))
    if figure.unit == "number":
        return settled(worst)
    return int(worst) if figure.unit == "count" else worst


def settled(value: float) -> float:
    """Rounded for reports; the digits behind depend on the order of a sum."""
    return round(value, DIGITS) + 0.0


def finite(value: float | None) -> float | None:
    """For JSON, which has no infinity."""
    return None if value is None or math.isinf(value) else value


def _shown(value: float | None, unit: str) -> str:
    """For people."""
    if value is None:
        return ""
    if unit == "share":
        return f"{value:.2%}"
    return (
        "unbounded" if math.isinf(value) else f"{value:,.4g}" if unit == "number" else f"{value:,}"
    )


@dataclass(frozen=True)
class AuditedModel(Reached):
    """A privacy model with the classes of a table that violate it.

    People in several of these classes count in each.
    """

    classes: int
    rows: int
    people: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "required": self.model.describe(),
            "reached": finite(settled(self.value)),
            "violating": {"classes": self.classes, "rows": self.rows, "people": self.people},
        }


@dataclass(frozen=True, repr=False)
class Audit:
    """The classes of a table over its quasi-identifiers, and their risks.

    Without a subject every row is a person and `by_people` is not set. `k`, `classes`, `sizes`
    and `risk` count people. `journalist` is set if a population was given, and `uniques` if its
    size is known.
    """

    quasi: tuple[str, ...]
    subject: str | None
    by_rows: Spread
    by_people: Spread | None = None
    sensitive: tuple[Sensitive, ...] = field(default=())
    models: tuple[AuditedModel, ...] = ()
    journalist: Journalist | None = None
    uniques: Uniques | None = None

    def __repr__(self) -> str:
        rows, classes = counted(self.rows, "row"), counted(self.classes, "class")
        return f"<Audit of {brief_list(self.quasi)}: {rows}, {classes}, k = {self.k:,}>"

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

    def reached(self, model: Model) -> AuditedModel:
        """What the table reaches in a model that it was audited for."""
        return next(each for each in self.models if each.model == model)

    def to_dict(self) -> dict[str, Any]:
        """For JSON. With a subject, `by_rows` repeats the figures for rows."""
        document: dict[str, Any] = {
            "quasi": list(self.quasi),
            "subject": self.subject,
            "rows": self.rows,
            "people": self.people,
            **self.spread.to_dict(),
        }
        document["risk"]["sample_uniques"] = self.spread.unique.classes
        if self.journalist is not None:
            document["risk"]["journalist"] = self.journalist.to_dict()
        if self.uniques is not None:
            document["risk"]["population_uniques"] = self.uniques.to_dict()
        if self.by_people is not None:
            document["by_rows"] = self.by_rows.to_dict()
        document |= {place[0]: {} for each in figures("") for place in each.places}
        for each in self.sensitive:
            each.add_to(document)
        return document | {"models": [each.to_dict() for each in self.models]}

    def described(self) -> list[tuple[str, str, str]]:
        """The rows of a report: name, figure, meaning."""
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
        if self.journalist is not None:
            lines += self.journalist.described(risk.threshold)
        if self.uniques is not None:
            lines += self.uniques.described()
        return lines

    def __str__(self) -> str:
        width = max(len(figure) for _, figure, _ in self.described())
        lines = [
            f"{name:<15} {figure:>{width}}  {meaning}" for name, figure, meaning in self.described()
        ]
        for each in self.sensitive:
            told = ", ".join(f"{name} {figure}" for name, figure, _ in each.described() if figure)
            lines.append(f"{each.column}: {told}")
        return "\n".join(lines)


@dataclass(frozen=True)
class KAnonymity:
    """Every class has at least k people. An empty table fails: it proves nothing."""

    k: int
    name: str = "k"

    def __post_init__(self) -> None:
        if self.k < 1:
            raise CheckError(f"k is {self.k}; give a whole number of at least 1")

    def describe(self) -> str:
        return f"k = {self.k:,}"

    def holds(self, audit: Audit) -> bool:
        return audit.k >= self.k

    def violation(self, audit: Audit) -> str:
        if not audit.rows:
            return f"the table has no rows, so k = {self.k:,} cannot be shown"
        small = audit.spread.below(self.k)
        unit = "rows" if audit.by_people is None else "people"
        classes = f"{small.classes:,} of {counted(audit.classes, 'class')}"
        return (
            f"k is {audit.k:,}, required {self.k:,}: {classes} have fewer than {self.k:,} {unit}; "
            f"{small.rows:,} of {counted(audit.rows, 'row')} are in them"
        )


@dataclass(frozen=True)
class Satisfies:
    """Every class satisfies a privacy model that the table was audited for.

    An empty table fails: it proves nothing.
    """

    model: Model

    @property
    def name(self) -> str:
        return self.model.key

    def describe(self) -> str:
        return self.model.describe()

    def holds(self, audit: Audit) -> bool:
        return audit.reached(self.model).holds

    def violation(self, audit: Audit) -> str:
        if not audit.rows:
            return f"the table has no rows, so {self.describe()} cannot be shown"
        reached = audit.reached(self.model)
        classes = f"{reached.classes:,} of {counted(audit.classes, 'class')}"
        return (
            f"{self.describe()}: the worst class has {self._said(reached.value)}; {classes} "
            f"violate it; {reached.rows:,} of {counted(audit.rows, 'row')} are in them"
        )

    def _said(self, value: float) -> str:
        """The number, with as many digits as it takes to differ from the bound."""
        if math.isinf(value):
            return "no bound"
        bound = self.model.bound
        if abs(value - bound) <= TOLERANCE:  # a strict one
            return f"{bound:g}, which is not below it"
        spellings = (f"{value:,.{digits}g}" for digits in range(4, 18))
        return next(text for text in spellings if float(text.replace(",", "")) != bound)


Requirement: TypeAlias = KAnonymity | Satisfies
"""A condition on an audited table: whether it holds, and by how much it does not, in counts."""


@dataclass(frozen=True, repr=False)
class CheckResult:
    """An audit with the verdict on the requirements; without any, nothing is violated."""

    audit: Audit
    required: Sequence[Requirement] = ()

    @property
    def holds(self) -> bool:
        return all(each.holds(self.audit) for each in self.required)

    @property
    def violations(self) -> tuple[str, ...]:
        return tuple(
            each.violation(self.audit) for each in self.required if not each.holds(self.audit)
        )

    @property
    def rows(self) -> int:
        return self.audit.rows

    @property
    def people(self) -> int:
        return self.audit.people

    @property
    def k(self) -> int:
        return self.audit.k

    @property
    def classes(self) -> int:
        return self.audit.classes

    def to_dict(self) -> dict[str, Any]:
        """The document that `sqlanon check --json` prints."""
        return {
            **self.audit.to_dict(),
            "required": [each.describe() for each in self.required],
            "holds": self.holds,
            "violations": list(self.violations),
        }

    def verdict(self) -> str:
        """One line per requirement, each with its outcome."""
        lines = []
        for each in self.required:
            holds = each.holds(self.audit)
            lines.append(
                f"{each.describe()} holds" if holds else f"fails: {each.violation(self.audit)}"
            )
        return "\n".join(lines)

    def __repr__(self) -> str:
        verdict = f", {counted(len(self.violations), 'violation')}" if self.required else ""
        return f"<CheckResult of {self.audit!r}{verdict}>"

    def __str__(self) -> str:
        return "\n".join(filter(None, [str(self.audit), self.verdict()]))

    def _repr_html_(self) -> str:
        cells = [[html.escape(each) for each in line] for line in self.audit.described()]
        rows = "".join(f"<tr><th>{a}</th><td>{b}</td><td>{c}</td></tr>" for a, b, c in cells)
        return f"<table>{rows}</table><p>{html.escape(self.verdict())}</p>"
