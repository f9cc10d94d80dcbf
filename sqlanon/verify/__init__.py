"""An audit of tables that knows nothing of how they were made.

It shares no code with counting, scoring and searching, so that a defect there shows here.
"""

from sqlanon.verify.audit import audit
from sqlanon.verify.columns import Finding, FindingKind, column_findings, rows_unique_over
from sqlanon.verify.figures import Audit, ClassSize, Risk, Sensitive, Spread
from sqlanon.verify.fingerprint import table_hash
from sqlanon.verify.listing import ListedClass, Listing, smallest_classes
from sqlanon.verify.release import Expected, Verification, verify_release
from sqlanon.verify.requirements import CheckResult, KAnonymity, Requirement, judge

__all__ = [
    "Audit",
    "CheckResult",
    "ClassSize",
    "Expected",
    "Finding",
    "FindingKind",
    "KAnonymity",
    "ListedClass",
    "Listing",
    "Requirement",
    "Risk",
    "Sensitive",
    "Spread",
    "Verification",
    "audit",
    "column_findings",
    "judge",
    "rows_unique_over",
    "smallest_classes",
    "table_hash",
    "verify_release",
]
