"""sqlanon: makes a table safe to share, inside the database where it lives."""

from importlib.metadata import version

from sqlanon.api import (
    Anonymizer,
    CheckResult,
    Progress,
    Release,
    SearchResult,
    Solution,
    Watch,
    check,
    load,
)
from sqlanon.errors import SqlanonError
from sqlanon.scheme import Scheme

__version__ = version("sqlanon")

__all__ = [
    "Anonymizer",
    "CheckResult",
    "Progress",
    "Release",
    "Scheme",
    "SearchResult",
    "Solution",
    "SqlanonError",
    "Watch",
    "__version__",
    "check",
    "load",
]
