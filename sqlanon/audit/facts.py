"""What an audit finds.

Everything here is derived from integers that SQL counted. Nothing here holds a value of the table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlanon.audit.class_sizes import ClassSize, Journalist, Risk, Spread, Uniques
from sqlanon.audit.sensitive_values import Sensitive, finite, settled
from sqlanon.privacy import Model, Reached, figures
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
    """What is known of a table's classes over its quasi-identifiers.

    `by_people` is None without a subject; then every row is a person. `k`, `classes`, `sizes`
    and `risk` speak of people. `journalist` is there where a population was given, and `uniques`
    where its size is known.
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
        """What the table reaches of a model that it was audited for."""
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
