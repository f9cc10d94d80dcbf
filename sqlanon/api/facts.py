"""What a certificate states, gathered from policy, scheme and the published release."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlanon.api.homogeneity import homogeneity_of
from sqlanon.api.search import preference_of
from sqlanon.api.tallies import Tallies, column_losses, scores_of
from sqlanon.api.writing import cell_text
from sqlanon.certificate import (
    ColumnFact,
    Facts,
    HomogeneityFact,
    Prior,
    Subgroup,
    SuppressionFact,
    Treatment,
)
from sqlanon.compile import Generalized, Pseudonym, Recipe
from sqlanon.compile.present import cells
from sqlanon.engines import Source
from sqlanon.errors import CertificateError
from sqlanon.model import BiasName, LossName
from sqlanon.policy import Policy
from sqlanon.preference import Preference
from sqlanon.publish import Published
from sqlanon.scheme import Scheme
from sqlanon.verify import ColumnGroups


@dataclass(frozen=True)
class Account:
    """What only the moment of publishing knows."""

    release: str
    time: dt.datetime
    versions: Mapping[str, str]
    prior: tuple[Prior, ...]
    sql: str


def facts_of(
    policy: Policy,
    source: Source,
    scheme: Scheme,
    recipe: Recipe,
    published: Published,
    tallies: Tallies,
    account: Account,
) -> Facts:
    """Everything that the certificate of a release says."""
    audit = published.verification.audit
    if audit is None:
        raise CertificateError("the release was not counted, so nothing can be certified")
    if {each.model for each in audit.models} != set(recipe.models):
        raise CertificateError("not every required model was counted, so nothing can be certified")
    suppression = _suppression(policy, recipe, published, tallies)
    losses = column_losses(recipe, tallies, published.source_rows)
    scores = scores_of(recipe, losses, tallies, audit, published.source_rows, suppression.rows)
    preference = _preference(policy)
    if preference is not None:
        scores["ach"] = float(preference.ach(scores["nwp"], scores["necd"]))
        scores["pref_dev"] = float(preference.pref_dev(scores["nwp"], scores["necd"]))
    return Facts(
        release=account.release,
        time=account.time,
        versions=account.versions,
        policy=policy.fingerprint,
        policy_origin=policy.origin,
        scheme=scheme.fingerprint,
        source=source.name,
        source_rows=published.source_rows,
        source_people=tallies.source_people,
        target=published.target,
        mode=published.mode,
        subject=policy.section.subject,
        columns=tuple(_columns(policy, source, recipe, losses, tallies.groups)),
        required_k=recipe.k,
        policy_k=_policy_k(policy, recipe),
        audit=audit,
        homogeneity=_homogeneity(policy),
        scores=scores,
        preference=None
        if preference is None
        else {"nwp": preference.loss, "necd": preference.bias},
        suppression=suppression,
        unique_rows=published.verification.unique_rows,
        findings=tuple(f for found in published.verification.findings.values() for f in found),
        warnings=published.verification.warnings,
        prior=account.prior,
        table_hash=published.table_hash,
        sql=account.sql,
    )


def _policy_k(policy: Policy, recipe: Recipe) -> int | None:
    privacy = policy.section.privacy
    return None if privacy is None or privacy.k == recipe.k else privacy.k


def _homogeneity(policy: Policy) -> HomogeneityFact | None:
    found = homogeneity_of(policy)
    if not found.columns or found.reason is None:
        return None
    return HomogeneityFact(found.columns, found.reason)


def _preference(policy: Policy) -> Preference | None:
    """The policy's, if it is by NWP and NECD: others are not recounted on the release."""
    section = policy.section.preference
    wish = None if section is None else preference_of(section)
    papers = wish is not None and (wish.loss_by, wish.bias_by) == (LossName.NWP, BiasName.NECD)
    return wish if papers else None


def _columns(
    policy: Policy,
    source: Source,
    recipe: Recipe,
    losses: Mapping[str, float],
    spreads: Mapping[str, ColumnGroups],
) -> list[ColumnFact]:
    items = {item.name: item for item in recipe.items}
    found = []
    for info in source.columns:
        section = policy.section.columns.get(info.name)
        role = "subject" if section is None and info.name == policy.section.subject else "not named"
        role = role if section is None else str(section.role)
        item = items.get(info.name)
        if item is None:
            found.append(ColumnFact(info.name, role, Treatment.REMOVED))
        elif isinstance(item, Generalized):
            found.append(_generalized(item, role, losses[item.name], spreads[item.name]))
        else:
            hashed = isinstance(item, Pseudonym)
            found.append(
                ColumnFact(
                    info.name,
                    role,
                    Treatment.PSEUDONYM if hashed else Treatment.VERBATIM,
                    item.released_names,
                    accepted=None if section is None else section.accept,
                    stable=section is not None and section.stable,
                )
            )
    return found


def _generalized(item: Generalized, role: str, loss: float, released: ColumnGroups) -> ColumnFact:
    labels = [cell_text(group) for group in cells(item)]
    return ColumnFact(
        item.name,
        role,
        Treatment.GENERALIZED,
        item.released_names,
        groups=len(item.partition.runs),
        values=item.column.size,
        labels=tuple(labels),
        released=released,
        loss=min(loss, 1.0),
    )


def _suppression(
    policy: Policy, recipe: Recipe, published: Published, tallies: Tallies
) -> SuppressionFact:
    """How many rows were suppressed, and whom they speak of."""
    rows = tallies.suppressed_rows
    marked = recipe.marker is not None and rows > 0
    subgroups = [each for item in recipe.generalized for each in _subgroups(item.name, tallies)]
    return SuppressionFact(
        rows=rows,
        limit=policy.section.suppression.limit,
        marked=marked,
        unseen=published.left_out - (0 if marked else rows),
        subgroups=tuple(subgroups) if rows else (),
    )


def _subgroups(column: str, tallies: Tallies) -> Iterator[Subgroup]:
    """By label of one column how many rows there were and how many were suppressed."""
    kept, suppressed = tallies.released[column], tallies.suppressed.get(column, {})
    for key in {**kept, **suppressed}:
        left_out = suppressed.get(key, 0)
        yield Subgroup(column, cell_text(key), kept.get(key, 0) + left_out, left_out)
