"""The policy file: roles of columns, domains, requirements and preferences."""

from sqlanon.policy.policy import Policy, parse_policy, read_policy
from sqlanon.policy.schema import (
    ColumnSection,
    HierarchySection,
    Others,
    PolicySection,
    Role,
    SearchSection,
    SourceSection,
)

__all__ = [
    "ColumnSection",
    "HierarchySection",
    "Others",
    "Policy",
    "PolicySection",
    "Role",
    "SearchSection",
    "SourceSection",
    "parse_policy",
    "read_policy",
]
