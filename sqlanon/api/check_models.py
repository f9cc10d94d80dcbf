"""The privacy models that a check requires, as a user names them: l, t, beta, delta, alpha."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sqlanon import hierarchy
from sqlanon.arguments import number_above, number_from, optional, refusal, share, whole_number
from sqlanon.engines import Source
from sqlanon.errors import ArgumentError
from sqlanon.hierarchy import Hierarchy
from sqlanon.privacy import (
    TOLERANCE,
    AlphaAnonymity,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    Distance,
    DistinctDiversity,
    EntropyDiversity,
    KMap,
    Model,
    RecursiveDiversity,
)

L_KINDS = ("distinct", "entropy", "recursive")


@dataclass(frozen=True)
class Wanted:
    """What a check requires beside k; every model is for all sensitive columns.

    `l_kind` is one of L_KINDS, and `c` is for the last of them. `distance` unless given:
    hierarchical where `hierarchy` has the column, ordered for numbers and dates, else equal.
    """

    l: float | None = None  # noqa: E741  (the letter of the paper)
    l_kind: str | None = None
    c: float | None = None
    t: float | None = None
    distance: str | None = None
    hierarchy: Mapping[str, Hierarchy | str | Path] = field(default_factory=dict)
    beta: float | None = None
    delta: float | None = None
    alpha: float | None = None
    k_map: int | None = None

    def __post_init__(self) -> None:
        self._check_numbers()
        self._check_hierarchies()
        for problem in self._problems():
            raise ArgumentError(problem)

    def models(self, source: Source, sensitive: Sequence[str]) -> list[Model]:
        """The models, for the columns of a table."""
        if strangers := [name for name in self.hierarchy if name not in sensitive]:
            raise ArgumentError(
                f"`hierarchy`: {strangers[0]!r} is not named by `sensitive`; name it there, or "
                "leave its hierarchy out"
            )
        found: list[Model] = [] if self.k_map is None else [KMap(None, int(self.k_map))]
        for name in sensitive:
            found += self._of_column(source, name)
        given = {"l": self.l, "t": self.t, "beta": self.beta, "delta": self.delta}
        asked = [
            name for name, value in (given | {"alpha": self.alpha}).items() if value is not None
        ]
        if asked and not sensitive:
            raise ArgumentError(
                f"`{asked[0]}` speaks of sensitive values; name the column that holds them with "
                "`sensitive`"
            )
        return found

    def hierarchies(self) -> dict[str, Hierarchy]:
        """The hierarchies by column, read from their files."""
        return {
            name: each if isinstance(each, Hierarchy) else hierarchy.read(each)
            for name, each in self.hierarchy.items()
        }

    def _of_column(self, source: Source, name: str) -> Iterator[Model]:
        if self.l is not None:
            if self.l_kind == "entropy":
                yield EntropyDiversity(name, float(self.l))
            elif self.l_kind == "recursive":
                assert self.c is not None
                yield RecursiveDiversity(name, float(self.c), int(self.l))
            else:
                yield DistinctDiversity(name, int(self.l))
        if self.t is not None:
            yield Closeness(name, float(self.t), self._distance(source, name))
        if self.beta is not None:
            yield BetaLikeness(name, float(self.beta))
        if self.delta is not None:
            yield DeltaDisclosure(name, float(self.delta))
        if self.alpha is not None:
            yield AlphaAnonymity(name, float(self.alpha))

    def _distance(self, source: Source, name: str) -> Distance:
        info, given = source.column(name), self.distance
        has_order = info.kind is not None and info.kind.is_ordered
        if given is None and name in self.hierarchy:
            return Distance.HIERARCHICAL
        if given is None:
            return Distance.ORDERED if has_order else Distance.EQUAL
        if given == Distance.HIERARCHICAL and name not in self.hierarchy:
            raise ArgumentError(f"`distance` is hierarchical; give the `hierarchy` of {name!r}")
        if given == Distance.ORDERED and not has_order:
            raise ArgumentError(
                f"`distance` is ordered, which needs numbers or dates, and column {name!r} holds "
                f"{info.type}; take equal or hierarchical"
            )
        return Distance(given)

    def _check_numbers(self) -> None:
        optional(number_from, "l", self.l, 1)
        for name, limit in (("c", TOLERANCE), ("beta", 0.0), ("delta", TOLERANCE)):
            optional(number_above, name, getattr(self, name), limit)
        for name in ("t", "alpha"):
            optional(share, name, getattr(self, name))
        optional(whole_number, "k_map", self.k_map, 1)

    def _check_hierarchies(self) -> None:
        expected = "a mapping from columns to hierarchies or files, such as {'ill': 'ill.csv'}"
        if not isinstance(self.hierarchy, Mapping):
            raise refusal("hierarchy", self.hierarchy, expected)
        for name, each in self.hierarchy.items():
            if not isinstance(each, Hierarchy | str | Path):
                raise ArgumentError(
                    f"`hierarchy`: that of {name!r} is {each!r:.60}; give a Hierarchy, or its file"
                )

    def _problems(self) -> Iterator[str]:
        """What texts say, and what arguments say together; the numbers are checked."""
        kind = "distinct" if self.l_kind is None else self.l_kind
        if kind not in L_KINDS:
            yield f"`l_kind` is {kind!r}; it is one of {', '.join(L_KINDS)}"
        if self.l is None and self.l_kind is not None:
            yield f"`l_kind` is {kind}, but no `l` is given"
        if self.l is not None:
            if kind != "entropy" and self.l != int(self.l):
                yield (
                    f"`l` is {float(self.l):g}; {kind} l is a whole number, entropy l need not be "
                    "one"
                )
            if kind == "recursive" and self.c is None:
                yield (
                    "recursive l needs `c`: the most frequent value must occur less than c times "
                    "as often as those from the l-th on together"
                )
        if self.c is not None and (self.l is None or kind != "recursive"):
            yield "`c` is for `l` with `l_kind` recursive only; give these, or leave it out"
        if self.distance is not None:
            if self.distance not in list(Distance):
                yield f"`distance` is {self.distance!r}; it is one of {', '.join(Distance)}"
            if self.t is None:
                yield f"`distance` is {self.distance}, but no `t` is given"
