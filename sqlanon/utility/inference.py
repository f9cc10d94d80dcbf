"""How well a column can be guessed by someone who knows all other quasi-identifiers of a person.

With the release this someone looks for the classes that fit: those whose groups hold what is known.
The rows of a class are spread evenly over the atoms of its group, and the guess is the atom with
the most rows. Of a sensitive column, all quasi-identifiers are known, and the guess is the most
frequent value of the one class that fits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sqlanon.domain import Codes, Facet, Histogram, Ints
from sqlanon.utility.released_classes import Flags, ReleasedClasses, generalized
from sqlanon.utility.workload import in_order

MOST_PEOPLE = 2_000
"""Rows that are looked at; of a larger source a random sample."""
MOST_PAIRS = 20_000_000
"""Rows times classes that are compared: of many classes fewer rows are looked at."""
CHUNK = 4_000_000
MOSTLY = 0.8


@dataclass(frozen=True)
class Guesses:
    """How often a guess of a column is right, as shares of the rows that were looked at.

    base     the most frequent value of the source, without the release
    best     the most likely value by the release; where no class fits, that of the base
    mostly   one value has 80 % of what fits
    certain  one value is left, and it is right
    """

    column: str
    base: float
    best: float
    mostly: float
    certain: float

    def to_dict(self) -> dict[str, Any]:
        names = ("base", "best", "mostly", "certain")
        return {"column": self.column} | {name: round(getattr(self, name), 6) for name in names}


def inference(histogram: Histogram, classes: ReleasedClasses, seed: int) -> tuple[Guesses, ...]:
    """The guesses of every quasi-identifier, and of the sensitive columns that were counted."""
    quasi = _of_quasi(histogram, classes, seed)
    return (*quasi, *(_of_facet(n, f, classes) for n, f in histogram.facets.items()))


def _of_quasi(histogram: Histogram, classes: ReleasedClasses, seed: int) -> Iterator[Guesses]:
    codes, rows = in_order(histogram.tally.codes, histogram.tally.rows)
    tables = [np.array(groups, dtype=np.int64) for groups in classes.scheme.groups]
    shown = ~classes.is_marked
    runs = [table[classes.groups[shown, j]] for j, table in enumerate(tables)]
    weights = classes.rows[shown]
    known, counted = _sample(codes, rows, len(weights), seed)
    person, fitting, differing = _fitting(known, runs)
    for j, column in enumerate(histogram.space.columns):
        fits = (differing == -1) | (differing == j)
        spread = _spread(person[fits], fitting[fits], runs[j], weights, len(known), column.size)
        usual = int(np.bincount(codes[:, j], rows, column.size).argmax())
        base = float(rows[codes[:, j] == usual].sum() / rows.sum())
        yield _judged(column.name, base, usual, known[:, j], counted, spread)


def _sample(codes: Codes, rows: Ints, classes: int, seed: int) -> tuple[Codes, Ints]:
    """Tuples with so many rows each; of a large source rows are drawn."""
    most = max(1, min(MOST_PEOPLE, MOST_PAIRS // max(classes, 1)))
    if len(rows) <= most:
        return codes, rows
    up_to = np.cumsum(rows)
    drawn = np.random.default_rng(seed).choice(int(up_to[-1]), size=most, replace=False)
    chosen, counted = np.unique(np.searchsorted(up_to, drawn, side="right"), return_counts=True)
    return codes[chosen], counted.astype(np.int64)


def _fitting(known: Codes, runs: list[Ints]) -> tuple[Ints, Ints, Ints]:
    """The pairs of tuple and class that differ in at most one column, and this column, or -1."""
    parts = [np.zeros((3, 0), dtype=np.int64)]
    step = max(1, CHUNK // max(len(runs[0]), 1))
    for first in range(0, len(known), step):
        some = known[first : first + step]
        misses = np.zeros((len(some), len(runs[0])), dtype=np.int16)
        column = np.zeros_like(misses)  # the sum of the columns that differ
        for j, ends in enumerate(runs):
            value = some[:, j, None]
            outside = (value < ends[:, 0]) | (value >= ends[:, 1])
            misses += outside
            column += outside * np.int16(j)
        person, fitting = np.nonzero(misses <= 1)
        differing = np.where(misses[person, fitting], column[person, fitting], -1)
        parts.append(np.array([person + first, fitting, differing]))
    person, fitting, differing = np.concatenate(parts, axis=1)
    return person, fitting, differing


def _spread(
    person: Ints, fitting: Ints, runs: Ints, weights: Ints, people: int, atoms: int
) -> npt.NDArray[np.float64]:
    """By person and atom its share of the rows that fit."""
    found = np.zeros((people, atoms + 1))
    start, stop = runs[fitting].T
    each = weights[fitting] / (stop - start)
    np.add.at(found, (person, start), each)
    np.add.at(found, (person, stop), -each)
    spread = np.cumsum(found, axis=1)[:, :atoms]
    total = spread.sum(axis=1, keepdims=True)
    shares = np.divide(spread, total, out=np.zeros_like(spread), where=total > 0)
    return np.asarray(np.round(shares, 12))  # what cumulated sums leave is no possibility


def _judged(
    name: str,
    base: float,
    usual: int,
    truth: npt.NDArray[np.integer],
    rows: Ints,
    spread: npt.NDArray[np.float64],
) -> Guesses:
    """The guesses from the shares of all values; rows without any are guessed as usual."""
    highest = spread.max(axis=1)
    guess = np.where(highest > 0, spread.argmax(axis=1), usual)
    is_right = guess == truth

    def share(of: Flags) -> float:
        return float(rows[of].sum() / rows.sum())

    is_alone = (spread > 0).sum(axis=1) == 1
    return Guesses(
        name, base, share(is_right), share(highest >= MOSTLY), share(is_right & is_alone)
    )


def _of_facet(name: str, facet: Facet, classes: ReleasedClasses) -> Guesses:
    """The guesses of a sensitive column, over all rows of the source."""
    tally = facet.tally
    assert tally.values is not None
    groups = generalized(classes.scheme, tally.codes)
    _, number = np.unique(groups, axis=0, return_inverse=True)
    number = number.reshape(-1)
    values, size = tally.values.astype(np.int64), facet.domain.size
    pairs, inverse = np.unique(number * size + values, return_inverse=True)
    of_pair = np.bincount(inverse.reshape(-1), tally.rows).astype(np.int64)
    owner, value = np.divmod(pairs, size)
    # The class's most frequent value, of equally frequent ones the first.
    order = np.lexsort([value, -of_pair, owner])
    first = order[np.unique(owner[order], return_index=True)[1]]
    most, total = of_pair[first], np.bincount(owner, of_pair).astype(np.int64)
    counts = np.bincount(values, tally.rows, size)
    usual, rows = int(counts.argmax()), int(tally.rows.sum())
    held = classes.hold(tally.codes)
    is_held = np.zeros(len(most), dtype=bool)
    is_held[number] = held
    by_base = tally.rows[~held & (values == usual)].sum()
    return Guesses(
        name,
        base=float(counts[usual] / rows),
        best=float((most[is_held].sum() + by_base) / rows),
        mostly=float(total[is_held & (most >= MOSTLY * total)].sum() / rows),
        certain=float(total[is_held & (most == total)].sum() / rows),
    )
