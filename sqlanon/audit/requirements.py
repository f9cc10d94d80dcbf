"""What a table may be required to fulfil, and the verdict.

k-anonymity is counted by every audit. Any other privacy model is a statement of its own (package
privacy); what the audited table reaches of it is in the Audit, if the model was given to it.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sqlanon.audit.facts import Audit
from sqlanon.errors import CheckError
from sqlanon.privacy import TOLERANCE, Model
from sqlanon.wording import counted


class Requirement(Protocol):
    """A condition on an audited table."""

    @property
    def name(self) -> str:
        """The privacy model, as policies name it."""

    def describe(self) -> str:
        """What is required, in words."""

    def holds(self, audit: Audit) -> bool:
        """Whether the audited table fulfils it."""

    def violation(self, audit: Audit) -> str:
        """By how much it does not, in counts and never in values."""


@dataclass(frozen=True)
class KAnonymity:
    """Every class has at least k people. An empty table fails: it shows nothing."""

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

    An empty table fails: it shows nothing.
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


@dataclass(frozen=True, repr=False)
class CheckResult:
    """An audit with the verdict on what was required; nothing required, nothing violated."""

    audit: Audit
    required: tuple[Requirement, ...] = ()

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
        """One line a requirement, each with its outcome."""
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


def judge(audit: Audit, requirements: Sequence[Requirement]) -> CheckResult:
    """The verdict on an audited table."""
    return CheckResult(audit, tuple(requirements))
