"""What a scheme measures to, in raw integers from which every score follows.

Nothing here depends on weights, on a preference or on k, so one evaluation serves all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

OVERHEAD = 1_000
"""Bytes that the objects of a measurement take beside their numbers."""


@dataclass(frozen=True)
class Detail:
    """Which classes were looked at one by one, because a rule may suppress them.

    Classes smaller than `below`, smallest sizes first, while the rows of all classes up to a
    size stay within `budget`. Budget 0: none.
    """

    below: int = 0
    budget: int = 0

    def covers(self, other: Detail) -> bool:
        """Whether every class that `other` needs was looked at."""
        return not other.budget or (self.below >= other.below and self.budget >= other.budget)


@dataclass(frozen=True)
class Measurement:
    """One scheme. Arrays run over its distinct class sizes, ascending.

    loss            Σ over rows of (atoms in the row's group − 1), one entry a column
    size            class size in people
    classes         how many classes have that size
    rows            rows in them (more than people where a subject has several rows)
    rows_squared    Σ over these classes of rows²
    minority        rows not of their class's majority label; None when no label was counted
    small_loss      as loss, of the rows in classes of each of the first sizes: those that
                    `detail` covers
    """

    loss: Ints
    size: Ints
    classes: Ints
    rows: Ints
    rows_squared: Ints
    minority: Ints | None
    small_loss: Ints
    detail: Detail

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        arrays = (self.loss, self.size, self.classes, self.rows, self.rows_squared)
        return OVERHEAD + sum(a.nbytes for a in arrays) + self.small_loss.nbytes


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

    def __len__(self) -> int:
        return len(self.loss)

    @classmethod
    def of(cls, parts: Sequence[Measurement]) -> Measurements:
        minorities = [p.minority for p in parts if p.minority is not None]
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
        )
