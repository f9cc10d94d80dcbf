"""The Python interface; the command line is a thin layer over it."""

from sqlanon.api.anonymizer import Anonymizer, load
from sqlanon.api.check import check
from sqlanon.api.published import Release
from sqlanon.api.result import SearchResult
from sqlanon.api.solution import Solution
from sqlanon.search.outcome import Progress, Watch
from sqlanon.utility import Utility
from sqlanon.verify import CheckResult

__all__ = [
    "Anonymizer",
    "CheckResult",
    "Progress",
    "Release",
    "SearchResult",
    "Solution",
    "Utility",
    "Watch",
    "check",
    "load",
]
