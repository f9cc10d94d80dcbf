"""The Python interface; the command line is a thin layer over it."""

from sqlanon.api.anonymizer import Anonymizer, load
from sqlanon.api.solution import Solution

__all__ = ["Anonymizer", "Solution", "load"]
