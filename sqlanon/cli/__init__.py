"""The command line: a thin layer over the Python interface."""

from sqlanon.cli.main import main

__all__ = ["main"]
