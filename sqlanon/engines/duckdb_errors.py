"""Explains DuckDB's errors and says what to do.

Some of DuckDB's messages quote values of the tables: the value that cannot be converted, the
line of a file, the duplicate key. So the type of an exception decides what may be shown. Messages
about names, SQL and files are passed on. All others are recognized by their fixed beginning
alone, and of the rest only numbers of lines and columns are shown: a cell that contains the text
of another error changes nothing. The whole message is the cause of the EngineError, for programs
that examine it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import duckdb

from sqlanon.engines.statements import without_literals
from sqlanon.errors import EngineError
from sqlanon.wording import counted, suggest

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
"""Errors about names, SQL and files. Every other kind may quote values."""
_MISSING_TABLE = re.compile(
    r"\ACatalog Error: Table with name (?:\"(.+?)\"|(.*?)) does not exist", re.DOTALL
)
# DuckDB looks for Python variables when it finds no table, and complains about what it found.
_PYTHON_OBJECT = re.compile(r"\AInvalid Input Error: Python Object \"(.+?)\" of type", re.DOTALL)
_READ_ONLY = re.compile(
    r"\AInvalid Input Error: Cannot execute statement of type \"[A-Z_ ]+\" on database "
)
_ABORTED = "TransactionContext Error: Current transaction is aborted"
_CONFLICT = re.compile(
    r"\ATransactionContext Error: (?:Failed to commit: )?"
    r"(?:Catalog write-write conflict|Conflict on |[Cc]annot )"
)
"""What other connections did meanwhile, by the names of tables; other failures quote keys."""

_TYPE = re.compile(
    r"\b(?:to|type) ((?:[A-Z]{3,}[0-9]{0,3}|DECIMAL\(\d{1,2},\d{1,2}\)))(?= when |$)", re.M
)
_TYPES = frozenset(
    f"{sign}INT{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64, 128)
) | {"DOUBLE", "FLOAT", "BOOL", "DATE", "TIME", "TIMESTAMP", "UUID", "INTERVAL"}  # fmt: skip
_DATES = (("invalid date field", "DATE"), ("invalid timestamp field", "TIMESTAMP"))

_CSV_LINE = re.compile(r"\ACSV Error on Line: (\d{1,15})$", re.M)
_CSV_SETTINGS = "\n\n  file = "
# The line of the file is quoted before the reason, and only fixed advice follows the reason.
_ADVICE = r"[^\n]*\n+(?:(?:Possible |\* )[^\n]*\n*)+\Z"
_CSV_COLUMNS = re.compile(
    r"^Expected Number of Columns: (\d{1,6}) Found: (\d{1,6})" + _ADVICE, re.M
)
_CSV_REASONS = {
    re.compile(f"^{words}{_ADVICE}", re.M): reason
    for words, reason in {
        r"Invalid unicode \(byte sequence mismatch\) detected": "it is not UTF-8 text",
        r"Value with unterminated quote found": "a quote has no end",
        r"Maximum line size": "it is too long",
    }.items()
}
_NO_ACCESS = re.compile(r"Cannot access \w+ (\".+?\") - ", re.DOTALL)
_LOCK_HOLDER = re.compile(r"\(PID (\d+)\)")


def explain(
    error: Exception,
    tables: Callable[[], Iterable[str]],
    reading: str,
    statement: str = "",
    *,
    folders: Iterable[Path] | None = None,
) -> EngineError:
    """The EngineError for a statement that failed, without any value of the data.

    `tables` answers with the tables of the database; `reading` is what the source is called;
    `folders` are those that can be read, None where all can be.
    """
    message = str(error)
    if isinstance(error, duckdb.PermissionException) and folders is not None:
        return EngineError(_outside(message, reading, folders))
    if isinstance(error, duckdb.ResourceInUseException):
        return EngineError(
            "The DuckDB connection still has an unfinished result. Fetch all of it first, "
            "or pass connection.cursor()."
        )
    if isinstance(error, duckdb.OutOfMemoryException):
        reason = _brief(message).partition("\n")[0].removeprefix("Out of Memory Error: ")
        return EngineError(
            f"DuckDB ran out of memory: {reason.rstrip('.')}. Allow it more (`memory` in the "
            "policy), or make room on the disk that it writes to."
        )
    if isinstance(error, duckdb.TransactionException) and message.startswith(_ABORTED):
        return EngineError(
            "The DuckDB connection is in a transaction that has failed. Roll it back first."
        )
    if isinstance(error, duckdb.ConnectionException) and "closed" in message:
        return EngineError("The DuckDB connection is closed.")
    name = _missing_table(error, statement)
    if name is not None:
        hint = suggest(name, tables(), "The tables there are:")
        return EngineError(f"There is no table {name!r} in the database. {hint}")
    conflict = isinstance(error, duckdb.TransactionException) and _CONFLICT.match(message)
    if isinstance(error, _ABOUT_NAMES) or conflict:
        return EngineError(f"DuckDB refused. {_brief(message)}{_marked_line(error)}")
    if isinstance(error, duckdb.InvalidInputException) and _READ_ONLY.match(message):
        return EngineError(
            "The database is open for reading only, and a statement would change it. Open it for "
            "writing, or publish into another one."
        )
    return EngineError(_about_a_file(error, reading) or _about_values(error, reading))


def _missing_table(error: Exception, statement: str) -> str | None:
    """The table that a statement names and the database lacks; None if the error is another."""
    if isinstance(error, duckdb.CatalogException):
        missing = _MISSING_TABLE.match(str(error))
    elif isinstance(error, duckdb.InvalidInputException):
        missing = _PYTHON_OBJECT.match(str(error))
    else:
        return None
    name = next((group for group in missing.groups() if group), "") if missing else ""
    # By its last part: DuckDB puts the schema before it.
    named = name and name.rpartition(".")[2] in without_literals(statement)
    return name if named else None


def _outside(message: str, reading: str, folders: Iterable[Path]) -> str:
    """Explains that a view or query needs a file that it may not read, or the network."""
    file = _NO_ACCESS.search(message)
    what = f"reads {file[1]}" if file else "needs an extension or the network"
    listed = ", ".join(map(str, folders)) or "none"
    return (
        f"DuckDB refused: {reading} {what}, and sqlanon reads only the folders of the databases "
        f"and files that it is given (here: {listed}), and nothing from the network. Copy what it "
        "reads into a table of the database, or move the file into one of these folders, or pass "
        "an open DuckDB connection of your own."
    )


def _about_a_file(error: Exception, reading: str) -> str | None:
    """Explains why a file cannot be read; None if the error is another one."""
    if not isinstance(error, duckdb.InvalidInputException | duckdb.ConversionException):
        return None
    _, _, text = str(error).partition(" Error: ")
    if text.startswith("CSV Error"):
        reason = f"It is not a well-formed CSV file: {_csv_reason(error, text)} Correct it there."
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


def _csv_reason(error: Exception, text: str) -> str:
    line = _CSV_LINE.match(text)
    where = f"line {int(line[1]):,}: " if line else ""
    if isinstance(error, duckdb.ConversionException):
        return f"{where}a value is not of the type of its column."
    said = text.rpartition(_CSV_SETTINGS)[0]
    columns = _CSV_COLUMNS.search(said)
    if columns:
        return f"{where}expected {counted(int(columns[1]), 'column')}, found {int(columns[2])}."
    reasons = (reason for words, reason in _CSV_REASONS.items() if words.search(said))
    return f"{where}{next(reasons, 'it does not fit the others')}."


def _about_values(error: Exception, reading: str) -> str:
    """Explains the kind of error, where, and what to do, without the values that DuckDB quoted."""
    said = f" ({_kind(error)} error)"
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


def _kind(error: Exception) -> str:
    """Names the kind of an error by its type: "invalid input" for InvalidInputException."""
    name = type(error).__name__.removesuffix("Exception").removesuffix("Error")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower() or "other"


def _type_in(message: str) -> str | None:
    """The type that a value should have become, if it is a known one."""
    first = message.split("\n\n", maxsplit=1)[0]
    for words, type_ in _DATES:
        if words in first:
            return type_
    found = _TYPE.findall(first)
    known = found and (found[-1] in _TYPES or found[-1].startswith("DECIMAL("))
    return str(found[-1]) if known else None


def explain_opening(error: Exception, path: Path) -> EngineError:
    """The EngineError for a database file that cannot be opened."""
    message = str(error)
    if isinstance(error, duckdb.IOException) and "Could not set lock" in message:
        holder = _LOCK_HOLDER.search(message)
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
    """The first paragraph; DuckDB adds long lists of settings, and lines of SQL with values."""
    return message.strip().split("\n\n", maxsplit=1)[0]


def _marked_line(error: Exception) -> str:
    """The line of SQL that cannot be parsed, which is a line of the user's own query."""
    parts = str(error).strip().split("\n\n") if isinstance(error, duckdb.ParserException) else []
    return "".join(f"\n{part}" for part in parts if part.startswith("LINE "))
