"""An audit of tables that does not depend on how they were made."""

from __future__ import annotations

from sqlanon.audit.audit_result import Audit, CheckResult, KAnonymity, Requirement, Satisfies
from sqlanon.audit.auditor import Population, audit
from sqlanon.audit.class_sizes import ClassSize, Risk
from sqlanon.audit.column_findings import (
    ColumnGroups,
    Finding,
    HeldValues,
    column_findings,
    held_values,
    rows_unique_over,
)
from sqlanon.audit.sensitive_values import Reference, Sensitive, finite, reference_of, settled
from sqlanon.audit.smallest_classes import Listing, smallest_classes
from sqlanon.audit.staged_release import Expected, Facts, Marked, verify_release
from sqlanon.audit.table_hash import HASH_VERSION, HashVersion, table_hash
