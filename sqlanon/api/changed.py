"""A result whose policy has changed since the search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from sqlanon.api.release import SchemeLike
from sqlanon.errors import SchemeError
from sqlanon.policy import Policy
from sqlanon.scheme.references import read_result


@contextmanager
def telling_of_changes(policy: Policy, scheme: SchemeLike) -> Iterator[None]:
    """Adds to a scheme that does not fit that, and where, the policy is another one by now."""
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
