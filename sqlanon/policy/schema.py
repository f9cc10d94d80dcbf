"""The keys of a policy file and what each may hold. docs/policy.md describes them for users."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, Strict, model_validator
from pydantic.fields import FieldInfo

from sqlanon.domain import CALENDAR_STEPS
from sqlanon.model import Family

Scalar = bool | int | float | dt.datetime | dt.date | str
# Strict, because `k: yes` and `k: "5"` are slips of the pen rather than numbers.
Flag = Annotated[bool, Strict()]
Whole = Annotated[int, Strict()]
Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]


def _says(allowed: str, **constraints: Any) -> FieldInfo:
    """A field whose messages say in these words what it may hold."""
    field: FieldInfo = Field(json_schema_extra={"allowed": allowed}, **constraints)
    return field


class Role(StrEnum):
    """What a column means for privacy."""

    IDENTIFYING = "identifying"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    LABEL = "label"
    INSENSITIVE = "insensitive"


class Others(StrEnum):
    """What becomes of columns that the policy does not name."""

    REFUSE = "refuse"
    DROP = "drop"
    INSENSITIVE = "insensitive"


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class SourceSection(Section):
    """Where the table is: on a connection, or in a file."""

    connection: str | None = None
    table: str | None = None
    query: str | None = None
    file: str | None = None

    @model_validator(mode="after")
    def _one_relation(self) -> SourceSection:
        given = [k for k in ("table", "query", "file") if getattr(self, k) is not None]
        if len(given) > 1:
            raise ValueError(f"give one of table, query and file, not {' and '.join(given)}")
        if self.file is not None and self.connection is not None:
            raise ValueError("a file needs no connection; leave one of the two out")
        return self


class MaskSection(Section):
    """Characters hidden one by one, such as 1234* and 123** of a zip code."""

    character: Annotated[str, _says("one character", min_length=1, max_length=1)] = "*"
    side: Annotated[Literal["right", "left"], Field(alias="from")] = "right"


class HierarchySection(Section):
    """A hierarchy that is built over the values of the column, or read from a table."""

    intervals: Annotated[list[Whole | Number], Field(min_length=1)] | None = None
    origin: Whole | Number = 0
    mask: MaskSection | None = None
    date: Annotated[list[str], Field(min_length=1)] | None = None
    table: str | None = None

    @model_validator(mode="after")
    def _one_builder(self) -> HierarchySection:
        given = [k for k in ("intervals", "mask", "date", "table") if getattr(self, k) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none of them"
            raise ValueError(f"give one of intervals, mask, date and table, not {found}")
        if self.intervals is None and "origin" in self.model_fields_set:
            raise ValueError("origin is for intervals; leave it out")
        return self


class ColumnSection(Section):
    """One column. All keys but `role` are for quasi-identifiers."""

    role: Role
    weight: Annotated[Number, Field(ge=0)] = 1.0
    family: Family | None = None
    values: Annotated[list[Scalar | None], Field(min_length=1)] | None = None
    range: Annotated[tuple[Scalar, Scalar] | None, _says("two values, [lowest, highest]")] = None
    granularity: Annotated[
        Whole | Number | str | None, _says(f"a number or one of {', '.join(CALENDAR_STEPS)}")
    ] = None
    hierarchy: Annotated[
        str | HierarchySection | None,
        _says("the name of a file, or one of the keys intervals, mask, date and table"),
    ] = None

    @model_validator(mode="after")
    def _consistent(self) -> ColumnSection:
        extra = sorted(self.model_fields_set - {"role"})
        if self.role is not Role.QUASI and extra:
            raise ValueError(f"{extra[0]} is for quasi-identifiers; the role is {self.role}")
        if self.values is not None and self.range is not None:
            raise ValueError("give the domain as values or as a range, not both")
        if (self.range is None) != (self.granularity is None):
            raise ValueError("range and granularity go together")
        if self.values is not None and isinstance(self.hierarchy, str):
            raise ValueError("the hierarchy file lists the domain already; leave values out")
        return self


class PrivacySection(Section):
    """What every class of the released table must satisfy."""

    k: Annotated[Whole, Field(ge=1)]


class PreferenceSection(Section):
    """The loss and bias that would still be welcome."""

    nwp: Annotated[Number, Field(ge=0, le=1)]
    necd: Annotated[Number, Field(ge=0, le=1)]


class SuppressionSection(Section):
    """How many rows may be left out instead of generalizing everything more."""

    limit: Annotated[Number, Field(ge=0, le=1)] = 0.0


class SearchSection(Section):
    """How solutions are searched. Settings that belong to another method are refused."""

    COMMON: ClassVar = frozenset({"method", "loss", "seed", "seconds", "patience"})

    method: Literal[
        "auto",
        "nsga2",
        "reference-direction",
        "genitor",
        "poka",
        "front",
        "exhaustive",
        "optimal",
    ] = "auto"
    loss: Literal["nwp", "glm", "dcn", "ce"] | None = None
    seed: Annotated[Whole, Field(ge=0)] = 1
    seconds: Annotated[Number, _says("a number above 0", gt=0)] | None = None
    patience: Annotated[Whole, Field(ge=1)] | None = None
    population: Annotated[Whole, Field(ge=2)] | None = None
    evaluations: Annotated[Whole, Field(ge=1)] | None = None
    crossover: Annotated[Number, Field(ge=0, le=1)] | Literal["new", "trad"] | None = None
    mutation: Annotated[Number, Field(ge=0, le=1)] | None = None
    block_mutation: Flag | None = None
    bias: Annotated[Number, Field(ge=1, le=2)] | None = None
    brood: Annotated[Whole, Field(ge=1)] | None = None
    allow_duplicates: Flag | None = None
    depth: Annotated[Whole, Field(ge=1)] | None = None
    past_plateaus: Flag | None = None
    exact: Annotated[Whole, Field(ge=0)] | None = None
    rounds: Annotated[Whole, Field(ge=1)] | None = None
    start: PreferenceSection | None = None
    points: Annotated[Whole, Field(ge=1)] | None = None


class PolicySection(Section):
    """The whole file."""

    source: SourceSection = SourceSection()
    columns: Annotated[
        dict[str, ColumnSection], _says("columns, such as age: {role: quasi}", min_length=1)
    ]
    others: Others = Others.REFUSE
    subject: str | None = None
    one_row_per_person: Flag = False
    privacy: PrivacySection | None = None
    preference: PreferenceSection | None = None
    suppression: SuppressionSection = SuppressionSection()
    search: SearchSection = SearchSection()

    @model_validator(mode="after")
    def _consistent(self) -> PolicySection:
        problems = [*self._about_people(), *self._about_columns()]
        if self.suppression.limit and self.privacy is None:
            problems.append(
                "suppression.limit: needs privacy.k, because rows of smaller classes are left out"
            )
        if problems:
            raise ValueError("\n".join(problems))
        return self

    def _about_people(self) -> Iterator[str]:
        if self.subject is not None and self.one_row_per_person:
            yield "subject: give either this or `one_row_per_person: true`, not both"
        if self.subject is None and not self.one_row_per_person:
            yield (
                "subject: say whose rows these are, either `subject: COLUMN`, the column that "
                "names the person a row is about, or `one_row_per_person: true`"
            )
        role = None if self.subject not in self.columns else self.columns[self.subject].role
        if role not in (None, Role.IDENTIFYING):
            yield (
                f"subject: {self.subject!r} tells people apart, so its role can only be "
                f"identifying, not {role}"
            )

    def _about_columns(self) -> Iterator[str]:
        weights = [c.weight for c in self.columns.values() if c.role is Role.QUASI]
        if not weights:
            yield "columns: no column has the role quasi, so there is nothing to generalize"
        elif not 0 < sum(weights) < math.inf:
            size = "too large" if sum(weights) else "all 0"
            yield f"columns: the weights are {size}; only their ratios matter, 1 is usual"
        labels = [name for name, c in self.columns.items() if c.role is Role.LABEL]
        if len(labels) > 1:
            named = " and ".join(map(repr, labels))
            yield f"columns: at most one column can be the label, not {named}"
