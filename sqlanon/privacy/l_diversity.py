"""ℓ-diversity: every class has several well-represented sensitive values.

A. Machanavajjhala, D. Kifer, J. Gehrke & M. Venkitasubramaniam, ℓ-diversity: privacy beyond
k-anonymity, ACM TKDD 1(1), 2007. All three kinds are monotone under generalization (their
Theorems 4.1 and 4.2): a merge adds values and mixes shares, and the entropy of a mixture is at
least that of its least diverse part. If people have several rows, a merge does not add up their
counts, so only the number of distinct values stays monotone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import model_validator
from sqlglot import exp

from sqlanon.keys import Number, about, refuse
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
    SensitiveColumn,
    SourceValues,
    ValueRows,
    divided,
    quotient,
    reached_words,
    register,
    times,
)
from sqlanon.wording import counted, figure

KINDS = ("distinct", "entropy", "recursive")


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


@register
@dataclass(frozen=True)
class DistinctDiversity(Model):
    """At least l distinct values in every class."""

    l: int  # noqa: E741  (the letter of the paper)

    key, parameter, symbol, measure = "l_diversity", "l", "l", "distinct"
    at_least = is_whole = monotone_by_subject = asks_which_occur = True
    section = LDiversitySection
    summary = "Several well-represented sensitive values in every class; several in a list."
    options = (
        Option("l", "l", "Least number of sensitive values in every class: l-diversity."),
        Option("l_kind", "kind", "How --l counts values; distinct unless given.", KINDS),
        Option("c", "c", "The c of recursive (c, l)-diversity."),
    )

    @classmethod
    def bind(cls, given: LDiversitySection, column: SensitiveColumn) -> Model:
        if given.kind == "entropy":
            return EntropyDiversity(column.name, given.l)
        if given.kind == "recursive":
            assert given.c is not None
            return RecursiveDiversity(column.name, given.c, int(given.l))
        return cls(column.name, int(given.l))

    def reached(self, c: ClassCounts) -> Cell:
        return c.distinct()

    def released(self, v: ValueRows) -> Released:
        return Released(v.per_class("values", exp.Count(this=exp.Star())))

    def audited(self, a: AuditedColumn) -> Floats:
        return a.summed(np.ones_like(a.counts)).astype(np.float64)

    def describe(self) -> str:
        return f"distinct l = {self.l:,} on {self.column!r}"

    def promise(self, reached: float | None) -> str:
        return (
            f"Every group has at least {figure(self.l)} different values of {self.column}"
            f"{reached_words(reached, 'the fewest are {}')}."
        )

    @classmethod
    def figures(cls, column: str) -> tuple[Figure, ...]:
        places = (("sensitive", "{column}", "fewest_values"), ("l", "{column}", "distinct"))
        model = cls(column, 1)
        return (Figure("fewest_values", "distinct l", "different values", places, model, "count"),)

    def out_of_reach(self, source: SourceValues) -> Iterator[str]:
        yield from _too_few(self.l, source)


@register
@dataclass(frozen=True)
class EntropyDiversity(Model):
    """The entropy of every class is at least ln l; l need not be whole."""

    l: float  # noqa: E741

    key, parameter, symbol, measure = "l_diversity", "l", "entropy l", "perplexity"
    at_least = True

    def reached(self, c: ClassCounts) -> Cell:
        # H = ln n − Σ c_v ln c_v / n
        return c.exp(c.ln(c.pairs) - c.summed(c.counts * c.ln(c.counts)) / c.pairs)

    def released(self, v: ValueRows) -> Released:
        n = exp.Sum(this=v.people)
        weighted = exp.Sum(this=times(v.people, exp.Ln(this=exp.cast(v.people, "double"))))
        mean = exp.Div(this=weighted, expression=n)
        entropy = exp.Sub(this=exp.Ln(this=exp.cast(n.copy(), "double")), expression=mean)
        return Released(v.per_class("perplexity", exp.Exp(this=entropy)))

    def audited(self, a: AuditedColumn) -> Floats:
        shares = a.counts / a.n[a.of_class]
        return np.asarray(np.exp(-a.summed(shares * np.log(shares))))

    def promise(self, reached: float | None) -> str:
        return (
            f"The values of {self.column} are as mixed in every group as {figure(self.l)} equally "
            f"frequent ones or more, by their entropy{reached_words(reached, 'the least is {}')}."
        )

    @classmethod
    def figures(cls, column: str) -> tuple[Figure, ...]:
        places = (("l", "{column}", "entropy"),)
        return (Figure("entropy_l", "entropy l", "exp(entropy)", places, cls(column, 1.0)),)

    def out_of_reach(self, source: SourceValues) -> Iterator[str]:
        yield from _too_few(self.l, source)
        if source.is_mixture and not source.left_out:
            shares = source.people / source.people.sum()
            whole = float(np.exp(-(shares * np.log(shares)).sum()))
            if not self.holds(whole):
                yield f"the whole source has {whole:.4g}, and no row may be left out"


@register
@dataclass(frozen=True)
class RecursiveDiversity(Model):
    """Recursive (c, l)-diversity: r_1 < c (r_l + … + r_m) in every class.

    r_1 ≥ r_2 ≥ … are the c_v; a class with fewer than l values never satisfies it.
    """

    c: float
    l: int  # noqa: E741

    key, parameter, symbol, measure = "l_diversity", "c", "c", "recursive"
    at_least = False
    strict = True

    @property
    def top(self) -> int:
        return self.l

    @classmethod
    def certified(
        cls, measure: str, column: str | None, bound: float, top: int
    ) -> RecursiveDiversity:
        return cls(column, bound, top)

    def reached(self, c: ClassCounts) -> Cell:
        others = c.pairs - c.most(self.l - 1)
        return c.infinite_at_0(others, c.most(1) / others)

    def released(self, v: ValueRows) -> Released:
        is_other = v.rank >= exp.Literal.number(self.l)
        other = exp.Case(ifs=[exp.If(this=is_other, true=v.people)])
        most = v.per_class("most", exp.Max(this=v.people))
        others = v.per_class(f"from_{self.l}", exp.Sum(this=other))
        return Released(quotient(most, others), exp.Is(this=others.copy(), expression=exp.null()))

    def audited(self, a: AuditedColumn) -> Floats:
        counts = a.counts[np.lexsort((-a.counts, a.of_class))]
        rank = np.arange(counts.size) - a.starts[a.of_class]
        return divided(counts[a.starts], a.summed(np.where(rank >= self.l - 1, counts, 0)))

    def describe(self) -> str:
        return f"recursive (c, l) = ({self.c:g}, {self.l:,}) on {self.column!r}"

    def promise(self, reached: float | None) -> str:
        return (
            f"In every group the most frequent value of {self.column} occurs less than "
            f"{figure(self.c)} times as often as those from number {self.l:,} on together"
            f"{reached_words(reached, 'the most is {} times')}."
        )

    @classmethod
    def figures(cls, column: str) -> tuple[Figure, ...]:
        places = (("l", "{column}", "recursive_c"),)
        model = cls(column, 1.0, 2)
        return (Figure("recursive_c", "recursive c", "r1 / (r2 + r3 + ...)", places, model),)

    def out_of_reach(self, source: SourceValues) -> Iterator[str]:
        yield from _too_few(self.l, source)
        values = len(source.people)
        if values < self.l:
            return
        if not self.holds(1 / (values - self.l + 1)):
            there = f"the column has {counted(values, 'distinct value')}"
            yield f"{there}, and even of equally frequent ones that is too much"
        if source.is_mixture and not source.left_out:
            whole = int(source.people[0]) / float(source.people[self.l - 1 :].sum())
            if not self.holds(whole):
                yield f"the whole source has {whole:.4g}, and no row may be left out"


def _too_few(wanted: float, source: SourceValues) -> Iterator[str]:
    values = len(source.people)
    if wanted > values:
        yield f"the column has {counted(values, 'distinct value')}"
