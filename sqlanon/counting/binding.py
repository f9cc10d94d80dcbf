"""Checks that a policy fits its table, and binds its models to columns."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from sqlanon.counting.declared_columns import hierarchy_of
from sqlanon.domain import Column, Generalized, Hierarchy, Partition, Writing, opens_ends
from sqlanon.engines import ColumnInfo, Source
from sqlanon.errors import PolicyError
from sqlanon.metrics import Preference
from sqlanon.policy import Others, Policy, Role
from sqlanon.privacy import Model, SensitiveColumn, bound_models


def check_columns(policy: Policy, source: Source) -> None:
    """Every column of the policy exists, and every column of the source is spoken for."""
    present = [c.name for c in source.columns]
    named = list(policy.section.columns)
    subject = policy.section.subject
    wanted = dict.fromkeys([*named, *([subject] if subject is not None else [])])
    problems = [
        f"column {name!r} is not in {source.name}{_meant(name, present)}"
        for name in wanted
        if name not in present
    ]
    silent = [name for name in present if name not in named and name != subject]
    if silent and policy.section.others is Others.REFUSE:
        listed = ", ".join(map(repr, silent))
        problems.append(
            f"{source.name} has columns that the policy does not mention: {listed}; give each a "
            "role, or say `others: drop` or `others: insensitive`"
        )
    if problems:
        raise misfit(policy.origin, problems)


def misfit(where: str, problems: Sequence[str]) -> PolicyError:
    """What is wrong between a policy and a table: one message, a line each where it is more."""
    if len(problems) == 1:
        return PolicyError(f"{where}: {problems[0]}")
    lines = "".join(f"\n  {problem}" for problem in problems)
    return PolicyError(f"{where}: {len(problems)} things do not fit the table{lines}")


def _meant(name: str, present: Sequence[str]) -> str:
    by_lower = {other.lower(): other for other in present}
    near = difflib.get_close_matches(name.lower(), by_lower, 1)
    return f"; did you mean {by_lower[near[0]]!r}?" if near else ""


def models_of(policy: Policy, source: Source) -> tuple[Model, ...]:
    """What every class must satisfy beyond k, one model for each column it speaks of."""
    privacy = policy.section.privacy
    if privacy is None:
        return ()
    columns = {}
    for name, section in policy.columns_with(Role.SENSITIVE).items():
        info = source.column(name)
        has_hierarchy = section.hierarchy is not None
        columns[name] = SensitiveColumn(name, info.kind, info.type, has_hierarchy)
    return tuple(
        bound_models(
            privacy.models, columns, lambda words: PolicyError(f"{policy.origin}: {words}")
        )
    )


def sensitive_hierarchies(policy: Policy, source: Source) -> dict[str, Hierarchy]:
    """The hierarchies of sensitive columns, by column."""
    return {
        name: hierarchy
        for name in policy.columns_with(Role.SENSITIVE)
        if isinstance(hierarchy := hierarchy_of(policy, source, name), Hierarchy)
    }


DEFAULT_PREFERENCE = Preference(loss=0.2, bias=1.0)
"""The papers' own point: little loss, any bias."""
NO_PREFERENCE = (
    f"the policy names no preference: ach is for nwp {DEFAULT_PREFERENCE.loss} and "
    f"necd {DEFAULT_PREFERENCE.bias}"
)


def generalized_of(
    policy: Policy, info: ColumnInfo, column: Column, partition: Partition
) -> Generalized:
    """A quasi-identifier as the policy releases it."""
    section = policy.section.columns[info.name]
    return Generalized(
        column,
        partition,
        info.type,
        output=section.output,
        open_ends=opens_ends(section.open_ends, column),
        null_label=section.null_label,
        form=section.form or policy.section.publish.form,
    )


def writings_of(policy: Policy) -> dict[str, Writing]:
    """How the policy writes each quasi-identifier."""
    return {
        name: Writing(section.output, section.open_ends, section.null_label)
        for name, section in policy.columns_with(Role.QUASI).items()
    }
