"""Sensitive columns that no privacy model is for: all people of a class may share one value."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.errors import PolicyError
from sqlanon.policy import Policy, Role


@dataclass(frozen=True)
class Homogeneity:
    """The sensitive columns without a model, and why the policy accepts that; None if it does not.

    A reason that is for other columns only accepts nothing here.
    """

    columns: tuple[str, ...]
    reason: str | None


def homogeneity_of(policy: Policy) -> Homogeneity:
    """What the policy says of sensitive columns without a model."""
    privacy = policy.section.privacy
    sensitive = list(policy.columns_with(Role.SENSITIVE))
    sections = {} if privacy is None else privacy.of_columns()
    covered = {
        name
        for key, several in sections.items()
        if key != "homogeneity"
        for section in several
        for name in section.columns or sensitive
    }
    bare = tuple(name for name in sensitive if name not in covered)
    accepted = None if privacy is None else privacy.homogeneity
    if accepted is None or policy.section.uncovered_sensitive():
        return Homogeneity(bare, None)
    return Homogeneity(bare, accepted.accept)


def homogeneity_problem(policy: Policy) -> str | None:
    """Names the sensitive columns that neither a model nor a reason is for, if there are any."""
    columns = policy.section.uncovered_sensitive()
    if not columns:
        return None
    several = len(columns) > 1
    listed = ", ".join(map(repr, columns))
    return (
        f"no model covers the sensitive column{'s' * several} {listed}, so all people of a class "
        "may share one value; add a model to `privacy`, such as `l_diversity: {l: 2}`, or say "
        'there with `homogeneity: {accept: "reason"}` why that is accepted'
    )


def refuse_homogeneity(policy: Policy) -> None:
    """Refuses to publish sensitive columns that neither a model nor a reason is for."""
    if problem := homogeneity_problem(policy):
        raise PolicyError(f"{policy.origin}: privacy: {problem}")
