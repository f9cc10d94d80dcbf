"""The keys of a policy file and what each may hold. docs/policy.md describes them for users."""

from __future__ import annotations

import datetime as dt
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sqlanon.model import Family

Scalar = bool | int | float | dt.datetime | dt.date | str


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

    character: Annotated[str, Field(min_length=1, max_length=1)] = "*"
    side: Annotated[Literal["right", "left"], Field(alias="from")] = "right"


class HierarchySection(Section):
    """A hierarchy that is built over the values of the column, or read from a table."""

    intervals: Annotated[list[int | float], Field(min_length=1)] | None = None
    origin: int | float = 0
    mask: MaskSection | None = None
    date: Annotated[list[str], Field(min_length=1)] | None = None
    table: str | None = None

    @model_validator(mode="after")
    def _one_builder(self) -> HierarchySection:
        given = [k for k in ("intervals", "mask", "date", "table") if getattr(self, k) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none of them"
            raise ValueError(f"give one of intervals, mask, date and table, not {found}")
        return self


class ColumnSection(Section):
    """One column. All keys but `role` are for quasi-identifiers."""

    role: Role
    weight: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0
    family: Family | None = None
    values: Annotated[list[Scalar | None], Field(min_length=1)] | None = None
    range: tuple[Scalar, Scalar] | None = None
    granularity: int | float | str | None = None
    hierarchy: str | HierarchySection | None = None

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

    k: Annotated[int, Field(ge=1)]


class PreferenceSection(Section):
    """The loss and bias that would still be welcome."""

    nwp: Annotated[float, Field(ge=0, le=1)]
    necd: Annotated[float, Field(ge=0, le=1)]


class SuppressionSection(Section):
    """How many rows may be left out instead of generalizing everything more."""

    limit: Annotated[float, Field(ge=0, le=1)] = 0.0


class PolicySection(Section):
    """The whole file."""

    source: SourceSection = SourceSection()
    columns: Annotated[dict[str, ColumnSection], Field(min_length=1)]
    others: Others = Others.REFUSE
    subject: str | None = None
    one_row_per_person: bool = False
    privacy: PrivacySection | None = None
    preference: PreferenceSection | None = None
    suppression: SuppressionSection = SuppressionSection()

    @model_validator(mode="after")
    def _people(self) -> PolicySection:
        if (self.subject is None) == (not self.one_row_per_person):
            raise ValueError(
                "say whose rows these are: either `subject: COLUMN`, the column that names the "
                "person a row is about, or `one_row_per_person: true`"
            )
        if not any(c.role is Role.QUASI for c in self.columns.values()):
            raise ValueError("no column has the role quasi; there is nothing to generalize")
        labels = [name for name, c in self.columns.items() if c.role is Role.LABEL]
        if len(labels) > 1:
            raise ValueError(f"at most one column can be the label, not {' and '.join(labels)}")
        if self.suppression.limit and self.privacy is None:
            raise ValueError("a suppression limit needs privacy.k: rows of smaller classes go")
        weights = [c.weight for c in self.columns.values() if c.role is Role.QUASI]
        if not sum(weights):
            raise ValueError("all weights are 0; at least one quasi-identifier needs weight")
        return self
