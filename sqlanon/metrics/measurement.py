"""The measurement of a scheme: raw integers from which every score follows.

It does not depend on weights, a preference or k, so one evaluation serves all of these. Models
beyond k decide which classes are bad, so they belong to an evaluation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

DIGITS = 12
"""Decimal places of shares, rounded so that equal shares compare as equal: further digits depend
on the spelling of the weights and the order of a sum."""

BY_SIZE = ("size", "classes", "rows", "rows_squared", "minority", "bad", "reached", "ambiguity")
"""The arrays of a measurement that run over its class sizes; minority and ambiguity may be None."""

OVERHEAD = 1_600
"""Bytes that the objects of a measurement take beside their numbers."""


@dataclass(frozen=True)
class Detail:
    """Which classes were listed one by one, because a rule may suppress them.

    Bad classes and those smaller than `below`, bad ones and smallest sizes first, while the
    rows of all classes up to there stay within `budget`. Budget 0: none.
    """

    below: int = 0
    budget: int = 0

    def covers(self, other: Detail) -> bool:
        """Whether every class that `other` needs was listed."""
        return not other.budget or (self.below >= other.below and self.budget >= other.budget)


EVERY_CLASS = Detail(below=2**62, budget=2**62)
"""Every class is listed, whatever is suppressed."""


@dataclass(frozen=True)
class Measurement:
    """One scheme. Arrays run over its distinct class sizes, those of bad classes first, each
    ascending; without models no class is bad.

    loss            Σ over rows of (atoms in the row's group − 1), one entry per column; then, for
                    every further cost that was asked for, the Σ of that, one entry per column
    size            class size in people
    classes         number of classes of that size
    rows            rows in them (more than people where a subject has several rows)
    rows_squared    Σ over these classes of rows²
    minority        rows not of their class's majority label; None when no label was counted
    small_loss      as loss, of the rows in classes of each of the first sizes: those that
                    `detail` covers
    bad             1 for classes that violate a model, or a k that was required beside them
    reached         what the worst of these classes reaches, one column per model
    ambiguity       Σ over rows of Π over columns of the atoms in the row's group; None when that
                    was not asked for. Not a whole number where it is larger than 2⁵³
    """

    loss: Ints
    size: Ints
    classes: Ints
    rows: Ints
    rows_squared: Ints
    minority: Ints | None
    small_loss: Ints
    detail: Detail
    bad: Ints
    reached: Floats
    ambiguity: Floats | None = None

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        arrays = [self.loss, self.small_loss, *(getattr(self, name) for name in BY_SIZE)]
        return OVERHEAD + sum(int(array.nbytes) for array in arrays if array is not None)


@dataclass(frozen=True)
class Measurements:
    """Many schemes end to end; scheme i has the entries offsets[i] to offsets[i+1]."""

    loss: Ints
    offsets: Ints
    size: Ints
    classes: Ints
    rows: Ints
    rows_squared: Ints
    minority: Ints | None
    small_offsets: Ints
    small_loss: Ints
    bad: Ints
    reached: Floats
    ambiguity: Floats | None

    def __len__(self) -> int:
        return len(self.loss)

    @cached_property
    def scheme(self) -> Ints:
        """The scheme of every entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def take(self, rows: Ints) -> Measurements:
        """The measurements of some schemes, in the order of `rows`; one may occur several times."""
        offsets, entries = _runs(self.offsets, rows)
        small_offsets, small = _runs(self.small_offsets, rows)
        found = {name: getattr(self, name) for name in BY_SIZE}
        by_size: dict[str, Any] = {n: None if a is None else a[entries] for n, a in found.items()}
        return Measurements(
            loss=self.loss[rows],
            offsets=offsets,
            small_offsets=small_offsets,
            small_loss=self.small_loss[small],
            **by_size,
        )

    @classmethod
    def of(cls, parts: Sequence[Measurement]) -> Measurements:
        arrays = {name: [getattr(part, name) for part in parts] for name in BY_SIZE}
        return cls(
            loss=np.stack([p.loss for p in parts]),
            offsets=np.cumsum([0, *(len(p.size) for p in parts)]),
            small_offsets=np.cumsum([0, *(len(p.small_loss) for p in parts)]),
            small_loss=np.concatenate([p.small_loss for p in parts]),
            **{name: _joined(several) for name, several in arrays.items()},
        )


def _joined(arrays: Sequence[npt.NDArray[Any] | None]) -> Any:
    """The arrays end to end; None if one is missing."""
    known = [array for array in arrays if array is not None]
    return np.concatenate(known) if len(known) == len(arrays) else None


def _runs(offsets: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Where the runs of some rows begin once they stand end to end, and which entries they have."""
    lengths = np.diff(offsets)[rows]
    ends = np.cumsum(np.concatenate([[0], lengths]))
    return ends, np.repeat(offsets[:-1][rows] - ends[:-1], lengths) + np.arange(ends[-1])
