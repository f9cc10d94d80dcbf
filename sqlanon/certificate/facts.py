"""What a certificate is made from: plain facts that the caller has counted or knows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sqlanon.errors import CertificateError
from sqlanon.model import Mode
from sqlanon.verify import Audit, ColumnGroups, Finding


class Treatment(StrEnum):
    """What became of a column."""

    REMOVED = "removed"
    PSEUDONYM = "pseudonym"
    GENERALIZED = "generalized"
    VERBATIM = "verbatim"


@dataclass(frozen=True)
class ColumnFact:
    """A column of the source and what became of it.

    name         its name in the source
    role         its role, as policies write it
    treatment    what became of it
    released_as  its names in the release: none when removed, two with `output: bounds`

    Of generalized columns:

    groups       how many groups its partition has
    values       how many atoms its domain has
    labels       how the groups are written, None for NULL
    released     counted in the release: the groups that occur there, and the share of the rows
                 that are in the largest
    loss         the share of it that is lost over all rows of the source, from 0 to 1: the mean
                 of (|g|−1) / (|Σ|−1), where a suppressed row counts 1

    Of columns that are released as they are, and of pseudonyms:

    accepted     why that is accepted in spite of a finding
    stable       whether the same pseudonyms occur in other releases
    """

    name: str
    role: str
    treatment: Treatment
    released_as: tuple[str, ...] = ()
    groups: int | None = None
    values: int | None = None
    labels: tuple[str | None, ...] = ()
    loss: float | None = None
    accepted: str | None = None
    stable: bool = False
    released: ColumnGroups | None = None

    def __post_init__(self) -> None:
        where = f"certificate: column {self.name!r}"
        if (self.treatment is Treatment.REMOVED) != (not self.released_as):
            raise CertificateError(
                f"{where} is {self.treatment}, and released as {list(self.released_as)}"
            )
        numbers = (self.groups, self.values, self.loss)
        given = [number is not None for number in numbers]
        if any(given) != (self.treatment is Treatment.GENERALIZED) or any(given) != all(given):
            raise CertificateError(
                f"{where} is {self.treatment}; groups, values and loss are for generalized "
                "columns, all three of them"
            )
        if self.loss is not None and not 0 <= self.loss <= 1:
            raise CertificateError(f"{where} has the loss {self.loss}; it is a share, 0 to 1")


@dataclass(frozen=True)
class Subgroup:
    """The rows of the source with one label in one released quasi-identifier.

    `left_out` of its `rows` were suppressed for the sake of privacy.
    """

    column: str
    label: str | None
    rows: int
    left_out: int


@dataclass(frozen=True)
class SuppressionFact:
    """The rows whose quasi-identifiers are not in the release, and whom they speak of.

    rows       rows of classes that were too small, or that violate a model
    limit      the share of all rows that the policy allows for this
    marked     whether these rows are in the release with a marker in every quasi-identifier
               instead of being left out
    unseen     rows left out because they hold values that the scheme does not know
    subgroups  by released quasi-identifier and label how many rows were suppressed; none where
               that was not counted
    """

    rows: int = 0
    limit: float = 0.0
    marked: bool = False
    unseen: int = 0
    subgroups: tuple[Subgroup, ...] = ()

    @property
    def left_out(self) -> int:
        """Rows of the source that are not in the release."""
        return self.unseen + (0 if self.marked else self.rows)


@dataclass(frozen=True)
class HomogeneityFact:
    """Sensitive columns that no model is for, and why that is accepted."""

    columns: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Prior:
    """An earlier release into the same target, as its certificate states it."""

    release: str
    time: dt.datetime
    hash: str
    k: int


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Everything that a certificate states about one release.

    release         the release's own name, which no other release has. It is passed on, like the
                    names of columns and the reasons in `accepted`; other names are not
    time            when it was published, with a time zone
    versions        of the programs that made it, by name, such as sqlanon, duckdb and python
    policy          the policy's fingerprint
    policy_origin   where the policy was read from; None when it was not a file
    scheme          the scheme's fingerprint
    source, target  their names, as people know them
    source_people   distinct subjects in the source; the same as its rows without a subject
    subject         the source's column that names people; None for one row per person
    columns         every column of the source, in its order
    required_k      what the release must have
    policy_k        what the policy requires, where that is less
    audit           of the published rows, over the released quasi-identifiers, with the
                    sensitive columns that are released and every model that is required
    homogeneity     None where a model is for every sensitive column
    scores          by name as in docs/scores.md; names that are not known here are passed over
    preference      `nwp` and `necd` of the policy's preference
    unique_rows     rows whose combination over all released columns nobody else has
    prior           earlier releases into the target, newest first: `chain()` of its certificate
    table_hash      verify.table_hash over the released columns in their order
    sql             the statements that made the release
    """

    release: str
    time: dt.datetime
    versions: Mapping[str, str]
    policy: str
    policy_origin: str | None = None
    scheme: str
    source: str
    source_rows: int
    source_people: int
    target: str
    mode: Mode
    subject: str | None
    columns: tuple[ColumnFact, ...]
    required_k: int
    policy_k: int | None = None
    audit: Audit
    homogeneity: HomogeneityFact | None = None
    scores: Mapping[str, int | float | None]
    preference: Mapping[str, float] | None = None
    suppression: SuppressionFact = field(default_factory=SuppressionFact)
    unique_rows: int = 0
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    prior: tuple[Prior, ...] = ()
    table_hash: str
    sql: str

    def __post_init__(self) -> None:
        """Refuses facts that contradict one another, so that no certificate does."""
        if problems := self._problems():
            raise CertificateError(f"certificate: {'; '.join(problems)}")

    def _problems(self) -> list[str]:
        problems = []
        if self.time.tzinfo is None:
            problems.append(f"the time {self.time} has no time zone")
        if self.audit.k < self.required_k:
            problems.append(
                f"k is {self.audit.k:,}, required {self.required_k:,}; such a release has none"
            )
        problems += [
            f"{each.model.describe()} is required and does not hold; such a release has none"
            for each in self.audit.models
            if not each.holds
        ]
        expected = self.source_rows - self.suppression.left_out
        if self.audit.rows != expected:
            problems.append(
                f"{self.source_rows:,} rows of the source without the "
                f"{self.suppression.left_out:,} left out are {expected:,}, but "
                f"{self.audit.rows:,} were released"
            )
        quasi = [
            name
            for column in self.columns
            if column.treatment is Treatment.GENERALIZED
            for name in column.released_as
        ]
        if set(quasi) != set(self.audit.quasi):
            problems.append(
                f"the classes were counted over {', '.join(self.audit.quasi)}, but the "
                f"generalized columns are {', '.join(quasi) or 'none'}"
            )
        if (self.subject is None) != (self.audit.by_people is None):
            problems.append("the subject and the audit disagree on whether people were counted")
        return problems
