"""The Python interface; the command line is a thin layer over it."""

from sqlanon.api.anonymizer import Anonymizer, load
from sqlanon.api.result import SearchResult
from sqlanon.api.solution import Solution
from sqlanon.search.outcome import Progress, Watch

__all__ = ["Anonymizer", "Progress", "SearchResult", "Solution", "Watch", "load"]
