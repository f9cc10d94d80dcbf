"""A quasi-identifier as searches see it: domain, hierarchy, family, weight and level limits.

A partition puts the atoms of one column into groups of neighbours. Every family of the papers is a
set of cuts between neighbouring atoms, since domains are ordered so that all groups that a family
allows are runs. Position p lies between atom p and atom p + 1; a cut there is Iyengar's bit 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sqlanon.domain.atoms import Domain
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.errors import HierarchyError, PolicyError, SchemeError
from sqlanon.wording import brief_list, counted

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


class Family(StrEnum):
    """Which partitions of a column a search may use (see docs/schemes.md)."""

    CONTIGUOUS = "contiguous"
    TAXONOMIC = "taxonomic"
    FULL_DOMAIN = "full-domain"


@dataclass(frozen=True, repr=False)
class Column:
    """One quasi-identifier.

    The leaves of the hierarchy are the atoms of the domain, in the same order, NULL aside.
    Without a hierarchy the tree is flat: the atoms under one root.

    min_level   a partition has no cut that this level does not have
    max_level   a partition has every cut that this level has; None: the root, no limit
    candidates  a partition has no cut that this one does not have, which has those of
                max_level and NULL's; None: no such limit. For searches in wide columns
    """

    domain: Domain
    hierarchy: Hierarchy | None = None
    family: Family = Family.CONTIGUOUS
    weight: float = 1.0
    min_level: int = 0
    max_level: int | None = None
    candidates: Partition | None = None

    def __post_init__(self) -> None:
        if self.hierarchy and len(self.hierarchy.leaves) != self.domain.width:
            raise HierarchyError(
                f"column {self.name!r}: the hierarchy {self.hierarchy.origin} has "
                f"{len(self.hierarchy.leaves)} leaves, the domain {self.domain.width} atoms"
            )
        if self.is_limited:
            self._check_limits()

    def _check_limits(self) -> None:
        # Whether a flat column has one value or several is up to the data, not to the policy.
        highest = max(self.height, 1)
        for key, level in (("min_level", self.min_level), ("max_level", self.max_level)):
            if level is not None and not 0 <= level <= highest:
                tree = "without a hierarchy"
                if self.hierarchy is not None:
                    tree = f"under the hierarchy {self.hierarchy.origin}"
                raise PolicyError(
                    f"column {self.name!r}: {key} {level} is not one of its levels; {tree} its "
                    f"height is {highest}, so give 0 (the values) to {highest} (all in one group)"
                )
        if self.max_level is not None and self.min_level > self.max_level:
            raise PolicyError(
                f"column {self.name!r}: min_level {self.min_level} is above max_level "
                f"{self.max_level}; lower the one or raise the other"
            )

    def __repr__(self) -> str:
        tree = "" if self.hierarchy is None else f", {counted(self.height, 'level')}"
        name = brief_list([self.name])
        return f"<Column {name}: {counted(self.size, 'atom')}, {self.family}{tree}>"

    @property
    def name(self) -> str:
        return self.domain.column

    @property
    def size(self) -> int:
        return self.domain.size

    @property
    def positions(self) -> int:
        """Number of places where the column can be cut: the length of its bit string."""
        return self.size - 1

    @cached_property
    def levels(self) -> tuple[Partition, ...]:
        """The full-domain partitions, level 0 = the atoms, last = one group with NULL in it."""
        if self.hierarchy is None:
            below = [tuple(range(self.domain.width))]
        else:
            below = [self.hierarchy.groups(level) for level in range(self.hierarchy.height + 1)]
        partitions = [self._with_null(groups) for groups in below]
        root = Partition.whole(self.size)
        if self.hierarchy is not None and self.hierarchy.height > 0:
            partitions[-1] = root
        elif partitions[-1] != root:
            partitions.append(root)
        return tuple(partitions)

    def _with_null(self, groups: tuple[int, ...]) -> Partition:
        null = [groups[-1] + 1 if groups else 0] if self.domain.has_null else []
        return Partition.from_groups([*groups, *null])

    @property
    def height(self) -> int:
        """The highest level: the DGH length of the papers."""
        return len(self.levels) - 1

    @property
    def is_limited(self) -> bool:
        levels = self.min_level != 0 or self.max_level is not None
        return levels or self.candidates is not None

    @cached_property
    def limits(self) -> tuple[int, int]:
        """The least and the greatest level that the column may have."""
        highest = self.height if self.max_level is None else self.max_level
        return min(self.min_level, self.height), min(highest, self.height)

    @cached_property
    def finest(self) -> Partition:
        """The limit below: what is allowed has no other cuts."""
        level = self.levels[self.limits[0]]
        if self.candidates is None:
            return level
        return Partition(self.size, tuple(sorted({*level.cuts} & {*self.candidates.cuts})))

    @property
    def coarsest(self) -> Partition:
        """The limit above: what is allowed has all these cuts."""
        return self.levels[self.limits[1]]

    def level_of(self, partition: Partition) -> int | None:
        """The highest level that is this partition, within the limits if one is, or None."""
        found = [i for i, level in enumerate(self.levels) if level == partition]
        within = [i for i in found if i <= self.limits[1]] or found
        return within[-1] if within else None

    def beyond_limits(self, partition: Partition) -> str | None:
        """A sentence on how a partition oversteps the limits; None where it keeps them."""
        if not self.is_limited:
            return None
        low, high = self.limits
        cuts = set(partition.cuts)
        if self.candidates is not None and (others := cuts - set(self.candidates.cuts)):
            return (
                f"is cut between {self._both_sides(min(others))}, which is none of the "
                f"{len(self.candidates.cuts)} candidates; raise search.cuts in the policy"
            )
        if parted := cuts - set(self.finest.cuts):
            return (
                f"is finer than min_level {low}, which has {self._both_sides(min(parted))} in one "
                "group; merge what this level merges, or change min_level in the policy"
            )
        if joined := set(self.coarsest.cuts) - cuts:
            return (
                f"is more general than max_level {high}, which keeps "
                f"{self._both_sides(min(joined))} apart; cut where this level cuts, or change "
                "max_level in the policy"
            )
        return None

    def _both_sides(self, position: int) -> str:
        names = [
            repr(self.domain.atom_label(i)) if i < self.domain.width else "NULL"
            for i in (position, position + 1)
        ]
        return " and ".join(names)

    def is_canonical(self, partition: Partition) -> bool:
        """Whether NULL, where the column has it, stands apart unless all is one group."""
        if not self.domain.has_null or not partition.cuts:
            return True
        return partition.cuts[-1] == self.positions - 1
