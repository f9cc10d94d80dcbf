"""A partition: the atoms of one column put into groups of neighbours.

Every family of the papers is a set of cuts between neighbouring atoms, since domains are
ordered so that all groups a family allows are runs. Position p lies between atom p and
atom p + 1; a cut there is Iyengar's bit 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sqlanon.errors import SchemeError

Bits = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Partition:
    """`size` atoms cut at the ascending positions `cuts`."""

    size: int
    cuts: tuple[int, ...]

    def __post_init__(self) -> None:
        ascending = all(a < b for a, b in pairwise(self.cuts))
        if self.size < 1 or not ascending or (self.cuts and not self._in_range()):
            raise SchemeError(
                f"cuts {list(self.cuts[:10])} are not ascending positions below {self.size - 1}"
            )

    def _in_range(self) -> bool:
        return self.cuts[0] >= 0 and self.cuts[-1] < self.size - 1

    @classmethod
    def whole(cls, size: int) -> Partition:
        """Everything in one group."""
        return cls(size, ())

    @classmethod
    def atoms(cls, size: int) -> Partition:
        """Every atom a group of its own."""
        return cls(size, tuple(range(size - 1)))

    @classmethod
    def from_bits(cls, bits: Sequence[bool] | Bits) -> Partition:
        """The partition of Iyengar's bit string, one bit per position."""
        return cls(len(bits) + 1, tuple(int(p) for p in np.flatnonzero(np.asarray(bits, bool))))

    @classmethod
    def from_groups(cls, group_of: Sequence[int]) -> Partition:
        """The partition in which atom i has group number group_of[i]; groups must be runs."""
        cuts = tuple(i for i, (a, b) in enumerate(pairwise(group_of)) if a != b)
        if len(cuts) + 1 != len(set(group_of)):
            raise SchemeError("a group is not a run of neighbours in the order of the domain")
        return cls(len(group_of), cuts)

    @property
    def bits(self) -> Bits:
        bits = np.zeros(self.size - 1, dtype=bool)
        bits[list(self.cuts)] = True
        return bits

    @property
    def runs(self) -> tuple[tuple[int, int], ...]:
        """The groups as half-open ranges of atoms."""
        edges = (0, *(p + 1 for p in self.cuts), self.size)
        return tuple(pairwise(edges))

    def __len__(self) -> int:
        """Number of groups."""
        return len(self.cuts) + 1


def null_apart(bits: Bits) -> Bits:
    """`bits` (one string, or one per row) of a column whose last atom is NULL, made canonical.

    NULL is a group of its own as soon as the column is cut anywhere else, so that it never
    shares a group with the neighbour that merely happens to be last.
    """
    settled = bits.copy()
    settled[..., -1] |= bits.any(axis=-1)
    return settled
