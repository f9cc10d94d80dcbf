"""The policy file: roles of columns, domains, requirements, preferences and the release."""

from sqlanon.policy.columns import ColumnSection, HierarchySection, Role
from sqlanon.policy.places import PublishSection, SourceSection
from sqlanon.policy.policy import Policy, parse_policy, read_policy
from sqlanon.policy.privacy import PrivacySection
from sqlanon.policy.schema import Others, PolicySection
from sqlanon.policy.settings import SearchSection, SuppressionSection

__all__ = [
    "ColumnSection",
    "HierarchySection",
    "Others",
    "Policy",
    "PolicySection",
    "PrivacySection",
    "PublishSection",
    "Role",
    "SearchSection",
    "SourceSection",
    "SuppressionSection",
    "parse_policy",
    "read_policy",
]
