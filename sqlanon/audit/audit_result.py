"""The results of an audit, the requirements on a table, and the verdict.

All results are derived from integers that SQL counted; nothing here holds a value of the table.
Every audit counts k-anonymity. The Audit holds what the table reaches in any other privacy model
(package privacy) that it was given.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from sqlanon.audit.class_sizes import ClassSize, Journalist, Risk, Spread, Uniques
from sqlanon.audit.sensitive_values import Sensitive, finite, settled
from sqlanon.errors import CheckError
from sqlanon.privacy import TOLERANCE, Model, Reached, figures
from sqlanon.wording import brief_list, counted


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
