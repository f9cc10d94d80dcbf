"""The JSON Schema of policy files, by which editors complete and check keys."""

from __future__ import annotations

from typing import Any

from sqlanon.policy.schema import PolicySection

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TITLE = "Policy of sqlanon"


def policy_json_schema() -> dict[str, Any]:
    """Accepts every policy that sqlanon accepts; what keys mean together it cannot tell."""
    schema = _clean(PolicySection.model_json_schema())
    return {"$schema": DIALECT, "title": TITLE, **schema}


def _clean(node: Any) -> Any:
    """Without the words of our own messages, and without what says nothing to an editor.

    Titles that only repeat the names of keys hide their descriptions, and defaults that are
    null or whole sections would be written into files by completion.
    """
    if isinstance(node, list):
        return [_clean(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        key: {name: _clean(each) for name, each in value.items()}
        if key in ("properties", "$defs")
        else _clean(value)
        for key, value in node.items()
        if key not in ("title", "allowed")
        and not (key == "default" and isinstance(value, dict | None))
    }
