"""The policy file: roles of columns, domains, requirements, preferences and the release."""

from __future__ import annotations

from sqlanon.policy.mistakes import line_at
from sqlanon.policy.policy import Policy, parse_policy, parse_privacy, read_policy
from sqlanon.policy.search_keys import SearchSection
from sqlanon.policy.sections import (
    TITLE,
    ColumnSection,
    HierarchySection,
    Others,
    Role,
    policy_json_schema,
)
from sqlanon.privacy import PrivacySection
