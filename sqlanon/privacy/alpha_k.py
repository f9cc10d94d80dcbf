"""(α, k)-anonymity: no sensitive value is too frequent in a class of at least k people.

R. Wong, J. Li, A. Fu & K. Wang, (α, k)-anonymity: an enhanced k-anonymity model for privacy
preserving data publishing, KDD 2006. The k is `privacy.k`. The share counts people: it is the
certainty that a person of the class has the value. The share of a mixture is at most the largest
of its parts: so the model is monotone under generalization, unless a person may have rows in both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from sqlglot import exp

from sqlanon.keys import Share, about
from sqlanon.privacy.model import (
    AuditedColumn,
    Cell,
    ClassCounts,
    Figure,
    Floats,
    ForColumns,
    Model,
    Option,
    Released,
    SourceValues,
    ValueRows,
    quotient,
    reached_words,
    register,
)
from sqlanon.wording import counted, percent


class AlphaSection(ForColumns):
    """No sensitive value is too frequent in a class of at least k people."""

    alpha: Annotated[Share, about("The greatest share of a class with one value.")]


@register
@dataclass(frozen=True)
class AlphaAnonymity(Model):
    """At most the share α of every class has the same value."""

    alpha: float

    key, parameter, symbol, measure = "alpha_k", "alpha", "alpha", "share"
    at_least = False
    section = AlphaSection
    summary = "No sensitive value too frequent in a class; several in a list."
    options = (Option("alpha", "alpha", "Greatest share of a class with one value."),)

    def reached(self, c: ClassCounts) -> Cell:
        return c.largest(c.counts) / c.size

    def released(self, v: ValueRows) -> Released:
        most = v.per_class("most", exp.Max(this=v.people))
        return Released(quotient(most, v.size))

    def audited(self, a: AuditedColumn) -> Floats:
        return a.largest(a.counts / a.people[a.of_class])

    def promise(self, reached: float | None) -> str:
        return (
            f"In no group do more than {percent(self.alpha)} of the people share one value of "
            f"{self.column}{reached_words(reached, 'the most are {}', percent)}."
        )

    @classmethod
    def figures(cls, column: str) -> tuple[Figure, ...]:
        places = (("sensitive", "{column}", "largest_share"),)
        meaning = "have the same value"
        model = cls(column, 1.0)
        return (Figure("largest_share", "largest share", meaning, places, model, "share"),)

    def out_of_reach(self, source: SourceValues) -> Iterator[str]:
        people, left_out = source.people, source.left_out
        values, rows, most = len(people), int(people.sum()), int(people[0])
        if not self.holds(1 / values):
            there = f"the column has {counted(values, 'distinct value')}"
            yield f"{there}, so one of them has at least 1/{values:,} of any class"
        elif source.is_mixture and left_out < most:
            share = (most - left_out) / (rows - left_out)
            if not self.holds(share):
                without = f", and {share:.4g} without the rows that may be left out"
                yield (
                    f"one value has the share {most / rows:.4g} of the whole source"
                    f"{without if left_out else ''}"
                )
