"""What would be welcome, what may be suppressed, and how solutions are searched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, ModelWrapValidatorHandler, model_validator

from sqlanon.model import BiasName, LossName, SuppressedRows
from sqlanon.policy.fields import Flag, Number, Section, Share, Whole, Words, about, refuse
from sqlanon.policy.methods import judged_by_method


class PreferenceSection(Section):
    """The loss and bias that would still be welcome: `nwp` and `necd`, or measures of choice."""

    nwp: Annotated[Share | None, about("Information loss (NWP) that would still be welcome.")] = (
        None
    )
    necd: Annotated[Share | None, about("Bias (NECD) that would still be welcome.")] = None
    loss: Annotated[LossName, about("The measure of loss; goes with `loss_at`.")] = LossName.NWP
    bias: Annotated[BiasName, about("The measure of bias; goes with `bias_at`.")] = BiasName.NECD
    loss_at: Annotated[
        Share | None, about("The loss that would still be welcome, in that measure.")
    ] = None
    bias_at: Annotated[
        Share | None, about("The bias that would still be welcome, in that measure.")
    ] = None

    @model_validator(mode="after")
    def _one_form(self) -> PreferenceSection:
        refuse([*self._about("loss", "nwp"), *self._about("bias", "necd")])
        return self

    def _about(self, what: str, short: str) -> Iterator[str]:
        at = f"{what}_at"
        given = [key for key in (short, at) if getattr(self, key) is not None]
        if not given:
            name = getattr(self, what)
            wanted = at if what in self.model_fields_set else short
            yield f".{wanted}: is missing; expected a number from 0 to 1, the {name} welcome"
        if len(given) == 2:
            yield f".{at}: says the same as {short}; leave one of the two out"
        if short in given and getattr(self, what) != short:
            yield f".{short}: is for {what}: {short}; give {at} for {getattr(self, what)}"

    @property
    def point(self) -> tuple[float, float]:
        """The welcome loss and bias, whichever way they are written."""
        loss = self.nwp if self.loss_at is None else self.loss_at
        bias = self.necd if self.bias_at is None else self.bias_at
        assert loss is not None
        assert bias is not None
        return loss, bias


class SuppressionSection(Section):
    """How many rows may be suppressed instead of generalizing everything more, and how."""

    limit: Annotated[
        Share, about("The share of all rows that may be suppressed; needs `privacy.k`.")
    ] = 0.0
    rows: Annotated[
        SuppressedRows,
        about(
            "Whether suppressed rows are left out, or released with the marker in every "
            "quasi-identifier."
        ),
    ] = SuppressedRows.LEAVE_OUT
    marker: Annotated[
        Words, about("What the quasi-identifiers of marked rows hold; goes with `rows: mark`.")
    ] = "(suppressed)"

    @model_validator(mode="after")
    def _consistent(self) -> SuppressionSection:
        if "marker" in self.model_fields_set and self.rows is not SuppressedRows.MARK:
            raise ValueError(".marker: goes with rows: mark; suppressed rows are left out")
        return self


class SearchSection(Section):
    """How solutions are searched. Settings that belong to another method are refused."""

    COMMON: ClassVar = frozenset({"method", "loss", "seed", "seconds", "patience"})

    method: Annotated[
        Literal[
            "auto",
            "nsga2",
            "reference-direction",
            "genitor",
            "poka",
            "front",
            "exhaustive",
            "optimal",
        ],
        about("The search."),
    ] = "auto"
    loss: Annotated[
        LossName | None,
        about("The loss that is minimized (genitor, poka, front, exhaustive, optimal)."),
    ] = None
    seed: Annotated[
        Whole, about("Where random numbers start; the same seed gives the same result.", ge=0)
    ] = 1
    seconds: Annotated[
        Annotated[Number, Field(gt=0)] | None,
        about("Ends the search with the best so far.", "a number above 0"),
    ] = None
    patience: Annotated[
        Annotated[Whole, Field(ge=1, le=1_000_000_000_000)] | None,
        about("Ends the search after so many steps without a better solution."),
    ] = None
    population: Annotated[
        Annotated[Whole, Field(ge=2, le=100_000)] | None,
        about("Schemes that are kept at a time (nsga2, genitor, reference-direction)."),
    ] = None
    evaluations: Annotated[
        Annotated[Whole, Field(ge=1, le=1_000_000_000_000)] | None,
        about(
            "Schemes to score, repeated ones included (auto, nsga2, genitor; for each reference "
            "point, reference-direction)."
        ),
    ] = None
    crossover: Annotated[
        Share | Literal["new", "new_strangers", "trad"] | None,
        about(
            "The chance that two parents exchange parts (nsga2, reference-direction), or the "
            "operator (genitor)."
        ),
    ] = None
    mutation: Annotated[
        Share | None,
        about(
            "The chance that a bit flips (nsga2, reference-direction), or the share of mutated "
            "offspring (genitor)."
        ),
    ] = None
    bias: Annotated[
        Annotated[Number, Field(ge=1, le=2)] | None,
        about("How much likelier the best is a parent than the median (genitor)."),
    ] = None
    brood: Annotated[
        Annotated[Whole, Field(ge=1, le=100_000)] | None,
        about("Offspring that are scored together (genitor)."),
    ] = None
    allow_duplicates: Annotated[
        Flag | None, about("Whether a population may hold a scheme twice (genitor).")
    ] = None
    depth: Annotated[
        Annotated[Whole, Field(ge=1, le=1_000)] | None,
        about("Steps down from one solution in search of the next (poka)."),
    ] = None
    past_plateaus: Annotated[
        Flag | None, about("Goes on where no node in reach is better (poka).")
    ] = None
    exact: Annotated[
        Annotated[Whole, Field(ge=0, le=10_000_000)] | None,
        about("If there are no more schemes than this, all are tried (auto)."),
    ] = None
    effort: Annotated[
        Literal["default", "thorough"] | None,
        about("How long to search: a few rounds, or until nothing better is found (auto)."),
    ] = None
    rounds: Annotated[
        Annotated[Whole, Field(ge=1, le=1_000)] | None,
        about(
            "Rounds in all; with effort: thorough, rounds without anything better before the "
            "end, and then for each column that is hidden (auto)."
        ),
    ] = None
    cuts: Annotated[
        Annotated[Whole, Field(ge=1, le=100_000)] | None,
        about(
            "Places where a contiguous column of more values may be cut "
            "(auto, nsga2, genitor, reference-direction)."
        ),
    ] = None
    given_k: Annotated[
        Flag | None,
        about("Rows are left out as for the required k, not for every k (front, exhaustive)."),
    ] = None
    start: Annotated[
        PreferenceSection | None, about("Where the walk starts (reference-direction).")
    ] = None
    points: Annotated[
        Annotated[Whole, Field(ge=1, le=100_000)] | None,
        about("Reference points of a step (reference-direction)."),
    ] = None

    @model_validator(mode="wrap")
    @classmethod
    def _of_its_method(
        cls, given: Any, judge: ModelWrapValidatorHandler[SearchSection]
    ) -> SearchSection:
        return judged_by_method(given, judge)
