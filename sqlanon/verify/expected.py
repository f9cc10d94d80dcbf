"""What a staged release must be, and what came of the check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from sqlanon.engines import Source
from sqlanon.hierarchy import Hierarchy
from sqlanon.model import Value
from sqlanon.privacy import Model
from sqlanon.verify.audited import Audit
from sqlanon.verify.columns import Finding
from sqlanon.verify.population import Population
from sqlanon.verify.reference import Reference


@dataclass(frozen=True)
class Expected:
    """What a staged table must be.

    columns         the released columns, exactly these in this order
    k               people that every class must have at least
    quasi           by released column the values it may hold, None for NULL; None instead of a
                    set where the values cannot be listed
    source_rows     rows of the source
    most_left_out   rows of the source that may be missing or marked
    marker          what every quasi-identifier of a suppressed row holds, where such rows are
                    marked
    subject         the private column of the staged table that says whose a row is; without
                    one, every row is a person
    verbatim        the columns that are released as they are, sensitive ones too, with the
                    reason why that is accepted or None. A column that is neither here nor in
                    `quasi` counts as verbatim without a reason
    pseudonyms      those of them that hold pseudonyms, with whether these are the same in every
                    release
    keys            by column of pseudonyms the key that made them, which none of them may show
    named_by        the one of these columns that stands for the subject
    sensitive       the sensitive columns
    models          what every class must satisfy beside k
    hierarchies     by sensitive column, for the models that need one
    reference       by sensitive column, what the whole source holds; a column without one is
                    compared with the staged table as a whole
    population      for k-map: a population generalized by the same SQL, anywhere, or a relation on
                    the engine of the staged table
    population_subject  the column of the population that says whose a row is
    whole_population  the population before it was generalized, where people who fit no group are
                    not in the generalized one
    uncovered_sensitive  sensitive columns that no model covers; each is a problem unless there
                    is a reason in
    homogeneity     why such columns are accepted
    """

    columns: tuple[str, ...]
    k: int
    quasi: Mapping[str, frozenset[Value | None] | None]
    source_rows: int
    most_left_out: int
    subject: str | None = None
    verbatim: Mapping[str, str | None] = field(default_factory=dict)
    pseudonyms: Mapping[str, bool] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    named_by: str | None = None
    sensitive: tuple[str, ...] = ()
    marker: str | None = None
    models: tuple[Model, ...] = ()
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    reference: Mapping[str, Reference] = field(default_factory=dict)
    population: Source | exp.Expr | None = None
    population_subject: str | None = None
    whole_population: Population | None = None
    uncovered_sensitive: tuple[str, ...] = ()
    homogeneity: str | None = None


@dataclass(frozen=True)
class Verification:
    """What came of it: the release may go out only if there are no problems.

    audit        None where it could not be made; then there is a problem that says why
    left_out     rows of the source that are not in the table
    findings     by verbatim column what is wrong with it, accepted or not
    unique_rows  rows whose combination over all released columns nobody else has
    """

    audit: Audit | None
    left_out: int
    findings: Mapping[str, tuple[Finding, ...]]
    unique_rows: int
    warnings: tuple[str, ...]
    problems: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        return {
            "audit": None if self.audit is None else self.audit.to_dict(),
            "left_out": self.left_out,
            "findings": {
                name: [each.to_dict() for each in found] for name, found in self.findings.items()
            },
            "unique_rows": self.unique_rows,
            "warnings": list(self.warnings),
            "problems": list(self.problems),
            "holds": self.holds,
        }
