"""Explains PostgreSQL's errors and says what to do about them.

The SQLSTATE of an error decides what may be shown. Classes about names, rights, locks and
resources pass on the primary message of the server, and what it quotes only where the statement
names that too: a cast that reads names, as to REGCLASS, quotes a value as the name of a table. All
others may hold a value, so nothing of them is shown but the code. What a function of the database
raises has the code that it likes, and is never shown, nor are the detail and the statement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from urllib.parse import parse_qsl, unquote, urlsplit

from sqlanon.engines.statements import without_literals
from sqlanon.errors import EngineError
from sqlanon.wording import suggest

_PASSED_ON = ("08", "0A", "25", "28", "2BP", "3D", "3F", "42", "53", "54", "55", "57", "58")
"""Classes of SQLSTATE whose primary messages name objects, roles and limits."""
_NAMING = ("0A", "3D", "3F", "42")
"""Those whose messages may end in a name without quotes, after a colon."""

_NEXT_STEPS = {
    "25P02": "The transaction of the connection has failed. Roll it back first.",
    "40001": "Another connection changed the same rows meanwhile. Run it again.",
    "40P01": "Another connection waited for what this one held, and the reverse. Run it again.",
    "55P03": "Another connection holds a lock on it. Run it again once that one is done.",
    "57014": "The statement was canceled, or took longer than statement_timeout allows.",
}
_ABOUT_VALUES = {
    "22P02": "a text is no value of the type that it is converted to",
    "22003": "a number is outside the range of its type",
    "22008": "a date or time is outside the range of its type",
    "22012": "a number is divided by zero",
    "22021": "a text is not valid in the encoding of the database",
    "22P05": "a text has no spelling in the encoding of the connection",
    "23502": "a value is NULL in a column that does not allow it",
    "23505": "a value is in a unique index twice",
    "23514": "a value violates a check",
    "P0001": "a function of the database raised an error",
}
_RIGHTS = "42501"
_MISSING_TABLE = re.compile(r'\Arelation "(.+)" does not exist\Z', re.DOTALL)
_MISSING_FUNCTION = re.compile(r"\A(?:function|operator|type) .+ does not exist\Z", re.DOTALL)
_QUOTES = re.compile(r"«\s*|\s*»|[„“”]")
"""What a server quotes with whose messages are not in English."""
_QUOTED = re.compile(r'"(.*)"', re.DOTALL)
_AFTER_COLON = re.compile(r"[:：].*", re.DOTALL)
_CONNECTION = re.compile(r"(connection to server .*|definition of service .*)", re.DOTALL)
_UNKNOWN_HOST = re.compile(r"could not translate host name .*", re.DOTALL)


def explain(
    error: Exception, tables: Callable[[], Iterable[str]], reading: str, statement: str = ""
) -> EngineError:
    """The EngineError for a statement that failed, without any value of the data."""
    state = getattr(error, "sqlstate", None)
    if state is None:
        return EngineError(
            "The connection to PostgreSQL is closed or broken. Open it again, and look into the "
            "log of the server for the reason."
        )
    if state in _NEXT_STEPS:
        return EngineError(f"PostgreSQL refused. {_NEXT_STEPS[state]} (SQLSTATE {state})")
    if not state.startswith(_PASSED_ON) or _detail(error, "CONTEXT"):
        raised = "P0001" if state.startswith(_PASSED_ON) else state
        reason = _ABOUT_VALUES.get(raised, "see the log of the server for the reason")
        if state.startswith("23") and not _detail(error, "CONTEXT"):
            reason += _broken(error)
        return EngineError(f"PostgreSQL failed on values of {reading}: {reason} (SQLSTATE {state})")
    message = _QUOTES.sub('"', _detail(error, "MESSAGE_PRIMARY") or "it gives no reason")
    missing = _MISSING_TABLE.match(message) if state == "42P01" else None
    if missing and _stands(missing[1], statement):
        name = missing[1].rpartition(".")[2]
        hint = suggest(name, tables(), "The tables there are:")
        return EngineError(f"There is no table {missing[1]!r} in the database. {hint}")
    if not all(_stands(each, statement) for each in message.split('"')[1::2]):
        message = _QUOTED.sub('"…"', message)
    # With a position the server complains about the text of the statement.
    if state.startswith(_NAMING) and not _detail(error, "STATEMENT_POSITION"):
        message = _AFTER_COLON.sub(": …", message)
    return EngineError(
        f"PostgreSQL refused: {message}.{_advice(state, message)} (SQLSTATE {state})"
    )


def _advice(state: str, message: str) -> str:
    if state == _RIGHTS:
        return " Have it granted to the role of the connection: docs/postgresql.md lists rights."
    if _MISSING_FUNCTION.match(message):
        return " Write functions and types of your own with their schema, as in public.name."
    return ""


def _broken(error: Exception) -> str:
    """The constraint that a row breaks, or the column; no function can have said that."""
    for field in ("CONSTRAINT", "COLUMN"):
        if name := _detail(error, f"{field}_NAME"):
            return f", the {field.lower()} {name!r}"
    return ""


def _stands(name: str, statement: str) -> bool:
    """Whether a statement has these words, with or without quotes, outside its literals."""
    shown = without_literals(statement, "postgres").replace('"', "")
    whole = rf"\b{re.escape(name)}\b" if name.strip(".,;()") else re.escape(name)
    return bool(name) and re.search(whole, shown) is not None


def _detail(error: Exception, name: str) -> str:
    """A field of the server's message, in one line."""
    for key, value in getattr(error, "details", None) or ():
        if _text(key) == f"PG_DIAG_{name}":
            return " ".join(_text(value).split())
    return ""


def _text(value: str | bytes) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def explain_opening(error: Exception, address: str) -> EngineError:
    """The EngineError for a database that cannot be opened, without the password.

    libpq quotes an address that it cannot read; where a password holds a sign that ought to be
    escaped, the name of the host is a piece of it.
    """
    text = str(error)
    found = _CONNECTION.search(text)
    if found is None and address.count("@") <= 1:
        found = _UNKNOWN_HOST.search(text)
    if found is None:
        return EngineError(
            "The address of the PostgreSQL database cannot be read. Write "
            "postgresql://user@host:port/database, special characters of a password as %XX (a "
            "space is %20, @ is %40, / is %2F), or leave the password to PGPASSWORD or ~/.pgpass."
        )
    reason = " ".join(found[1 if found.re is _CONNECTION else 0].split()).rstrip(".")
    for secret in _secrets(address):
        reason = reason.replace(secret, "…")
    return EngineError(f"The PostgreSQL database cannot be opened: {reason}.")


def _secrets(address: str) -> Iterable[str]:
    """What an address has for a password, as it is written and as it is meant."""
    try:
        parts = urlsplit(address)
        query = parse_qsl(parts.query)
    except ValueError:
        return
    written = parts.netloc.rpartition("@")[0].partition(":")[2]
    for secret in (written, unquote(written), *(v for k, v in query if "password" in k)):
        if secret:
            yield secret
