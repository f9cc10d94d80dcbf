"""A scheme: one partition per quasi-identifier, or a cut tree; a complete generalization."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sqlanon.domain.column import Bits, Column, Partition
from sqlanon.domain.cut_tree import CutTree, Run
from sqlanon.domain.presentation import group_labels, run_labels
from sqlanon.errors import SchemeError
from sqlanon.wording import brief_list, counted


@dataclass(frozen=True, repr=False)
class Scheme:
    """The partitions of all columns of a space, in the order of the columns.

    `given` is the same scheme over the values that its file lists, where these differ from those
    of the data. It is the one that is released, since the names of groups depend on the values
    that they were found on.

    `required_k` is the k that the scheme was scored for, where that is not the policy's: smaller
    classes are left out, within the suppression limit, and a release of it needs that k too.

    With a `tree` the columns that it cuts are generalized by its regions. The partition of such a
    column has the groups that no split parts.
    """

    columns: tuple[Column, ...]
    partitions: tuple[Partition, ...]
    given: Scheme | None = field(default=None, compare=False)
    required_k: int | None = None
    tree: CutTree | None = None

    def __post_init__(self) -> None:
        for column, partition in zip(self.columns, self.partitions, strict=True):
            if partition.size != column.size:
                raise SchemeError(
                    f"column {column.name!r} has {column.size} atoms, "
                    f"its partition speaks of {partition.size}"
                )
            if not column.is_canonical(partition):
                raise SchemeError(
                    f"column {column.name!r}: NULL shares a group with a neighbour; "
                    "it stands apart unless the whole column is one group"
                )
            beyond = column.beyond_limits(partition)
            if beyond is not None:
                raise SchemeError(f"column {column.name!r}: its partition {beyond}")
        if self.tree is not None:
            _check_regions(self.columns, self.tree)

    def __getitem__(self, name: str) -> Partition:
        for column, partition in zip(self.columns, self.partitions, strict=True):
            if column.name == name:
                return partition
        raise KeyError(name)

    def __repr__(self) -> str:
        pairs = zip(self.columns, self.partitions, strict=True)
        groups = [f"{c.name} {len(p.runs):,} of {c.size:,}" for c, p in pairs]
        return f"<Scheme of {counted(len(groups), 'column')}, groups: {brief_list(groups)}>"

    @cached_property
    def groups(self) -> tuple[tuple[Run, ...], ...]:
        """By column the runs of atoms that rows may be released by; those of a tree may overlap."""
        return tuple(
            partition.runs if runs is None else runs
            for partition, runs in zip(self.partitions, self._runs, strict=True)
        )

    @property
    def cut_tree(self) -> CutTree | None:
        """The tree, if it cuts a column."""
        return self.tree if self.tree is not None and self.tree.cut_columns else None

    @property
    def _runs(self) -> tuple[tuple[Run, ...] | None, ...]:
        """By column the runs of the tree; None where it does not cut the column."""
        tree = self.tree
        cut = () if tree is None else tree.cut_columns
        found = range(len(self.columns))
        return tuple(tree.groups[j] if tree is not None and j in cut else None for j in found)

    @property
    def by_name(self) -> dict[str, tuple[Column, Partition, tuple[Run, ...] | None]]:
        """Each column with its partition, and its runs where a tree cuts it."""
        parts = zip(self.columns, self.partitions, self._runs, strict=True)
        return {column.name: (column, partition, runs) for column, partition, runs in parts}

    @property
    def bits(self) -> Bits:
        """All cuts as one string, the columns one after the other."""
        return np.concatenate([p.bits for p in self.partitions])

    def labels(self, name: str) -> tuple[str | None, ...]:
        """The plain labels of a column's groups; None is NULL.

        A policy may have them written otherwise: `Solution.labels` says how.
        """
        column, partition, runs = self.by_name[name]
        return group_labels(column, partition) if runs is None else run_labels(column, runs)

    @cached_property
    def fingerprint(self) -> str:
        """Names the decoded form: two ways of writing one scheme have one fingerprint."""
        packed = [np.packbits(p.bits).tobytes() for p in self.partitions]
        return fingerprint(packed if self.tree is None else [*packed, self.tree.fingerprint])


def _check_regions(columns: Sequence[Column], tree: CutTree) -> None:
    """Refuses regions with some values and NULL, or beyond the highest level of a column."""
    if tree.names != tuple(column.name for column in columns):
        raise SchemeError("tree: it was made for other columns")
    for j in tree.cut_columns:
        column, runs = columns[j], tree.groups[j]
        width, size = column.domain.width, column.size
        if column.domain.has_null and any(a < width and b == size and a for a, b in runs):
            raise SchemeError(
                f"tree: column {column.name!r}: a region holds some values and NULL; part them by "
                f'the split ["{column.name}", "not null", null, …, …]'
            )
        for cut in column.coarsest.cuts:
            if any(a <= cut < b - 1 for a, b in runs):
                raise SchemeError(
                    f"tree: column {column.name!r}: a region is above level {column.limits[1]}, "
                    "which max_level forbids; cut it further, or raise max_level"
                )


def fingerprint(packed: Sequence[bytes]) -> str:
    """The fingerprint of a scheme from the packed bits of its partitions."""
    digest = hashlib.sha256()
    for part in packed:
        digest.update(len(part).to_bytes(4, "big"))
        digest.update(part)
    return digest.hexdigest()


def from_levels(columns: Sequence[Column], levels: Sequence[int]) -> Scheme:
    """The lattice node `levels` as a scheme."""
    partitions = []
    for column, level in zip(columns, levels, strict=True):
        if not 0 <= level <= column.height:
            raise SchemeError(
                f"column {column.name!r} has levels 0 to {column.height}, not {level}"
            )
        partitions.append(column.levels[level])
    return Scheme(tuple(columns), tuple(partitions))
