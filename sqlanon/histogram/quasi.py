"""A quasi-identifier as it is declared, before the data are counted.

What a column's atoms are may depend on the data (observed values, a masked zip code), so a
declaration is completed in two steps: `declared_domain` before counting, `complete` after.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sqlanon.domain import Domain, IntervalDomain, ValueDomain
from sqlanon.errors import DomainError, HierarchyError
from sqlanon.hierarchy import Hierarchy
from sqlanon.model import Family, Kind, Value, format_value, parse_value, sort_key
from sqlanon.scheme import Column

HierarchyBuilder = Callable[[Sequence[Value], Kind], Hierarchy]
"""Makes a hierarchy over the atoms of a column: their values, or left ends of intervals."""


@dataclass(frozen=True)
class Quasi:
    """One quasi-identifier: at most one of `values` and `range` is given.

    `values` lists the domain in order (None for NULL). `range` with `granularity` makes
    intervals. A finished hierarchy lists the domain itself; a builder works on whatever
    atoms the column has. `min_level` and `max_level` are those of the column; whether it has
    such levels shows when it is complete.
    """

    name: str
    family: Family = Family.CONTIGUOUS
    weight: float = 1.0
    values: tuple[object, ...] | None = None
    range: tuple[object, object] | None = None
    granularity: object = None
    hierarchy: Hierarchy | HierarchyBuilder | None = None
    min_level: int = 0
    max_level: int | None = None

    def declared_domain(self, kind: Kind) -> Domain | None:
        """The domain as far as it is known without looking at the data."""
        try:
            return self._declared_domain(kind)
        except DomainError as error:
            if repr(self.name) in str(error):
                raise
            raise DomainError(f"column {self.name!r}: {error}") from None

    def _declared_domain(self, kind: Kind) -> Domain | None:
        if self.range is not None:
            low, high = (parse_value(end, kind) for end in self.range)
            return IntervalDomain.of_range(self.name, kind, low, high, self.granularity)
        if self.values is not None:
            listed = tuple(parse_value(v, kind) for v in self.values if v is not None)
            return ValueDomain(self.name, kind, listed, has_null=None in self.values)
        if isinstance(self.hierarchy, Hierarchy):
            return ValueDomain(self.name, kind, self.hierarchy.parsed(kind))
        return None

    def complete(self, domain: Domain) -> Column:
        """The column over its final domain, the atoms in the order of the hierarchy."""
        hierarchy = self.hierarchy
        if hierarchy is not None:
            if not isinstance(hierarchy, Hierarchy):
                hierarchy = hierarchy(domain.left_ends, domain.kind)
            domain = _ordered(domain, hierarchy)
        return Column(domain, hierarchy, self.family, self.weight, self.min_level, self.max_level)


def _ordered(domain: Domain, hierarchy: Hierarchy) -> Domain:
    """The domain in the order of the hierarchy's leaves, which must be its atoms."""
    where = f"column {domain.column!r}: the hierarchy {hierarchy.origin}"
    if isinstance(domain, IntervalDomain):
        names = tuple(domain.atom_label(i) for i in range(domain.width))
        ends = tuple(format_value(v) for v in domain.left_ends)
        # Labels write timestamps at midnight as dates; a file may have them in full.
        pairs = enumerate(pairwise(map(format_value, domain.edges)), 1)
        in_full = tuple(f"[{a}, {b}{']' if i == domain.width else ')'}" for i, (a, b) in pairs)
        if hierarchy.leaves not in (names, ends, in_full):
            raise HierarchyError(
                f"{where} does not list the intervals of the range in their order; "
                f"its leaves must be {names[0]}, {names[min(1, len(names) - 1)]}, …"
            )
        return domain
    leaves = hierarchy.parsed(domain.kind)
    known = {sort_key(v) for v in leaves}
    missing = [v for v in domain.values if sort_key(v) not in known]
    if missing:
        listed = ", ".join(repr(format_value(v)) for v in missing[:5])
        raise HierarchyError(f"{where} has no leaf for {listed}; add it, or leave `values` out")
    return ValueDomain(domain.column, domain.kind, leaves, domain.has_null, domain.is_observed)
