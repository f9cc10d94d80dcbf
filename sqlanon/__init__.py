"""sqlanon: makes a table safe to share, inside the database where it lives."""

from importlib.metadata import version

from sqlanon.api import Anonymizer, Solution, load
from sqlanon.errors import SqlanonError
from sqlanon.scheme import Scheme

__version__ = version("sqlanon")

__all__ = ["Anonymizer", "Scheme", "Solution", "SqlanonError", "__version__", "load"]
