"""What is said of a policy that is refused."""

from __future__ import annotations

from typing import Any

import pytest

from sqlanon.errors import PolicyError
from sqlanon.policy.policy import parse_policy

BASE = {"columns": {"age": {"role": "quasi"}}, "one_row_per_person": True}


def mistakes(document: Any, **settings: Any) -> list[str]:
    """The lines of the refusal, without the first, which only counts them."""
    with pytest.raises(PolicyError) as caught:
        parse_policy(document, **settings)
    first, *lines = str(caught.value).splitlines()
    count = "a mistake" if len(lines) == 1 else f"{len(lines)} mistakes"
    assert first == f"policy: {count} in the policy"
    assert all(line.startswith("  ") and not line.endswith((".", ";")) for line in lines)
    return [line[2:] for line in lines]


def of(**keys: Any) -> list[str]:
    return mistakes({**BASE, **keys})


def of_age(**keys: Any) -> list[str]:
    return of(columns={"age": {"role": "quasi", **keys}})
