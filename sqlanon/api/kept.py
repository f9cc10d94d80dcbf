"""What a release keeps of a column: its groups that occur, the largest of them, the loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sqlanon.certificate import LITTLE_IS_KEPT
from sqlanon.errors import SchemeError
from sqlanon.measurement import Ints
from sqlanon.scheme import Scheme


@dataclass(frozen=True)
class Kept:
    """A generalized column in a release.

    groups    how many of its groups have released rows
    values    how many atoms its domain has
    largest   the share of the released rows that are in the largest group, 0 to 1
    loss      the share of it that is lost over all rows, 0 to 1; a row that is left out loses all
    rows      the released rows of each group of the scheme, in their order; none where unknown
    """

    column: str
    groups: int
    values: int
    largest: float
    loss: float
    rows: tuple[int, ...] = field(default=(), repr=False)

    @property
    def is_little(self) -> bool:
        """Whether so many rows are in one group that the column tells little."""
        return self.largest > LITTLE_IS_KEPT

    def to_dict(self) -> dict[str, Any]:
        """As in result.json."""
        return {
            "groups": self.groups,
            "values": self.values,
            "largest": round(self.largest, 6),
            "loss": round(self.loss, 6),
        }

    @classmethod
    def from_dict(cls, column: str, document: Any, origin: str) -> Kept:
        """A column of a result file."""
        try:
            groups, values = (int(document[name]) for name in ("groups", "values"))
            largest, loss = (float(document[name]) for name in ("largest", "loss"))
            return cls(column, groups, values, largest, loss)
        except (KeyError, TypeError, ValueError):
            raise SchemeError(
                f"{origin}: is damaged: kept of column {column!r} is {document!r}; search again"
            ) from None


def kept_of(scheme: Scheme, released: Sequence[Ints], rows: int) -> tuple[Kept, ...]:
    """What a scheme keeps of its columns, from the released rows of every group of `rows`."""
    return tuple(
        _kept(column.name, column.size, partition.runs, by_group, rows)
        for column, partition, by_group in zip(
            scheme.columns, scheme.partitions, released, strict=True
        )
    )


def _kept(name: str, size: int, runs: Sequence[tuple[int, int]], by_group: Ints, rows: int) -> Kept:
    released, most = int(by_group.sum()), size - 1
    lost = float(rows - released)
    if most:
        steps = np.array([stop - start - 1 for start, stop in runs])
        lost += int(by_group @ steps) / most
    return Kept(
        column=name,
        groups=int((by_group > 0).sum()),
        values=size,
        largest=int(by_group.max()) / released if released else 0.0,
        loss=lost / rows if rows else 0.0,
        rows=tuple(by_group.tolist()),
    )


def read_kept(solution: Mapping[str, Any], origin: str) -> tuple[Kept, ...]:
    """What a solution of a result file keeps; nothing where an earlier version wrote it."""
    kept = solution.get("kept", {})
    if not isinstance(kept, Mapping):
        raise SchemeError(f"{origin}: is damaged: kept is {kept!r}; search again")
    return tuple(Kept.from_dict(name, each, origin) for name, each in kept.items())


def warnings_of(kept: Sequence[Kept]) -> list[str]:
    """A sentence about the columns of which little is left; none where that holds for none."""
    little = [each for each in kept if each.is_little]
    said = [
        f"{each.column} (hidden)"
        if each.groups <= 1
        else f"{each.column} ({each.largest:.1%} of the rows are in one group)"
        for each in little
    ]
    return [f"Little is left of {', '.join(said)}."] if said else []
