"""A scheme: one partition per quasi-identifier, a complete generalization of a table."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sqlanon.domain.column import Column
from sqlanon.domain.labels import group_labels
from sqlanon.domain.partition import Bits, Partition
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
    """

    columns: tuple[Column, ...]
    partitions: tuple[Partition, ...]
    given: Scheme | None = field(default=None, compare=False)
    required_k: int | None = None

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

    def __getitem__(self, name: str) -> Partition:
        for column, partition in zip(self.columns, self.partitions, strict=True):
            if column.name == name:
                return partition
        raise KeyError(name)

    def __repr__(self) -> str:
        pairs = zip(self.columns, self.partitions, strict=True)
        groups = [f"{c.name} {len(p.runs):,} of {c.size:,}" for c, p in pairs]
        return f"<Scheme of {counted(len(groups), 'column')}, groups: {brief_list(groups)}>"

    @property
    def bits(self) -> Bits:
        """All cuts as one string, the columns one after the other."""
        return np.concatenate([p.bits for p in self.partitions])

    def labels(self, name: str) -> tuple[str | None, ...]:
        """The plain labels of a column's groups; None is NULL.

        A policy may have them written otherwise: `Solution.labels` says how.
        """
        column = next(c for c in self.columns if c.name == name)
        return group_labels(column, self[name])

    @cached_property
    def fingerprint(self) -> str:
        """Names the decoded form: two ways of writing one scheme have one fingerprint."""
        return fingerprint([np.packbits(p.bits).tobytes() for p in self.partitions])


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
