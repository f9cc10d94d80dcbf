"""What every class of a release must satisfy, and what people outside it are counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal, TypeVar

from pydantic import Field, model_validator

from sqlanon.policy.fields import Number, Section, Share, Whole, Words, about, refuse
from sqlanon.policy.places import SourceSection
from sqlanon.privacy import TOLERANCE, Distance

Positive = Annotated[Number, Field(gt=0)]
# For what classes must stay below: nearer to 0, a number counts as 0.
Above = Annotated[Number, Field(gt=TOLERANCE)]


class ForColumns(Section):
    """A model of some sensitive columns."""

    columns: Annotated[
        Annotated[list[str], Field(min_length=1)] | None,
        about("The sensitive columns that it is for. Unless given: all."),
    ] = None


class LDiversitySection(ForColumns):
    """Every class has several well-represented sensitive values."""

    kind: Annotated[
        Literal["distinct", "entropy", "recursive"], about("How well they are represented.")
    ] = "distinct"
    l: Annotated[Number, about("How many values.", ge=1)]  # noqa: E741
    c: Annotated[
        Above | None,
        about("Recursive only: the most frequent value occurs less than c times as often as "
              "those from the l-th on together.", "a number above 1e-9"),
    ] = None  # fmt: skip

    @model_validator(mode="after")
    def _consistent(self) -> LDiversitySection:
        refuse(self._problems())
        return self

    def _problems(self) -> Iterator[str]:
        if self.kind != "entropy" and self.l != int(self.l):
            yield f".l: found {self.l:g}, expected a whole number for kind {self.kind}"
        if self.kind == "recursive" and self.c is None:
            yield ".c: is missing; kind recursive needs it, such as c: 3"
        if self.kind != "recursive" and self.c is not None:
            yield f".c: is for kind recursive; the kind is {self.kind}"


class TClosenessSection(ForColumns):
    """The sensitive values of every class are distributed as in the whole source."""

    t: Annotated[Share, about("The greatest distance of the two distributions.")]
    distance: Annotated[
        Distance | None,
        about(
            "How far apart values are: equally, by their order, or by the column's hierarchy. "
            "Unless given: by the hierarchy where there is one, by order for numbers and dates, "
            "else equally."
        ),
    ] = None


class BetaLikenessSection(ForColumns):
    """No class makes a sensitive value much likelier than it is in the whole source."""

    beta: Annotated[Positive, about("The greatest (p − q) / q.", "a number above 0")]


class DeltaDisclosureSection(ForColumns):
    """No class tells much more about any sensitive value than the whole source."""

    delta: Annotated[
        Above, about("|ln (p / q)| stays below it for every value.", "a number above 1e-9")
    ]


class AlphaSection(ForColumns):
    """No sensitive value is too frequent in a class of at least k people."""

    alpha: Annotated[Share, about("The greatest share of a class with one value.")]


class HomogeneitySection(ForColumns):
    """Sensitive columns that are released without a model for them."""

    accept: Annotated[Words, about("Why that is accepted; stands in the certificate.")]


T = TypeVar("T")


class PrivacySection(Section):
    """What every class of the released table must satisfy."""

    k: Annotated[Whole, about("The least number of people in a class.", ge=1)]
    l_diversity: Annotated[
        LDiversitySection | list[LDiversitySection] | None,
        about("Several well-represented sensitive values in every class; several in a list."),
    ] = None
    t_closeness: Annotated[
        TClosenessSection | list[TClosenessSection] | None,
        about("Sensitive values distributed as in the whole source; several in a list."),
    ] = None
    beta_likeness: Annotated[
        BetaLikenessSection | list[BetaLikenessSection] | None,
        about("No sensitive value much likelier than in the whole source; several in a list."),
    ] = None
    delta_disclosure: Annotated[
        DeltaDisclosureSection | list[DeltaDisclosureSection] | None,
        about("No sensitive value much likelier or less likely; several in a list."),
    ] = None
    alpha_k: Annotated[
        AlphaSection | list[AlphaSection] | None,
        about("No sensitive value too frequent in a class; several in a list."),
    ] = None
    k_map: Annotated[
        Annotated[Whole, Field(ge=1)] | None,
        about("The least number of people of the population who fit a class; needs `population`."),
    ] = None
    homogeneity: Annotated[
        HomogeneitySection | None,
        about("Why sensitive columns without a model may be released."),
    ] = None

    def of_columns(self) -> dict[str, Sequence[ForColumns]]:
        """The sections that speak of sensitive columns, by key."""
        keys = ("l_diversity", "t_closeness", "beta_likeness", "delta_disclosure", "alpha_k")
        found: dict[str, Sequence[ForColumns]] = {key: listed(getattr(self, key)) for key in keys}
        return found | {"homogeneity": listed(self.homogeneity)}


def listed(given: T | list[T] | None) -> list[T]:
    """One section, several or none as a list."""
    if given is None:
        return []
    return given if isinstance(given, list) else [given]


class PopulationSection(SourceSection):
    """The people that the source's are a part of: a table with the same quasi-identifiers."""

    subject: Annotated[
        str | None,
        about("The column that names the person a row is about; unless given, rows are people."),
    ] = None

    @model_validator(mode="after")
    def _some_relation(self) -> PopulationSection:
        if self.table is None and self.query is None and self.file is None:
            raise ValueError("says no table, query or file to read; give one of them")
        return self
