"""k-map: every class is shared by at least k people of a population.

L. Sweeney, Computational disclosure control, PhD thesis, MIT 2001. The population is another
table with the same quasi-identifiers; the release may be a sample of it. Merging classes adds up
their people, so the model is monotone under generalization.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from sqlanon.keys import Whole
from sqlanon.privacy.model import (
    AuditedColumn,
    Cell,
    ClassCounts,
    Floats,
    Model,
    Option,
    Released,
    SourceValues,
    ValueRows,
    register,
)
from sqlanon.wording import counted


@register
@dataclass(frozen=True)
class KMap(Model):
    """At least k people of the population fit every class."""

    k: int

    key, parameter, symbol, measure = "k_map", "k", "k-map", "population"
    is_whole = at_least = monotone_by_subject = needs_population = True
    section = Annotated[Whole, Field(ge=1)]
    summary = "The least number of people of the population who fit a class; needs `population`."
    options = (Option("k_map", None, "People of the population that must fit every class.", int),)

    @classmethod
    def bind(cls, given: int, column: object) -> KMap:
        return cls(None, given)

    def reached(self, c: ClassCounts) -> Cell:
        return c.population

    def released(self, v: ValueRows) -> Released:
        return Released(v.population)

    def audited(self, a: AuditedColumn) -> Floats:
        return a.population.astype(np.float64)

    def describe(self) -> str:
        return f"k-map k = {self.k:,}"

    def out_of_reach(self, source: SourceValues) -> Iterator[str]:
        if source.population is not None and source.population < self.k:
            yield f"the population has {counted(source.population, 'person')}"
