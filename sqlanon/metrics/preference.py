"""Publisher preferences: how well a solution meets the preferred loss and bias.

The achievement function of Dewri et al. (GECCO 2009; TKDE): the weighted distance from the
utopian point (−ε, −ε) in the direction of the preference point. The point is always given by
name, because one paper writes (NWP, NECD) and the other (NECD, NWP). Their loss and bias are
these two; any other measures whose ideal is 0 and whose worst is 1 can take their places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticKnownError, core_schema

from sqlanon.keys import Section, Share, about, refuse
from sqlanon.metrics.measurement import Floats
from sqlanon.metrics.metric import biases, losses

EPSILON = 1e-6


@dataclass(frozen=True)
class Preference:
    """The loss and bias that the publisher would still accept, in measures of choice."""

    loss: float
    bias: float
    loss_by: str = "nwp"
    bias_by: str = "necd"

    @property
    def weight(self) -> float:
        """w of the achievement function: the weight on the loss."""
        loss, bias = 1 / (self.loss + EPSILON), 1 / (self.bias + EPSILON)
        return loss / (loss + bias)

    def ach(self, loss: Floats, bias: Floats) -> Floats:
        """The achievement function; the smaller the better."""
        return np.maximum(*self.terms(loss, bias))

    def terms(self, loss: Floats, bias: Floats) -> tuple[Floats, Floats]:
        """Loss and bias as the achievement function compares them."""
        w = self.weight
        return w * (loss + EPSILON), (1 - w) * (bias + EPSILON)

    def pref_dev(self, loss: Floats, bias: Floats) -> Floats:
        """Preference deviation: breaks ties of ach; negative if better than preferred."""
        return loss + bias - self.loss - self.bias


@dataclass(frozen=True)
class _MetricKey:
    """Takes the keys of the metrics that are registered when a policy is read."""

    definition: str
    keys: Callable[[], list[str]]
    about: str

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        def check(value: Any) -> str:
            if not isinstance(value, str) or value not in self.keys():
                expected = " or ".join(map(repr, self.keys()))
                raise PydanticKnownError("enum", {"expected": expected})
            return value

        def describe(*_: Any) -> JsonSchemaValue:
            return {"description": self.about, "enum": self.keys(), "type": "string"}

        return core_schema.no_info_plain_validator_function(
            check,
            ref=f"{__name__}.{self.definition}:0",  # names it in the JSON Schema
            metadata={"pydantic_js_functions": [describe]},
        )


LossKey = Annotated[
    str,
    _MetricKey("LossName", losses, "Measures of information loss (see sqlanon/metrics)."),
]
BiasKey = Annotated[
    str,
    _MetricKey(
        "BiasName",
        biases,
        "Measures of how unequally people are protected (see sqlanon/metrics).",
    ),
]


class PreferenceSection(Section):
    """The loss and bias that would still be welcome: `nwp` and `necd`, or measures of choice."""

    nwp: Annotated[Share | None, about("Information loss (NWP) that would still be welcome.")] = (
        None
    )
    necd: Annotated[Share | None, about("Bias (NECD) that would still be welcome.")] = None
    loss: Annotated[LossKey, about("The measure of loss; goes with `loss_at`.")] = "nwp"
    bias: Annotated[BiasKey, about("The measure of bias; goes with `bias_at`.")] = "necd"
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
    def point(self) -> Preference:
        """The preferred loss and bias, whichever way they are written."""
        loss = self.nwp if self.loss_at is None else self.loss_at
        bias = self.necd if self.bias_at is None else self.bias_at
        assert loss is not None
        assert bias is not None
        return Preference(loss, bias, self.loss, self.bias)
