"""DuckDB's errors in words that tell a user of sqlanon what to do.

Some of DuckDB's messages quote what the tables hold: the value that cannot be converted, the
line of a file, the key that is there twice. Of these only what is known to hold no data is told
on; the message as it was is the cause of the EngineError, for programs that look at it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import duckdb

from sqlanon.engines.base import suggest
from sqlanon.errors import EngineError
from sqlanon.model import counted

_MISSING_TABLE = re.compile(r"Table with name (?:\"(.+?)\"|(.*?)) does not exist", re.DOTALL)
# DuckDB looks for Python variables when it finds no table, and complains about what it found.
_PYTHON_OBJECT = re.compile(r"Python Object \"(.+?)\" of type")
_ABOUT_NAMES = (
    duckdb.BinderException,
    duckdb.CatalogException,
    duckdb.ConnectionException,
    duckdb.DependencyException,
    duckdb.IOException,
    duckdb.InterruptException,
    duckdb.NotImplementedException,
    duckdb.OutOfMemoryException,
    duckdb.ParserException,
    duckdb.PermissionException,
    duckdb.SyntaxException,
)
"""Errors that speak of names, SQL and files. Every other kind may quote values."""
_TYPE = re.compile(r"\b(?:to|type) ((?:[A-Z]{3,}[0-9]{0,3}|DECIMAL\(\d+,\d+\)))(?= when |$)", re.M)
_TYPES = frozenset(
    f"{sign}INT{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64, 128)
) | {"DOUBLE", "FLOAT", "BOOL", "DATE", "TIME", "TIMESTAMP", "UUID", "INTERVAL"}  # fmt: skip
_DATES = (("invalid date field", "DATE"), ("invalid timestamp field", "TIMESTAMP"))
_CSV_LINE = re.compile(r"\ACSV Error on Line: (\d+)$", re.M)
_CSV_COLUMNS = re.compile(r"^Expected Number of Columns: (\d+) Found: (\d+)$", re.M)
_CSV_REASONS = {
    "Invalid unicode (byte sequence mismatch) detected": "it is not UTF-8 text",
    "Value with unterminated quote found": "a quote has no end",
    "unterminated quote": "a quote has no end",
    "Maximum line size": "it is too long",
    "Error when converting column": "a value is not of the type of its column",
}
_LOCK_HOLDER = re.compile(r"\(PID (\d+)\)")


def explain(error: Exception, tables: Callable[[], Iterable[str]], reading: str) -> EngineError:
    """The EngineError for a statement that failed, without any value of the data.

    `tables` answers with the tables there are; `reading` is what the source is called.
    """
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
    conflict = isinstance(error, duckdb.TransactionException) and "constraint" not in message
    if isinstance(error, _ABOUT_NAMES) or conflict:
        return EngineError(f"DuckDB refused. {_brief(message)}")
    return EngineError(_about_a_file(message, reading) or _about_values(error, reading))


def _about_a_file(message: str, reading: str) -> str | None:
    """What is wrong with a file that cannot be read; None if the error is another one."""
    text = message.removeprefix("Invalid Input Error: ")
    if text.startswith("CSV Error"):
        reason = f"It is not a well-formed CSV file: {_csv_reason(text)} Correct it there."
    elif text.startswith("Error when sniffing file"):
        reason = (
            "It is not a CSV file that can be understood: no separator and quotes fit all of its "
            "lines, or they end in different ways. Write it anew, in UTF-8, with one separator, "
            "one kind of line end and a header."
        )
    elif text.startswith("No magic bytes"):
        reason = "It is not a Parquet file, or only a part of one."
    else:
        return None
    what = reading if reading.startswith("file ") else f"a file of {reading}"
    return f"{what[0].upper()}{what[1:]} cannot be read. {reason}"


def _about_values(error: Exception, reading: str) -> str:
    """What kind of error it was, where, and what to do; what DuckDB quoted is left out."""
    kind = _KIND.match(str(error))
    said = f" ({kind[1].lower()} error)" if kind else ""
    if isinstance(error, duckdb.ConversionException):
        found = _type_in(str(error))
        into = f" to {found}" if found else " to another type"
        return (
            f"DuckDB refused: a value of {reading} cannot be converted{into}{said}. Take TRY_CAST "
            "instead of CAST or ::, which gives NULL for such values, or correct them. The value "
            "is not shown."
        )
    return (
        f"DuckDB refused while it read {reading}{said}. What it says may hold values of the data "
        "and is not shown; run the query in DuckDB itself to see it."
    )


_KIND = re.compile(r"\A([A-Z][A-Za-z ]{2,30}) Error: ")


def _type_in(message: str) -> str | None:
    """The type that a value should have become, if it is one of those that are known."""
    first = message.split("\n\n", maxsplit=1)[0]
    for words, type_ in _DATES:
        if words in first:
            return type_
    found = _TYPE.findall(first)
    known = found and (found[-1] in _TYPES or found[-1].startswith("DECIMAL("))
    return str(found[-1]) if known else None


def _csv_reason(message: str) -> str:
    line, columns = _CSV_LINE.search(message), _CSV_COLUMNS.search(message)
    where = f"line {int(line[1]):,}: " if line else ""
    if columns:
        return f"{where}expected {counted(int(columns[1]), 'column')}, found {columns[2]}."
    for words, reason in _CSV_REASONS.items():
        if words in message:
            return f"{where}{reason}."
    return f"{where}it does not fit the others."


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
