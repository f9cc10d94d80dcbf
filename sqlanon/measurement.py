"""What a scheme measures to, in raw integers from which every score follows.

Nothing here depends on weights, on a preference or on k, so one evaluation serves all; what is
required beyond k decides which classes are bad, and so belongs to an evaluation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

OVERHEAD = 1_600
"""Bytes that the objects of a measurement take beside their numbers."""


@dataclass(frozen=True)
class Detail:
    """Which classes were looked at one by one, because a rule may suppress them.

    Bad classes and those smaller than `below`, bad ones and smallest sizes first, while the
    rows of all classes up to there stay within `budget`. Budget 0: none.
    """

    below: int = 0
    budget: int = 0

    def covers(self, other: Detail) -> bool:
        """Whether every class that `other` needs was looked at."""
        return not other.budget or (self.below >= other.below and self.budget >= other.budget)


EVERY_CLASS = Detail(below=2**62, budget=2**62)
"""Each class is looked at, whatever is suppressed."""


@dataclass(frozen=True)
class Measurement:
    """One scheme. Arrays run over its distinct class sizes, those of bad classes first, each
    ascending; without models no class is bad.

    loss            Σ over rows of (atoms in the row's group − 1), one entry a column; then, for
                    every further price that was asked for, the Σ of that, one entry a column
    size            class size in people
    classes         how many classes have that size
    rows            rows in them (more than people where a subject has several rows)
    rows_squared    Σ over these classes of rows²
    minority        rows not of their class's majority label; None when no label was counted
    small_loss      as loss, of the rows in classes of each of the first sizes: those that
                    `detail` covers
    bad             1 for classes that violate a model, or a k that was required beside them
    reached         what the worst of these classes reaches, one column a model
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
        arrays = [self.loss, self.size, self.classes, self.rows, self.rows_squared, self.bad]
        arrays += [] if self.minority is None else [self.minority]
        further = 0 if self.ambiguity is None else self.ambiguity.nbytes
        further += self.reached.nbytes
        return OVERHEAD + sum(a.nbytes for a in arrays) + self.small_loss.nbytes + further


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

    def take(self, rows: Ints) -> Measurements:
        """The measurements of some schemes, in the order of `rows`; one may occur several times."""
        offsets, entries = _runs(self.offsets, rows)
        small_offsets, small = _runs(self.small_offsets, rows)
        return Measurements(
            loss=self.loss[rows],
            offsets=offsets,
            size=self.size[entries],
            classes=self.classes[entries],
            rows=self.rows[entries],
            rows_squared=self.rows_squared[entries],
            minority=None if self.minority is None else self.minority[entries],
            small_offsets=small_offsets,
            small_loss=self.small_loss[small],
            bad=self.bad[entries],
            reached=self.reached[entries],
            ambiguity=None if self.ambiguity is None else self.ambiguity[entries],
        )

    @classmethod
    def of(cls, parts: Sequence[Measurement]) -> Measurements:
        minorities = [p.minority for p in parts if p.minority is not None]
        ambiguities = [p.ambiguity for p in parts if p.ambiguity is not None]
        return cls(
            loss=np.stack([p.loss for p in parts]),
            offsets=np.cumsum([0, *(len(p.size) for p in parts)]),
            size=np.concatenate([p.size for p in parts]),
            classes=np.concatenate([p.classes for p in parts]),
            rows=np.concatenate([p.rows for p in parts]),
            rows_squared=np.concatenate([p.rows_squared for p in parts]),
            minority=np.concatenate(minorities) if len(minorities) == len(parts) else None,
            small_offsets=np.cumsum([0, *(len(p.small_loss) for p in parts)]),
            small_loss=np.concatenate([p.small_loss for p in parts]),
            bad=np.concatenate([p.bad for p in parts]),
            reached=np.concatenate([p.reached for p in parts]),
            ambiguity=np.concatenate(ambiguities) if len(ambiguities) == len(parts) else None,
        )


def _runs(offsets: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Where the runs of some rows begin once they stand end to end, and which entries they have."""
    lengths = np.diff(offsets)[rows]
    ends = np.cumsum(np.concatenate([[0], lengths]))
    return ends, np.repeat(offsets[:-1][rows] - ends[:-1], lengths) + np.arange(ends[-1])
