"""What a search needs of the data: distinct atom tuples with the people and rows they hold."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.domain.atoms import ValueDomain
from sqlanon.domain.space import Space
from sqlanon.wording import counted

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, repr=False)
class Tally:
    """Counts by atom tuple (and value of a further column), one entry per row of each array.

    A subject whose rows all share one atom tuple is counted in `people`. A subject that
    moves between tuples cannot be added up over tuples, so each of its entries has
    `people` 0 and the subject's number in `mover`; elsewhere `mover` is -1.
    """

    codes: Codes
    rows: Ints
    people: Ints
    mover: Codes
    values: Codes | None = None

    def __repr__(self) -> str:
        return f"<Tally of {counted(len(self), 'tuple')}>"

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def has_movers(self) -> bool:
        return bool((self.mover >= 0).any())


@dataclass(frozen=True)
class Facet:
    """A further column (class label, sensitive value) counted together with the atoms."""

    domain: ValueDomain
    tally: Tally


@dataclass(frozen=True)
class CountedPopulation:
    """People by where their values belong: the codes of `tally` number the places of a column."""

    places: tuple[tuple[GroupFit, ...], ...]
    tally: Tally

    @cached_property
    def atoms(self) -> Codes:
        """By entry and column an atom of the group that takes the value."""
        of_places = [np.array([p.atom for p in column], dtype=np.int32) for column in self.places]
        columns = [atom[self.tally.codes[:, j]] for j, atom in enumerate(of_places)]
        return np.column_stack(columns)


@dataclass(frozen=True, repr=False)
class Histogram:
    """A counted source. With no subject, every row is a person.

    `population` counts the people that those of the source are a part of, where they matter.
    """

    space: Space
    tally: Tally
    rows: int
    people: int
    facets: Mapping[str, Facet] = field(default_factory=dict)
    subject: str | None = None
    population: CountedPopulation | None = None

    def __repr__(self) -> str:
        counts = ", ".join(
            (
                counted(self.rows, "row"),
                counted(self.people, "person"),
                counted(len(self.tally), "tuple"),
            )
        )
        return f"<Histogram of {counts} over {self.space!r}>"

    @cached_property
    def marginals(self) -> tuple[Ints, ...]:
        """Rows by atom, one array per column."""
        return tuple(
            np.bincount(self.tally.codes[:, j], self.tally.rows, minlength=c.size).astype(np.int64)
            for j, c in enumerate(self.space.columns)
        )

    @cached_property
    def fingerprint(self) -> str:
        """Changes when the counted data or a domain change, and only then."""
        digest = hashlib.sha256()
        for column in self.space.columns:
            digest.update(f"{column.name}\0{column.domain.fingerprint}\0".encode())
        digest.update(f"{self.rows} {self.people} {self.subject is not None}".encode())
        digest.update(_unordered_hash(self.tally))
        for name, facet in sorted(self.facets.items()):
            digest.update(f"{name}\0{facet.domain.fingerprint}\0".encode())
            digest.update(_unordered_hash(facet.tally))
        if self.population is not None:
            digest.update(repr(self.population.places).encode())
            digest.update(_unordered_hash(self.population.tally))
        return digest.hexdigest()


def _unordered_hash(tally: Tally) -> bytes:
    """A hash of the entries that does not depend on their order: engines return any order."""
    parts = [*tally.codes.T, tally.rows, tally.people, tally.mover]
    if tally.values is not None:
        parts.append(tally.values)
    sums = b""
    for seed in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F):
        mixed = np.full(len(tally), seed, dtype=np.uint64)
        for part in parts:
            mixed = _mix(mixed ^ part.astype(np.uint64))
        sums += int(mixed.sum(dtype=np.uint64)).to_bytes(8, "big")
    return sums


def _mix(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The finalizer of splitmix64: every input bit reaches every output bit."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


class GroupFit(NamedTuple):
    """A value belongs to the group of `atom` if this holds all atoms start..stop-1.

    With `company` the group must also hold another value than the atom, on either side.
    """

    atom: int
    start: int
    stop: int
    company: bool = False
