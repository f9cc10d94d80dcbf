"""A scheme file over the values that it was found on, and over those that there are now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlanon.api.bind import quasis_of
from sqlanon.api.release import item_of
from sqlanon.compile import Generalized, Recipe, compile_release, compile_uncovered
from sqlanon.domain import Domain, ValueDomain
from sqlanon.engines import Source
from sqlanon.errors import PolicyError, SchemeError, UncoveredValueError
from sqlanon.histogram import Quasi
from sqlanon.model import Kind, counted
from sqlanon.policy import Policy
from sqlanon.scheme import (
    Column,
    Partition,
    Scheme,
    Space,
    from_document,
    partition_by_spans,
    to_document,
)
from sqlanon.scheme.scheme_file import mentions_null


def on_these_values(
    policy: Policy, source: Source, space: Space, document: Any, origin: str
) -> Any:
    """The document of a scheme with its decades and intervals over the values of today.

    A decade is the same decade when other birthdays occur, but the cut where it begins is at
    another one. Raises UncoveredValueError where a value is in no group.
    """
    now = {c.name: c for c in space.columns if c.hierarchy and c.hierarchy.extent}
    entries = document.get("columns") if isinstance(document, Mapping) else None
    if not now or not isinstance(entries, Mapping):
        return document
    changed = dict(entries)
    for quasi in quasis_of(policy, source):
        name = quasi.name
        if name not in now or name not in entries or _listed(document, name, origin) is None:
            continue
        domain = _domain(quasi, now[name].domain.kind, document, origin)
        if domain is None or domain == now[name].domain:
            continue
        old = quasi.complete(domain)
        (partition,) = from_document({"columns": {name: entries[name]}}, [old], origin).partitions
        item = item_of(policy, source.column(name), (old, partition))
        if not isinstance(item, Generalized) or item.spans is None:
            continue
        moved = partition_by_spans(old, partition, now[name], item.spans)
        if moved is None:
            refuse_uncovered(policy, source, document, origin)
            continue
        changed |= to_document(Scheme((now[name],), (moved,)))["columns"]
    return {**document, "columns": changed}


def scheme_without_counting(
    policy: Policy, source: Source, document: Any, origin: str
) -> Scheme | None:
    """The scheme of a document over the domains it was made for.

    The source is not counted: values that are new since then are the release's business.
    None where neither the policy nor the document tells a column's domain.
    """
    columns = []
    for quasi in quasis_of(policy, source):
        domain = _domain(quasi, _kind(source, quasi.name), document, origin)
        if domain is None:
            return None
        columns.append(quasi.complete(domain))
    return from_document(document, columns, origin)


def scheme_as_listed(
    policy: Policy, source: Source, space: Space, document: Any, origin: str
) -> Scheme:
    """The scheme of a document over the values that it lists, else over those that there are.

    Its groups are called what they were called when they were found: the thirties do not become
    a birthday because all others of them are gone.
    """
    quasis = {quasi.name: quasi for quasi in quasis_of(policy, source)}
    columns = []
    for column in space.columns:
        quasi, domain = quasis[column.name], None
        if _listed(document, column.name, origin) is not None:
            domain = _domain(quasi, column.domain.kind, document, origin)
        columns.append(column if domain is None else quasi.complete(domain))
    return from_document(document, columns, origin)


def refuse_uncovered(policy: Policy, source: Source, document: Any, origin: str) -> None:
    """Raises UncoveredValueError where rows hold values that the scheme of a document lacks.

    Does nothing where that cannot be told, because the document is wrong by itself.
    """
    try:
        scheme = scheme_without_counting(policy, source, document, origin)
    except SchemeError:
        return
    if scheme is None:
        return
    partitions = {c.name: (c, p) for c, p in zip(scheme.columns, scheme.partitions, strict=True)}
    items = [item_of(policy, info, partitions.get(info.name)) for info in source.columns]
    generalized = tuple(_by_value(item) for item in items if isinstance(item, Generalized))
    recipe = Recipe(source.relation, generalized, k=1)
    (row,) = source.engine.fetch(compile_release(recipe).unseen).to_pylist()
    found = [(name, int(count)) for name, count in row.items() if count]
    if found:
        listed = ", ".join(f"{name!r} in {counted(count, 'row')}" for name, count in found)
        raise UncoveredValueError(
            f"The source holds values that the scheme in {origin} does not cover: {listed}. "
            "Search again for a scheme of these data, or leave such rows out with a query",
            {
                name: source.engine.fetch(compile_uncovered(recipe, name))["value"].to_pylist()
                for name, _ in found
            },
        )


def _by_value(item: Generalized) -> Generalized:
    """A column whose one group a release writes for any value: here its own values count.

    New values make its domain larger, and with it what the scheme loses.
    """
    domain = item.column.domain
    if not item.takes_all or not isinstance(domain, ValueDomain) or item.by_intervals:
        return item
    finest = Partition(domain.size, tuple(range(domain.size - 1)))
    return Generalized(Column(domain), finest, item.type, form=item.form)


def _kind(source: Source, name: str) -> Kind:
    kind = source.column(name).kind
    if kind is None:
        type_ = source.column(name).type
        raise PolicyError(
            f"column {name!r} has the type {type_}, which cannot be generalized; cast it in a "
            "query, or give it another role"
        )
    return kind


def _domain(quasi: Quasi, kind: Kind, document: Any, origin: str) -> Domain | None:
    domain = quasi.declared_domain(kind)
    entries = document.get("columns") if isinstance(document, Mapping) else None
    entry = entries.get(quasi.name) if isinstance(entries, Mapping) else None
    if domain is None:
        listed = _listed(document, quasi.name, origin)
        if listed is None:
            return None
        domain = replace(quasi, values=tuple(listed)).declared_domain(kind)
        assert isinstance(domain, ValueDomain)
        return replace(domain, is_observed=True)
    if mentions_null(entry) and not domain.has_null:
        return replace(domain, has_null=True)
    return domain


def _listed(document: Any, name: str, origin: str) -> list[Any] | None:
    """The values that a scheme file lists for a column nobody declared."""
    domains = document.get("domains", {}) if isinstance(document, Mapping) else {}
    if not isinstance(domains, Mapping):
        raise SchemeError(f"{origin}: domains: expected columns with their values")
    listed = domains.get(name)
    if listed is None:
        return None
    if not isinstance(listed, list) or not listed:
        raise SchemeError(f"{origin}: domains: column {name!r}: expected a list of values")
    return listed
