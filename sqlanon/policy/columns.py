"""The keys of a column: its role, its domain, and how it is released."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, model_validator

from sqlanon.domain import CALENDAR_STEPS
from sqlanon.model import Family, Form, Output
from sqlanon.policy.fields import Flag, Number, Scalar, Section, Whole, Words, about, refuse


class Role(StrEnum):
    """What a column means for privacy."""

    IDENTIFYING = "identifying"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    LABEL = "label"
    INSENSITIVE = "insensitive"
    PSEUDONYM = "pseudonym"


class MaskSection(Section):
    """Characters hidden one by one, such as 1234* and 123** of a zip code."""

    character: Annotated[
        str, about("What hidden characters become.", "one character", min_length=1, max_length=1)
    ] = "*"
    side: Annotated[
        Literal["right", "left"], about("The side that is hidden first.", alias="from")
    ] = "right"


class HierarchySection(Section):
    """A hierarchy that is built over the values of the column, or read from a table."""

    intervals: Annotated[
        Annotated[list[Whole | Number], Field(min_length=1)] | None,
        about("Widths of intervals, each a whole multiple of the one before."),
    ] = None
    origin: Annotated[Whole | Number, about("Where an interval begins; goes with `intervals`.")] = 0
    mask: Annotated[
        MaskSection | None, about("Text loses one character a level; {} takes the defaults.")
    ] = None
    date: Annotated[
        Annotated[list[str], Field(min_length=1)] | None,
        about("Steps of the calendar, finest first, such as [day, month, year]."),
    ] = None
    table: Annotated[
        str | None,
        about("A table on the source's connection: one row a value, one column a level."),
    ] = None

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
    """One column. Most keys are for quasi-identifiers; others say for which roles they are."""

    role: Annotated[Role, about("What the column means for privacy.")]
    weight: Annotated[
        Number, about("How much the loss of this column counts; only ratios matter.", ge=0)
    ] = 1.0
    family: Annotated[
        Family | None, about("Which partitions a search may use (quasi-identifiers).")
    ] = None
    values: Annotated[
        Annotated[list[Scalar | None], Field(min_length=1)] | None,
        about("The domain and its order; null may be among the values."),
    ] = None
    range: Annotated[
        tuple[Scalar, Scalar] | None,
        about(
            "The domain as intervals from lowest to highest; goes with `granularity`.",
            "two values, [lowest, highest]",
        ),
    ] = None
    granularity: Annotated[
        Whole | Number | str | None,
        about(
            "The width of one interval of the range.",
            f"a number or one of {', '.join(CALENDAR_STEPS)}",
        ),
    ] = None
    hierarchy: Annotated[
        str | HierarchySection | None,
        about(
            "The taxonomy of the column.",
            "the name of a file, or one of the keys intervals, mask, date and table",
        ),
    ] = None
    min_level: Annotated[
        Whole, about("The column is released at least as general as this level.", ge=0)
    ] = 0
    max_level: Annotated[
        Annotated[Whole, Field(ge=0)] | None,
        about("The column is never released more general than this level."),
    ] = None
    open_ends: Annotated[
        Flag | None,
        about(
            "Whether the outermost intervals are written without their outer ends, such as <20 "
            "and 85+. Unless given: where the domain is what the data hold."
        ),
    ] = None
    output: Annotated[
        Output,
        about(
            "How groups are written: as a label, or as numbers or dates (their lower end, their "
            "midpoint, or both ends in two columns); anything but label needs `range`."
        ),
    ] = Output.LABEL
    null_label: Annotated[
        Words | None, about("The text to release for NULL, which otherwise stays NULL.")
    ] = None
    form: Annotated[
        Form | None,
        about("How this generalization is written in SQL; unless given, as `publish.form` says."),
    ] = None
    stable: Annotated[
        Flag,
        about(
            "Pseudonyms only: the same ones in every release, which makes releases linkable; "
            "needs `key`."
        ),
    ] = False
    key: Annotated[
        str | None,
        about(
            "Stable pseudonyms only: the secret, at least 16 characters, normally a variable of "
            "the environment such as ${SQLANON_KEY}.",
            repr=False,
        ),
    ] = None
    accept: Annotated[
        Words | None,
        about(
            "Why a column that is near-unique, free text or contact-like may be released as it "
            "is (sensitive, label, insensitive and pseudonym)."
        ),
    ] = None

    @model_validator(mode="after")
    def _consistent(self) -> ColumnSection:
        refuse([*self._of_other_roles(), *self._about_the_domain(), *self._about_the_release()])
        return self

    def _of_other_roles(self) -> Iterator[str]:
        for key in type(self).model_fields:
            if key == "role" or key not in self.model_fields_set:
                continue
            whose, roles = _ROLES_OF.get(key, _QUASI_ONLY)
            if self.role not in roles:
                yield f"{key} is for {whose}; the role is {self.role}"

    def _about_the_domain(self) -> Iterator[str]:
        if self.values is not None and self.range is not None:
            yield "give the domain as values or as a range, not both"
        if (self.range is None) != (self.granularity is None):
            yield "range and granularity go together"
        if self.values is not None and isinstance(self.hierarchy, str):
            yield "the hierarchy file lists the domain already; leave values out"
        given = self.hierarchy
        if self.role is Role.SENSITIVE and isinstance(given, HierarchySection) and not given.table:
            yield (
                ".hierarchy: of a sensitive column is a file or a table; numbers and dates have "
                "an order that needs none"
            )
        if self.max_level is not None and self.min_level > self.max_level:
            yield (
                f"min_level {self.min_level} is above max_level {self.max_level}; lower the one "
                "or raise the other"
            )

    def _about_the_release(self) -> Iterator[str]:
        if self.role is Role.QUASI and self.output is not Output.LABEL:
            if self.range is None:
                yield (
                    f".output: {self.output} needs range and granularity, because the ends of "
                    "what the data hold would show the lowest and the highest person"
                )
            if self.null_label is not None:
                yield (
                    f".null_label: is text, and with output {self.output} the column holds "
                    "none; leave it out or take output label"
                )
        if self.role is not Role.PSEUDONYM:
            return
        if self.stable and self.key is None:
            yield (
                '.stable: needs key, such as key: "${SQLANON_KEY}", because the same pseudonyms '
                "come from the same secret"
            )
        if self.key is not None and not self.stable:
            yield (
                ".key: is for stable pseudonyms; leave it out, and every release takes a new "
                "secret that is then forgotten, or say stable: true"
            )


_QUASI_ONLY = ("quasi-identifiers", frozenset({Role.QUASI}))
_PSEUDONYMS = ("pseudonyms", frozenset({Role.PSEUDONYM}))
# Every other key is for quasi-identifiers.
_ROLES_OF = {
    "hierarchy": (
        "quasi-identifiers and sensitive columns",
        frozenset({Role.QUASI, Role.SENSITIVE}),
    ),
    "stable": _PSEUDONYMS,
    "key": _PSEUDONYMS,
    "accept": (
        "columns that are released as they are",
        frozenset({Role.SENSITIVE, Role.LABEL, Role.INSENSITIVE, Role.PSEUDONYM}),
    ),
}
