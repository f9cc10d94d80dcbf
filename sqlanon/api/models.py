"""The privacy models of a policy, bound to the columns of its source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlanon.api.bind import hierarchy_of
from sqlanon.engines import Source
from sqlanon.errors import PolicyError
from sqlanon.hierarchy import Hierarchy
from sqlanon.model import Kind
from sqlanon.policy import Policy, Role
from sqlanon.policy.privacy import ForColumns, PrivacySection, TClosenessSection, listed
from sqlanon.privacy import (
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

ORDERED = (Kind.INTEGER, Kind.FLOAT, Kind.DECIMAL, Kind.DATE, Kind.TIMESTAMP)
"""Kinds whose values have an order that says how far apart they are."""


def models_of(policy: Policy, source: Source) -> tuple[Model, ...]:
    """What every class must satisfy beyond k, one model for each column it speaks of."""
    privacy = policy.section.privacy
    return () if privacy is None else tuple(_models(policy, source, privacy))


def sensitive_hierarchies(policy: Policy, source: Source) -> dict[str, Hierarchy]:
    """The hierarchies of sensitive columns, by column."""
    return {
        name: hierarchy
        for name in policy.columns_with(Role.SENSITIVE)
        if isinstance(hierarchy := hierarchy_of(policy, source, name), Hierarchy)
    }


def _models(policy: Policy, source: Source, privacy: PrivacySection) -> Iterator[Model]:
    sensitive = list(policy.columns_with(Role.SENSITIVE))

    def columns(section: ForColumns) -> Sequence[str]:
        return section.columns or sensitive

    for diverse in listed(privacy.l_diversity):
        for name in columns(diverse):
            if diverse.kind == "distinct":
                yield DistinctDiversity(name, int(diverse.l))
            elif diverse.kind == "entropy":
                yield EntropyDiversity(name, diverse.l)
            else:
                assert diverse.c is not None
                yield RecursiveDiversity(name, diverse.c, int(diverse.l))
    for close in listed(privacy.t_closeness):
        for name in columns(close):
            yield Closeness(name, close.t, _distance(policy, source, name, close))
    for likely in listed(privacy.beta_likeness):
        yield from (BetaLikeness(name, likely.beta) for name in columns(likely))
    for telling in listed(privacy.delta_disclosure):
        yield from (DeltaDisclosure(name, telling.delta) for name in columns(telling))
    for frequent in listed(privacy.alpha_k):
        yield from (AlphaAnonymity(name, frequent.alpha) for name in columns(frequent))
    if privacy.k_map is not None:
        yield KMap(None, privacy.k_map)


def _distance(policy: Policy, source: Source, name: str, section: TClosenessSection) -> Distance:
    has_hierarchy = policy.section.columns[name].hierarchy is not None
    has_order = source.column(name).kind in ORDERED
    if section.distance is None:
        if has_hierarchy:
            return Distance.HIERARCHICAL
        return Distance.ORDERED if has_order else Distance.EQUAL
    if section.distance is Distance.HIERARCHICAL and not has_hierarchy:
        raise PolicyError(
            f"{policy.origin}: privacy.t_closeness.distance: hierarchical needs a hierarchy of "
            f"column {name!r}"
        )
    if section.distance is Distance.ORDERED and not has_order:
        raise PolicyError(
            f"{policy.origin}: privacy.t_closeness.distance: ordered needs numbers or dates, and "
            f"column {name!r} holds {source.column(name).type}; take equal or hierarchical"
        )
    return section.distance
