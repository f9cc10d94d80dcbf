"""What a solution reaches of the privacy models of its policy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sqlanon.privacy import DIGITS, Model


@dataclass(frozen=True)
class Reached:
    """What the worst class of a solution reaches of one model."""

    model: Model
    value: float

    @property
    def holds(self) -> bool:
        return self.model.holds(self.value)

    @property
    def number(self) -> int | float | None:
        """The reached number, rounded, whole where it is; None where it has no bound."""
        if math.isinf(self.value):
            return None
        value = round(float(self.value), DIGITS)
        return int(value) if value.is_integer() else value

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "model": self.model.key,
            "column": self.model.column,
            "required": self.model.describe(),
            "reached": self.number,
            "holds": self.holds,
        }

    @property
    def shown(self) -> str:
        """The reached number as tables print it."""
        if self.number is None:
            return "unbounded"
        return f"{self.number:,}" if isinstance(self.number, int) else f"{self.number:,.3f}"

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "does not hold"
        return f"{self.model.describe()} {verdict}: reached {self.shown}"
