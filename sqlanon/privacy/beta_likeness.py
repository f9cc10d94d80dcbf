"""Basic β-likeness: no class makes a sensitive value much likelier than the whole source.

J. Cao & P. Karras, Publishing microdata with a robust privacy guarantee, PVLDB 5(11), 2012. The
gain in confidence (p_v − q_v) / q_v is bounded for every value. The gain of a mixture is at most
the largest of its parts: so the model is monotone under generalization, unless a person may have
rows in both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sqlglot import exp

from sqlanon.keys import about
from sqlanon.privacy.model import (
    AuditedColumn,
    Cell,
    ClassCounts,
    Figure,
    Floats,
    ForColumns,
    Model,
    Option,
    Positive,
    Released,
    ValueRows,
    divided,
    excess,
    expected,
    quotient,
    reached_words,
    register,
)
from sqlanon.wording import figure


class BetaLikenessSection(ForColumns):
    """No class makes a sensitive value much likelier than it is in the whole source."""

    beta: Annotated[Positive, about("The greatest (p − q) / q.", "a number above 0")]


@register
@dataclass(frozen=True)
class BetaLikeness(Model):
    """(p_v − q_v) / q_v ≤ β for every value of every class."""

    beta: float

    key, parameter, symbol, measure = "beta_likeness", "beta", "beta", "gain"
    at_least = False
    is_compared = True
    section = BetaLikenessSection
    summary = "No sensitive value much likelier than in the whole source; several in a list."
    options = (Option("beta", "beta", "Greatest (p - q) / q of a value: beta-likeness."),)

    def reached(self, c: ClassCounts) -> Cell:
        return c.largest(c.ratios) - 1

    def released(self, v: ValueRows) -> Released:
        gain = exp.Max(this=quotient(excess(v), expected(v)))
        return Released(v.per_class("gain", gain))

    def audited(self, a: AuditedColumn) -> Floats:
        """Only values in the class are needed: their largest gain is at least 0."""
        return a.largest(divided(a.excess, a.expected))

    def promise(self, reached: float | None) -> str:
        return (
            f"No group makes a value of {self.column} likelier than in the whole source by more "
            f"than {figure(self.beta)} times its share there"
            f"{reached_words(reached, 'the most is {}')}."
        )

    @classmethod
    def figures(cls, column: str) -> tuple[Figure, ...]:
        places = (("beta", "{column}"),)
        return (Figure("beta", "beta", "(p - q) / q", places, cls(column, 1.0)),)
