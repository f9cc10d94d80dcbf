"""Requirements that no release of a source can satisfy, however it is generalized."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from sqlglot import exp

from sqlanon.engines import Source
from sqlanon.evaluate.value_sets import ValueSets
from sqlanon.histogram import Histogram
from sqlanon.measurement import Ints
from sqlanon.model import counted
from sqlanon.privacy import (
    AlphaAnonymity,
    DistinctDiversity,
    EntropyDiversity,
    KMap,
    Model,
    RecursiveDiversity,
)


def unreachable(
    models: Sequence[Model], histogram: Histogram, left_out: int, population: int | None
) -> tuple[str, ...]:
    """A sentence for each model that is certain to fail; `left_out` rows may be suppressed.

    `population` is how many people it has. A model that is not named may be out of reach too.
    """
    return tuple(
        f"{model.describe()}: {reason}"
        for model in models
        if (reason := next(_reasons(model, histogram, left_out, population), None)) is not None
    )


def people_in(population: Source, subject: str | None) -> int:
    """All people of a population, whether their values occur in the source or not."""
    number: exp.Expr = exp.Star()
    if subject is not None:
        number = exp.Distinct(expressions=[exp.column(subject, quoted=True)])
    count = exp.Count(this=number).as_("n", quoted=True)
    query = exp.select(count).from_(population.relation.copy())
    return int(population.engine.fetch(query).column(0)[0].as_py())


def _reasons(
    model: Model, histogram: Histogram, left_out: int, population: int | None
) -> Iterator[str]:
    if isinstance(model, KMap) and population is not None and population < model.k:
        yield f"the population has {counted(population, 'person')}"
    if model.column is None:
        return
    totals = ValueSets("value", histogram.facets[model.column]).totals
    totals = np.sort(totals[totals > 0])[::-1]
    if not totals.size:
        return
    yield from _by_values(model, len(totals))
    # Where people have one row each, the whole is a mixture of the classes, and no better than
    # the worst of them. Someone with rows in several classes counts in each.
    if histogram.subject is None:
        yield from _by_shares(model, totals, left_out)


def _by_values(model: Model, values: int) -> Iterator[str]:
    """What no class can reach of so many distinct values."""
    there = f"the column has {counted(values, 'distinct value')}"
    if isinstance(model, DistinctDiversity | EntropyDiversity | RecursiveDiversity):
        if model.l > values:
            yield there
        elif isinstance(model, RecursiveDiversity) and not model.holds(1 / (values - model.l + 1)):
            yield f"{there}, and even of equally frequent ones that is too much"
    if isinstance(model, AlphaAnonymity) and not model.holds(1 / values):
        yield f"{there}, so one of them has at least 1/{values:,} of any class"


def _by_shares(model: Model, totals: Ints, left_out: int) -> Iterator[str]:
    """What some class falls short of if all rows, but for those left out, are released."""
    rows, most = int(totals.sum()), int(totals[0])
    if isinstance(model, AlphaAnonymity) and left_out < most:
        share = (most - left_out) / (rows - left_out)
        if not model.holds(share):
            without = f", and {share:.4g} without the rows that may be left out" if left_out else ""
            yield f"one value has the share {most / rows:.4g} of the whole source{without}"
    if left_out:
        return
    if isinstance(model, EntropyDiversity):
        p = totals / rows
        reached = float(np.exp(-(p * np.log(p)).sum()))
        if not model.holds(reached):
            yield f"the whole source has {reached:.4g}, and no row may be left out"
    if isinstance(model, RecursiveDiversity):
        reached = most / float(totals[model.l - 1 :].sum())
        if not model.holds(reached):
            yield f"the whole source has {reached:.4g}, and no row may be left out"
