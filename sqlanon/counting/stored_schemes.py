"""Reads schemes in every form that callers pass, over the current values of the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from sqlanon.counting.binding import Quasi, generalized_of, quasis_of
from sqlanon.domain import (
    Domain,
    Scheme,
    Space,
    ValueDomain,
    from_document,
    listed_values,
    mentions_null,
    partition_by_spans,
    read_document,
    read_result,
    to_document,
    upgraded,
)
from sqlanon.engines import Kind, Source
from sqlanon.errors import NoSolutionError, PolicyError, SchemeError
from sqlanon.policy import Policy, Role
from sqlanon.search import SearchResult, Solution

SchemeLike = Scheme | Solution | SearchResult | Mapping[str, Any] | str | Path
"""A scheme, a solution, the chosen one of a result, a scheme's document, or a file's path."""


def scheme_in(scheme: SchemeLike) -> Scheme | None:
    """The scheme of an object that has one; None for documents and files."""
    if isinstance(scheme, SearchResult):
        if scheme.solution is None:
            some = any(each.feasible is not False for each in scheme.solutions)
            which = "one" if some else "one that falls short"
            raise NoSolutionError(f"{scheme.shortfall()} To use {which}, give it from `solutions`.")
        return scheme.solution.scheme
    if isinstance(scheme, Solution):
        return scheme.scheme
    return scheme if isinstance(scheme, Scheme) else None


def check_fit(policy: Policy, scheme: Scheme) -> None:
    """Refuses a scheme for other columns than those that the policy generalizes."""
    wanted = list(policy.columns_with(Role.QUASI))
    found = [column.name for column in scheme.columns]
    if set(found) != set(wanted):
        raise SchemeError(
            f"the scheme is for the columns {', '.join(map(repr, found))}, but {policy.origin} "
            f"generalizes {', '.join(map(repr, wanted)) or 'none'}; take a scheme of this policy"
        )


@contextmanager
def explaining_changes(policy: Policy, scheme: SchemeLike) -> Iterator[None]:
    """If a result does not fit, adds to the error what has changed in the policy since."""
    try:
        yield
    except SchemeError as error:
        changes = _changes(policy, scheme)
        if not changes:
            raise
        raise type(error)(f"{error}. {changes}") from None


def _changes(policy: Policy, scheme: SchemeLike) -> str:
    result = read_result(scheme) if isinstance(scheme, str | Path) else None
    if result is None or result.get("policy") in (None, policy.fingerprint):
        return ""
    found, parts = result.get("policy_parts"), policy.parts
    changed = []
    if isinstance(found, Mapping):
        names = dict.fromkeys([*parts, *map(str, found)])
        changed = [name for name in names if parts.get(name) != found.get(name)]
    where = f" in {', '.join(changed)}" if changed else ""
    return f"The policy has changed{where} since the search that wrote {scheme}; search again"


@dataclass(frozen=True)
class StoredScheme:
    """The document of a scheme, read under a policy; `origin` names it in messages."""

    policy: Policy
    source: Source
    document: Mapping[str, Any]
    origin: str

    @classmethod
    def read(cls, policy: Policy, source: Source, scheme: SchemeLike) -> StoredScheme:
        """Reads a scheme file, a solution of a result file, or takes a document as it is."""
        if isinstance(scheme, str | Path):
            return cls(policy, source, read_document(scheme), str(scheme))
        return cls(policy, source, upgraded(scheme), "scheme")

    def over(self, space: Space) -> Scheme:
        """The scheme over the current values, and over the listed ones if these differ.

        Raises SchemeError if a current value is in no group.
        """
        document, uncovered = self._moved(space)
        found = from_document(document, space.columns, self.origin)
        if uncovered is not None:
            raise SchemeError(f"{self.origin}: column {uncovered!r}: a value is in no group")
        given = self.as_listed(space)
        return found if given.columns == found.columns else replace(found, given=given)

    def _moved(self, space: Space) -> tuple[Any, str | None]:
        """The document with its decades and intervals over the current values.

        A decade stays the same when other birthdays occur, but the cut where it begins moves to
        another birthday. Also returns a column with a value in no group, if any.
        """
        now = {c.name: c for c in space.columns if c.hierarchy and c.hierarchy.extent}
        entries, uncovered = self.document["columns"], None
        changed = dict(entries)
        for name, quasi in self._quasis.items():
            if name not in now or name not in entries or self._listed(name) is None:
                continue
            domain = self._domain(quasi, now[name].domain.kind)
            if domain is None or domain == now[name].domain:
                continue
            old = quasi.complete(domain)
            entry = {"columns": {name: entries[name]}}
            (partition,) = from_document(entry, [old], self.origin).partitions
            info = self.source.column(name)
            spans = generalized_of(self.policy, info, old, partition).spans
            if spans is None:
                continue
            moved = partition_by_spans(old, partition, now[name], spans)
            if moved is None:
                uncovered = name
            else:
                changed |= to_document(Scheme((now[name],), (moved,)))["columns"]
        return {**self.document, "columns": changed}, uncovered

    def as_listed(self, space: Space) -> Scheme:
        """The scheme over the values that the document lists, else over the current ones.

        Groups keep the labels that they had when they were found: the thirties do not become a
        single birthday because all others are gone.
        """
        columns = []
        for column in space.columns:
            quasi, domain = self._quasis[column.name], None
            if self._listed(column.name) is not None:
                domain = self._domain(quasi, column.domain.kind)
            columns.append(column if domain is None else quasi.complete(domain))
        return from_document(self.document, columns, self.origin)

    def without_counting(self) -> Scheme | None:
        """The scheme over the domains it was made for, without counting the source.

        It lacks values that are new since then. None if neither the policy nor the document
        lists the domain of a column.
        """
        columns = []
        for quasi in self._quasis.values():
            domain = self._domain(quasi, self._kind(quasi.name))
            if domain is None:
                return None
            columns.append(quasi.complete(domain))
        return from_document(self.document, columns, self.origin)

    @cached_property
    def _quasis(self) -> dict[str, Quasi]:
        return {quasi.name: quasi for quasi in quasis_of(self.policy, self.source)}

    def _listed(self, name: str) -> list[Any] | None:
        return listed_values(self.document, name, self.origin)

    def _kind(self, name: str) -> Kind:
        info = self.source.column(name)
        if info.kind is None:
            raise PolicyError(
                f"column {name!r} has the type {info.type}, which cannot be generalized; cast it "
                "in a query, or give it another role"
            )
        return info.kind

    def _domain(self, quasi: Quasi, kind: Kind) -> Domain | None:
        """The domain that the policy declares, else that of the values which are listed."""
        domain = quasi.declared_domain(kind)
        if domain is None:
            listed = self._listed(quasi.name)
            if listed is None:
                return None
            domain = replace(quasi, values=tuple(listed)).declared_domain(kind)
            assert isinstance(domain, ValueDomain)
            return replace(domain, is_observed=True)
        if mentions_null(self.document["columns"].get(quasi.name)) and not domain.has_null:
            return replace(domain, has_null=True)
        return domain
