"""A quasi-identifier as searches see it: its domain, hierarchy, family and weight."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sqlanon.domain import Domain
from sqlanon.errors import HierarchyError
from sqlanon.hierarchy import Hierarchy
from sqlanon.model import Family
from sqlanon.scheme.partition import Partition


@dataclass(frozen=True)
class Column:
    """One quasi-identifier.

    The leaves of the hierarchy are the atoms of the domain, in the same order, NULL aside.
    Without a hierarchy the tree is flat: the atoms under one root.
    """

    domain: Domain
    hierarchy: Hierarchy | None = None
    family: Family = Family.CONTIGUOUS
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.hierarchy and len(self.hierarchy.leaves) != self.domain.width:
            raise HierarchyError(
                f"column {self.name!r}: the hierarchy {self.hierarchy.origin} has "
                f"{len(self.hierarchy.leaves)} leaves, the domain {self.domain.width} atoms"
            )

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

    def level_of(self, partition: Partition) -> int | None:
        """The highest level that is this partition, or None."""
        found = [i for i, level in enumerate(self.levels) if level == partition]
        return found[-1] if found else None

    def allows(self, partition: Partition) -> bool:
        """Whether the column's family contains the partition."""
        if self.family is Family.CONTIGUOUS:
            return self.is_canonical(partition)
        if self.family is Family.FULL_DOMAIN:
            return self.level_of(partition) is not None
        return self.is_taxonomic(partition)

    def is_canonical(self, partition: Partition) -> bool:
        """Whether NULL, where the column has it, stands apart unless all is one group."""
        if not self.domain.has_null or not partition.cuts:
            return True
        return partition.cuts[-1] == self.positions - 1

    def is_taxonomic(self, partition: Partition) -> bool:
        """Whether every group is a node of the tree (an atom, an inner node, or the root)."""
        return self.is_canonical(partition) and all(
            self.is_node(start, stop) for start, stop in partition.runs
        )

    def is_node(self, start: int, stop: int) -> bool:
        """Whether atoms start..stop-1 are one node.

        The tree of the values is one node and NULL another; both together are the root.
        """
        whole = (start, stop) == (0, self.size)
        if whole or stop - start == 1:
            return True
        if self.hierarchy is None:
            return (start, stop) == (0, self.domain.width)
        return self.hierarchy.label_of(start, stop) is not None
