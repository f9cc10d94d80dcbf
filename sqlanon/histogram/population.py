"""Counting a population: the people that those of the source are a part of."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sqlanon.domain import IntervalDomain
from sqlanon.engines import Source
from sqlanon.histogram.atoms import OUTSIDE, clamped_atom
from sqlanon.histogram.count import Counter
from sqlanon.histogram.encode import Counted, dictionary
from sqlanon.histogram.histogram import Codes, Population, Tally
from sqlanon.histogram.places import Place, Reach, place_of, place_of_interval
from sqlanon.histogram.quasi import Quasi
from sqlanon.scheme import Column, Space


def count_population(
    source: Source,
    quasis: Sequence[Quasi],
    space: Space,
    reaches: Sequence[Reach],
    subject: str | None = None,
) -> Population:
    """Counts the people of a population by the places of their values among the groups of a space.

    `reaches` has what the groups of each column take. People whom no group can take are left out.
    """
    counter = Counter(source, quasis, ())
    for j, (counted, reach) in enumerate(zip(counter.atoms, reaches, strict=True)):
        if isinstance(counted.domain, IntervalDomain) and reach.beyond:
            expression = clamped_atom(counted.domain)
            counter.atoms[j] = dataclasses.replace(counted, expression=expression)
    table, tally = counter.people(subject)
    found = [
        _places(counted, column, reach, table[f"q{j}"])
        for j, (counted, column, reach) in enumerate(
            zip(counter.atoms, space.columns, reaches, strict=True)
        )
    ]
    codes = np.column_stack([of_entries for _, of_entries in found])
    known = (codes != OUTSIDE).all(axis=1)
    numbers = (each[known] for each in (codes, tally.rows, tally.people, tally.mover))
    return Population(tuple(places for places, _ in found), _summed(Tally(*numbers)))


def _places(
    counted: Counted, column: Column, reach: Reach, fetched: pa.ChunkedArray
) -> tuple[tuple[Place, ...], Codes]:
    """The places that there are, and the number of each entry's; OUTSIDE where it has none."""
    found: list[Place | None]
    entry: npt.NDArray[np.signedinteger[Any]]
    if isinstance(column.domain, IntervalDomain):
        numbers = np.asarray(pc.fill_null(fetched, column.domain.width).cast(pa.int32()))
        distinct, entry = np.unique(numbers, return_inverse=True)
        found = [place_of_interval(int(code), column, reach) for code in distinct]
    else:
        values, entry = dictionary(counted, fetched)
        # Index -1 (NULL) picks the last entry.
        found = [place_of(value, column, reach) for value in [*values, None]]
    places = tuple(sorted({place for place in found if place is not None}))
    number = {place: i for i, place in enumerate(places)}
    codes = [OUTSIDE if place is None else number[place] for place in found]
    return places, np.array(codes, dtype=np.int32)[entry.reshape(-1)]


def _summed(tally: Tally) -> Tally:
    """One entry for all values that have the same place."""
    keys: dict[str, npt.NDArray[np.int32]] = {
        f"q{j}": tally.codes[:, j] for j in range(tally.codes.shape[1])
    }
    frame = pd.DataFrame({**keys, "mover": tally.mover, "rows": tally.rows, "people": tally.people})
    sums = frame.groupby([*keys, "mover"])[["rows", "people"]].sum().reset_index()
    return Tally(
        sums[list(keys)].to_numpy(np.int32),
        sums["rows"].to_numpy(np.int64),
        sums["people"].to_numpy(np.int64),
        sums["mover"].to_numpy(np.int32),
    )
