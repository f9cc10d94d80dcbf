"""Every error that sqlanon raises on purpose.

A message says what is wrong, where (file, key, column, value), and what to do next.
The command line prints the message alone and exits with `exit_status`; a traceback is
always a defect of sqlanon, never the answer to a user's mistake.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Self

from sqlanon import exit_status as statuses


class SqlanonError(Exception):
    """Root of all errors meant for the user."""

    exit_status = statuses.ERROR

    def reworded(self, message: str) -> Self:
        """The same error with another message."""
        other = copy.copy(self)
        other.args = (message,)
        return other


class ResourceError(SqlanonError):
    """A file that belongs to the installation is missing."""


class PolicyError(SqlanonError):
    """The policy is not valid; the message lists every mistake with its key path."""


class EngineError(SqlanonError):
    """The database refused, or the source cannot be opened or read."""


class DomainError(SqlanonError):
    """A domain is not well formed."""


class UncoveredValueError(DomainError):
    """The data hold values that the declared domain does not cover.

    The message has counts only. `values` has by column the first MOST_VALUES of the values,
    which are private data.
    """

    exit_status = statuses.UNCOVERED_VALUES
    MOST_VALUES = 100

    def __init__(
        self, message: str, values: Mapping[str, Sequence[str | None]] | None = None
    ) -> None:
        super().__init__(message)
        self.values = {
            column: tuple(found[: self.MOST_VALUES]) for column, found in (values or {}).items()
        }


class HierarchyError(SqlanonError):
    """A hierarchy is not a tree over its leaves."""


class SchemeError(SqlanonError):
    """A scheme does not fit the domains, hierarchies or families it is used with."""


class NoSolutionError(SchemeError):
    """A search found nothing that reaches the required privacy, so there is no scheme to use."""

    exit_status = statuses.REQUIREMENT_FAILS


class SubjectError(SqlanonError):
    """The column that names the subject cannot be used to count people."""


class PrivacyError(SqlanonError):
    """A privacy model has a bound that no class can meet."""


class CheckError(SqlanonError):
    """A table cannot be audited as asked."""


class ArgumentError(SqlanonError):
    """An argument is not of its type or range, or does not go with another one.

    The message has arguments in backticks. On the command line it is wrong usage, and options
    stand in their place.
    """

    exit_status = statuses.WRONG_USAGE


class EvaluationError(SqlanonError):
    """A scheme cannot be scored as asked."""


class SearchError(SqlanonError):
    """A search cannot run as asked."""


class CompileError(SqlanonError):
    """A scheme cannot be written as the SQL of a release."""


class PublishError(SqlanonError):
    """A release cannot be published; source and target are as they were."""


class UnknownOutcomeError(SqlanonError):
    """The answer to a COMMIT was lost: a release may be published."""


class VerificationError(PublishError):
    """The staged release does not hold what the policy requires, so it was not published."""

    exit_status = statuses.REQUIREMENT_FAILS


class CertificateError(SqlanonError):
    """A certificate cannot be made, read or written."""


class UtilityError(SqlanonError):
    """The utility of a release cannot be measured as asked."""
