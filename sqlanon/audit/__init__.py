"""An audit of tables that does not depend on how they were made."""

from __future__ import annotations

from sqlanon.audit.audit_result import (
    Audit,
    CheckResult,
    ClassSize,
    KAnonymity,
    Requirement,
    Satisfies,
    Sensitive,
    finite,
    settled,
)
from sqlanon.audit.auditor import (
    Listing,
    Population,
    Reference,
    audit,
    reference_of,
    smallest_classes,
)
from sqlanon.audit.column_findings import (
    ColumnGroups,
    column_findings,
    held_values,
    rows_unique_over,
)
from sqlanon.audit.staged_release import Expected, Facts, Marked, verify_release
from sqlanon.audit.table_hash import HASH_VERSION, HashVersion, table_hash
