"""δ-disclosure privacy: no class reveals much more about any value than the whole source.

J. Brickell & V. Shmatikov, The cost of privacy: destruction of data-mining utility in anonymized
data publishing, KDD 2008. |ln (p_v / q_v)| < δ for every value v of the source, so every class
has every value. The ratio of a mixture lies between those of its parts: so the model is monotone
under generalization, unless a person may have rows in both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from sqlglot import exp

from sqlanon.keys import about
from sqlanon.privacy.model import (
    Above,
    AuditedColumn,
    Cell,
    ClassCounts,
    Figure,
    Floats,
    ForColumns,
    Model,
    Option,
    Released,
    ValueRows,
    divided,
    expected,
    found,
    quotient,
    reached_words,
    register,
)
from sqlanon.wording import figure


class DeltaDisclosureSection(ForColumns):
    """No class tells much more about any sensitive value than the whole source."""

    delta: Annotated[
        Above,
        about("|ln (p / q)| stays below it for every value.", "a number above 1e-9"),
    ]


@register
@dataclass(frozen=True)
class DeltaDisclosure(Model):
    """|ln (p_v / q_v)| < δ for every value of the source, in every class."""

    delta: float

    key, parameter, symbol, measure = "delta_disclosure", "delta", "delta", "ratio"
    at_least = False
    is_compared = True
    section = DeltaDisclosureSection
    summary = "No sensitive value much likelier or less likely; several in a list."
    options = (Option("delta", "delta", "Limit of |ln(p / q)| of a value: delta-disclosure."),)
    strict = True

    def reached(self, c: ClassCounts) -> Cell:
        return c.infinite_at_0(c.least(), c.largest(c.absolute(c.ln(c.ratios))))

    def released(self, v: ValueRows) -> Released:
        times_as_likely = quotient(found(v), expected(v))
        worst = exp.Max(this=exp.Abs(this=exp.Ln(this=times_as_likely)))
        values = v.per_class("values", exp.Count(this=exp.Star()))
        source_values = v.per_class("source_values", exp.Max(this=v.source_values))
        return Released(v.per_class("ratio", worst), values < source_values)

    def audited(self, a: AuditedColumn) -> Floats:
        logarithms = np.log1p(divided(a.excess, a.expected))  # p / q = 1 + (p − q) / q
        known = a.whole[a.of_value] > 0
        is_complete = a.summed(known.astype(np.int64)) == np.count_nonzero(a.whole)
        return np.where(is_complete, a.largest(np.abs(logarithms)), np.inf)

    def promise(self, reached: float | None) -> str:
        return (
            f"Every value of {self.column} occurs in every group, with a share that differs from "
            f"that in the whole source by a factor below e to the power of {figure(self.delta)}"
            f"{reached_words(reached, 'the most is a power of {}')}."
        )

    @classmethod
    def figures(cls, column: str) -> tuple[Figure, ...]:
        places = (("delta", "{column}"),)
        return (Figure("delta", "delta", "|ln(p / q)|", places, cls(column, 1.0)),)
