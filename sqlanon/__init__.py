"""sqlanon: makes a table safe to share, inside the database where it lives."""

from importlib.metadata import version

from sqlanon.api import Anonymizer, Progress, SearchResult, Solution, Watch, load
from sqlanon.errors import SqlanonError
from sqlanon.scheme import Scheme

__version__ = version("sqlanon")

__all__ = [
    "Anonymizer",
    "Progress",
    "Scheme",
    "SearchResult",
    "Solution",
    "SqlanonError",
    "Watch",
    "__version__",
    "load",
]
