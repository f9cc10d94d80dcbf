"""sqlanon: makes a table safe to share, inside the database where it lives."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlanon.api import (
        Anonymizer,
        CheckResult,
        Progress,
        Release,
        SearchResult,
        Solution,
        Utility,
        Watch,
        load,
    )
    from sqlanon.api.check import check
    from sqlanon.errors import SqlanonError
    from sqlanon.scheme import Scheme

__version__ = version("sqlanon")

__all__ = [
    "Anonymizer",
    "CheckResult",
    "Progress",
    "Release",
    "Scheme",
    "SearchResult",
    "Solution",
    "SqlanonError",
    "Utility",
    "Watch",
    "__version__",
    "check",
    "load",
]

_ELSEWHERE = {"Scheme": "sqlanon.scheme", "SqlanonError": "sqlanon.errors"}


def __getattr__(name: str) -> Any:
    """Names are imported when they are first asked for.

    Databases and numbers take a second to import. The command must be able to answer Ctrl-C in
    that second, so this module imports nothing heavy by itself.
    """
    if name in __all__:
        found = getattr(import_module(_ELSEWHERE.get(name, "sqlanon.api")), name)
        globals()[name] = found
        return found
    try:
        return import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":
            raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
