"""An audit of tables that knows nothing of how they were made.

It shares no code with counting, scoring and searching, so that a defect there shows here.
"""

from sqlanon.verify.audit import audit
from sqlanon.verify.audited import Audit, Reached
from sqlanon.verify.columns import (
    ColumnGroups,
    Finding,
    FindingKind,
    column_findings,
    column_groups,
    rows_unique_over,
)
from sqlanon.verify.expected import Expected, Verification
from sqlanon.verify.figures import ClassSize, Risk, Spread
from sqlanon.verify.fingerprint import table_hash
from sqlanon.verify.listing import ListedClass, Listing, smallest_classes
from sqlanon.verify.population import Population
from sqlanon.verify.reference import Reference, reference_of
from sqlanon.verify.release import verify_release
from sqlanon.verify.requirements import CheckResult, KAnonymity, Requirement, Satisfies, judge
from sqlanon.verify.risk import Journalist, Uniques
from sqlanon.verify.sensitive import Sensitive

__all__ = [
    "Audit",
    "CheckResult",
    "ClassSize",
    "ColumnGroups",
    "Expected",
    "Finding",
    "FindingKind",
    "Journalist",
    "KAnonymity",
    "ListedClass",
    "Listing",
    "Population",
    "Reached",
    "Reference",
    "Requirement",
    "Risk",
    "Satisfies",
    "Sensitive",
    "Spread",
    "Uniques",
    "Verification",
    "audit",
    "column_findings",
    "column_groups",
    "judge",
    "reference_of",
    "rows_unique_over",
    "smallest_classes",
    "table_hash",
    "verify_release",
]
