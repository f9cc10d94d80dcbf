"""DuckDB's errors in words that tell a user of sqlanon what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import duckdb

from sqlanon.engines.base import suggest
from sqlanon.errors import EngineError

_MISSING_TABLE = re.compile(r"Table with name (?:\"(.+?)\"|(.*?)) does not exist", re.DOTALL)
# DuckDB looks for Python variables when it finds no table, and complains about what it found.
_PYTHON_OBJECT = re.compile(r"Python Object \"(.+?)\" of type")
_LOCK_HOLDER = re.compile(r"\(PID (\d+)\)")


def explain(error: Exception, tables: Callable[[], Iterable[str]]) -> EngineError:
    """The EngineError for a statement that failed; `tables` answers with the tables there are."""
    message = str(error)
    if isinstance(error, duckdb.ResourceInUseException):
        return EngineError(
            "The DuckDB connection still has an unfinished result. Fetch all of it first, "
            "or pass connection.cursor()."
        )
    if "Current transaction is aborted" in message:
        return EngineError(
            "The DuckDB connection is in a transaction that has failed. Roll it back first."
        )
    if isinstance(error, duckdb.ConnectionException) and "closed" in message:
        return EngineError("The DuckDB connection is closed.")
    if "in read-only mode" in message:
        return EngineError(f"The database is open for reading only. {_brief(message)}")
    missing = _MISSING_TABLE.search(message) or _PYTHON_OBJECT.search(message)
    if missing:
        name = next((group for group in missing.groups() if group), "")
        hint = suggest(name, tables(), "The tables there are:")
        return EngineError(f"There is no table {name!r} in the database. {hint}")
    return EngineError(f"DuckDB refused. {_brief(message)}")


def explain_opening(error: Exception, path: Path) -> EngineError:
    """The EngineError for a database file that cannot be opened."""
    message = str(error)
    holder = _LOCK_HOLDER.search(message)
    if "Could not set lock" in message:
        who = f" (PID {holder[1]})" if holder else ""
        return EngineError(
            f"Database {path} is open in another process{who}. "
            "Close it there; DuckDB lets one process write, or several read."
        )
    if "different configuration" in message or "is already attached" in message:
        return EngineError(
            f"Database {path} is already open in this process with other settings. "
            "Pass that open connection instead of its address."
        )
    if "not a valid DuckDB database" in message:
        return EngineError(f"File {path} is not a DuckDB database.")
    return EngineError(f"Database {path} cannot be opened. {_brief(message)}")


def refuse_other_files(path: Path) -> None:
    """Refuses a file that DuckDB would open as data, such as a CSV file, with no error."""
    if path.is_file() and path.stat().st_size:
        with path.open("rb") as file:
            head = file.read(12)
        if head[8:12] != b"DUCK":
            raise EngineError(f"File {path} is not a DuckDB database.")


def _brief(message: str) -> str:
    """The first paragraph and the marked line; DuckDB adds long lists of reader settings."""
    first, *others = message.strip().split("\n\n")
    return "\n".join([first, *(part for part in others if part.startswith("LINE "))])
