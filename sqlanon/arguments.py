"""Checks the arguments of the Python interface: their type and their range.

A message names the argument in backticks, tells what was found, and what is expected. Numbers of
numpy are numbers; True, False and texts are not.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, cast

from sqlanon.errors import ArgumentError

T = TypeVar("T")

_SHORT = reprlib.Repr()
_SHORT.maxstring = 60


def refusal(name: str, found: object, expected: str) -> ArgumentError:
    """What to raise for an argument that is not what is expected."""
    return ArgumentError(f"`{name}` is {_shown(found)}; give {expected}")


def optional(check: Callable[..., T], name: str, given: Any, *expected: Any) -> T | None:
    """What one of the checks below makes of an argument; None where nothing is given."""
    return None if given is None else check(name, given, *expected)


def whole_number(name: str, given: Any, least: int) -> int:
    """A whole number of at least `least`."""
    if isinstance(given, bool) or not isinstance(given, Integral) or given < least:
        # 1.0 is shown as 1.0, so that the reader sees why it is no whole number.
        shown = float(given) if isinstance(given, float) else given
        raise ArgumentError(
            f"`{name}` is {_SHORT.repr(shown)}; give a whole number of at least {least}"
        )
    return int(given)


def number_from(name: str, given: Any, least: float) -> float:
    """A finite number of at least `least`."""
    found = _number(given)
    if not least <= found < math.inf:
        kind = "a finite number" if math.isinf(found) else "a number"
        raise refusal(name, given, f"{kind} of at least {least:g}")
    return found


def share(name: str, given: Any) -> float:
    """A number from 0 to 1."""
    found = _number(given)
    if not 0 <= found <= 1:
        raise refusal(name, given, "a number from 0 to 1")
    return found


def text(name: str, given: Any, expected: str) -> str:
    """A text."""
    if not isinstance(given, str):
        raise refusal(name, given, expected)
    return given


def texts(name: str, given: Any, expected: str) -> tuple[str, ...]:
    """One text, or several; the letters of a text are not texts of their own."""
    if isinstance(given, str):
        return (given,)
    found = tuple(given) if isinstance(given, Iterable) and not isinstance(given, bytes) else None
    if found is None or not all(isinstance(each, str) for each in found):
        raise refusal(name, given, expected)
    return found


def path(name: str, given: Any, expected: str) -> Path:
    """The path of a file or folder."""
    if not isinstance(given, str | PathLike):
        raise refusal(name, given, expected)
    return Path(given)


def function(name: str, given: Any) -> Callable[..., Any]:
    """What can be called."""
    if not callable(given):
        raise refusal(name, given, "a function")
    return cast(Callable[..., Any], given)


def _is_number(given: Any) -> bool:
    return isinstance(given, Real) and not isinstance(given, bool)


def _number(given: Any) -> float:
    """The number; NaN, which is in no range, where this is not one."""
    try:
        return float(given) if _is_number(given) else math.nan
    except OverflowError:
        return math.inf


def _shown(found: object) -> str:
    """The number itself; of anything else that may be long, its beginning."""
    return f"{found:g}" if isinstance(found, float) else _SHORT.repr(found)
